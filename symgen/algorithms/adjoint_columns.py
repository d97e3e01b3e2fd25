"""Columns carried to all ancestors, which the second derivatives of weighted joint forces read.

Symbols of `adjoint_hessians`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self, TypeVar

from symgen.algorithms.adjoints import RobotMotion, bracket
from symgen.algorithms.coriolis import column
from symgen.algorithms.gradients import force_rate
from symgen.algorithms.newton_euler import inertial_force
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.inertia import Inertia, second_moment_times, spatial_momentum
from symgen.mechanics.joint_type import Freedom
from symgen.mechanics.moments import (
    NO_MOMENTS,
    Moments,
    Movable,
    MovingBody,
    moments_of,
    shift_to_parent,
    turning_of,
)
from symgen.mechanics.spatial import ZERO_FORCE, ZERO_VECTOR, Force, Step, Twist, Vector
from symgen.numbers.scalar import Coordinates, Scalar


def cross_moment(inertia: Inertia, w: Vector, u: Twist) -> Vector:
    """∫ (w × ρ) × u dm of a rigid body that moves at u: (w × h) × v + S (w × w_u)."""
    return w.cross(inertia.h).cross(u.v) + second_moment_times(inertia.s, w.cross(u.w))


class WithCrossMoment(Movable, Protocol):
    """A quantity of bodies with a moment ∫ ρ̇ × u dm to which the motion of its frame's origin
    adds."""

    @property
    def momentum(self) -> Force:
        """Π."""

    def plus_cross_moment(self, moment: Vector) -> Self:
        """With more of the moment ∫ ρ̇ × u dm."""


Thing = TypeVar("Thing", bound=WithCrossMoment)


def to_joint(
    system: CanonicalModel, i: int, q: Coordinates, w: Vector, origin_velocity: Vector, x: Thing
) -> Thing:
    """The quantity, given in a body's frame, in its joint frame as what carries the joint sees it:
    the body turns at `w`, its origin slips at `origin_velocity`."""
    place = system.body(i).placement
    moving = w.cross(place.shift(q[i - 1])) + origin_velocity
    return shift_to_parent(
        x.plus_cross_moment(moving.cross(x.momentum.linear)), system.to_body(i, q)
    )


def to_parent(system: CanonicalModel, i: int, q: Coordinates, w: Vector, x: Thing) -> Thing:
    """The quantity, given in a joint frame, in the frame of the parent, which turns at `w`."""
    place = system.body(i).placement
    at_parent = shift_to_parent(x, place.to_joint_frame(q[i - 1]))
    return at_parent.plus_cross_moment(
        _moment_of_arm(w, place.arm(q[i - 1]), at_parent.momentum.linear)
    )


def _moment_of_arm(w: Vector, arm: Vector, p: Vector) -> Vector:
    """(w × arm) × p by the products arm_j p_k, of which the momentum's shift has most."""

    def entry(k: int) -> Scalar:
        i, j = (k + 1) % 3, (k + 2) % 3
        across = arm[i] * p[i] + arm[j] * p[j]
        return w[i] * (arm[k] * p[i]) + w[j] * (arm[k] * p[j]) - w[k] * across

    return Vector(entry(0), entry(1), entry(2))


@dataclass(frozen=True, slots=True)
class SubtreeMoments:
    """All that is carried to a frame: the load on all beyond, the moments of their field u, and 2
    s."""

    load: Force = ZERO_FORCE
    field: Moments = NO_MOMENTS
    cross_moment: Vector = ZERO_VECTOR

    def __add__(self, other: "SubtreeMoments") -> "SubtreeMoments":
        return SubtreeMoments(
            self.load + other.load, self.field + other.field, self.cross_moment + other.cross_moment
        )

    @property
    def momentum(self) -> Force:
        """Π: ∫ u dm and ∫ ρ × u dm."""
        return Force(self.field.p, turning_of(self.field.k))

    def to_parent(self, step: Step) -> "SubtreeMoments":
        """The same at the frame from which `step` leads to the present one."""
        cross_moment = self.cross_moment.to_parent(step)
        return SubtreeMoments(self.load.to_parent(step), self.field.to_parent(step), cross_moment)

    def plus_cross_moment(self, moment: Vector) -> "SubtreeMoments":
        """The same with more of the moment ∫ ρ̇ × u dm."""
        return replace(self, cross_moment=self.cross_moment + moment)


