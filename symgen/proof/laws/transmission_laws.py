"""The reference of the transmission to a joint: the coordinates of the textbook's bodies."""

from decimal import Decimal

import numpy as np

from symgen.numbers.scalar import ZERO
from symgen.numbers.types import DecimalArray
from symgen.proof.laws.law_registry import law
from symgen.proof.reference_kinematics import body_coordinate, body_rates
from symgen.proof.reference_model import entries_array
from symgen.proof.states import States


@law("transmission", "Newton's method and least squares on the gaps of the closed loops")
def transmission(x: States, joint: str) -> tuple[DecimalArray, ...]:
    """x, ẋ and the row of G."""
    body = next(i for i, b in enumerate(x.robot.model.bodies, 1) if b.joint.name == joint)
    course, n = x.textbook.course, x.n
    units = ([Decimal(1) if i == k else ZERO for i in range(n)] for k in range(n))
    rates = (body_rates(x.mechanism, course.positions, v)[body - 1] for v in (course.qd, *units))
    entries = [body_coordinate(x.mechanism, body, course.positions), *rates]
    values = entries_array(entries, x.shape, Decimal(0))
    position, rate, row = np.split(values, [1, 2], axis=-1)
    return position, rate, row
