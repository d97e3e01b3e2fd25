"""Numbers given in Python: checked, with SymPy symbols where a robot may have them; and values for
the symbols of a robot."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

from symgen.errors import OptionError
from symgen.mechanics.inertia_checks import tensor_trouble
from symgen.mechanics.spatial import Triple
from symgen.numbers.decimals import norm
from symgen.numbers.scalar import NamedNumber, named_or_float
from symgen.reading.description import Inertial, Origin, RobotDescription
from symgen.reading.rotations import Rows, rotation_from_quaternion, rpy_from_rotation
from symgen.text import quoted, shown

Values = Sequence[Any]
"""Numbers, or SymPy expressions of symbols where it says so."""

ZEROS: Final = (0.0, 0.0, 0.0)


def as_number(label: str, x: Any, allow_symbols: bool = True) -> float:
    """A finite number, or a symbol's. Raises OptionError."""
    try:
        number = named_or_float(x) if not isinstance(x, (str, bytes, bool)) else math.nan
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if number - number != 0:
        raise OptionError(f"{label} is {shown(repr(x), 60)}; give a finite number")
    if isinstance(number, NamedNumber) and not allow_symbols:
        raise OptionError(
            f"{label} contains the symbol {x}; only lengths, masses and inertia can be "
            "symbols, and gravity with the option gravity='runtime'"
        )
    return number


def as_list(label: str, values: Any) -> list[Any]:
    """The entries of a list. Raises OptionError for what is none."""
    try:
        return list(values)
    except TypeError:
        raise OptionError(f"{label} is {shown(repr(values), 60)}; give a list") from None


def as_vector3(label: str, values: Values, allow_symbols: bool = False) -> Triple:
    """Three of them. Raises OptionError."""
    try:
        x, y, z = values
    except (TypeError, ValueError):
        raise OptionError(f"{label} is {shown(repr(values), 60)}; give three numbers") from None
    return (
        as_number(label, x, allow_symbols),
        as_number(label, y, allow_symbols),
        as_number(label, z, allow_symbols),
    )


def as_unit_vector(label: str, axis: Values) -> Triple:
    """A direction as a unit vector. Raises OptionError."""
    x, y, z = as_vector3(f"{label}: axis", axis)
    length = norm(x, y, z)
    if not length:
        raise OptionError(f"{label}: axis is zero; give a direction such as (0, 0, 1)")
    return (x, y, z) if length == 1 else (x / length, y / length, z / length)


def inertia_tensor(name: str, inertia: Values | None) -> tuple[float, ...]:
    """The six of a tensor given so or as a matrix. Raises OptionError."""
    if inertia is None:
        return (0.0,) * 6
    label = f"link '{shown(name)}': inertia"
    rows = as_list(label, inertia)
    if len(rows) == 3:
        matrix = _matrix(label, rows, f"{TENSOR_ENTRIES} or three rows", allow_symbols=True)
        if any(matrix[i][j] != matrix[j][i] for i in range(3) for j in range(i)):
            raise OptionError(f"{label} is not symmetric; give {TENSOR_ENTRIES}")
        return tuple(matrix[i][j] for i in range(3) for j in range(i, 3))
    if len(rows) != 6:
        raise OptionError(f"{label} has {len(rows)} numbers; give {TENSOR_ENTRIES}")
    return tuple(as_number(label, x) for x in rows)


TENSOR_ENTRIES: Final = "ixx, ixy, ixz, iyy, iyz, izz"


def _matrix(
    label: str, rows: Sequence[Any], expected: str, allow_symbols: bool = False
) -> list[Triple]:
    """Rows of three. Raises OptionError where they are none."""
    try:
        matrix = [[*row] for row in rows if not isinstance(row, str)]
    except TypeError:
        matrix = []
    if len(matrix) != 3 or any(len(row) != 3 for row in matrix):
        raise OptionError(f"{label} is not a 3 x 3 matrix; give {expected}")
    return [as_vector3(label, row, allow_symbols) for row in matrix]


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
        rows = _matrix(f"{label}: rotation", entries, "three rows")
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


def symbols(robot: RobotDescription) -> tuple[str, ...]:
    """The names of the symbols in it, in alphabetical order."""
    return tuple(
        sorted({s.name for x in _symbolic_values(robot) for s in x.expression.free_symbols})
    )


def _symbolic_values(value: Any) -> list[NamedNumber]:
    if isinstance(value, NamedNumber):
        return [value]
    if isinstance(value, tuple):
        return [x for part in value for x in _symbolic_values(part)]
    if is_dataclass(value) and not isinstance(value, type):
        return [x for field in fields(value) for x in _symbolic_values(getattr(value, field.name))]
    return []


def substitute(robot: RobotDescription, values: Mapping[Any, Any]) -> RobotDescription:
    """The robot with numbers, or other expressions, for some of its symbols, by symbol or by name.

    Raises OptionError for a symbol that it does not have, and for what is no number."""
    known = symbols(robot)
    expected = {str(symbol): x for symbol, x in values.items()}
    unknown = [name for name in expected if name not in known]
    if unknown:
        has = quoted(known, 30) or "none"
        raise OptionError(f"the robot has no symbol {quoted(unknown)}; it has {has}")
    changed: RobotDescription = _with_values(robot, expected)
    digest = f"{robot.sha256} {sorted((name, str(x)) for name, x in expected.items())}"
    return replace(changed, sha256=hashlib.sha256(digest.encode()).hexdigest())


def _with_values(value: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(value, NamedNumber):
        return _evaluated(value, values)
    if isinstance(value, tuple):
        return tuple(_with_values(part, values) for part in value)
    if not is_dataclass(value) or isinstance(value, type) or not _symbolic_values(value):
        return value
    changed = replace(
        value, **{f.name: _with_values(getattr(value, f.name), values) for f in fields(value)}
    )
    if isinstance(changed, Inertial):
        return replace(changed, trouble=tensor_trouble(changed.tensor, changed.mass))
    return changed


def _evaluated(x: NamedNumber, values: Mapping[str, Any]) -> float:
    expression = x.expression
    known = {s: values[s.name] for s in expression.free_symbols if s.name in values}
    try:
        return named_or_float(expression.subs(known))
    except (TypeError, ValueError):
        values_in_words = ", ".join(
            f"{symbol} = {shown(repr(value), 40)}" for symbol, value in known.items()
        )
        raise OptionError(f"{expression} is not a finite number at {values_in_words}") from None
