"""PyTorch: operators with gradients, on CPUs through compiled C."""

from keyword import kwlist
from typing import Final

from symgen.languages.c import KEYWORDS, TAKEN
from symgen.languages.language import Language
from symgen.languages.python import BUILTINS

TORCH: Final = Language(
    name="torch",
    summary="operators with gradients for autograd, vmap and torch.compile, on CPUs",
    main="{name}_torch/__init__.py",
    keywords=KEYWORDS | frozenset(kwlist),
    standard=frozenset({"torch"}),
    taken=TAKEN
    | BUILTINS
    | frozenset({"ctypes", "inspect", "math", "library", "build", "gamma_index", "torch"})
    | frozenset({"enumerate", "frozenset", "getattr", "iter", "staticmethod"}),
)
