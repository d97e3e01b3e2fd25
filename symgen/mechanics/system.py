"""The robot as algorithms see it: canonical frames and regrouped inertial parameters,
scalar-generic."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from symgen.errors import OptionError
from symgen.mechanics.canonical import Landing, idle
from symgen.mechanics.coupling import UNCOUPLED, Coupling
from symgen.mechanics.floating import Afloat
from symgen.mechanics.inertia import NO_INERTIA, Inertia
from symgen.mechanics.joints import JointType
from symgen.mechanics.model import Pose
from symgen.mechanics.spatial import NO_FORCE, Angle, Force, Shift, Step, Turn, Vector
from symgen.numbers.operations import sign, tanh
from symgen.numbers.scalar import ZERO, Scalar
from symgen.text import quoted, shown

Carried = TypeVar("Carried", Force, Inertia)
Position = Scalar
"""The position of a body's joint: a scalar, or what `symgen.mechanics.afloat` has for a floating
one."""

Sections = Callable[[str], AbstractContextManager[None]]


def no_section(title: str) -> AbstractContextManager[None]:
    """Where no tape listens."""
    return nullcontext()


@dataclass(frozen=True, slots=True)
class Placement:
    """How to reach a body's frame from its parent's, as a function of the joint coordinate."""

    landing: Landing
    theta0: Angle
    r: Scalar
    joint: JointType
    free: int = 0
    """The place of the body in the run of a floating joint, 0 where it is in none."""

    def approach(self, q: Position) -> tuple[Step, ...]:
        """From the parent's frame to the joint frame, in which the joint's axis never moves.

        It goes with the parent; that of a floating joint goes with the body.
        """
        if not self.free:
            return self.landing.steps
        end = Shift(2, self.r), Turn(2, self.theta0)
        constant = (*self.landing.steps, *(step for step in end if not idle(step)))
        return (*constant, *q.steps) if isinstance(q, Afloat) else constant

    def own(self, q: Position) -> tuple[Step, ...]:
        """From the joint frame to the body's: the part of the way that the coordinate moves, and
        r."""
        return () if self.free else self.steps(q)[len(self.landing.steps) :]

    def turns(self, q: Scalar) -> tuple[Turn, ...]:
        """The rotations on the way, outermost first; turns about one axis are merged."""
        own = Turn(2, self.joint.turn(q) + self.theta0)
        path = self.landing
        if path.alpha.is_zero and path.beta.is_zero:
            return (Turn(2, path.gamma + own.angle),)
        every = (Turn(2, path.gamma), Turn(0, path.alpha), Turn(1, path.beta), own)
        return tuple(turn for turn in every if not turn.angle.is_zero)

    def slide(self, q: Scalar) -> Scalar:
        """Displacement along the body's own z axis, after the turns."""
        return self.joint.slide(q) + self.r

    def steps(self, q: Position) -> tuple[Step, ...]:
        """The elementary steps from the parent's frame to the body's."""
        if self.free:
            return self.approach(q)
        own = Turn(2, self.joint.turn(q) + self.theta0)
        end = Shift(2, self.slide(q))
        return (
            *self.landing.steps,
            *(() if own.angle.is_zero else (own,)),
            *(() if end.length is ZERO else (end,)),
        )

    def carried_in(self, thing: Carried, q: Position) -> Carried:
        """A force or an inertia of the body, about the parent's origin in the parent's axes."""
        for step in reversed(self.steps(q)):
            thing = thing.moved_in(step)
        return thing


