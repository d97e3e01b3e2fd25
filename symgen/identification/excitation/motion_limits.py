"""The options of an exciting motion, and the limits that it must keep to: positions, velocities and
forces of the user's coordinates, from the limits of joints."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from symgen.errors import OptionError, RobotError, SourceLocation
from symgen.mechanics.model import Body, RigidBodyModel
from symgen.numbers.scalar import Numbers
from symgen.options import group, option
from symgen.options.kinds import FLAG, NUMBER, NUMBER_PAIRS, TEXT, WHOLE
from symgen.reading.assemble import LoadedRobot
from symgen.reading.options import joint_values
from symgen.text import cited, hint, install, repeated, shown

KINDS: Final = ("lower", "upper", "velocity", "effort")
MAX_LIMIT: Final = 1e9
"""What is larger limits nothing (and overflows in squares)."""
CONTINUOUS_RANGE: Final = math.pi
"""How far a continuous joint goes to either side where nothing else is said (rad)."""


@dataclass(frozen=True)
class MotionBounds:
    """Lower and upper positions (rad or m), speeds (rad/s or m/s) and forces (N m or N), n each."""

    lower: Numbers
    upper: Numbers
    speed: Numbers
    force: Numbers

    @property
    def middle(self) -> Numbers:
        """The middle of each range."""
        return np.asarray((self.upper + self.lower) / 2)

    @property
    def half_range(self) -> Numbers:
        """Half of each range."""
        return np.asarray((self.upper - self.lower) / 2)

    def within(self, margin: float) -> "MotionBounds":
        """The same with this part of each taken off: of ranges half at either end."""
        cut, rest = margin * self.half_range, 1 - margin
        return MotionBounds(
            self.lower + cut, self.upper - cut, rest * self.speed, rest * self.force
        )

    def excess(self, q: Numbers, qd: Numbers, tau: Numbers) -> Numbers:
        """The excess of states (N x n each) over limits, in parts of the half range, speed or force
        (N x 3 n)."""
        used = np.hstack(
            [
                np.abs(q - self.middle) / self.half_range,
                np.abs(qd) / self.speed,
                np.abs(tau) / self.force,
            ]
        )
        return np.asarray(used - 1.0)


def motion_bounds(loaded: LoadedRobot, given: Sequence[tuple[str, str, float]]) -> MotionBounds:
    """The limits of a robot's joints, `given` ones (joint, kind, value) before those of the file;
    those of no joint ("", kind, value) hold for the joints of which the file gives none.

    Joints that mimic others bind their leaders. Raises SymgenError, one sentence, where a limit is
    missing or leaves nothing."""
    model, stated = loaded.model, _given_limits(loaded.model, given)
    if model.closures:
        raise OptionError("symgen excite does not support robots with closed loops; remove them")
    several = next((joint for _, joint in model.joints if not joint.type.has_one_coordinate), None)
    if several is not None:
        name = shown(several.name)
        raise OptionError(
            f"joint '{name}' is {several.kind}, and symgen excite supports only joints with one "
            "coordinate; fix the base or select a part of the robot with --root and --tip"
        )
    return _bounds_of_coordinates(
        loaded, [_joint_limits(loaded, body, stated) for body in model.bodies]
    )


def _given_limits(
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


def _joint_limits(
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
        usual = {
            "lower": -CONTINUOUS_RANGE,
            "upper": CONTINUOUS_RANGE,
        }  # half a turn to either side
    known = dict[str, float]()
    for kind in KINDS:
        own, stated = given.get((joint.name, kind)), getattr(joint.limits, kind)
        values = (own, stated, of_all.get(("", kind)), usual.get(kind))
        value = next((x for x in values if x is not None), None)
        if value is not None:
            known[kind] = value
    for fault in _limit_faults(known, joint.name):
        raise _error_at_joint(loaded, body, fault)
    return tuple(float(known[kind]) for kind in KINDS)


def _limit_faults(known: Mapping[str, float], name: str) -> Iterator[str]:
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
    for kind in (kind for kind in KINDS if MAX_LIMIT < abs(known[kind]) < math.inf):
        yield (
            f"its {kind} limit {known[kind]:g} is too large to be a real limit; give --limit "
            f"{shown(name)}.{kind}=VALUE"
        )
    for kind in (kind for kind in KINDS[2:] if not known[kind] > 0):
        yield (
            f"cannot move: its {kind} limit is {known[kind]:g}; give --limit "
            f"{shown(name)}.{kind}=VALUE"
        )


def _error_at_joint(loaded: LoadedRobot, body: Body, message: str) -> RobotError:
    """In the file, at the link that the joint moves; a motor moves none of its own."""
    kind = "motor" if body.joint.type.is_rotor else "joint"
    place = loaded.link_locations.get(body.name, SourceLocation(loaded.file, 1))
    return RobotError(place, f"{kind} '{shown(body.joint.name)}'", message)


def _bounds_of_coordinates(
    loaded: LoadedRobot, limits: Sequence[tuple[float, ...] | None]
) -> MotionBounds:
    """Limits of the coordinates that the user moves, with those of their followers; forces are the
    leaders' own."""
    rows = dict[int, list[float]]()
    for i, (body, limit) in enumerate(zip(loaded.model.bodies, limits, strict=True), 1):
        if body.follows is None:
            rows[i] = [-math.inf, math.inf, math.inf, math.inf] if limit is None else [*limit]
    for body, limit in zip(loaded.model.bodies, limits, strict=True):
        if body.follows is not None and limit is not None:
            if len(body.follows.terms) > 1:
                raise _error_at_joint(
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
            raise _error_at_joint(loaded, loaded.model.body(i), fault)
    table = np.array([rows[i] for i, _ in loaded.model.leading]).T
    return MotionBounds(*table)


# -- options ---------------------------------------------------------------------------------------


@group
class ExcitationPlan:
    """The options of a motion: harmonics, period (s), sample rate (Hz), the fraction of each limit
    that is kept free, whether it starts and ends at rest, its centre and the space that it may use,
    the seed and the budget of the search. Raises OptionError."""

    SECTION: ClassVar[str] = "Motion"

    harmonics: int = option(
        "--harmonics",
        "N",
        "Number of harmonics of the Fourier series of each joint.",
        WHOLE,
        default=5,
    )
    period: float = option(
        "--period",
        "S",
        "Period of the motion (s). The highest frequency is harmonics / period.",
        NUMBER,
        default=10.0,
    )
    rate: float = option("--rate", "HZ", "Sample rate of the motion (Hz).", NUMBER, default=1000.0)
    margin: float = option(
        "--margin",
        "FRACTION",
        "Fraction of every limit that the motion keeps free.",
        NUMBER,
        default=0.1,
    )
    rest: bool = option(
        "--rest", None, "Start and end with zero velocity and acceleration.", FLAG, default=False
    )
    around: tuple[tuple[str, float], ...] = option(
        "--around",
        "JOINT=VALUE",
        "Position of a joint (rad or m) that the motion is centred on; other joints are centred on "
        "the middle of their range.",
        NUMBER_PAIRS.with_example("{ JOINT = 0.0 }"),
        default=(),
        give="give JOINT=VALUE (rad or m), as in elbow=1.2",
        names=joint_values,
        separators="=",
    )
    keep_above: float | None = option(
        "--keep-above",
        "Z",
        "Lowest height (m) of the collision geometry of moving links in the frame of the root.",
        NUMBER,
        default=None,
    )
    workspace: str = option(
        "--workspace",
        "X0,X1,Y0,Y1,Z0,Z1",
        "Box (m) that contains the collision geometry of moving links, in the axes of the root "
        "link.",
        TEXT,
        default="",
    )
    self_clearance: float | None = option(
        "--self-clearance",
        "M",
        "Smallest distance (m) of links that no joint connects, by the collision geometry of the "
        f"file. Needs coal ({install('coal')}).",
        NUMBER,
        default=None,
    )
    seed: int = option(
        "--seed",
        "N",
        "Seed of the random motions from which the search starts.",
        WHOLE,
        default=0,
        rare=True,
    )
    budget: int = option(
        "--budget",
        "N",
        "Number of motions that the search evaluates, with gradients.",
        WHOLE,
        rare=True,
        default=300,
    )

    def validate(self) -> None:
        """Raises OptionError."""
        tests = {
            "--harmonics": (
                self.harmonics,
                1 + self.rest <= self.harmonics <= 50,
                f"a number from {1 + self.rest} to 50",
            ),
            "--period": (self.period, 0 < self.period <= 1e4, "a time in s up to 10000"),
            "--margin": (
                self.margin,
                0 <= self.margin < 1,
                "a fraction of the limits from 0 to below 1",
            ),
            "--seed": (self.seed, self.seed >= 0, "0 or more"),
            "--budget": (
                self.budget,
                1 <= self.budget <= 10**6,
                "a number of evaluations, such as 300",
            ),
            "--rate": (self.rate, 0 < self.rate <= 1e6, "a rate in Hz, such as 1000"),
        }
        for flag, (value, fine, give) in tests.items():
            if not fine:
                raise OptionError(f"{flag} {value:g}: give {give}")
        self._check_rows()
        if self.self_clearance is not None and not 0 <= self.self_clearance <= 10:
            raise OptionError(
                f"--self-clearance {self.self_clearance:g}: give a distance in m from 0 to 10"
            )
        lower, upper = self.box
        if not (lower < upper).all():
            raise OptionError(
                "--workspace and --keep-above: the box is empty; give X0 < X1, Y0 < Y1, Z0 < Z1"
            )

    @property
    def limits_space(self) -> bool:
        """Whether the motion has to keep to a free space."""
        return any(x is not None for x in (self.keep_above, self.self_clearance)) or bool(
            self.workspace
        )

    @property
    def box(self) -> tuple[Numbers, Numbers]:
        """Lower and upper corner (3 each, m, axes of the root link) of the box that moving links
        stay in. Raises OptionError."""
        sides = np.array([-np.inf, np.inf] * 3)
        if self.workspace:
            try:
                sides = np.array([float(x) for x in self.workspace.split(",")])
            except ValueError:
                sides = np.array([])
            if sides.shape != (6,) or not np.isfinite(sides).all():
                raise OptionError(
                    f"--workspace {cited(self.workspace)}: give X0,X1,Y0,Y1,Z0,Z1 in m, as in "
                    "-0.5,0.9,-0.6,0.6,0.05,1.2"
                )
        lower, upper = sides[::2].copy(), sides[1::2].copy()
        if self.keep_above is not None:
            lower[2] = max(lower[2], self.keep_above)
        return lower, upper

    def _check_rows(self) -> None:
        rows = self.period * self.rate
        if not math.isclose(rows, round(rows), rel_tol=1e-9) or rows > 10**7:
            raise OptionError(
                f"--rate {self.rate:g}: the period of {self.period:g} s must contain a whole "
                "number of samples, at most 10 million"
            )
        if rows < 4 * self.harmonics:
            raise OptionError(
                f"--rate {self.rate:g}: {self.harmonics} harmonics in {self.period:g} s need at "
                f"least {4 * self.harmonics / self.period:g} Hz"
            )

    @property
    def times(self) -> Numbers:
        """The times of the samples: one period without its end, which equals its start; with --rest
        the end is included."""
        return np.arange(round(self.period * self.rate) + self.rest) / self.rate
