"""What can be computed: one file an algorithm, each a row in the registry (in the order of these imports)."""

from symgen.algorithms import newton_euler  # isort: skip
from symgen.algorithms import composite  # isort: skip
from symgen.algorithms import coriolis  # isort: skip
from symgen.algorithms import christoffel  # isort: skip
from symgen.algorithms import forward_dynamics  # isort: skip
from symgen.algorithms import derivatives  # isort: skip
from symgen.algorithms.registry import INPUTS, QUANTITIES, Array, Formulation, Quantity

__all__ = [
    "INPUTS", "QUANTITIES", "Array", "Formulation", "Quantity",
    "christoffel", "composite", "coriolis", "derivatives", "forward_dynamics", "newton_euler",
]
