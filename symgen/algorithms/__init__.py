"""Algorithms: what can be computed, one file an algorithm, each a row in the registry.

Knows numbers and mechanics, and no compiler. Offers the registry: `QUANTITIES`, `LINK_QUANTITIES`
and `INPUTS`."""

from importlib import import_module
from pkgutil import iter_modules

from symgen.algorithms.registry import (
    INPUTS,
    LINK_QUANTITIES,
    QUANTITIES,
    Array,
    Formulation,
    Quantity,
)
from symgen.algorithms.titles import ALGORITHMS

_modules = sorted(module.name for module in iter_modules(__path__))
for _module in dict.fromkeys((*(name for name in ALGORITHMS if name in _modules), *_modules)):
    import_module(f"{__name__}.{_module}")
_places = {group: k for k, group in enumerate(ALGORITHMS)}
_known = {**QUANTITIES, **LINK_QUANTITIES}
for _rows in (QUANTITIES, LINK_QUANTITIES, import_module(f"{__name__}.controllers").CONTROLLERS):
    for _name in sorted(_rows, key=lambda name: _places.get(_known[name].group, len(_places))):
        _rows[_name] = _rows.pop(_name)

__all__ = [
    "INPUTS",
    "LINK_QUANTITIES",
    "QUANTITIES",
    "Array",
    "Formulation",
    "Quantity",
]
