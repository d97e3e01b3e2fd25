"""A test in linear time of whether the mass matrix of a robot is regular: articulated-body inertias
on numbers, without the matrix (Featherstone, Rigid Body Dynamics Algorithms, 2008, section 7.1)."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.inertia import Inertia
from symgen.mechanics.spatial import Twist, Vector
from symgen.numbers.scalar import ZERO, plain
from symgen.numbers.types import Numbers

CLEAR: Final = 1e-10
"""The least part of the inertia about a joint's axis, with all joints beyond it held, that is left
when these give way, and that shows that the joint moves inertia of its own. It is a thousand times
what the search for singular joints takes for zero."""

UNIT: Final = 2.0**-52
UNITS: Final = tuple(
    Twist(*(Vector(*(1.0 if 3 * part + k == row else ZERO for k in range(3))) for part in (0, 1)))
    for row in range(6)
)
"""The six unit twists, angular ones first."""


def all_joints_move_inertia(robot: CanonicalModel, q: Sequence[float]) -> bool:
    """True if at positions `q` every body has clearly positive inertia about its joint's axis when
    the joints beyond it give way, so that the mass matrix of the bodies' joints, and with it that
    of the user's coordinates, is positive definite. False does not mean that it is singular.

    An articulated inertia is a difference. A bound of its rounding errors is carried along as a
    quadratic form of motions, so that a remainder of nothing but rounding is not taken for one."""
    places = robot.coupling.normalized(q)
    articulated = np.zeros((robot.size + 1, 6, 6))
    errors, composite = np.zeros_like(articulated), np.zeros_like(articulated)
    for i in robot.inward:
        body, own = robot.body(i), _spatial(robot.body(i).inertia)
        articulated[i] += own
        composite[i] += own
        axis = _column(body.S)
        errors[i] += 6.0 * UNIT * np.diag(np.abs(np.diagonal(articulated[i])))
        felt = articulated[i] @ axis
        pivot = float(axis @ felt)
        least = CLEAR * float(axis @ composite[i] @ axis) + float(axis @ errors[i] @ axis)
        if not pivot > least:
            return False
        to_body = np.stack([_column(u.to_child(robot.steps(i, places))) for u in UNITS], axis=1)
        yielding = to_body - np.outer(axis, (felt / pivot) @ to_body)
        articulated[body.parent] += to_body.T @ articulated[i] @ yielding
        errors[body.parent] += yielding.T @ errors[i] @ yielding
        composite[body.parent] += to_body.T @ composite[i] @ to_body
    return True


def _column(x: Twist) -> Numbers:
    """A twist as six numbers, angular part first."""
    return np.array([plain(e) for e in (*x.w, *x.v)])


def _spatial(inertia: Inertia) -> Numbers:
    """The 6 x 6 matrix that takes a twist to momentum, angular part first."""
    m, (hx, hy, hz) = plain(inertia.m), (plain(x) for x in inertia.h)
    xx, xy, xz, yy, yz, zz = (plain(x) for x in inertia.s)
    lever: Any = [[0.0, -hz, hy], [hz, 0.0, -hx], [-hy, hx, 0.0]]
    tensor: Any = [[yy + zz, -xy, -xz], [-xy, xx + zz, -yz], [-xz, -yz, xx + yy]]
    return np.block([[np.array(tensor), np.array(lever)], [-np.array(lever), m * np.eye(3)]])
