"""What can be computed: one file an algorithm, each a row in the registry (in the order of these
imports)."""

from symgen.algorithms import (
    christoffel,
    composite,
    coriolis,
    derivatives,
    energies,
    forward_dynamics,
    geared,
    kinematics,
    newton_euler,
    parameter_tensors,
    products,
    rates,
    regressors,
    tensors,
)
from symgen.algorithms.registry import (
    INPUTS,
    LINK_QUANTITIES,
    QUANTITIES,
    Array,
    Formulation,
    Quantity,
)

__all__ = [
    "INPUTS",
    "LINK_QUANTITIES",
    "QUANTITIES",
    "Array",
    "Formulation",
    "Quantity",
    "christoffel",
    "composite",
    "coriolis",
    "derivatives",
    "energies",
    "forward_dynamics",
    "geared",
    "kinematics",
    "newton_euler",
    "parameter_tensors",
    "products",
    "rates",
    "regressors",
    "tensors",
]
