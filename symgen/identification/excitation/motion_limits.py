"""Limits that a motion must keep to: positions, velocities and forces of the user's coordinates,
from the limits of joints."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from symgen.errors import OptionError, RobotError, SourceLocation
from symgen.mechanics.model import Body, RigidBodyModel
from symgen.numbers.types import Numbers
from symgen.reading.assemble import LoadedRobot
from symgen.text import hint, repeated, shown

KINDS: Final = ("lower", "upper", "velocity", "effort")
LARGEST: Final = 1e9
"""What is larger limits nothing (and overflows in squares)."""
TURN: Final = math.pi
"""How far a continuous joint goes to either side where nothing else is said (rad)."""


@dataclass(frozen=True)
class Bounds:
    """Lower and upper positions (rad or m), speeds (rad/s or m/s) and forces (N m or N), n each."""

    lower: Numbers
    upper: Numbers
    speed: Numbers
    force: Numbers

    def within(self, margin: float) -> "Bounds":
        """The same with this part of each taken off: of ranges half at either end."""
        cut, rest = margin * (self.upper - self.lower) / 2, 1 - margin
        return Bounds(self.lower + cut, self.upper - cut, rest * self.speed, rest * self.force)

    def excess(self, q: Numbers, qd: Numbers, tau: Numbers) -> Numbers:
        """The excess of states (N x n each) over limits, in parts of the half range, speed or force
        (N x 3 n)."""
        middle, half = (self.upper + self.lower) / 2, (self.upper - self.lower) / 2
        used = np.hstack(
            [np.abs(q - middle) / half, np.abs(qd) / self.speed, np.abs(tau) / self.force]
        )
        return np.asarray(used - 1.0)


def bounds(loaded: LoadedRobot, given: Sequence[tuple[str, str, float]]) -> Bounds:
    """The limits of a robot's joints, `given` ones (joint, kind, value) before those of the file;
    those of no joint ("", kind, value) hold for the joints of which the file gives none.

    Joints that mimic others bind their leaders. Raises SymgenError, one sentence, where a limit is
    missing or leaves nothing."""
    model, stated = loaded.model, _given(loaded.model, given)
    if model.closures:
        raise OptionError("symgen excite does not support robots with closed loops; remove them")
    several = next((joint for _, joint in model.joints if not joint.type.has_one_coordinate), None)
    if several is not None:
        name = shown(several.name)
        raise OptionError(
            f"joint '{name}' is {several.kind}, and symgen excite supports only joints with one "
            "coordinate; fix the base or select a part of the robot with --root and --tip"
        )
    return _of_user(loaded, [_limits(loaded, body, stated) for body in model.bodies])


def _given(
    model: RigidBodyModel, given: Sequence[tuple[str, str, float]]
) -> Mapping[tuple[str, str], float]:
    names = [body.joint.name for body in model.bodies if not body.joint.type.is_rotor]
    cited = [f"{name}.{kind}" if name else kind for name, kind, _ in given]
    for (name, kind, _), limit in zip(given, cited, strict=True):
        if (name and name not in names) or kind not in KINDS:
            noun, known = ("limit", KINDS) if name in names or not name else ("joint", names)
            wrong = kind if noun == "limit" else name
            raise OptionError(
                f"--limit {shown(limit)}: no {noun} is called '{shown(wrong)}'; "
                f"{hint(wrong, tuple(known))}"
            )
    twice = repeated(cited)
    if twice is not None:
        raise OptionError(f"--limit {shown(twice)}: two values are given; keep one of them")
    return {(name, kind): value for name, kind, value in given}


def _limits(
    loaded: LoadedRobot, body: Body, given: Mapping[tuple[str, str], float]
) -> tuple[float, ...] | None:
    """lower, upper, velocity, effort of a body's joint; None of a rotor, infinite where a follower
    is silent."""
    if body.joint.type.is_rotor:
        return None
    joint, of_all, usual = body.joint, given, dict[str, float]()
    if body.follows:
        usual, of_all = {"lower": -math.inf, **dict.fromkeys(KINDS[1:], math.inf)}, {}
    elif joint.type.unbounded and joint.limits.lower is None and joint.limits.upper is None:
        usual = {"lower": -TURN, "upper": TURN}  # half a turn to either side
    known = dict[str, float]()
    for kind in KINDS:
        own, stated = given.get((joint.name, kind)), getattr(joint.limits, kind)
        values = (own, stated, of_all.get(("", kind)), usual.get(kind))
        value = next((x for x in values if x is not None), None)
        if value is not None:
            known[kind] = value
    for fault in _faults(known, joint.name):
        raise _error(loaded, body, fault)
    return tuple(float(known[kind]) for kind in KINDS)


def _faults(known: Mapping[str, float], name: str) -> Iterator[str]:
    """What is wrong with the limits of a joint, a sentence each."""
    if missing := [kind for kind in KINDS if kind not in known]:
        yield (
            f"has no {' and no '.join(missing)} limit; give --limit {shown(name)}.{missing[0]}"
            f"=VALUE, --limit {missing[0]}=VALUE for all joints or add it to <limit>"
        )
    if known["lower"] >= known["upper"]:
        yield (
            f"cannot move: its lower limit {known['lower']:g} is not below its upper limit "
            f"{known['upper']:g}"
        )
    for kind in (kind for kind in KINDS if LARGEST < abs(known[kind]) < math.inf):
        yield (
            f"its {kind} limit {known[kind]:g} is too large to be a real limit; give --limit "
            f"{shown(name)}.{kind}=VALUE"
        )
    for kind in (kind for kind in KINDS[2:] if not known[kind] > 0):
        yield (
            f"cannot move: its {kind} limit is {known[kind]:g}; give --limit "
            f"{shown(name)}.{kind}=VALUE"
        )


def _error(loaded: LoadedRobot, body: Body, message: str) -> RobotError:
    """In the file, at the link that the joint moves; a motor moves none of its own."""
    kind = "motor" if body.joint.type.is_rotor else "joint"
    place = loaded.places.get(body.name, SourceLocation(loaded.file, 1))
    return RobotError(place, f"{kind} '{shown(body.joint.name)}'", message)


def _of_user(loaded: LoadedRobot, limits: Sequence[tuple[float, ...] | None]) -> Bounds:
    """Limits of the coordinates that the user moves, with those of their followers; forces are the
    leaders' own."""
    rows = dict[int, list[float]]()
    for i, (body, limit) in enumerate(zip(loaded.model.bodies, limits, strict=True), 1):
        if body.follows is None:
            rows[i] = [-math.inf, math.inf, math.inf, math.inf] if limit is None else [*limit]
    for body, limit in zip(loaded.model.bodies, limits, strict=True):
        if body.follows is not None and limit is not None:
            if len(body.follows.terms) > 1:
                raise _error(
                    loaded,
                    body,
                    "depends on several joints or motors, and symgen excite cannot derive their "
                    "limits from its own; select a part of the robot without it (--root, --tip) "
                    "or lock it (--lock)",
                )
            ((number, factor),), offset = body.follows.terms, body.follows.offset
            if factor:
                leader = rows[number]
                low, high = sorted((end - offset) / factor for end in limit[:2])
                leader[0], leader[1] = max(leader[0], low), min(leader[1], high)
                leader[2] = min(leader[2], limit[2] / abs(factor))
                if loaded.model.body(number).joint.type.is_rotor:
                    leader[3] = min(leader[3], limit[3] * abs(factor))
    for i, row in rows.items():
        infinite = [kind for kind, x in zip(KINDS, row, strict=True) if math.isinf(x)]
        fault = (
            "cannot move: the limits of the joints that mimic it leave no range of positions"
            if row[0] >= row[1]
            else f"drives a joint without {infinite[0]} limit; give --limit "
            f"JOINT.{infinite[0]}=VALUE"
            if infinite
            else ""
        )
        if fault:
            raise _error(loaded, loaded.model.body(i), fault)
    table = np.array([rows[i] for i, _ in loaded.model.leading]).T
    return Bounds(*table)
