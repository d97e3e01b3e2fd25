"""Algorithms: what can be computed, one file an algorithm, each a row in the registry.

Knows numbers and mechanics, and no compiler. Offers the registry: `QUANTITIES`, `LINK_QUANTITIES`
and `INPUTS`."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from symgen.algorithms.registry import (
    INPUTS,
    LINK_QUANTITIES,
    QUANTITIES,
    Array,
    Formulation,
    Quantity,
)

FILES: Final = (
    "newton_euler",
    "composite",
    "coriolis",
    "christoffel",
    "forward_dynamics",
    "geared",
    "derivatives",
    "products",
    "steps",
    "step_jacobians",
    "adjoints",
    "adjoint_hessians",
    "virtual_power",
    "absolute_angles",
    "rates",
    "tensors",
    "closed_loops",
    "regressors",
    "parameter_tensors",
    "coriolis_newton_euler",
    "elastic",
    "energies",
    "kinematics",
    "centroidal",
    "task_space",
    "inverse_kinematics",
    "operational_space",
    "controllers",
    "observers",
    "learning",
    "cartesian_impedance",
    "elastic_control",
)
"""In the order in which lists and manifests have their quantities; those of other files of this
package come last."""

for _file in dict.fromkeys((*FILES, *sorted(module.name for module in iter_modules(__path__)))):
    import_module(f"{__name__}.{_file}")

__all__ = [
    "FILES",
    "INPUTS",
    "LINK_QUANTITIES",
    "QUANTITIES",
    "Array",
    "Formulation",
    "Quantity",
]
