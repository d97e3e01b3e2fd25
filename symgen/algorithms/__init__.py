"""Algorithms: what can be computed, one file an algorithm, each a row in the registry in the order
of the imports here.

Knows numbers and mechanics, and no compiler. Offers the registry: `QUANTITIES`, `LINK_QUANTITIES`
and `INPUTS`."""

from symgen.algorithms import newton_euler  # isort: skip
from symgen.algorithms import composite  # isort: skip
from symgen.algorithms import coriolis  # isort: skip
from symgen.algorithms import christoffel  # isort: skip
from symgen.algorithms import forward_dynamics  # isort: skip
from symgen.algorithms import geared  # isort: skip
from symgen.algorithms import derivatives  # isort: skip
from symgen.algorithms import products  # isort: skip
from symgen.algorithms import steps  # isort: skip
from symgen.algorithms import step_jacobians  # isort: skip
from symgen.algorithms import adjoints  # isort: skip
from symgen.algorithms import adjoint_hessians  # isort: skip
from symgen.algorithms import virtual_power  # isort: skip
from symgen.algorithms import rates  # isort: skip
from symgen.algorithms import tensors  # isort: skip
from symgen.algorithms import regressors  # isort: skip
from symgen.algorithms import parameter_tensors  # isort: skip
from symgen.algorithms import coriolis_newton_euler  # isort: skip
from symgen.algorithms import elastic  # isort: skip
from symgen.algorithms import energies  # isort: skip
from symgen.algorithms import kinematics  # isort: skip
from symgen.algorithms import centroidal  # isort: skip
from symgen.algorithms import task_space  # isort: skip
from symgen.algorithms import operational_space  # isort: skip
from symgen.algorithms import controllers  # isort: skip
from symgen.algorithms import learning  # isort: skip
from symgen.algorithms import cartesian_impedance  # isort: skip
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
    "adjoint_hessians",
    "adjoints",
    "cartesian_impedance",
    "centroidal",
    "christoffel",
    "composite",
    "controllers",
    "coriolis",
    "coriolis_newton_euler",
    "derivatives",
    "elastic",
    "energies",
    "forward_dynamics",
    "geared",
    "kinematics",
    "learning",
    "newton_euler",
    "operational_space",
    "parameter_tensors",
    "products",
    "rates",
    "regressors",
    "step_jacobians",
    "steps",
    "task_space",
    "tensors",
    "virtual_power",
]