@dataclass(frozen=True, slots=True)
class SubtreeDerivatives:
    """The derivatives of what has come to a frame: in q_j of load, Π and 2 s, in q̇_j of load and
    2 s, in q̈_j of the load."""

    load: Force
    momentum: Force
    cross_moment: Vector
    rate_load: Force
    cross_moment_rate: Vector
    inertia: Force

    def to_parent(self, step: Step) -> "SubtreeDerivatives":
        """The quantities at the frame from which `step` leads to the present one."""
        forces = (self.load, self.momentum, self.rate_load, self.inertia)
        load, momentum, rate_load, inertia = (f.to_parent(step) for f in forces)
        q, qd = (x.to_parent(step) for x in (self.cross_moment, self.cross_moment_rate))
        return SubtreeDerivatives(load, momentum, q, rate_load, qd, inertia)

    def plus_cross_moment(self, moment: Vector) -> "SubtreeDerivatives":
        """The quantities with more of the moment ∫ ρ̇ × u dm."""
        return replace(self, cross_moment=self.cross_moment + moment)


def column_of_joint(
    joint: Freedom,
    composites: Sequence[MovingBody],
    motion: RobotMotion,
    i: int,
    at: SubtreeMoments,
    axes: Twist,
) -> SubtreeDerivatives:
    """The column of joint `i` in its joint frame; rates of the `composites`, as seen from what
    carries the joint and from what its axes move with, and the velocity of the latter (`axes`), are
    doubled."""
    from_carrier, from_axes = composites
    sigma, t, k = joint.S.w, joint.S.v, at.field.k
    x, twice = motion.carrier[i].carrier, motion.rates[i].carrier.w.scaled(2.0)
    b = bracket(joint, motion.virtual[i].carrier)
    coriolis_column = column(joint, from_axes, axes)
    trace = k[0].x + k[1].y + k[2].z
    axis = twice.cross(sigma)
    stretched = sum((row.scaled(e) for row, e in zip(k, axis, strict=True)), ZERO_VECTOR)
    rates = from_carrier.rates
    sheared = sum((row.scaled(e) for row, e in zip(rates.k, b.w, strict=True)), ZERO_VECTOR)
    widened = rates.k[0].x + rates.k[1].y + rates.k[2].z
    added = stretched - axis.scaled(trace) + twice.cross(t).cross(at.field.p)
    added = added + sigma.cross(at.cross_moment) + cross_moment(from_carrier.inertia, twice, b)
    added = added + rates.p.cross(b.v) + b.w.scaled(widened) - sheared
    by_rate = t.cross(at.field.p) + at.field.u_cross_turning.scaled(-sigma.z)
    return SubtreeDerivatives(
        force_rate(joint, from_carrier, x) + joint.S.cross_force(at.load),
        joint.S.cross_force(at.momentum) + spatial_momentum(from_carrier.inertia, b),
        added,
        coriolis_column.forces[0],
        by_rate.scaled(2.0),
        coriolis_column.momentum,
    )


def inward_moments(
    system: CanonicalModel, q: Coordinates, motion: RobotMotion
) -> Iterator[tuple[int, SubtreeMoments]]:
    """Every joint, from the leaves to the base, with what has come to it, in its joint frame."""
    total = dict.fromkeys(range(system.size + 1), SubtreeMoments())
    for i in system.inward:
        body, w, u = system.body(i), _doubled_angular_velocity(motion, i), motion.virtual[i].body
        with system.section(i, "forces and moments"):
            field, moment = moments_of(body.inertia, u), cross_moment(body.inertia, w, u)
            load = inertial_force(body, motion.at[i])
            at_body = total[i] + SubtreeMoments(load, field, moment)
            origin_velocity = motion.rates[i].relative.v.scaled(2.0)
            at_joint = to_joint(system, i, q, w, origin_velocity, at_body)
            to_pass = at_body if system.same_joint_as_parent(i) else at_joint
            at_parent = to_parent(
                system, i, q, _doubled_angular_velocity(motion, body.parent), to_pass
            )
            total[body.parent] = total[body.parent] + at_parent
        yield i, at_joint


def _doubled_angular_velocity(motion: RobotMotion, i: int) -> Vector:
    """The angular velocity of body `i`, doubled."""
    return motion.rates[i].body.w.scaled(2.0)


def columns_at_ancestors(
    system: CanonicalModel, i: int, q: Coordinates, motion: RobotMotion, x: SubtreeDerivatives
) -> Iterator[tuple[int, SubtreeDerivatives]]:
    """The column of joint `i` in the joint frame of every ancestor j, as what carries that joint
    sees it."""
    for j in system.ancestors(i):
        at_parent = to_parent(system, i, q, _doubled_angular_velocity(motion, j), x)
        origin_velocity = motion.rates[j].relative.v.scaled(2.0)
        x = (
            shift_to_parent(at_parent, system.to_body(j, q))
            if j in system.bodies_of_joint(i)
            else to_joint(
                system, j, q, _doubled_angular_velocity(motion, j), origin_velocity, at_parent
            )
        )
        i = j
        yield j, x
