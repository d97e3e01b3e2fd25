"""The gradient of weighted joint forces, λᵀ τ, by Newton-Euler sweeps: no Jacobian is formed.

With u the velocity field at joint rates λ, λᵀ τ = ∫ u·(r̈ - g) dm, the virtual power. Displacing
joint i moves all bodies beyond it along its field J_i(r) = σ × ρ + t, ρ = r - o_i. Hence, with V
the twist at rates λ of what carries joint i, a the acceleration of o_i less gravity, F and Π the
load and the momentum ∫ u dm of all beyond,

    λᵀ ∂τ/∂q_i = (V × S_i)·F + σ̈·∫ ρ × u dm + 2 σ̇·∫ ρ̇ × u dm + (a × σ + ẗ)·∫ u dm,
    λᵀ ∂τ/∂q̇_i = 2 ∫ J̇_i·u dm = 2 (σ̇·∫ ρ × u dm + σ·∫ ρ̇ × u dm + ṫ·∫ u dm),
    λᵀ M e_i = S_i·Π.

So beside the load three more vectors travel inward: Π and `cross_moment`, ∫ ρ̇ × u dm. (The
adjoint of Featherstone 2008, table 5.1; the field's derivatives as in Singh, Russell & Wensing,
RA-L 2022.)
Where the axes of a joint go with its body, displacements along them are carried by what the joint
stands on, so that its motion counts (see `torsion`)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from symgen.algorithms.composite import coupled_mass_matrix, factorize
from symgen.algorithms.forward_dynamics import accelerating_forces
from symgen.algorithms.motion import (
    JointMotion,
    Velocity,
    joint_motions,
    motions,
    velocities,
    wrenches_in_link_axes,
)
from symgen.algorithms.newton_euler import inertial_force
from symgen.algorithms.registry import Array, quantity
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.joint_type import Freedom
from symgen.mechanics.moments import NO_PAIRED_MOMENTS, PairedMoments, paired_moments_of
from symgen.mechanics.rigid_motion import Motion
from symgen.mechanics.spatial import UNIT_Z, ZERO_FORCE, ZERO_VECTOR, Force, Turn, Twist, Vector
from symgen.numbers.scalar import ZERO, Coordinates, Scalar

ThreeGradients = tuple[list[Scalar], list[Scalar], list[Scalar]]
Gradient = Callable[
    [CanonicalModel, Coordinates, Coordinates, Coordinates, Coordinates], ThreeGradients
]
SOURCE = (
    "adjoint of Newton-Euler, from ∂r̈/∂q_i of Singh, Russell & Wensing, Efficient analytical "
    "derivatives of rigid-body dynamics, RA-L 2022"
)


@dataclass(frozen=True, slots=True)
class SubtreeSums:
    """The sums that travel to the base: the load on all beyond, their momentum at rates λ, and ∫ ρ̇
    × u dm about the frame at hand."""

    load: Force = ZERO_FORCE
    momentum: Force = ZERO_FORCE
    cross_moment: Vector = ZERO_VECTOR

    def rotated(self, turns: Sequence[Turn]) -> "SubtreeSums":
        """The same in the axes from which `turns` lead to the present ones."""
        load, momentum, cross = self.load, self.momentum, self.cross_moment
        for turn in reversed(turns):
            load, momentum = load.to_parent(turn), momentum.to_parent(turn)
            cross = cross.expressed_after(-turn)
        return SubtreeSums(load, momentum, cross)

    def named(self, label: str) -> "SubtreeSums":
        """Itself, its vectors named for generated code."""
        self.load.named(label)
        self.momentum.linear.named(f"pu{label}")
        self.momentum.angular.named(f"lu{label}")
        self.cross_moment.named(f"su{label}")
        return self


@dataclass(frozen=True, slots=True)
class ChildSums:
    """The sums of the bodies that a body carries: as they were about their frames, but in the
    body's axes, and the moments that their momenta have at the body's frame."""

    passed: SubtreeSums = SubtreeSums()
    field: PairedMoments = NO_PAIRED_MOMENTS

    def with_child(self, x: SubtreeSums, arm: Vector) -> "ChildSums":
        """The sum with what comes from the frame at `arm`."""
        load, momentum, passed = x.load, x.momentum, self.passed
        force = load.linear, load.angular + arm.cross(load.linear)
        return ChildSums(
            SubtreeSums(
                passed.load + Force(*force),
                passed.momentum + momentum,
                passed.cross_moment + x.cross_moment,
            ),
            self.field + replace(NO_PAIRED_MOMENTS, p=momentum.linear).about(arm),
        )


@dataclass(frozen=True, slots=True)
class RobotMotion:
    """How a robot moves at a joint: every body (`at`) and what carries its joint (`carrier`), its
    velocity (`rates`), and velocities at rates λ (`virtual`)."""

    at: Mapping[int, Motion]
    carrier: Mapping[int, JointMotion]
    rates: Mapping[int, Velocity]
    virtual: Mapping[int, Velocity]

    @classmethod
    def of(
        cls, system: CanonicalModel, q: Coordinates, flow: Sequence[Coordinates], lam: Coordinates
    ) -> "RobotMotion":
        """At q and (q̇, q̈)."""
        rates, virtual = velocities(system, q, flow[0]), velocities(system, q, lam)
        return cls(motions(system, q, *flow), joint_motions(system, q, *flow), rates, virtual)


def inward_sweep(
    system: CanonicalModel, q: Coordinates, motion: RobotMotion
) -> Iterator[tuple[int, SubtreeSums, SubtreeSums]]:
    """Every body from the leaves to the base with what has come to it: about a point of its joint
    in its own axes, and in its joint frame, as seen from what carries the joint.

    Moments of momenta are added up over all that is fixed to a body before they meet its angular
    velocity."""
    total = dict.fromkeys(range(system.size + 1), ChildSums())
    for i in system.inward:
        with system.section(i, "forces and momenta"):
            place = system.body(i).placement
            at_body = _at_joint_origin(system, i, q, motion, total[i]).named(f"{i}")
            slip_moment = motion.rates[i].relative.v.cross(at_body.momentum.linear)
            at_carrier = SubtreeSums(
                at_body.load, at_body.momentum, at_body.cross_moment + slip_moment
            )
            at_joint = at_carrier.rotated(place.turns(q[i - 1]))
            passed = at_body if system.same_joint_as_parent(i) else at_joint
            for transform in reversed(place.transforms(q[i - 1])):
                passed = passed.rotated(transform.turns)
            parent = system.body(i).parent
            total[parent] = total[parent].with_child(passed, place.arm(q[i - 1]))
        yield i, at_body, at_joint


def _at_joint_origin(
    system: CanonicalModel, i: int, q: Coordinates, motion: RobotMotion, from_children: ChildSums
) -> SubtreeSums:
    """All that is fixed to body `i` or beyond, about the origin of its joint frame in its own
    axes."""
    body, x, u = system.body(i), motion.at[i], motion.virtual[i].body
    shift = body.placement.shift(q[i - 1])
    load = from_children.passed.load + inertial_force(body, x)
    field = (from_children.field + paired_moments_of(body.inertia, u)).about(shift)
    return SubtreeSums(
        Force(load.linear, load.angular + shift.cross(load.linear)),
        Force(field.p, from_children.passed.momentum.angular + field.moment),
        from_children.passed.cross_moment + field.along(x.w),
    )


def bracket(joint: Freedom, x: Twist) -> Twist:
    """x × S of two motions (Featherstone 2008, eq. 2.29)."""
    sigma, t = joint.S.w, joint.S.v
    return Twist(x.w.cross(sigma), x.v.cross(sigma) + x.w.cross(t))


@dataclass(frozen=True, slots=True)
class JointReadout:
    """How λᵀ ∂τ/∂q_i reads what has come to joint i: V × S of the load, the second rate of S of the
    momentum, 2 σ̇ of ∫ ρ̇ × u dm."""

    bracket: Twist
    second: Twist
    turning: Vector

    @classmethod
    def of(cls, joint: Freedom, x: Motion, u: Twist) -> "JointReadout":
        """From motion and twist at rates λ of what carries the joint."""
        sigma, t, z_second = joint.S.w, joint.S.v, x @ UNIT_Z
        second = Twist(z_second.scaled(sigma.z), x.a.cross(sigma) + z_second.scaled(t.z))
        return cls(bracket(joint, u), second, x.w.cross(sigma))

    def entry(self, load: Force, momentum: Force, twice_cross_moment: Scalar) -> Scalar:
        """The entry; `twice_cross_moment` is 2 σ̇·s."""
        return self.bracket.power(load) + self.second.power(momentum) + twice_cross_moment


def half_rate(joint: Freedom, w: Vector, momentum: Force) -> Scalar:
    """Ṡ·Π about a point of the joint, where its axis turns at `w`."""
    return Twist(w.cross(joint.S.w), w.cross(joint.S.v)).power(momentum)


def rate_gradient(joint: Freedom, w: Vector, at: SubtreeSums) -> Scalar:
    """∫ J̇_i·u dm where the axis turns at `w`."""
    return half_rate(joint, w, at.momentum) + joint.S.w.dot(at.cross_moment)


vjp_quantity = partial(
    quantity,
    "inverse_dynamics_vjp",
    "lam_tau^T dtau/dq, lam_tau^T dtau/dqd, lam_tau^T M",
    depends_on_external_forces=True,
    inputs=("q", "qd", "qdd", "lam_tau"),
    outputs=(
        Array("vjp_q", "lam_tau^T dtau/dq", "N m/rad | N/rad | N m/m | N/m, times lam_tau"),
        Array("vjp_qd", "lam_tau^T dtau/dqd", "N m s/rad | N s/m, times lam_tau"),
        Array("vjp_qdd", "lam_tau^T M", "kg m^2 | kg m | kg, times lam_tau"),
    ),
)


@vjp_quantity(source=SOURCE, applicable=wrenches_in_link_axes)
def inverse_dynamics_vjp(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates, lam: Coordinates
) -> ThreeGradients:
    """λᵀ ∂τ/∂q, λᵀ ∂τ/∂q̇ and λᵀ M, each of shape n."""
    motion = RobotMotion.of(system, q, (qd, qdd), lam)
    dq: list[Scalar] = [ZERO] * system.size
    dqd, m = [*dq], [*dq]
    for i, at_body, at_joint in inward_sweep(system, q, motion):
        body, carrier = system.body(i), motion.carrier[i].carrier
        axes = body.placement.select_by_axes(parent=at_joint, body=at_body)
        with system.section(i, "gradient"):
            readout = JointReadout.of(body.joint, carrier, motion.virtual[i].carrier)
            twice = 2.0 * readout.turning.dot(at_joint.cross_moment)
            position_gradient = readout.entry(at_joint.load, at_joint.momentum, twice)
            dq[i - 1] = position_gradient + body.passive.position_slope(q[i - 1]) * lam[i - 1]
            w = body.placement.select_by_axes(parent=carrier.w, body=motion.at[i].w)
            rates = rate_gradient(body.joint, carrier.w, at_joint) + rate_gradient(
                body.joint, w, axes
            )
            dqd[i - 1] = rates + body.passive.rate_slope(qd[i - 1]) * lam[i - 1]
            m[i - 1] = body.joint.project(at_body.momentum)
    return dq, dqd, m


forward_vjp_quantity = partial(
    quantity,
    "forward_dynamics_vjp",
    "lam_qdd^T dqdd/dq, lam_qdd^T dqdd/dqd, lam_qdd^T M^-1",
    depends_on_external_forces=True,
    needs_inverse=True,
    inputs=("q", "qd", "tau", "lam_qdd"),
    outputs=(
        Array("fwd_vjp_q", "lam_qdd^T dqdd/dq", "1/s^2 | rad/(m s^2) | m/(rad s^2), times lam_qdd"),
        Array("fwd_vjp_qd", "lam_qdd^T dqdd/dqd", "1/s | rad/(m s) | m/(rad s), times lam_qdd"),
        Array("fwd_vjp_tau", "lam_qdd^T M^-1", "1/(kg m^2) | 1/(kg m) | 1/kg, times lam_qdd"),
    ),
)


@forward_vjp_quantity(
    source=f"by mu = M^-1 lambda, from the {SOURCE}", applicable=wrenches_in_link_axes
)
def forward_dynamics_vjp(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates, lam: Coordinates
) -> ThreeGradients:
    """λᵀ ∂q̈/∂q, λᵀ ∂q̈/∂q̇ and μ = M⁻¹ λ, each of shape n: that of inverse dynamics at the
    accelerations that `tau` causes, with the weights -μ."""
    return forward_from_inverse(inverse_dynamics_vjp, system, q, qd, tau, lam)


def forward_from_inverse(
    inverse_gradients: Gradient,
    system: CanonicalModel,
    q: Coordinates,
    qd: Coordinates,
    tau: Coordinates,
    lam: Coordinates,
) -> ThreeGradients:
    """The gradients of forward dynamics from one formulation of the gradients of inverse
    dynamics."""
    solver = factorize(system, coupled_mass_matrix(system, q))
    qdd, mu = solver.solve(accelerating_forces(system, q, qd, tau)), solver.solve(lam)
    rates = system.coupling.body_rates
    dq, dqd, _ = inverse_gradients(system, q, qd, rates(qdd), rates(mu))
    by_q, by_qd = (system.coupling.forces(x) for x in (dq, dqd))
    return [-x for x in by_q], [-x for x in by_qd], mu
