"""What can be computed: one file an algorithm, each a row in the registry (in the order of these imports)."""

from symgen.algorithms import newton_euler  # isort: skip
from symgen.algorithms import composite  # isort: skip
from symgen.algorithms.registry import INPUTS, QUANTITIES, Array, Formulation, Quantity

__all__ = ["INPUTS", "QUANTITIES", "Array", "Formulation", "Quantity", "composite", "newton_euler"]
