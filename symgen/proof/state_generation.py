"""Test states: inputs that a robot can have (torques and accelerations that belong together,
parameters of possible bodies), and the selection of the states in which a wrong constant of the
code changes a result by more than rounding."""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, product
from random import Random
from typing import Final, Protocol, TypeVar

import numpy as np

from symgen.compiler.evaluate import Rows, evaluate_batch, levels, unique_values
from symgen.compiler.program import Index, Program
from symgen.mechanics.coupling import Coupling, coupling_of
from symgen.mechanics.joint_listing import velocity_coordinates
from symgen.mechanics.joint_type import quaternion_rows
from symgen.mechanics.model import RigidBodyModel
from symgen.numbers.decimals import decimal_precision
from symgen.numbers.scalar import Numbers, plain
from symgen.numbers.trig import SINES
from symgen.proof.bounds import RoundingErrors
from symgen.proof.laws.dynamics import mass, tau
from symgen.proof.states import States
from symgen.tracing.robot import ParametricModel

DIGITS = 4
"""Significant digits of the numbers made here."""

READ_BY_TEXTBOOK: Final = frozenset(
    {"q", "qd", "qdd", "g", "pi", "wrench", "thrust", "friction", "springs", "presliding"}
)
"""The inputs that joint forces and masses of the textbook depend on; those of controllers, which
are long, need not become decimals."""

Floats = tuple[float, ...]


def torques_and_accelerations(
    robot: ParametricModel, drawn: Sequence[Mapping[str, Sequence[float]]]
) -> list[tuple[Floats, Floats]]:
    """The joint forces of each state that the drawn accelerations need, within the efforts that the
    file allows, and the accelerations that follow from them.

    Joint friction and springs are left out. Effort limits of 0 say nothing (exporters write them
    for "unknown"). Where a joint needs no force, as without any mass, it keeps the drawn one. The
    textbook runs on decimal numbers, so that every machine makes the same."""
    rows = {name: [state[name] for state in drawn] for name in drawn[0]}
    limits = robot.lumped.limits
    allowed = [limits[row.name].effort for row in velocity_coordinates(robot.lumped)]
    efforts = np.array([abs(x) if x else np.inf for x in allowed])
    with decimal_precision():
        read = {name: rows[name] for name in rows.keys() & READ_BY_TEXTBOOK}
        x = replace(States.of(robot, read, has_external_forces=True), passive={})
        needed = tau(x).astype(float)
        wanted = np.where(needed == 0.0, rows["tau"], needed)
        forces = np.clip(wanted, -efforts, efforts)
        excess = np.where(needed == 0.0, 0.0, forces - needed)
        matrices = mass(x).astype(float) if excess.any() else needed
    rates = [
        np.array(qdd) + (_solution(m, more) if more.any() else 0.0)
        for qdd, m, more in zip(rows["qdd"], matrices, excess, strict=True)
    ]
    return [(_rounded(f), _rounded(r)) for f, r in zip(forces, rates, strict=True)]


def _solution(m: Numbers, forces: Numbers) -> Numbers:
    """M⁻¹ `forces` by elimination, zeros where M is singular."""
    rows = np.column_stack([m, forces])
    for k in range(len(rows)):
        if not rows[k, k] > 0:
            return np.zeros(len(rows))
        rows[k] /= rows[k, k]
        factors = rows[:, k].copy()
        factors[k] = 0.0
        rows -= factors[:, None] * rows[k]
    return rows[:, -1]


def _rounded(values: Iterable[float]) -> Floats:
    return tuple(float(f"{x:.{DIGITS}g}") for x in values)


def perturbed_parameters(rng: random.Random, parameters: Floats) -> Floats:
    """Parameters near those of the file, none of them zero: four small masses are put onto the
    link.

    They stay those of a possible body if the file's are, so that the mass matrix can be inverted.
    """
    added = [_point_mass((parameters[0] or 1.0) * rng.uniform(0.02, 0.1), rng) for _ in range(4)]
    return tuple(round(sum(column), 6) for column in zip(parameters, *added, strict=True))


def _point_mass(m: float, rng: random.Random) -> Floats:
    """The ten parameters of a mass at a random place."""
    x, y, z = (rng.uniform(0.02, 0.2) * rng.choice((-1, 1)) for _ in range(3))
    h = (m * x, m * y, m * z)
    return (
        m,
        *h,
        m * (y * y + z * z),
        -m * x * y,
        -m * x * z,
        m * (x * x + z * z),
        -m * y * z,
        m * (x * x + y * y),
    )


ANGLE_SHARE: Final = 0.45
"""The part of the bound of the sines' error that the orientation of a body may take: joint angles,
which are differences of two of them, and sums of consecutive ones stay within the bound."""

