"""What can be computed: one file an algorithm, each a row in the registry."""

from symgen.algorithms import composite, newton_euler
from symgen.algorithms.registry import INPUTS, QUANTITIES, Formulation, Input, Quantity

__all__ = ["INPUTS", "QUANTITIES", "Formulation", "Input", "Quantity", "composite", "newton_euler"]
