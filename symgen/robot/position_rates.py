"""Relations between velocities and rates of positions: rates of quaternions, and small
displacements of a state."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.errors import OptionError
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.joints.body_axes import BodyAxesJoint, quaternion_rows, twist_from_rates
from symgen.mechanics.model import RigidBodyModel
from symgen.native.library import MASKED, is_masked
from symgen.numbers.scalar import plain
from symgen.numbers.types import Numbers


def vector(name: str, values: Any, size: int, default: Any) -> Numbers:
    """`values` as an array of `size` finite numbers without masked entries. Raises OptionError."""
    if is_masked(values):
        raise OptionError(f"{name} {MASKED}")
    array = np.array(default if values is None else values, dtype=float).ravel()
    if array.shape != (size,) or not np.isfinite(array).all():
        raise OptionError(f"{name} needs {size} finite numbers, not {array.tolist()}"[:300])
    return array


def normalized(model: RigidBodyModel, q: Numbers) -> Numbers:
    """The positions with normalized quaternions. Raises OptionError for a quaternion of zeros."""
    unit = q.copy()
    for four in coupling_of(model).quaternions:
        length = float(np.linalg.norm(unit[four]))
        if not length:
            raise OptionError("q has a quaternion of zeros; give 0, 0, 0, 1 for no rotation")
        unit[four] /= length
    return unit


def rates(model: RigidBodyModel, q: Numbers, v: Numbers) -> Numbers:
    """The rates of the positions: velocities, and for a joint with a quaternion x, y, z, w turned
    by R the rates R v and ½ (x, y, z, w)(ω, 0) of its twist (v, ω) in the body's axes."""
    coupling, qd = coupling_of(model), np.zeros(len(q))
    for drive, (joint, part) in zip(coupling.drives, coupling.parts, strict=True):
        if not isinstance(joint, BodyAxesJoint):
            for term in drive.terms:  # of the user's own coordinates, whatever they move
                qd[term.position_index] = v[term.velocity_index]
            continue
        if drive.follows or part:
            continue
        quaternion = slice(drive.position_index, drive.position_index + len(joint.positions))
        first = drive.velocity_index - joint.constant_parts[0].velocity
        qd[quaternion] = _twisted(joint, q[quaternion], v[first : first + len(joint.velocities)])
    return qd


def _twisted(joint: Any, q: Numbers, v: Numbers) -> Numbers:
    twist = twist_from_rates(
        joint.units, [float(v[part.velocity]) for part in joint.constant_parts]
    )
    (x, y, z, w), (a, b, c) = q[joint.quaternion], map(plain, twist.w)
    turn = [w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a]
    spin = [*turn, -(x * a + y * b + z * c)]
    if joint.quaternion.start == 0:
        return np.array(spin) / 2
    rows = [[plain(e) for e in row] for row in quaternion_rows((x, y, z, w))]
    return np.concatenate([np.array(rows) @ [plain(e) for e in twist.v], np.array(spin) / 2])


def drift(model: RigidBodyModel, v: Numbers) -> NDArray[np.float64]:
    """How a small displacement turns with the motion at velocities `v`: δ̇ = δv - drift δ, which is
    ad of the twist for displacements in the body's axes, else 0. (Murray, Li & Sastry 1994, eq.
    2.58.)"""
    coupling, turning = coupling_of(model), np.zeros((len(v), len(v)))
    for drive, (joint, part) in zip(coupling.drives, coupling.parts, strict=True):
        if not isinstance(joint, BodyAxesJoint) or part or drive.follows:
            continue
        order = [
            drive.velocity_index - joint.constant_parts[0].velocity + p.velocity
            for p in joint.constant_parts
        ]
        basis = np.array([[*map(plain, u.w), *map(plain, u.v)] for u in joint.units]).T
        twist = basis @ v[order]
        w, zero = _cross(twist[:3]), np.zeros((3, 3))
        ad = np.block([[w, zero], [_cross(twist[3:]), w]])
        turning[np.ix_(order, order)] = np.linalg.pinv(basis) @ ad @ basis
    return turning


def _cross(a: Numbers) -> NDArray[np.float64]:
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
