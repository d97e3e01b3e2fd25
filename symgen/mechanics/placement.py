"""How to reach a body's frame from its parent's, as a function of the joint's position.

The way has two parts. `approach` leads to the joint frame, in which the joint's unit twist S is
constant, `to_body` from there to the body's frame. What a joint moves is one or the other: where
its axis moves with the parent the body moves against the joint frame, where its axes move with the
body that frame moves against the parent. (Khalil & Kleinfinger, ICRA 1986, for the constants.)"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from symgen.mechanics.spatial import (
    ZERO_VECTOR,
    Angle,
    Force,
    Shift,
    Step,
    Turn,
    Twist,
    Vector,
    axis_vector,
    is_identity,
)
from symgen.numbers.scalar import ZERO, Scalar

if TYPE_CHECKING:
    from symgen.mechanics.inertia import Inertia
    from symgen.mechanics.joint_type import Freedom

Carried = TypeVar("Carried", Force, "Inertia")
Of = TypeVar("Of")
Position = Any
"""The position of a body's joint: a scalar; for axes that move with the body what
`symgen.mechanics.joint_type` has."""


@dataclass(frozen=True, slots=True)
class Transform:
    """A change of frame: a shift by `offset` (m) in the present axes, then rotations, outermost
    first. (F08, eq. 2.24: X = rot(E) xlt(r).)"""

    offset: Vector = ZERO_VECTOR
    turns: tuple[Turn, ...] = ()


def steps_of(transforms: Iterable[Transform]) -> tuple[Step, ...]:
    """The elementary shifts and turns that transforms consist of."""
    steps = list[Step]()
    for x in transforms:
        steps += [Shift(k, length) for k, length in enumerate(x.offset) if length is not ZERO]
        steps += x.turns
    return tuple(steps)


def _merged(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """A rotation with turns about one axis that follow one another as one."""
    total: list[Turn] = []
    for turn in turns:
        if total and total[-1].axis == turn.axis >= 0:
            turn = Turn(turn.axis, total.pop().angle + turn.angle)
        if not turn.angle.is_zero:
            total.append(turn)
    return tuple(total)


@dataclass(frozen=True)
class ToAxis:
    """The constant steps from a frame to a joint's axis: Rot_z(γ) Trans_z(b) Trans_x(d) Trans_y(y)
    Rot_x(α) Rot_y(β). `y` is there only where lengths are symbols, so that no angle depends on
    them."""

    gamma: Angle = Angle()
    b: Scalar = ZERO
    d: Scalar = ZERO
    alpha: Angle = Angle()
    beta: Angle = Angle()
    y: Scalar = ZERO

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The elementary shifts and turns of the transform that are not idle, in order."""
        all_steps = (
            Shift(2, self.b),
            Turn(2, self.gamma),
            Shift(0, self.d),
            Shift(1, self.y),
            Turn(0, self.alpha),
            Turn(1, self.beta),
        )
        return tuple(step for step in all_steps if not is_identity(step))

    @property
    def offset(self) -> Vector:
        """The displacement of the origin by the steps, in the frame at their start."""
        c, s = self.gamma.cos_sin
        return Vector(self.d * c - self.y * s, self.d * s + self.y * c, self.b)

    @property
    def transform(self) -> Transform:
        """All steps as one shift and the turns after it."""
        return Transform(self.offset, tuple(s for s in self.steps if isinstance(s, Turn)))