ANGLES_PER_RADIAN: Final = 16.0
"""Angles are multiples of its reciprocal (rad): exact in four decimals and in single precision, and
so are their sums."""


def with_large_angles(
    model: RigidBodyModel, q: Sequence[float], scalar: str, rng: Random
) -> tuple[float, ...]:
    """The positions `q` with random angles of up to 0.9 times the angle to which the sines of the
    scalar type are accurate, wherever a coordinate turns one body and moves no other one.

    Coordinates that slide, drive several bodies or belong to a quaternion keep their values. An
    angle of a screw or of a leader of others would be a large displacement elsewhere."""
    places = _angles(model)
    reach = ANGLE_SHARE * SINES[scalar].bound
    large, orientations = list(q), {0: 0.0}
    for i in model.outward:
        before = orientations[model.body(i).parent]
        orientations[i] = before
        if i in places:
            orientations[i] = (
                round(rng.uniform(-reach, reach) * ANGLES_PER_RADIAN) / ANGLES_PER_RADIAN
            )
            large[places[i]] = orientations[i] - before
    return tuple(large)


def _angles(model: RigidBodyModel) -> dict[int, int]:
    """By body the place of its angle among the positions, where nothing else depends on that."""
    coupling, drives = coupling_of(model), coupling_of(model).maps
    looped = {i for loop in coupling.loops for i in loop.bodies}
    rotors = {i for i, body in enumerate(model.bodies, 1) if body.joint.type.is_rotor}
    uses = Counter(
        term.position_index
        for i, drive in enumerate(drives, 1)
        if i not in rotors
        for term in drive.terms
    )
    return {
        i: drive.position_index
        for i, (body, drive) in enumerate(zip(model.bodies, drives, strict=True), 1)
        if i not in rotors
        and i not in looped
        and not drive.follows
        and not body.joint.type.in_body_axes
        and uses[drive.position_index] == 1
        and body.joint.type.parts(body.joint)[body.at].freedom.is_pure_rotation
    }


SELF_TEST_CHANGES: Final = {"double": 1e-6, "float": 1e-2}
"""The relative change of any number of the code that a self-test is to see, by scalar type."""

MIN_VISIBLE_CHANGE: Final = 1.5
"""Times its error bound, a change of an entry that is seen for certain."""

MAX_SELECTION_WORK: Final = 2e5
"""Operations times distinct output entries, the least first, up to which programs have a say."""


class ErrorModel(Protocol):
    """Some states, and how C computes there."""

    @property
    def scalar(self) -> str:
        """``double`` or ``float``."""

    def errors(self, program: Program) -> RoundingErrors:
        """The rounding errors of a program's outputs there."""


Changes = Mapping[tuple[Index, int], Numbers]
"""What shows of each operand that is a number, in each state."""

Drawn = TypeVar("Drawn")
State = TypeVar("State")


def choose_states(
    programs: Sequence[Program],
    first_drawn: Sequence[Drawn],
    draw: Callable[[int], list[Drawn]],
    finished: Callable[[Sequence[Drawn], Sequence[Program]], list[State]],
    at: Callable[[Sequence[State]], ErrorModel],
    candidates: int,
) -> list[State]:
    """As many states as `first_drawn`, in which wrong constants of the programs are visible: these,
    unless others among the `candidates` show more. The last of them is always in the result. States
    are `finished` for the programs that run there. In double precision nearly every change is
    visible in nearly every state, so that further states are rarely drawn."""
    drawn, affordable, count = [*first_drawn], _affordable(programs), len(first_drawn)
    first = finished(drawn, programs)
    sensitivities = [(p, sensitivity(p, at(first))) for p in affordable]
    insensitive = [
        p
        for p, changes in sensitivities
        if any(x.max() < MIN_VISIBLE_CHANGE for x in changes.values())
    ]
    if not insensitive:
        return first
    drawn += draw(candidates - count)
    computing = at(finished(drawn, insensitive))
    known = {p: sensitivity(p, computing) for p in insensitive}
    parts = _visibilities(known.values())
    most = parts.max(axis=1)
    if not ((most >= 1.0) & (most > MIN_IMPROVEMENT * parts[:, :count].max(axis=1))).any():
        return first
    every = finished(drawn, programs)
    changes = [known[p] if p in known else sensitivity(p, at(every)) for p in affordable]
    return [every[k] for k in sorted(select_test_states(changes, count, fixed=(count - 1,)))]


