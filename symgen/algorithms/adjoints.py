"""The gradient of weighted joint forces, λᵀ τ, by Newton-Euler sweeps: no Jacobian is formed.

With u the velocity field at joint rates λ, λᵀ τ = ∫ u·(r̈ - g) dm, the virtual power. Displacing
joint i moves all bodies beyond it along its field J_i(r) = σ × ρ + t, ρ = r - o_i. Hence, with V the
twist at rates λ of what carries joint i, a the acceleration of o_i less gravity, F and Π the load
and the momentum ∫ u dm of all beyond,

    λᵀ ∂τ/∂q_i = (V × S_i)·F + σ̈·∫ ρ × u dm + 2 σ̇·∫ ρ̇ × u dm + (a × σ + ẗ)·∫ u dm,
    λᵀ ∂τ/∂q̇_i = 2 ∫ J̇_i·u dm = 2 (σ̇·∫ ρ × u dm + σ·∫ ρ̇ × u dm + ṫ·∫ u dm),
    λᵀ M e_i = S_i·Π.

So beside the load three more vectors travel inward: Π and `swirl`, ∫ ρ̇ × u dm. (The adjoint of
Featherstone 2008, table 5.1; the field's derivatives as in Singh, Russell & Wensing, RA-L 2022.)
Where the axes of a joint go with its body, displacements along them are carried by what the joint
stands on, so that its motion counts (see `torsion`)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from symgen.algorithms.motion import JointMotion, Velocity, joint_motions, motions, velocities
from symgen.algorithms.newton_euler import inertial_force
from symgen.algorithms.registry import Array, quantity
from symgen.mechanics.inertia import Inertia, momentum_of, times
from symgen.mechanics.joints import Freedom
from symgen.mechanics.moments import carried
from symgen.mechanics.rigid_motion import Motion
from symgen.mechanics.spatial import EZ, NO_FORCE, NULL, Force, Step, Turn, Twist, Vector
from symgen.mechanics.system import System
from symgen.numbers.scalar import ZERO, Scalar

Coordinates = Sequence[Scalar]
Three = tuple[list[Scalar], list[Scalar], list[Scalar]]
SOURCE = (
    "adjoint of Newton-Euler, from ∂r̈/∂q_i of Singh, Russell & Wensing, Efficient analytical "
    "derivatives of rigid-body dynamics, RA-L 2022"
)


@dataclass(frozen=True, slots=True)
class Passing:
    """What travels to the base: the load on all beyond, their momentum at rates λ, and ∫ ρ̇ × u dm
    about the frame at hand."""

    load: Force = NO_FORCE
    momentum: Force = NO_FORCE
    swirl: Vector = NULL

    def __add__(self, other: "Passing") -> "Passing":
        return Passing(
            self.load + other.load, self.momentum + other.momentum, self.swirl + other.swirl
        )

    def moved_in(self, step: Step) -> "Passing":
        """The same at the frame from which `step` leads to the present one, but for what its origin
        moves against the other's (`moving`)."""
        swirl = self.swirl.turned(-step) if isinstance(step, Turn) else self.swirl
        return Passing(self.load.moved_in(step), self.momentum.moved_in(step), swirl)

    def moving(self, v: Vector) -> "Passing":
        """Seen from a frame against which the origin of the present one moves at `v`."""
        return Passing(self.load, self.momentum, self.swirl + v.cross(self.momentum.linear))


def swirl(inertia: Inertia, w: Vector, u: Twist) -> Vector:
    """∫ (w × ρ) × u dm of a rigid body that moves at u: (w × h) × v + S (w × w_u)."""
    return w.cross(inertia.h).cross(u.v) + times(inertia.s, w.cross(u.w))


@dataclass(frozen=True, slots=True)
class Moves:
    """How a robot moves: at its rates and accelerations (`at`, by body; its carrier in `carrier`
    where joints have axes in their bodies), and at rates λ (`virtual`), with the velocities of `rates`."""

    at: Mapping[int, Motion]
    carrier: Mapping[int, JointMotion]
    virtual: Mapping[int, Velocity]
    rates: Mapping[int, Velocity]

    @classmethod
    def of(
        cls, system: System, q: Coordinates, flow: Sequence[Coordinates], lam: Coordinates
    ) -> "Moves":
        """At q and (q̇, q̈)."""
        along = joint_motions(system, q, *flow) if system.shared else {}
        return cls(
            motions(system, q, *flow),
            along,
            velocities(system, q, lam),
            velocities(system, q, flow[0]),
        )

    def displaced(self, system: System, i: int) -> Motion:
        """How the axes of joint `i` move where its position is displaced, in its body's axes."""
        place = system.body(i).placement
        carrier = self.carrier[i].carrier if self.carrier else self.at[i]
        return place.without_axes(parent=carrier, body=self.at[i])

    def twist(self, system: System, i: int) -> Twist:
        """At rates λ, of what the axes of joint `i` do not go with."""
        x = self.virtual[i]
        return system.body(i).placement.without_axes(parent=x.carrier, body=x.body)


