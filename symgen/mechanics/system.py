"""The robot as algorithms see it: canonical frames and regrouped inertial parameters, scalar-generic."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from symgen.errors import OptionError
from symgen.mechanics.canonical import Landing
from symgen.mechanics.inertia import Inertia
from symgen.mechanics.joints import JointType
from symgen.mechanics.model import Pose
from symgen.mechanics.spatial import NO_FORCE, Angle, Force, Shift, Step, Turn, Vector
from symgen.mechanics.xml_reader import quoted, shown
from symgen.scalar import ZERO, Scalar, sign, tanh

Carried = TypeVar("Carried", Force, Inertia)
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

    def steps(self, q: Scalar) -> tuple[Step, ...]:
        """The elementary steps from the parent's frame to the body's."""
        own = Turn(2, self.joint.turn(q) + self.theta0)
        end = Shift(2, self.slide(q))
        return (*self.landing.steps, *(() if own.angle.is_zero else (own,)), *(() if end.length is ZERO else (end,)))


    def carried_in(self, thing: Carried, q: Scalar) -> Carried:
        """A force or an inertia of the body, about the parent's origin in the parent's axes."""
        for step in reversed(self.steps(q)):
            thing = thing.moved_in(step)
        return thing


@dataclass(frozen=True, slots=True)
class Friction:
    """What a joint's drive needs beyond the dynamics: viscous q̇ + coulomb sign(q̇) + offset (N m or N).

    With a `width` (rad/s or m/s) the step of Coulomb friction is smooth, tanh(q̇ / width) in place of the sign.
    """

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
        """The derivative of the force in the joint rate; a sign has none, wherever it has a derivative."""
        if self.coulomb is ZERO or not self.width:
            return self.viscous
        step = direction(rate, self.width)
        return self.viscous + self.coulomb * (1.0 / self.width) * (1.0 - step * step)


def direction(rate: Scalar, width: float) -> Scalar:
    """The sign of a joint rate, 0 at rest; with a width (rad/s or m/s) its smooth stand-in tanh(rate / width)."""
    return tanh(rate * (1.0 / width)) if width else sign(rate)


NO_FRICTION = Friction()
FRICTION_COLUMNS: Final[dict[str, Callable[[Scalar, float], Scalar]]] = {
    "viscous": lambda rate, width: rate,
    "coulomb": direction,
    "offset": lambda rate, width: 1.0,
}
"""The kinds of friction, by the regressor column that each coefficient has at a joint rate, with the width of the
step of Coulomb friction."""


@dataclass(frozen=True, slots=True)
class SystemBody:
    """One body: its parent's number, its link's name, its placement and its regrouped inertia.

    `constant` tells whether the inertia is known at generation, so that sums of its parts cost nothing. `wrench` is
    what the surroundings do to the body, about its frame's origin.
    """

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


@dataclass(frozen=True, slots=True)
class Seat:
    """Where a link's frame is: on which body (0: the base), and its pose in that body's frame (0: the root's)."""

    body: int
    pose: Pose


@dataclass(frozen=True, slots=True)
class System:
    """A tree in canonical frames. `gravity[i]` is free-fall acceleration in the base axes of base joint i.

    `roots[i]` is the pose of those base axes in the root link's frame, `seats` has every link of the file by name.
    `any_gravity` tells that free fall is not known at generation.
    """

    bodies: tuple[SystemBody, ...]
    order: tuple[int, ...]
    gravity: Mapping[int, Vector]
    sections: Sections = no_section
    roots: Mapping[int, Pose] = field(default_factory=dict)
    seats: Mapping[str, Seat] = field(default_factory=dict)
    any_gravity: bool = False
    friction_kinds: tuple[str, ...] = ()
    """Which columns regressors have for each joint, behind those of the inertial parameters."""
    friction_width: float = 0.0
    """Of the step of Coulomb friction in those columns (rad/s or m/s); 0 for the sign."""

    def section(self, i: int, step: str) -> AbstractContextManager[None]:
        """Marks what is computed inside as one step for body `i`; only a tape cares."""
        return self.sections(f"body {i}, {self.body(i).name}: {step}")

    def body(self, i: int) -> SystemBody:
        return self.bodies[i - 1]

    def seat(self, name: str) -> Seat:
        """Where the link `name` is. Raises OptionError."""
        if name not in self.seats:
            raise OptionError(f"no link is called '{shown(name)}'; there are {quoted(list(self.seats))}")
        return self.seats[name]

    def pushed(self, links: Sequence[str], wrenches: Sequence[Scalar]) -> "System":
        """The system under external wrenches: six numbers a link, force then moment, link axes, link origin.

        Those on links of the base have no effect. Raises OptionError for a link that does not exist.
        """
        total = {i: body.wrench for i, body in enumerate(self.bodies, 1)}
        for k, link in enumerate(links):
            seat, six = self.seat(link), wrenches[6 * k : 6 * k + 6]
            if seat.body:
                total[seat.body] = total[seat.body] + Force(Vector(*six[:3]), Vector(*six[3:])).placed(seat.pose)
        return replace(self, bodies=tuple(replace(b, wrench=total[i]) for i, b in enumerate(self.bodies, 1)))

    def rubbing(self, coefficients: Sequence[Friction]) -> "System":
        """The system with friction in its joints, in body order."""
        pairs = zip(self.bodies, coefficients, strict=True)
        return replace(self, bodies=tuple(replace(body, friction=friction) for body, friction in pairs))

    def own(self, i: int) -> Pose:
        """The frame of body `i` in the file, that of its ten parameters, in its canonical frame."""
        return self.seats[self.body(i).name].pose

    @property
    def dof(self) -> int:
        return len(self.bodies)

    @property
    def outward(self) -> Iterator[int]:
        return iter(self.order)

    @property
    def inward(self) -> Iterator[int]:
        return reversed(self.order)

    def ancestors(self, i: int) -> Iterator[int]:
        """`i`'s parent, its parent, ... down to the body on the base."""
        while (i := self.body(i).parent):
            yield i
