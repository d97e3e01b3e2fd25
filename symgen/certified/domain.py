"""The ranges of the inputs of a function, limits of the robot's file and of ``--limit``, and large
results within them, by random states and coordinate ascent: what a certified range is compared with
from below."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from symgen.algorithms import INPUTS
from symgen.algorithms.controllers import VALID_RANGES
from symgen.compiler.evaluate import levels, node_values
from symgen.compiler.passes import live_nodes
from symgen.compiler.program import Program
from symgen.errors import OptionError
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.joint_listing import position_coordinates
from symgen.mechanics.model import RigidBodyModel
from symgen.mechanics.standard_joints import JOINT_TYPES
from symgen.numbers.scalar import Numbers
from symgen.numbers.trig import TYPES
from symgen.text import cited, hint, shown

POSITION: Final = "position"
LIMIT_OF_INPUT: Final = {
    **dict.fromkeys(("q", "q_end", "q_ref"), POSITION),
    **dict.fromkeys(("qd", "qd_r", "qd_ref"), "velocity"),
    **dict.fromkeys(("qdd", "qdd_r", "qdd_ref"), "acceleration"),
    "tau": "effort",
}
"""The inputs with an entry for each coordinate, and the kind of limit that bounds it. Every other
input needs its own ``--limit``."""

LIMIT_KINDS: Final = ("lower", "upper", "velocity", "acceleration", "effort")
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


def validated_limits(model: RigidBodyModel, limits: Iterable[tuple[str, float]]) -> Limits:
    """The limits by name. Raises OptionError for a name that is neither ``JOINT.KIND``, ``KIND``
    nor an input, for a name that is given twice and for a value that is no limit."""
    joints = {row.name for row in position_coordinates(model)} | {*model.joint_names}
    by_name = dict[str, float]()
    for name, value in limits:
        joint, dot, kind = name.rpartition(".")
        known = kind in (*LIMIT_KINDS, POSITION) and (not dot or joint in joints)
        if not known and name not in INPUTS:
            names = [*joints] if dot and joint not in joints else [*LIMIT_KINDS, POSITION]
            wrong = joint if dot and joint not in joints else kind
            raise OptionError(
                f"--limit {cited(name)}: give JOINT.KIND, KIND or an input of a function; "
                f"{hint(wrong, names)}"
            )
        if name in by_name:
            raise OptionError(f"--limit {cited(name)}: two values are given; keep one of them")
        if not math.isfinite(value) or (value < 0.0 and kind not in ("lower", "upper")):
            raise OptionError(f"--limit {cited(name)}: give a finite limit that is not negative")
        by_name[name] = value
    return by_name


def domain(model: RigidBodyModel, program: Program, limits: Limits, function: str) -> Domain:
    """The ranges of the inputs that a program reads. Raises OptionError for a missing limit and for
    an empty range."""
    read = {program.nodes[i][1:] for i in live_nodes(program) if program.nodes[i].op == "input"}
    ranges = {}
    for name, shape in program.inputs:
        size = math.prod(shape)
        if any((name, k) in read for k in range(size)):
            entries = _ranges_of_input(model, name, size, limits)
            missing = [k for k in range(size) if (name, k) in read and entries[k] is None]
            if missing:
                raise _missing_limit(model, name, missing[0], function)
            # What is not read has no effect, so that the range may be a point.
            ranges[name] = tuple(entry or (0.0, 0.0) for entry in entries)
    return Domain(ranges)


def _ranges_of_input(
    model: RigidBodyModel, name: str, size: int, limits: Limits
) -> Sequence[Interval | None]:
    kind = LIMIT_OF_INPUT.get(name)
    if name in limits:
        return [(0.0 if name in VALID_RANGES else -limits[name], limits[name])] * size
    if kind is None:
        return [None] * size
    if kind == POSITION:
        return _position_ranges(model, limits)
    entries = list[Interval | None]()
    for coordinate in model.joint_names:
        of_file = getattr(model.limits[coordinate], kind, None)
        value = _first_given(limits.get(f"{coordinate}.{kind}"), of_file, limits.get(kind))
        entries.append(None if value is None else (-value, value))
    return entries


def _position_ranges(model: RigidBodyModel, limits: Limits) -> Sequence[Interval | None]:
    quaternions = {
        k
        for quaternion in coupling_of(model).quaternions
        for k in range(quaternion.start, quaternion.stop)
    }
    entries = list[Interval | None]()
    for k, row in enumerate(position_coordinates(model)):
        of_file = model.limits.get(row.name)
        of_joint, of_all = limits.get(f"{row.name}.{POSITION}"), limits.get(POSITION)
        is_unbounded = row.kind in JOINT_TYPES and JOINT_TYPES[row.kind].unbounded
        default = HALF_TURN if is_unbounded else None
        ends = [
            _first_given(
                limits.get(f"{row.name}.{end}"),
                None if of_joint is None else sign * of_joint,
                None if of_file is None else getattr(of_file, end),
                limits.get(end),
                None if of_all is None else sign * of_all,
                None if default is None else sign * default,
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


def _first_given(*values: float | None) -> float | None:
    return next((x for x in values if x is not None), None)


def _missing_limit(model: RigidBodyModel, name: str, k: int, function: str) -> OptionError:
    kind = LIMIT_OF_INPUT.get(name)
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


POSITION_GRID_POINTS: Final = 49
"""Values of a position that the ascent tries."""

ASCENT_STARTS: Final = 16
"""States from which the ascent of an output entry begins."""

ASCENT_PASSES: Final = 2

Inputs = Mapping[str, Numbers]
"""The entries of each input (entries x states)."""


def random_inputs(domain: Domain, count: int, rng: np.random.Generator) -> dict[str, Numbers]:
    """Random states of the domain in numbers of single precision. In half of them velocities and
    accelerations are at the ends of their ranges."""
    inputs = {}
    for name, ranges in domain.ranges.items():
        lower, upper = np.array(ranges).T[:, :, None]
        x = rng.uniform(lower, upper, (len(ranges), count))
        if name != "q":
            x[:, ::2] = np.where(rng.random(x[:, ::2].shape) < 0.5, lower, upper)
        inputs[name] = rounded_inward(x, lower, upper)
    return inputs


def rounded_inward(x: Numbers, lower: Numbers, upper: Numbers) -> Numbers:
    """Numbers of single precision next to `x` that are not outside of the range."""
    near = x.astype(np.float32)
    near = np.where(near > upper, np.nextafter(near, np.float32(-np.inf)), near)
    near = np.where(near < lower, np.nextafter(near, np.float32(np.inf)), near)
    rounded: Numbers = near.astype(np.float64)
    return rounded


def evaluated_outputs(program: Program, inputs: Inputs, scalar: str) -> Numbers:
    """The output entries, without structural zeros, as code in a scalar type computes them."""
    given = {name: x.astype(TYPES[scalar]) for name, x in inputs.items()}
    at, count = levels(program), max(np.shape(x)[1] for x in inputs.values())
    for name, shape in program.inputs:
        if name not in given:  # not read by any result
            given[name] = np.zeros((int(np.prod(shape)), count), TYPES[scalar])
    values = node_values(program, given, scalar)
    rows = np.concatenate([at.of(out.refs)[1] for out in program.outputs])
    signs = [r.negative for out in program.outputs for r in out.refs if r is not None]
    signed: Numbers = np.where(np.array(signs)[:, None], -1.0, 1.0) * values[rows]
    return signed


def search_largest_outputs(
    program: Program,
    domain: Domain,
    states: int,
    seed: int = 0,
    entries: Collection[int] | None = None,
) -> Numbers:
    """The largest absolute value of each output entry that is not always zero, among random states
    and after a coordinate ascent from the largest of them, for all entries or some."""
    rng = np.random.default_rng(seed)
    inputs = random_inputs(domain, states, rng)
    found = np.abs(evaluated_outputs(program, inputs, "double"))
    best: Numbers = found.max(axis=1)
    for k in range(len(found)) if entries is None else entries:
        top = np.argsort(found[k])[-ASCENT_STARTS:]
        states_of_entry = {n: x[:, top].copy() for n, x in inputs.items()}
        ascended = _coordinate_ascent(program, domain, states_of_entry, k)
        best = np.maximum(best, np.abs(evaluated_outputs(program, ascended, "double")).max(axis=1))
    return best


def _coordinate_ascent(
    program: Program, domain: Domain, states: dict[str, Numbers], entry: int
) -> Inputs:
    """States in which one output entry is larger, by trying values of one input at a time."""
    for _ in range(ASCENT_PASSES):
        for name, ranges in domain.ranges.items():
            for j, (lower, upper) in enumerate(ranges):
                if lower == upper:
                    continue
                count = POSITION_GRID_POINTS if name == "q" else 3
                grid = rounded_inward(np.linspace(lower, upper, count), *np.array([lower, upper]))
                width = states[name].shape[1]
                trial = {n: np.tile(x, (1, count)) for n, x in states.items()}
                trial[name][j] = np.repeat(grid, width)
                sizes = np.abs(evaluated_outputs(program, trial, "double")[entry]).reshape(
                    count, width
                )
                states[name][j] = grid[sizes.argmax(axis=0)]
    return states
