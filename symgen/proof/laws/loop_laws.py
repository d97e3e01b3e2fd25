"""The law of Newton's steps on closed loops."""

from decimal import Decimal

import numpy as np

from symgen.numbers.types import DecimalArray
from symgen.proof.laws.law_registry import law
from symgen.proof.reference_kinematics import body_coordinate
from symgen.proof.states import States


@law("loop_closure", "Newton's method of the reference in 75 digits, at states that close")
def loop_closure(x: States) -> tuple[DecimalArray, DecimalArray]:
    """Positions of the reference, and no gap."""
    closed, mechanism = x.given["q"].copy(), x.mechanism
    for body, place in mechanism.held:
        closed[..., place] = body_coordinate(mechanism, body, x.textbook.course.positions)
    return closed, np.full((*x.shape, 1), Decimal(0))
