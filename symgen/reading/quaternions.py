"""Rotations of formats that have quaternions or matrices, as the fixed-axis roll, pitch and yaw of
a `RobotDescription`."""

import math
from collections.abc import Sequence
from typing import Final

from symgen.mechanics.pose import Matrix3, Pose, Triple
from symgen.numbers.exact import cos, sin
from symgen.reading.description import Origin

ROUNDING: Final = 4e-15
"""How far from a multiple of pi/2 rounding alone can bring an angle (rad)."""

Rows = Sequence[Sequence[float]]


def rotation_from_quaternion(w: float, x: float, y: float, z: float) -> Matrix3:
    """The rotation by a quaternion other than 0, of any length."""
    s = 2.0 / (w * w + x * x + y * y + z * z)
    return (
        (1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)),
        (s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w)),
        (s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y)),
    )


def rotation_from_rpy(rpy: Triple) -> Matrix3:
    """Rz(yaw) Ry(pitch) Rx(roll); exact where the angles are the doubles next to right angles."""
    (cr, sr), (cp, sp), (cy, sy) = (_cos_sin(angle) for angle in rpy)
    return (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )


def _cos_sin(angle: float) -> tuple[float, float]:
    quarters = round(angle / (math.pi / 2))
    if angle != quarters * (math.pi / 2):
        return cos(angle), sin(angle)
    return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[quarters % 4]


def rpy_from_rotation(r: Rows) -> Triple:
    """Roll, pitch and yaw of a rotation (rad), right to rounding wherever the pitch is: the roll is
    taken from what is left of the rotation when the yaw is undone."""
    yaw = math.atan2(r[1][0], r[0][0])
    if math.hypot(r[1][0], r[0][0]) < ROUNDING:
        yaw = 0.0
    c, s = _cos_sin(_cleaned(yaw))
    roll = math.atan2(s * r[0][2] - c * r[1][2], c * r[1][1] - s * r[0][1])
    pitch = math.atan2(-r[2][0], c * r[0][0] + s * r[1][0])
    return _cleaned(roll), _cleaned(pitch), _cleaned(yaw)


def _cleaned(angle: float) -> float:
    """The angle, without what rounding adds to a multiple of pi/2."""
    right = round(angle / (math.pi / 2)) * (math.pi / 2)
    return right + 0.0 if abs(angle - right) <= ROUNDING else angle


def pose_from_origin(origin: Origin) -> Pose:
    """The pose that an origin says."""
    return Pose(rotation_from_rpy(origin.rpy), origin.xyz)


def origin_from_pose(pose: Pose, line: int) -> Origin:
    """A pose as a `RobotDescription` has it."""
    x, y, z = (p + 0.0 for p in pose.position)
    return Origin(line, (x, y, z), rpy_from_rotation(pose.rotation))
