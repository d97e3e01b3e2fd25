"""Algorithms: what can be computed, one file an algorithm, each a row in the registry in the order
of `FILES`.

Knows numbers and mechanics, and no compiler. Offers the registry: `QUANTITIES`, `LINK_QUANTITIES`
and `INPUTS`."""

from importlib import import_module
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
    "rates",
    "tensors",
    "regressors",
    "parameter_tensors",
    "coriolis_newton_euler",
    "elastic",
    "energies",
    "kinematics",
    "centroidal",
    "task_space",
    "operational_space",
    "controllers",
    "learning",
    "cartesian_impedance",
)
"""In the order in which lists and manifests have their quantities."""

for _file in FILES:
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
