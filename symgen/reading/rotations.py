"""Rotations of robots' files: quaternions, matrices and fixed-axis roll, pitch and yaw.

Files write pi/2 as 1.5708, 1.570796327 or with all digits. Within a tolerance such an angle is
rounded to the multiple of pi/2 (`RightAngleSnapper`), because an exact 0 or ±1 costs no operation
in the generated code."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from symgen.errors import Notice, OptionError, SourceLocation
from symgen.mechanics.spatial import Matrix3, Pose, Triple, axes_across
from symgen.numbers.decimals import cos, norm, sin
from symgen.reading.checked_values import Values, as_list, as_matrix, as_number, as_vector3
from symgen.reading.description import Origin
from symgen.text import quoted

ROUNDING: Final = 4e-15
"""How far from a multiple of pi/2 rounding alone can bring an angle (rad)."""

Rows = Sequence[Sequence[float]]
CosSin = tuple[float, float]
"""The cosine and the sine of an angle."""


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
    return _from_cos_sin(*map(_cos_sin, rpy))


def _from_cos_sin(roll: CosSin, pitch: CosSin, yaw: CosSin) -> Matrix3:
    """Rz(yaw) Ry(pitch) Rx(roll) from the cosine and sine of each angle."""
    (cr, sr), (cp, sp), (cy, sy) = roll, pitch, yaw
    return (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )


def _cos_sin(angle: float) -> tuple[float, float]:
    quarters = round(angle / (math.pi / 2))
    if angle != quarters * (math.pi / 2):
        return cos(angle), sin(angle)
    return QUARTERS[quarters % 4]


def rpy_from_rotation(r: Rows) -> Triple:
    """Roll, pitch and yaw of a rotation (rad), right to rounding wherever the pitch is: the roll is
    taken from what is left of the rotation when the yaw is undone."""
    yaw = math.atan2(r[1][0], r[0][0])
    if math.hypot(r[1][0], r[0][0]) < ROUNDING:
        yaw = 0.0
    c, s = _cos_sin(_snapped(yaw))
    roll = math.atan2(s * r[0][2] - c * r[1][2], c * r[1][1] - s * r[0][1])
    pitch = math.atan2(-r[2][0], c * r[0][0] + s * r[1][0])
    return _snapped(roll), _snapped(pitch), _snapped(yaw)


def _snapped(angle: float) -> float:
    """The angle, without what rounding adds to a multiple of pi/2."""
    right = round(angle / (math.pi / 2)) * (math.pi / 2)
    return right + 0.0 if abs(angle - right) <= ROUNDING else angle


def origin_from_pose(pose: Pose, line: int) -> Origin:
    """A pose as a `RobotDescription` has it."""
    x, y, z = (p + 0.0 for p in pose.position)
    return Origin(line, (x, y, z), rpy_from_rotation(pose.rotation))


DEFAULT_SNAP_TOLERANCE = 1e-9
"""The default of --snap-angles (rad)."""

REPORTED_OFFSET = 1e-3
"""Angles this close (rad) to a multiple of pi/2, but not made exact, are reported."""

QUARTERS = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))
MAX_QUARTERS = 4096
"""For larger multiples of a right angle, the nearest double is not unique."""


@dataclass(frozen=True, slots=True)
class RightAngle:
    """An angle near `quarters` times pi/2, and whether it was made exact.

    `what` is where it stands in `element` (``rpy``, ``inertial rpy``, ``--lock``); `angle` and
    `offset`, its signed distance from the multiple, are in rad."""

    place: SourceLocation
    element: str
    what: str
    angle: float
    quarters: int
    offset: float
    exact: bool

    @property
    def multiple(self) -> str:
        """The multiple in words, such as ``-pi/2``."""
        halves, odd = divmod(self.quarters, 2)
        if odd:
            return {1: "pi/2", -1: "-pi/2"}.get(self.quarters, f"{self.quarters}*pi/2")
        return {0: "0", 1: "pi", -1: "-pi"}.get(halves, f"{halves}*pi")


@dataclass(frozen=True, slots=True)
class RightAngleSnapper:
    """Turns angles into rotations, making those within `tolerance` (rad) of a right angle exact.

    `found` collects every angle that was changed or was near; tolerance 0 changes none.
    """

    tolerance: float
    found: list[RightAngle] = field(default_factory=list)

    def cos_sin(self, angle: float, place: SourceLocation, element: str, where: str) -> CosSin:
        """Cosine and sine of `angle`; the other arguments say where it stands."""
        quarters = round(angle / (math.pi / 2)) if abs(angle) < MAX_QUARTERS else 0
        offset = angle - quarters * (math.pi / 2)
        written = abs(offset) <= math.ulp(angle)  # the nearest double: nothing is changed
        exact = self.tolerance > 0 and (written or abs(offset) <= self.tolerance)
        if abs(offset) <= REPORTED_OFFSET and angle and not (exact and written):
            self.found.append(RightAngle(place, element, where, angle, quarters, offset, exact))
        return QUARTERS[quarters % 4] if exact else (cos(angle), sin(angle))

    def rotation(
        self, rpy: Triple, place: SourceLocation, element: str, where: str = "rpy"
    ) -> Matrix3:
        """Rz(yaw) Ry(pitch) Rx(roll), as URDF defines it."""
        return _from_cos_sin(*(self.cos_sin(angle, place, element, where) for angle in rpy))

    def notices(self) -> tuple[Notice, ...]:
        """One note per element and fate of its angles; a detail where nothing is changed but what a
        file rounds by itself."""
        groups: dict[tuple[SourceLocation, str, str, bool], list[RightAngle]] = {}
        for angle in self.found:
            key = angle.place, angle.element, angle.what, angle.exact
            groups.setdefault(key, []).append(angle)
        return tuple(
            Notice(
                place,
                "note",
                element,
                _message(where, exact, angles),
                SNAPS_SUMMARY,
                not exact or all(abs(angle.offset) <= DEFAULT_SNAP_TOLERANCE for angle in angles),
            )
            for (place, element, where, exact), angles in groups.items()
        )


SNAPS_SUMMARY = "angles close to multiples of pi/2 were rounded in {count} places ({elements})"


def _message(where: str, exact: bool, angles: list[RightAngle]) -> str:
    if exact:
        return f"{where} rounded from " + ", ".join(f"{a.angle!r} to {a.multiple}" for a in angles)
    offsets = ", ".join(f"{a.angle!r} is {abs(a.offset):.1e} rad from {a.multiple}" for a in angles)
    return f"{where} used as written: {offsets}"


def rotation_about_axis(axis: Triple, c: float, s: float) -> Matrix3:
    """Rotation about unit `axis` by the angle with cosine `c` and sine `s`; exact about coordinate
    axes."""
    x, y, z = axis
    v = 1.0 - c
    return (
        (x * x + c * (1.0 - x * x), v * x * y - s * z, v * x * z + s * y),
        (v * x * y + s * z, y * y + c * (1.0 - y * y), v * y * z - s * x),
        (v * x * z - s * y, v * y * z + s * x, z * z + c * (1.0 - z * z)),
    )


def frame_origin(
    label: str,
    line: int,
    xyz: Values,
    rpy: Values,
    rotation: Rows | None,
    quaternion: Values | None,
) -> Origin:
    """The origin of a frame, its rotation given in one of three ways. Raises OptionError."""
    angles = as_vector3(f"{label}: rpy", rpy)
    given_ways = {"rotation": rotation, "quaternion": quaternion, "rpy": any(angles) or None}
    ways = [word for word, x in given_ways.items() if x is not None]
    if len(ways) > 1:
        raise OptionError(f"{label}: {quoted(ways)} both give the orientation; keep one of them")
    place = as_vector3(f"{label}: xyz", xyz, allow_symbols=True)
    if rotation is not None:
        entries = as_list(f"{label}: rotation", rotation)
        rows = as_matrix(f"{label}: rotation", entries, "three rows")
        return Origin(line, place, rpy_from_rotation(_checked_rotation(label, rows)))
    if quaternion is not None:
        return Origin(
            line,
            place,
            rpy_from_rotation(rotation_from_quaternion(*_quaternion(label, quaternion))),
        )
    return Origin(line, place, angles)


def _checked_rotation(label: str, rows: Sequence[Triple]) -> Rows:
    """The rows of a rotation. Raises OptionError for another matrix."""
    products = [
        sum(a * b for a, b in zip(rows[i], rows[j], strict=True)) - (i == j)
        for i in range(3)
        for j in range(i + 1)
    ]
    (a, b, c), (d, e, f), (g, h, i) = rows
    right_handed = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) > 0
    if max(map(abs, products)) > 1e-6 or not right_handed:
        raise OptionError(
            f"{label}: rotation is not a rotation matrix; give a right-handed matrix with "
            "orthonormal rows"
        )
    return rows


def _quaternion(label: str, numbers: Values) -> tuple[float, float, float, float]:
    """w, x, y, z of a quaternion x, y, z, w. Raises OptionError."""
    entries = as_list(f"{label}: quaternion", numbers)
    components = [as_number(f"{label}: quaternion", x, allow_symbols=False) for x in entries]
    if len(components) != 4 or not any(components):
        raise OptionError(
            f"{label}: quaternion must be four numbers x, y, z, w that are not all zero"
        )
    x, y, z, w = components
    return w, x, y, z


def as_unit_vector(label: str, axis: Values) -> Triple:
    """A direction as a unit vector. Raises OptionError."""
    x, y, z = as_vector3(f"{label}: axis", axis)
    length = norm(x, y, z)
    if not length:
        raise OptionError(f"{label}: axis is zero; give a direction such as (0, 0, 1)")
    return (x, y, z) if length == 1 else (x / length, y / length, z / length)


def unit_vector(v: Triple) -> tuple[Triple, float]:
    """The unit vector along a vector other than 0, and the length of the vector; nothing overflows,
    whatever that is."""
    size = max(map(abs, v))
    scaled = [a / size for a in v]
    length = norm(*scaled)
    x, y, z = v if norm(*v) == 1 else (a / length for a in scaled)
    return (x, y, z), length * size


def with_z_along(rotation: Matrix3, axis: Triple) -> Matrix3:
    """A rotation matrix with its z axis along an axis of the frame that `rotation` gives."""
    length = norm(*axis) or 1.0
    z = Pose(rotation).rotate((axis[0] / length, axis[1] / length, axis[2] / length))
    x, y = axes_across(z)
    return Pose((x, y, z)).inverse.rotation