def sweep(
    system: System, q: Coordinates, qd: Coordinates, moves: Moves
) -> Iterator[tuple[int, Passing, Passing]]:
    """Every body from the leaves to the base with what has come to it, in its frame; and the same
    seen from what its displacements are carried by."""
    total = dict.fromkeys(range(system.size + 1), Passing())
    for i in system.inward:
        body, x, u = system.body(i), moves.at[i], moves.virtual[i].body
        with system.section(i, "forces and momenta"):
            own = Passing(
                inertial_force(body, x), momentum_of(body.inertia, u), swirl(body.inertia, x.w, u)
            )
            whole = named(total[i] + own, f"{i}")
            relative = body.placement.without_axes(parent=moves.rates[i].relative.v, body=NULL)
            seen = whole.moving(relative)
            total[body.parent] = total[body.parent] + _passed(system, i, q, qd, moves, whole)
        yield i, whole, seen


def named(x: Passing, label: str) -> Passing:
    """The same, named for generated code."""
    x.load.named(label)
    x.momentum.linear.named(f"pu{label}")
    x.momentum.angular.named(f"lu{label}")
    x.swirl.named(f"su{label}")
    return x


def _passed(
    system: System, i: int, q: Coordinates, qd: Coordinates, moves: Moves, whole: Passing
) -> Passing:
    """What the parent gets of it, in its frame."""
    place, parent = system.body(i).placement, system.body(i).parent
    w, slip = moves.at[i].w, system.relative(i, qd).v
    at_joint = carried(whole.moving(w.cross(place.shift(q[i - 1])) + slip), place.own(q[i - 1]))
    there = carried(at_joint, place.approach(q[i - 1]))
    if not parent:
        return there
    arm = NULL
    for transform in reversed(place.transforms(q[i - 1])):
        arm = transform.offset + arm.turned_all([-turn for turn in reversed(transform.turns)])
    return there.moving(moves.at[parent].w.cross(arm))


def bracket(joint: Freedom, x: Twist) -> Twist:
    """x × S of two motions (Featherstone 2008, eq. 2.29)."""
    sigma, t = joint.S.w, joint.S.v
    return Twist(x.w.cross(sigma), x.v.cross(sigma) + x.w.cross(t))


def power(x: Twist, force: Force) -> Scalar:
    """x·f."""
    return x.w.dot(force.angular) + x.v.dot(force.linear)


def by_position(joint: Freedom, x: Motion, u: Twist, at: Passing) -> Scalar:
    """λᵀ ∂τ/∂q_i of the module's formulas: `x` and `u` are motion and twist at rates λ of what
    carries the displacement."""
    sigma, t, z_second = joint.S.w, joint.S.v, x @ EZ
    second = Twist(z_second.scaled(sigma.z), x.a.cross(sigma) + z_second.scaled(t.z))
    twice = x.w.cross(sigma).scaled(2.0)
    return power(bracket(joint, u), at.load) + power(second, at.momentum) + twice.dot(at.swirl)


def by_rate(joint: Freedom, w: Vector, at: Passing) -> Scalar:
    """∫ J̇_i·u dm where the axis turns at `w`."""
    sigma, t = joint.S.w, joint.S.v
    return power(Twist(w.cross(sigma), w.cross(t)), at.momentum) + sigma.dot(at.swirl)


@quantity(
    "inverse_dynamics_vjp",
    "lam_tau^T dtau/dq, lam_tau^T dtau/dqd, lam_tau^T M",
    feels_wrench=True,
    inputs=("q", "qd", "qdd", "lam_tau"),
    source=SOURCE,
    outputs=(
        Array("vjp_q", "lam_tau^T dtau/dq", "N m/rad | N/rad | N m/m | N/m, times lam_tau"),
        Array("vjp_qd", "lam_tau^T dtau/dqd", "N m s/rad | N s/m, times lam_tau"),
        Array("vjp_qdd", "lam_tau^T M", "kg m^2 | kg m | kg, times lam_tau"),
    ),
)
def inverse_dynamics_vjp(
    system: System, q: Coordinates, qd: Coordinates, qdd: Coordinates, lam: Coordinates
) -> Three:
    """λᵀ ∂τ/∂q, λᵀ ∂τ/∂q̇ and λᵀ M, each of shape n."""
    moves = Moves.of(system, q, (qd, qdd), lam)
    dq, dqd, m = ([ZERO] * system.size for _ in range(3))
    for i, whole, seen in sweep(system, q, qd, moves):
        joint, x = system.body(i).joint, moves.displaced(system, i)
        with system.section(i, "gradient"):
            dq[i - 1] = by_position(joint, x, moves.twist(system, i), seen)
            rates = by_rate(joint, x.w, seen), by_rate(joint, moves.at[i].w, whole)
            rubbing = system.body(i).friction.slope(qd[i - 1]) * lam[i - 1]
            dqd[i - 1] = sum(rates) + rubbing
            m[i - 1] = joint.project(whole.momentum)
    return dq, dqd, m
