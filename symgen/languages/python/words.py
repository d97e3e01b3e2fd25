"""Names that generated Python uses: no function of a module may be called so."""

from typing import Final

_BUILTINS: Final = """
all any bool dict float globals int isinstance len list map max min next print range sorted str
tuple type zip
"""

BUILTINS: Final = frozenset(_BUILTINS.split())
"""Built-in functions and types, which a function of the same name would hide in its module."""
