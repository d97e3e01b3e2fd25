"""The user's coordinates, and those whose places motors take that are at other joints; and the
joints of a robot as in its file, whatever bodies they consist of, their rotors, and its closed
loops."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np

from symgen.mechanics.coupling import CoordinateMap, Coupling, coupling_of
from symgen.mechanics.elimination import Elimination
from symgen.mechanics.kinematic_loop import CUT_JOINTS, KinematicLoop
from symgen.mechanics.loop_geometry import cut_sides
from symgen.mechanics.loop_groups import PLANAR_UNKNOWNS, ExplicitLoop, joints_of
from symgen.mechanics.model import (
    Body,
    Closure,
    Joint,
    RigidBodyModel,
    constant_of_velocity,
    is_nonzero,
)
from symgen.numbers.scalar import ZERO, Scalar, plain
from symgen.text import shown

RANK_TOLERANCE: Final = 1e-9
"""The least singular value of G of motors that can move independently, as a part of its largest
entry."""


def velocity_row(drive: CoordinateMap, n: int) -> list[Scalar]:
    """The row of G of a body."""
    row: list[Scalar] = [ZERO] * n
    for term in drive.terms:
        row[term.velocity_index] = term.factor
    return row


@lru_cache(maxsize=8)
def sample_state(coupling: Coupling) -> tuple[Coupling, list[Any]]:
    """The coupling and the positions of the bodies' joints at numbers near positions 0."""
    q = [0.0] * coupling.positions
    for quaternion in coupling.quaternions:
        q[quaternion] = [0.0, 0.0, 0.0, 1.0]
    return coupling.at(coupling.normalized(q))


@lru_cache(maxsize=8)
def motor_coordinates(coupling: Coupling, bodies: tuple[int, ...]) -> tuple[int, ...] | None:
    """The coordinates whose places motors at the joints of some bodies take, in order: those that
    they move most near positions 0. None if motors move in proportion to each other there."""
    at, _ = sample_state(coupling)
    rows = [velocity_row(at.maps[body - 1], coupling.velocities) for body in bodies]
    numbers = np.array([[plain(x) for x in row] for row in rows])
    if np.linalg.matrix_rank(numbers, tol=RANK_TOLERANCE * np.abs(numbers).max()) < len(bodies):
        return None
    return tuple(Elimination.of([*map(list, zip(*rows, strict=True))]).rows)


def single_positions(coupling: Coupling) -> dict[int, int]:
    """By velocity of the user the place of its position, for joints with one coordinate."""
    pairs = zip(coupling.maps, coupling.joint_parts, strict=True)
    return {
        term.velocity_index: term.position_index
        for drive, (kind, _) in pairs
        if kind.has_one_coordinate and not drive.follows
        for term in drive.terms
    }


@dataclass(frozen=True, slots=True)
class UserCoordinate:
    """The description of a position, or of the coordinate whose rate is a velocity of the user."""

    name: str
    link: str
    """The link that its joint moves."""
    kind: str
    unit: str


def position_coordinates(model: RigidBodyModel) -> list[UserCoordinate]:
    """The user's positions in order."""
    return [
        UserCoordinate(joint.coordinate(row.suffix), link, _kind(joint), row.unit)
        for link, joint in _links_of(model, model.positioned)
        for row in joint.type.positions
    ]


def velocity_coordinates(model: RigidBodyModel) -> list[UserCoordinate]:
    """The user's velocities in order."""
    return [
        UserCoordinate(joint.coordinate(row.suffix), link, _kind(joint), f"{row.unit}/s")
        for link, joint in _links_of(model, model.leading)
        for row in joint.type.velocities
    ]


def quaternions_of(model: RigidBodyModel) -> list[slice]:
    """The slices of the user's positions that are quaternions."""
    return coupling_of(model).quaternions


def _kind(joint: Joint) -> str:
    """The type of the joint that has a coordinate, or ``motor``."""
    return "motor" if joint.type.is_rotor else joint.kind


def _links_of(
    model: RigidBodyModel, joints: Sequence[tuple[int, Joint]]
) -> list[tuple[str, Joint]]:
    """Some joints, each with the link that it moves."""
    last = ((i + len(joint.type.velocities) - 1, joint) for i, joint in joints)
    return [(model.body(i).name, joint) for i, joint in last]