def finite_states(
    programs: Sequence[Program], regroup: Program | None, inputs: Mapping[str, Sequence[Floats]]
) -> list[bool]:
    """In which states all outputs of some programs are finite; `regroup` computes the parameters
    that they read."""
    rows = {name: np.array(x).T for name, x in inputs.items()}
    with np.errstate(all="ignore"):
        if regroup is not None:
            rows |= evaluate_batch(regroup, rows, "double")
        outputs = (x for p in programs for x in evaluate_batch(p, rows, "double").values())
        finite = [np.isfinite(x).all(axis=0) for x in outputs]
    return [bool(x) for x in np.all(finite, axis=0)]


MIN_IMPROVEMENT: Final = 1.01
"""Times what shows in the first states: what others must show to be looked at."""


def select_test_states(
    shown: Sequence[Changes], count: int, fixed: tuple[int, ...] = ()
) -> tuple[int, ...]:
    """`count` of the states: those that are `fixed`, then one after the other that in which most
    numbers of some programs show, by what is `visible` of each, that do not show in those
    before."""
    if not any(shown):
        return tuple(range(count))
    parts = _visibilities(shown)
    best, states = parts[:, list(fixed)].max(axis=1, initial=0.0), [*fixed]
    for _ in range(count - len(fixed)):
        gains = np.maximum(parts, best[:, None]).sum(axis=0)
        gains[states] = -1.0
        states.append(int(np.argmax(np.round(gains, 6))))
        best = np.maximum(best, parts[:, states[-1]])
    return tuple(states)


def _visibilities(shown: Iterable[Changes]) -> Numbers:
    """How much each number shows in each state, as far as more tells more."""
    rows: Numbers = np.array([row for changes in shown for row in changes.values()])
    return np.minimum(rows, MIN_VISIBLE_CHANGE)


def _affordable(programs: Sequence[Program]) -> list[Program]:
    """The programs that have a say, those of least work first."""
    ranked = sorted(programs, key=_work)
    return [
        p
        for p, w in zip(ranked, accumulate(map(_work, ranked)), strict=True)
        if w <= MAX_SELECTION_WORK
    ]


def _work(program: Program) -> int:
    entries = sum(len({ref.node for ref in out.refs if ref}) for out in program.outputs)
    return entries * len(levels(program).nodes)


def sensitivity(program: Program, at: ErrorModel) -> Changes:
    """For each operand that is a number (node and place) the largest change of any output entry
    beside its error bound, in each state, when the number changes by `CHANGES`."""
    errors, ordered = at.errors(program), levels(program)
    run = errors.run
    rows, places, numbers = _constant_operands(program)
    with np.errstate(all="ignore"):
        parts = run.slopes[places, rows] * run.values[numbers] * SELF_TEST_CHANGES[at.scalar]
        most = np.zeros_like(parts)
        _, rows_of = ordered.of(tuple(ref for out in program.outputs for ref in out.refs))
        for block, slopes in run.derivatives(unique_values(rows_of)):
            changes = np.abs(slopes[rows] * parts[:, None, :])
            changes /= errors.bounds_from_derivatives(block, slopes)
            largest = np.where(np.isfinite(changes), changes, 0.0).max(axis=1)
            np.maximum(most, largest, out=most)
    keys = zip(ordered.indices[rows].tolist(), places.tolist(), strict=True)
    return dict(zip(keys, most, strict=True))


def _constant_operands(program: Program) -> tuple[Rows, Rows, Rows]:
    """The operands that are numbers: rows of the nodes, places, and rows of the numbers."""
    at = levels(program)
    const = np.zeros(len(at.nodes) + 1, bool)
    for group in at.groups:
        const[group.rows] = group.op == "const"
    places, rows = np.nonzero(const[at.operands])
    return rows, places, at.operands[places, rows]


def with_random_unit_quaternions(
    coupling: Coupling, q: Sequence[float], random: Random
) -> tuple[float, ...]:
    """The positions with random unit quaternions of two decimals, for tests in any precision, and
    with all loops closed."""
    drawn = list(q)
    for four in coupling.quaternions:
        drawn[four] = random.choice(UNIT_QUATERNIONS)
    return coupling.closing_positions(drawn)


UNIT_QUATERNIONS: Final = tuple(
    quaternion
    for a, b, c in product(range(-90, 91, 10), repeat=3)
    for w in (math.isqrt(max(10000 - a * a - b * b - c * c, 0)),)
    if a * b * c * w and a * a + b * b + c * c + w * w == 10000
    for quaternion in ((a / 100, b / 100, c / 100, w / 100),)
    if all(abs(plain(x)) < 0.999 for row in quaternion_rows(quaternion) for x in row)
)
"""Some whose squares add up to 1 exactly, without those by which an axis becomes another one, as
there angles of roll and yaw are not defined."""
