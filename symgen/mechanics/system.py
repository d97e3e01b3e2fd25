"""The robot as algorithms see it: canonical frames and regrouped inertial parameters, scalar-generic."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from symgen.mechanics.canonical import Landing
from symgen.mechanics.joints import JointType
from symgen.mechanics.spatial import Angle, Inertia, Shift, Step, Turn, Vector
from symgen.scalar import ZERO, Scalar


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


@dataclass(frozen=True, slots=True)
class SystemBody:
    """One body: its parent's number, its placement, its (regrouped) inertia, gravity for a base joint."""

    parent: int
    name: str
    placement: Placement
    inertia: Inertia

    @property
    def joint(self) -> JointType:
        return self.placement.joint


@dataclass(frozen=True, slots=True)
class System:
    """A tree in canonical frames. `gravity[i]` is free-fall acceleration in the base axes of base joint i."""

    bodies: tuple[SystemBody, ...]
    order: tuple[int, ...]
    gravity: Mapping[int, Vector]

    def body(self, i: int) -> SystemBody:
        return self.bodies[i - 1]

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
