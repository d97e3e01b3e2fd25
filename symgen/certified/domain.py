"""The ranges of the inputs of a function: limits of the robot's file and of ``--limit``."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from symgen.algorithms import INPUTS
from symgen.algorithms.controllers import VALID_RANGES
from symgen.compiler.passes import live_nodes
from symgen.compiler.program import Program
from symgen.errors import OptionError
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.joint_listing import position_coordinates
from symgen.mechanics.joints import JOINT_TYPES
from symgen.mechanics.model import RigidBodyModel
from symgen.text import cited, hint, shown

POSITION: Final = "position"
KIND_OF_INPUT: Final = {
    **dict.fromkeys(("q", "q_end", "q_ref"), POSITION),
    **dict.fromkeys(("qd", "qd_r", "qd_ref"), "velocity"),
    **dict.fromkeys(("qdd", "qdd_r", "qdd_ref"), "acceleration"),
    "tau": "effort",
}
"""The inputs with an entry for each coordinate, and the kind of limit that bounds it. Every other
input needs its own ``--limit``."""

KINDS: Final = ("lower", "upper", "velocity", "acceleration", "effort")
"""The kinds of limits of a coordinate. ``position`` sets lower and upper."""

HALF_TURN: Final = math.pi
"""The largest angle of a continuous joint without limits (rad)."""

Interval = tuple[float, float]
Limits = Mapping[str, float]
"""The values of ``--limit`` by name: ``JOINT.KIND``, ``KIND`` or an input."""


@dataclass(frozen=True)
class Domain:
    """The range of each entry of each input that a function reads."""

    ranges: Mapping[str, tuple[Interval, ...]]

    @property
    def texts(self) -> list[str]:
        """The ranges as text; neighbours with the same range are one entry."""
        texts = []
        for name, ranges in self.ranges.items():
            start = 0
            for k in range(1, len(ranges) + 1):
                if k == len(ranges) or ranges[k] != ranges[start]:
                    index = f"{start}" if k == start + 1 else f"{start}..{k - 1}"
                    texts.append(_text(f"{name}[{index}]", ranges[start]))
                    start = k
        return texts


def _text(name: str, interval: Interval) -> str:
    lower, upper = interval
    if lower == -upper:
        return f"|{name}| <= {upper!r}"
    return f"{lower!r} <= {name} <= {upper!r}"


def checked_limits(model: RigidBodyModel, limits: Iterable[tuple[str, float]]) -> Limits:
    """The limits by name. Raises OptionError for a name that is neither ``JOINT.KIND``, ``KIND``
    nor an input, for a name that is given twice and for a value that is no limit."""
    joints = {row.name for row in position_coordinates(model)} | {*model.joint_names}
    found = dict[str, float]()
    for name, value in limits:
        joint, dot, kind = name.rpartition(".")
        known = kind in (*KINDS, POSITION) and (not dot or joint in joints)
        if not known and name not in INPUTS:
            names = [*joints] if dot and joint not in joints else [*KINDS, POSITION]
            wrong = joint if dot and joint not in joints else kind
            raise OptionError(
                f"--limit {cited(name)}: give JOINT.KIND, KIND or an input of a function; "
                f"{hint(wrong, names)}"
            )
        if name in found:
            raise OptionError(f"--limit {cited(name)}: two values are given; keep one of them")
        if not math.isfinite(value) or (value < 0.0 and kind not in ("lower", "upper")):
            raise OptionError(f"--limit {cited(name)}: give a finite limit that is not negative")
        found[name] = value
    return found


def domain(model: RigidBodyModel, program: Program, limits: Limits, function: str) -> Domain:
    """The ranges of the inputs that a program reads. Raises OptionError for a missing limit and for
    an empty range."""
    read = {program.nodes[i][1:] for i in live_nodes(program) if program.nodes[i].op == "input"}
    ranges = {}
    for name, shape in program.inputs:
        size = math.prod(shape)
        if any((name, k) in read for k in range(size)):
            entries = _entries(model, name, size, limits)
            wanted = [k for k in range(size) if (name, k) in read and entries[k] is None]
            if wanted:
                raise _missing(model, name, wanted[0], function)
            # What is not read has no effect, so that the range may be a point.
            ranges[name] = tuple(entry or (0.0, 0.0) for entry in entries)
    return Domain(ranges)


def _entries(
    model: RigidBodyModel, name: str, size: int, limits: Limits
) -> Sequence[Interval | None]:
    kind = KIND_OF_INPUT.get(name)
    if name in limits:
        return [(0.0 if name in VALID_RANGES else -limits[name], limits[name])] * size
    if kind is None:
        return [None] * size
    if kind == POSITION:
        return _positions(model, limits)
    entries = list[Interval | None]()
    for coordinate in model.joint_names:
        of_file = getattr(model.limits[coordinate], kind, None)
        value = _first(limits.get(f"{coordinate}.{kind}"), of_file, limits.get(kind))
        entries.append(None if value is None else (-value, value))
    return entries


def _positions(model: RigidBodyModel, limits: Limits) -> Sequence[Interval | None]:
    quaternions = {
        k for four in coupling_of(model).quaternions for k in range(four.start, four.stop)
    }
    entries = list[Interval | None]()
    for k, row in enumerate(position_coordinates(model)):
        of_file = model.limits.get(row.name)
        own, general = limits.get(f"{row.name}.{POSITION}"), limits.get(POSITION)
        turns = row.kind in JOINT_TYPES and JOINT_TYPES[row.kind].unbounded
        free = HALF_TURN if turns else None
        ends = [
            _first(
                limits.get(f"{row.name}.{end}"),
                None if own is None else sign * own,
                None if of_file is None else getattr(of_file, end),
                limits.get(end),
                None if general is None else sign * general,
                None if free is None else sign * free,
            )
            for end, sign in (("lower", -1.0), ("upper", 1.0))
        ]
        if k in quaternions:
            ends = [-1.0, 1.0]
        lower, upper = ends
        if lower is None or upper is None:
            entries.append(None)
            continue
        if lower > upper:
            raise OptionError(
                f"--certify: the lower limit {lower:g} of '{shown(row.name)}' is above its upper "
                f"limit {upper:g}"
            )
        entries.append((lower, upper))
    return entries


def _first(*values: float | None) -> float | None:
    return next((x for x in values if x is not None), None)


def _missing(model: RigidBodyModel, name: str, k: int, function: str) -> OptionError:
    kind = KIND_OF_INPUT.get(name)
    if kind is None:
        return OptionError(
            f"--certify: the input '{name}' of {function} has no range; give --limit {name}=VALUE"
        )
    rows = [row.name for row in position_coordinates(model)]
    joint = rows[k] if kind == POSITION else model.joint_names[k]
    return OptionError(
        f"--certify: '{shown(joint)}' has no {kind} limit, which {function} needs; give --limit "
        f"{kind}=VALUE for all joints or --limit {shown(joint)}.{kind}=VALUE"
    )