@dataclass(frozen=True, slots=True)
class Friction:
    """What a joint's drive needs beyond the dynamics: viscous q̇ + coulomb sign(q̇) + offset (N m
    or N).

    With a `width` (rad/s or m/s) the step of Coulomb friction is smooth, tanh(q̇ / width) in place
    of the sign."""

    viscous: Scalar = ZERO
    coulomb: Scalar = ZERO
    offset: Scalar = ZERO
    width: float = 0.0

    def force(self, rate: Scalar) -> Scalar:
        """The whole at joint rate `rate`; sign(0) = 0."""
        return self.moving(rate) + self.offset

    def moving(self, rate: Scalar) -> Scalar:
        """The part that vanishes at rest."""
        rubbing = ZERO if self.coulomb is ZERO else self.coulomb * direction(rate, self.width)
        return self.viscous * rate + rubbing

    def slope(self, rate: Scalar) -> Scalar:
        """The derivative of the force in the joint rate; a sign has none, wherever it has a
        derivative."""
        if self.coulomb is ZERO or not self.width:
            return self.viscous
        step = direction(rate, self.width)
        return self.viscous + self.coulomb * (1.0 / self.width) * (1.0 - step * step)


def direction(rate: Scalar, width: float) -> Scalar:
    """The sign of a joint rate, 0 at rest; with a width (rad/s or m/s) its smooth stand-in
    tanh(rate / width)."""
    return tanh(rate * (1.0 / width)) if width else sign(rate)


NO_FRICTION = Friction()
FRICTION_COLUMNS: Final[dict[str, Callable[[Scalar, float], Scalar]]] = {
    "viscous": lambda rate, width: rate,
    "coulomb": direction,
    "offset": lambda rate, width: 1.0,
}
"""The kinds of friction, by the regressor column that each coefficient has at a joint rate, with
the width of the step of Coulomb friction."""


@dataclass(frozen=True, slots=True)
class SystemBody:
    """One body: its parent's number, its link's name, its placement and its regrouped inertia.

    `constant` tells whether the inertia is known at generation, so that sums of its parts cost
    nothing. `wrench` is what the surroundings do to the body, about its frame's origin."""

    parent: int
    name: str
    placement: Placement
    inertia: Inertia
    constant: bool = True
    wrench: Force = NO_FORCE
    friction: Friction = NO_FRICTION

    @property
    def joint(self) -> JointType:
        return self.placement.joint

    @property
    def free(self) -> int:
        """The place of the body in the run of a floating joint, 0 where it is in none."""
        return self.placement.free

    def regrouped(self, inertia: Inertia) -> tuple[Inertia, Inertia]:
        """What the body keeps and what its parent can carry; a floating body keeps all."""
        return (inertia, NO_INERTIA) if self.free else self.joint.regrouped(inertia)


@dataclass(frozen=True, slots=True)
class Seat:
    """Where a link's frame is: on which body (0: the base), and its pose in that body's frame (0:
    the root's)."""

    body: int
    pose: Pose


