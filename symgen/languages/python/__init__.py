"""Python with NumPy: one file, for one state or many."""

import sys
from keyword import kwlist
from typing import Final

from symgen.languages.language import Language
from symgen.numbers.operations import OPS

_BUILTINS: Final = """
all any bool dict float globals int isinstance len list map max min next print range sorted str
tuple type zip
"""

BUILTINS: Final = frozenset(_BUILTINS.split())
"""Built-in functions and types, which a function of the same name would hide in its module."""


PYTHON: Final = Language(
    name="python",
    aliases=("py", "numpy"),
    summary="NumPy, one file, for one state or many at once",
    main="{name}.py",
    keywords=frozenset(kwlist),
    standard=frozenset(sys.stdlib_module_names) | {"numpy"},
    taken=BUILTINS
    | frozenset({"np", "math", "gamma_index"})
    | {op.name for op in OPS.values() if not op.symbol},
)