# -- joints, rotors and loops ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ListedJoint:
    """A joint of the file: the numbers of its bodies, the last of which has its links, and of its
    coordinates."""

    name: str
    kind: str
    """A key of JOINT_TYPES."""
    bodies: tuple[int, ...]
    body: Body
    """The last of its bodies."""
    positions: tuple[int, ...]
    """Indices into q, none of a joint that follows another."""
    velocities: tuple[int, ...]
    leaders: tuple[str, ...] = ()
    """The joints or motors that it follows."""
    follows: str = ""
    """How it follows others, as in ``0.8 near + 0.01``, or the closed loop that determines it."""

    @property
    def leader(self) -> str:
        """The coordinates that it follows, in words."""
        return " and ".join(self.leaders)

    @property
    def unit(self) -> str:
        """Unit of the coordinate, units of several."""
        return self.body.joint.type.unit


def listed_joints(model: RigidBodyModel) -> list[ListedJoint]:
    """The joints in the order of their bodies."""
    return _listed(model, [i for i, joint in model.joints if not joint.type.is_rotor])


def listed_motors(model: RigidBodyModel) -> list[ListedJoint]:
    """The motors whose angles are coordinates, in the order of these."""
    return _listed(model, [i for i, joint in model.leading if joint.type.is_rotor])


def _listed(model: RigidBodyModel, firsts: Iterable[int]) -> list[ListedJoint]:
    coupling, rows = coupling_of(model), list[ListedJoint]()
    for i, joint in ((i, model.body(i).joint) for i in firsts):
        first, run = model.body(i), tuple(range(i, i + len(joint.type.velocities)))
        coordinates: tuple[tuple[int, ...], tuple[int, ...]] = (), ()
        if first.follows is None:
            start = coupling.maps[i - 1].position_index
            coordinates = (
                tuple(range(start, start + len(joint.type.positions))),
                tuple(sorted(coupling.maps[k - 1].velocity_index for k in run)),
            )
        terms = first.follows.terms if first.follows else ()
        leaders = tuple(model.body(number).joint.name for number, _ in terms)
        rows.append(
            ListedJoint(
                joint.name,
                joint.kind,
                run,
                model.body(run[-1]),
                *coordinates,
                leaders,
                coupling_text(model, first),
            )
        )
    return rows


def coupling_text(model: RigidBodyModel, body: Body) -> str:
    """The coupling of a body as text, such as ``0.8 near + 0.01``; empty if it follows no other.
    Of a joint that a closed loop determines it names the loop, or has the polynomial."""
    if body.follows is None:
        return ""
    if not body.follows.terms:
        number = model.bodies.index(body) + 1
        closure = next(c for c in model.closures if number in c.dependent)
        return polynomial_text(model, closure) or f"closed loop '{shown(closure.name)}'"
    (first, factor), *others = body.follows.terms
    if not factor and not others:
        return "no joint, because it is fixed"
    times = "" if factor == 1 else "-" if factor == -1 else f"{factor!r} "
    text = f"{times}{model.body(first).joint.name}"
    for number, by in others:
        times = "" if abs(by) == 1 else f"{abs(by)!r} "
        text += f" {'-' if by < 0 else '+'} {times}{model.body(number).joint.name}"
    offset = body.follows.offset
    return text + (f" {'-' if offset < 0 else '+'} {abs(offset)!r}" if offset else "")


def polynomial_text(model: RigidBodyModel, closure: Closure) -> str:
    """A polynomial of a joint's position as text, such as ``0.1 + 0.5 near^2``; empty if the
    closure has none."""
    name = model.body(closure.bodies[1]).joint.name
    powers = ("", f" {name}", *(f" {name}^{k}" for k in range(2, len(closure.polynomial))))
    pairs = [(a, power) for a, power in zip(closure.polynomial, powers, strict=False) if a]
    text = " ".join(f"{'-' if a < 0 else '+'} {abs(a)!r}{power}" for a, power in pairs)
    return text.removeprefix("+ ") if text[:1] != "-" else f"-{text[2:]}"


def joint_of_velocity(model: RigidBodyModel, velocity: str) -> ListedJoint:
    """The joint or motor that has a velocity of this name."""
    index = model.joint_names.index(velocity)
    all_joints = (*listed_joints(model), *listed_motors(model))
    return next(joint for joint in all_joints if index in joint.velocities)


