"""CasADi: graphs of SX in Python, and C by its convention of external functions, which acados takes
too."""

from keyword import kwlist
from typing import Final

from symgen.languages.c import KEYWORDS, TAKEN
from symgen.languages.language import Language
from symgen.languages.python import BUILTINS

CASADI: Final = Language(
    name="casadi",
    summary="graphs of SX, and C with Jacobians for casadi.external and acados",
    main="{name}_casadi/__init__.py",
    keywords=KEYWORDS | frozenset(kwlist),
    standard=frozenset({"casadi"}),
    taken=TAKEN | BUILTINS | frozenset({"ca", "external", "graph", "library", "gamma_index"}),
)