@dataclass(frozen=True, slots=True)
class Placement:
    """The way to a body whose joint's axis moves with the parent: `to_axis`, and then about and
    along the axis by the coordinate, θ₀ and r."""

    to_axis: ToAxis
    theta0: Angle
    r: Scalar
    freedom: "Freedom"

    @property
    def twists(self) -> tuple[Twist, ...]:
        """The unit twists, in the body's axes, of the coordinates that move it against its parent:
        its own, and those of the bodies after it as far as there are more."""
        return (self.freedom.S,)

    def to_joint_frame(self, q: Position) -> tuple[Step, ...]:
        """The elementary steps from the parent's frame to the joint frame."""
        return self.to_axis.steps

    def to_body(self, q: Position) -> tuple[Step, ...]:
        """The elementary steps from the joint frame to the body's."""
        turn, shift = Turn(2, self.freedom.angle(q) + self.theta0), Shift(2, self.shift(q).z)
        return tuple(step for step in (turn, shift) if not is_identity(step))

    def steps(self, q: Position) -> tuple[Step, ...]:
        """The elementary steps from the parent's frame to the body's."""
        return *self.to_joint_frame(q), *self.to_body(q)

    def transforms(self, q: Position) -> tuple[Transform, ...]:
        """The approach with as few shifts as there can be."""
        return (self.to_axis.transform,)

    def turns(self, q: Position) -> tuple[Turn, ...]:
        """The rotations from the joint frame to the body's."""
        return tuple(step for step in self.to_body(q) if isinstance(step, Turn))

    def to_body_axes(self, q: Position) -> tuple[Transform, ...]:
        """The approach and the rotation to the body's axes, turns about one axis as one: all but
        the shift along the joint's axis."""
        *inner, last = self.transforms(q)
        return (*inner, Transform(last.offset, _merged((*last.turns, *self.turns(q)))))

    def shift(self, q: Position) -> Vector:
        """The displacement from the joint frame to the body's, in the latter's axes: along z."""
        return axis_vector(2, self.freedom.displacement(q) + self.r)

    def arm(self, q: Position) -> Vector:
        """The origin of the joint frame, in the axes of the parent."""
        arm = ZERO_VECTOR
        for transform in reversed(self.transforms(q)):
            arm = transform.offset + arm.expressed_after_all(
                [-turn for turn in reversed(transform.turns)]
            )
        return arm

    def select_by_axes(self, parent: Of, body: Of) -> Of:
        """`parent` if the axes of the joint move with the parent, `body` if they move with the
        body."""
        return parent

    def select_against_axes(self, parent: Of, body: Of) -> Of:
        """The argument that `select_by_axes` does not return."""
        return body

    def split_inertia(self, inertia: "Inertia") -> "tuple[Inertia, Inertia]":
        """Split an inertia into the part that stays on the body, and the part that can move to the
        parent without a change of any joint force."""
        return self.freedom.split_inertia(inertia)

    def to_parent(self, quantity: Carried, q: Position) -> Carried:
        """A force or an inertia of the body, about the origin of the parent in its axes."""
        for step in reversed(self.steps(q)):
            quantity = quantity.to_parent(step)
        return quantity


@dataclass(frozen=True, slots=True)
class BodyAxesPlacement(Placement):
    """The way to a body whose joint has all its axes in it: the body has one number for each, and
    the frames of all stay together.

    The first moves by all of the joint's `unit_twists`, given in its axes; the others have none,
    since they stay with the first."""

    unit_twists: tuple[Twist, ...] = ()
    rows: frozenset[int] = frozenset()
    """The rows of the pseudo-inertia that any of the joint's coordinates can feel, the same for the
    frames of all its bodies, which differ by whole right angles."""

    @property
    def twists(self) -> tuple[Twist, ...]:
        return self.unit_twists

    def to_joint_frame(self, q: Position) -> tuple[Step, ...]:
        constant = (*self.to_axis.steps, *steps_of(self._along_axis()))
        return (*constant, *getattr(q, "steps", ()))

    def to_body(self, q: Position) -> tuple[Step, ...]:
        return ()

    def transforms(self, q: Position) -> tuple[Transform, ...]:
        constant = self.to_axis.transform, *self._along_axis()
        return (*constant, *getattr(q, "transforms", ()))

    def shift(self, q: Position) -> Vector:
        return ZERO_VECTOR

    def _along_axis(self) -> tuple[Transform, ...]:
        """The constants r and θ₀, for axes of the joint's frame that are those of the file."""
        turns = () if self.theta0.is_zero else (Turn(2, self.theta0),)
        return (Transform(axis_vector(2, self.r), turns),)

    def select_by_axes(self, parent: Of, body: Of) -> Of:
        return body

    def select_against_axes(self, parent: Of, body: Of) -> Of:
        return parent

    def split_inertia(self, inertia: "Inertia") -> "tuple[Inertia, Inertia]":
        return inertia.split(self.rows)