def rotor_of(body: Body) -> str:
    """The rotor that drives a body's joint, in words."""
    joint = body.joint
    if is_nonzero(joint.armature):
        if not joint.type.has_one_coordinate:
            rows = enumerate(joint.type.velocities)
            inertias = ((row.suffix, constant_of_velocity(joint.armature, k)) for k, row in rows)
            text = ", ".join(f"{x:.6g} ({suffix})" for suffix, x in inertias if x)
            return f"{text} kg m^2 or kg added to the joint's own inertia"
        unit = "kg m^2" if joint.type.unit == "rad" else "kg"
        return (
            f"{constant_of_velocity(joint.armature, 0):.6g} {unit} added to the joint's own inertia"
        )
    if joint.rotor is None:
        return ""
    mass = (
        [f"{joint.rotor.mass:.6g} kg added to the link that carries it"] if joint.rotor.mass else []
    )
    spins = (
        [f"{joint.rotor.inertia:.6g} kg m^2 at ratio {joint.rotor.ratio:.6g}"]
        if joint.rotor.inertia
        else []
    )
    return ", ".join((*spins, *mass))


def springs_of(joint: Joint) -> Iterator[str]:
    """The spring of each coordinate of a joint that has one."""
    for k, row in enumerate(joint.type.velocities):
        stiffness = constant_of_velocity(joint.stiffness, k)
        at = constant_of_velocity(joint.reference, k)
        unit, of = "N/m" if row.unit == "m" else "N m/rad", f" ({row.suffix})" if row.suffix else ""
        if stiffness:
            yield f"spring{of}: {stiffness:.6g} {unit} at {at:.6g} {row.unit}"


def carrying_link(model: RigidBodyModel, i: int) -> str:
    """The name of the link that carries the joint of body `i`, the innermost part of it where it
    has several."""
    at = model.body(i).parent
    while at and not model.body(at).links:
        at = model.body(at).parent
    return model.body(at).name if at else model.root


def index_range(indices: tuple[int, ...]) -> str:
    """Consecutive indices as text, such as ``3`` or ``0 to 6``."""
    if len(indices) < 2:
        return "".join(map(str, indices))
    return f"{indices[0]} to {indices[-1]}"


@dataclass(frozen=True, slots=True)
class ListedLoop:
    """A closed loop: its cut joint, the names of the joints that it determines and of the others,
    and the number of equations of the cut joint. `gaps` are how far equations that depend on the
    others are from 0 (m; rad or differences of a cosine) where the loop closes."""

    closure: Closure
    dependent: tuple[str, ...]
    others: tuple[str, ...]
    equations: int
    gaps: tuple[float, float] = (0.0, 0.0)
    is_parallelogram: bool = False

    @property
    def kind(self) -> str:
        """What kind of loop it is, in words."""
        if self.closure.polynomial:
            return "polynomial"
        if self.is_parallelogram:
            return "parallelogram"
        return "planar loop" if len(self.dependent) == PLANAR_UNKNOWNS else "spatial loop"


MIN_REPORTED_GAP: Final = 1e-9
"""The least gap of an equation that is not one of rounding errors (mm or rad)."""


def remaining_gap_text(gaps: Sequence[float]) -> str:
    """The `gaps` of a loop as the end of a sentence; empty where they are rounding errors."""
    pairs = ((1e3 * gaps[0], "mm"), (gaps[1], "rad"))
    sizes = [f"{x:.2g} {unit}" for x, unit in pairs if x > MIN_REPORTED_GAP]
    return f", the others are {' and '.join(sizes)} off" if sizes else ""


def _gaps(model: RigidBodyModel, closure: Closure, loop: KinematicLoop) -> tuple[float, float]:
    sample = loop.sample
    gaps = cut_sides(model, closure).gap({**sample, **loop.positions(sample)})
    sizes, count = [abs(plain(x)) for x in gaps], CUT_JOINTS[closure.joint].lengths
    return max(sizes[:count], default=0.0), max(sizes[count:], default=0.0)


def listed_loops(model: RigidBodyModel) -> list[ListedLoop]:
    """The loops, each after those that determine joints of its chains."""
    rows, loops = [], {c: loop for loop in coupling_of(model).loops for c in loop.closures}
    for closure in model.closures:
        bodies = joints_of(model, closure)
        dependent, others = (
            tuple(model.body(i).joint.name for i in bodies if (i in closure.dependent) is chosen)
            for chosen in (True, False)
        )
        count = CUT_JOINTS[closure.joint].rows
        left = count > len(dependent)
        gaps = _gaps(model, closure, loops[closure]) if left else (0.0, 0.0)
        linear = isinstance(loops[closure], ExplicitLoop)
        rows.append(ListedLoop(closure, dependent, others, count, gaps, linear))
    return rows


def gruebler_mobility(model: RigidBodyModel) -> int:
    """The number of coordinates by Grübler's formula, which counts all equations as independent."""
    return model.dof - sum(x.equations - len(x.dependent) for x in listed_loops(model))