@dataclass(frozen=True, slots=True)
class System:
    """A tree in canonical frames. `gravity[i]` is free-fall acceleration in the base axes of base
    joint i.

    `roots[i]` is the pose of those base axes in the root link's frame, `seats` has every link of
    the file by name. `any_gravity` tells that free fall is not known at generation."""

    bodies: tuple[SystemBody, ...]
    order: tuple[int, ...]
    gravity: Mapping[int, Vector]
    sections: Sections = no_section
    roots: Mapping[int, Pose] = field(default_factory=dict)
    seats: Mapping[str, Seat] = field(default_factory=dict)
    any_gravity: bool = False
    friction_kinds: tuple[str, ...] = ()
    """Which columns regressors have for each joint of `rubbing_joints`, behind those of the
    inertial parameters."""
    friction_width: float = 0.0
    """Of the step of Coulomb friction in those columns (rad/s or m/s); 0 for the sign."""
    coupling: Coupling = UNCOUPLED
    tens: tuple[int, ...] = ()
    """The bodies that consist of links, which have ten parameters each."""
    rubbing_joints: tuple[int, ...] = ()
    """The bodies whose joints may have friction."""

    def section(self, i: int, step: str) -> AbstractContextManager[None]:
        """Marks what is computed inside as one step for body `i`; only a tape cares."""
        return self.sections(f"body {i}, {self.body(i).name}: {step}")

    def body(self, i: int) -> SystemBody:
        return self.bodies[i - 1]

    def seat(self, name: str) -> Seat:
        """Where the link `name` is. Raises OptionError."""
        if name not in self.seats:
            raise OptionError(
                f"no link is called '{shown(name)}'; there are {quoted(list(self.seats))}"
            )
        return self.seats[name]

    def pushed(self, links: Sequence[str], wrenches: Sequence[Scalar]) -> "System":
        """The system under external wrenches: six numbers a link, force then moment, link axes,
        link origin.

        Those on links of the base have no effect. Raises OptionError for a link that does not
        exist."""
        total = {i: body.wrench for i, body in enumerate(self.bodies, 1)}
        for k, link in enumerate(links):
            seat, six = self.seat(link), wrenches[6 * k : 6 * k + 6]
            if seat.body:
                total[seat.body] = total[seat.body] + Force(
                    Vector(*six[:3]), Vector(*six[3:])
                ).placed(seat.pose)
        return replace(
            self, bodies=tuple(replace(b, wrench=total[i]) for i, b in enumerate(self.bodies, 1))
        )

    def rubbing(self, coefficients: Sequence[Friction]) -> "System":
        """The system with friction in its joints, in body order."""
        pairs = zip(self.bodies, coefficients, strict=True)
        return replace(
            self, bodies=tuple(replace(body, friction=friction) for body, friction in pairs)
        )

    def own(self, i: int) -> Pose:
        """The frame of body `i` in the file, that of its ten parameters, in its canonical frame."""
        return self.seats[self.body(i).name].pose

    @property
    def size(self) -> int:
        """The number of bodies, each with one coordinate."""
        return len(self.bodies)

    @property
    def dof(self) -> int:
        """The number of the user's velocities."""
        return self.coupling.velocities

    @property
    def rotors(self) -> tuple[int, ...]:
        """The bodies with one parameter, inertia about their axis; in regressors they come behind
        the others."""
        return tuple(i for i, body in enumerate(self.bodies, 1) if body.joint.balanced)

    @property
    def columns(self) -> dict[int, range]:
        """The columns of regressors that belong to each body: ten, or one for a rotor."""
        ten, first = 10, 10 * len(self.tens)
        own = {i: range(ten * k, ten * k + ten) for k, i in enumerate(self.tens)}
        return own | {i: range(first + k, first + k + 1) for k, i in enumerate(self.rotors)}

    @property
    def parameters(self) -> int:
        """The number of inertial parameters of all bodies."""
        return 10 * len(self.tens) + len(self.rotors)

    def first_of_run(self, i: int) -> int:
        """The first body of the floating joint that body `i` belongs to; `i` where it belongs to
        none."""
        return i - max(self.body(i).free - 1, 0)

    @property
    def leaders(self) -> tuple[int, ...]:
        """For each body the one that has its coordinate: itself, unless it follows another."""
        own: dict[int, int] = {}
        for i, drive in enumerate(self.coupling.drives, 1):
            if not drive.follows:
                own[drive.index] = i
        return tuple(own[drive.index] for drive in self.coupling.drives)

    @property
    def coordinates_inward(self) -> tuple[int, ...]:
        """The numbers of the user's coordinates, from 1, those of the outermost bodies first."""
        found: dict[int, None] = {}
        for i in self.outward:
            found.setdefault(self.coupling.drives[i - 1].index + 1)
        return tuple(reversed(found))

    @property
    def outward(self) -> Iterator[int]:
        return iter(self.order)

    @property
    def inward(self) -> Iterator[int]:
        return reversed(self.order)

    def ancestors(self, i: int) -> Iterator[int]:
        """`i`'s parent, its parent, ... down to the body on the base."""
        while i := self.body(i).parent:
            yield i
