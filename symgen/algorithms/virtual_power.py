"""The gradient of weighted joint forces, λᵀ τ, by going back through Kane's form of it.

With u the velocity field at joint rates λ, λᵀ τ is the virtual power ∫ u·(r̈ - g) dm, a sum over
bodies of their twists at rates λ times their inertial forces: only the outward pass of inverse
dynamics and no force is carried inward. (Kane & Levinson, Dynamics: theory and applications, 1985,
sec. 6.1.) What comes back along that pass (`symgen.numbers.autodiff`) are forces and
momenta, those of `adjoints`, but carried over the turns of parallel joints at once, and only where
they are read.

Second derivatives also in absolute angles along parallel joints. A run is joints whose axes are
parallel, one behind the other, or the only joint of a body that carries nothing. Its bodies are
described in the axes that the first of its joints starts from, which turn with none of them, and by
angles θ from there, the sums of the run's coordinates. A slope along θ_i then turns body i alone
and shifts those further out, whose axes, angular velocities and inertias it leaves as they are:
most mixed second derivatives are products of two vectors. With λᵀ τ as a function of θ,
∂/∂q_i = Σ ∂/∂θ_j over the j of the run from i on, in each of the two coordinates."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from symgen.algorithms import adjoint_hessians, adjoints
from symgen.algorithms.adjoint_hessians import FourBlocks
from symgen.algorithms.adjoints import ThreeGradients
from symgen.algorithms.derivatives import inverse_dynamics_derivatives_by_duals
from symgen.algorithms.fluids import fluid_forces
from symgen.algorithms.motion import (
    initial_motion,
    motions,
    next_motion,
    rotate_wrenches,
    velocities,
    wrenches_in_link_axes,
)
from symgen.algorithms.newton_euler import inertial_force
from symgen.algorithms.requirements import requirement
from symgen.mechanics.canonical_model import CanonicalBody, CanonicalModel
from symgen.mechanics.joint_type import TURN
from symgen.mechanics.rigid_motion import Motion
from symgen.mechanics.spatial import ZERO_TWIST, Angle, Turn, Twist
from symgen.numbers.autodiff import (
    Record,
    RecordedNumber,
    along,
    gradient,
    record_inputs,
    tangent,
    unit,
)
from symgen.numbers.scalar import ZERO, Coordinates, Scalar, sum_in_order

Power = Callable[[CanonicalModel, Coordinates, Coordinates, Coordinates, Coordinates], Scalar]
SOURCE = "reverse differentiation of Kane's form; Kane & Levinson, Dynamics (1985), sec. 6.1"


def virtual_power(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates, lam: Coordinates
) -> Scalar:
    """λᵀ τ without what joints do by themselves."""
    moving, virtual = motions(system, q, qd, qdd), velocities(system, q, lam)
    total: Scalar = ZERO
    for i, force in fluid_forces(system, q, qd, moving).items():
        total = total + virtual[i].body.power(force)
    system = rotate_wrenches(system, q)
    for i in system.outward:
        with system.section(i, "virtual power"):
            total = total + virtual[i].body.power(inertial_force(system.body(i), moving[i]))
    return total


@dataclass(frozen=True, slots=True)
class RecordedPower:
    """A function for virtual power, and a state, q, q̇, q̈ and λ, whose operations are recorded;
    `inputs` are q, q̇ and q̈ one behind the other."""

    system: CanonicalModel
    state: Sequence[Coordinates]
    inputs: Sequence[RecordedNumber]
    function: Power = virtual_power

    @classmethod
    def at(
        cls, system: CanonicalModel, state: Sequence[Coordinates], function: Power = virtual_power
    ) -> "RecordedPower":
        """At q, q̇, q̈ and λ."""
        record = Record()
        (q, by_q), (qd, by_qd), (qdd, by_qdd) = (record_inputs(record, x) for x in state[:3])
        weights = [record.input(x, wanted=False) for x in state[3]]
        return cls(system, (q, qd, qdd, weights), [*by_q, *by_qd, *by_qdd], function)

    def gradients_of(self, power: Scalar) -> ThreeGradients:
        """The gradients in q, q̇ and q̈."""
        n = self.system.size
        with self.system.sections("back through virtual power"):
            slopes = gradient(power, self.inputs)
        return slopes[:n], slopes[n : 2 * n], slopes[2 * n :]

    def gradients(self) -> ThreeGradients:
        """The gradients of the power."""
        return self.gradients_of(self.function(self.system, *self.state))

    def hessian_vector_product(self, along_q: Coordinates, along_qd: Coordinates) -> ThreeGradients:
        """The gradients of the slope along displacements in q and changes of q̇."""
        q, qd, qdd, lam = self.state
        moved = along(q, along_q), along(qd, along_qd)
        return self.gradients_of(tangent(self.function(self.system, *moved, qdd, lam)))


@adjoints.vjp_quantity(source=SOURCE)
def inverse_dynamics_vjp(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates, lam: Coordinates
) -> ThreeGradients:
    """λᵀ ∂τ/∂q, λᵀ ∂τ/∂q̇ and λᵀ M, each of shape n."""
    dq, dqd, m = RecordedPower.at(system, (q, qd, qdd, lam)).gradients()
    for k in range(system.size):
        passive = system.body(k + 1).passive
        dq[k] = dq[k] + passive.position_slope(q[k]) * lam[k]
        dqd[k] = dqd[k] + passive.rate_slope(qd[k]) * lam[k]
    return dq, dqd, m


@adjoints.forward_vjp_quantity(source=f"by mu = M^-1 lambda; {SOURCE}")
def forward_dynamics_vjp(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates, lam: Coordinates
) -> ThreeGradients:
    """The gradients of λᵀ q̈ in q, q̇ and τ, backward through virtual power."""
    return adjoints.forward_from_inverse(inverse_dynamics_vjp, system, q, qd, tau, lam)


@adjoint_hessians.hessian_quantity(source=f"{SOURCE}, of its slopes", regroupings=("minimal",))
def inverse_dynamics_hessian(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates, lam: Coordinates
) -> FourBlocks:
    """The second derivatives, as the gradients of the power's slope along each coordinate and each
    rate: fewer operations where joints are parallel."""
    blocks = second_derivatives(RecordedPower.at(system, (q, qd, qdd, lam)))
    return adjoint_hessians.with_friction(system, qd, lam, blocks)


def second_derivatives(power: RecordedPower) -> FourBlocks:
    """The blocks of the power's second derivatives.

    Of coordinates that commute the slope along the outer one serves both orders, of their rates
    that along the inner."""
    system, n = power.system, power.system.size
    zeros = [ZERO] * n
    by_q = [power.hessian_vector_product(unit(n, k), zeros) for k in range(n)]
    by_qd = [power.hessian_vector_product(zeros, unit(n, k))[1] for k in range(n)]
    pairs = [*product(range(n), repeat=2)]
    inward = [(j, i) if j + 1 in system.ancestors(i + 1) else (i, j) for i, j in pairs]
    qq = [
        by_q[i][0][j] if j + 1 in system.bodies_of_joint(i + 1) else by_q[b][0][a]
        for (i, j), (a, b) in zip(pairs, inward, strict=True)
    ]
    qdqd = [by_qd[a][b] for a, b in inward]
    return qq, [by_q[i][1][j] for i, j in pairs], qdqd, [by_q[i][2][j] for i, j in pairs]


@adjoint_hessians.forward_hessian_quantity(
    source=f"by mu = M^-1 lambda; {SOURCE}, of its slopes", regroupings=("minimal",)
)
def forward_dynamics_hessian(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates, lam: Coordinates
) -> FourBlocks:
    """The Hessian of λᵀ q̈ in q, q̇ and τ, backward through virtual power."""
    formulations = inverse_dynamics_hessian, inverse_dynamics_derivatives_by_duals
    return adjoint_hessians.forward_hessian_from_inverse(formulations, system, q, qd, tau, lam)


# -- absolute angles along parallel joints ---------------------------------------------------------


SOURCE_IN_ANGLES = f"{SOURCE}, of its slopes, in absolute angles along parallel joints"


def parallel_joint_runs(system: CanonicalModel) -> dict[int, int]:
    """The first body of each body's run, by number: the bodies in a row whose joints turn about
    parallel axes."""
    first: dict[int, int] = {}
    for i in system.outward:
        body = system.body(i)
        turns = body.joint == TURN and i not in system.joint_bodies
        flat = all(turn.axis == 2 for turn in body.placement.to_axis.transform.turns)
        if turns:
            first[i] = first.get(body.parent, i) if flat else i
    carrying = {system.body(i).parent for i in system.outward}
    long = {k for i, k in first.items() if i != k}
    return {i: k for i, k in first.items() if k in long or i not in carrying}


@requirement(
    "only robots with parallel joints one behind the other, and whose exter"
    "nal wrenches are in the axes of their links"
)
def has_parallel_joints(system: CanonicalModel) -> bool:
    """Whether there are parallel joints one behind the other, without wrenches in root axes."""
    runs = parallel_joint_runs(system)
    return any(i != k for i, k in runs.items()) and wrenches_in_link_axes(system)


def to_absolute_angles(system: CanonicalModel, x: Coordinates) -> list[Scalar]:
    """Coordinates, or their changes, in absolute angles."""
    first, angles = parallel_joint_runs(system), list(x)
    for i in system.outward:
        if first.get(i, i) != i:
            angles[i - 1] = angles[system.body(i).parent - 1] + x[i - 1]
    return angles


def gradient_from_absolute(system: CanonicalModel, gradient: Coordinates) -> list[Scalar]:
    """Derivatives in coordinates from those in absolute angles."""
    first, by_coordinate = parallel_joint_runs(system), list(gradient)
    for i in system.inward:
        if first.get(i, i) != i:
            parent = system.body(i).parent
            by_coordinate[parent - 1] = by_coordinate[parent - 1] + by_coordinate[i - 1]
    return by_coordinate


@dataclass(frozen=True, slots=True)
class RunBody:
    """How a body moves, and at rates λ, in axes from which its own are a turn about z further; both
    of the joint frame that the body's run starts from."""

    motion: Motion = Motion()
    virtual: Twist = ZERO_TWIST
    turn: Turn = Turn(2, Angle())
    start: "RunBody | None" = None

    @property
    def in_own_axes(self) -> "RunBody":
        """The motion in the body's own axes."""
        if self.turn.angle.is_zero:
            return self
        motion = self.motion.turned(self.motion.a, (self.turn,))
        return RunBody(motion, self.virtual.to_child((self.turn,)))


def virtual_power_in_angles(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates, lam: Coordinates
) -> Scalar:
    """λᵀ τ without what joints do by themselves, all in absolute angles."""
    first, members = parallel_joint_runs(system), {0: RunBody()}
    total: Scalar = ZERO
    for i in system.outward:
        with system.section(i, "virtual power"):
            body, before = system.body(i), members[system.body(i).parent]
            if i in first:
                at = (
                    _next_joint_frame(body, before)
                    if first[i] != i
                    else _run_start(system, i, before)
                )
                members[i] = _rotated_body(system, i, at, (q, qd, qdd, lam))
            else:
                start = before.in_own_axes
                motion = next_motion(system, i, start.motion, (q, qd, qdd))
                virtual = start.virtual.to_child(system.steps(i, q))
                members[i] = RunBody(motion, virtual + system.relative_twist(i, lam))
            x = members[i]
            force = inertial_force(_in_run_axes(body, x.turn), x.motion)
            total = total + x.virtual.power(force)
    return total


def _run_start(system: CanonicalModel, i: int, before: RunBody) -> RunBody:
    """The frame that a run starts from: the joint frame of its first body, on the parent."""
    x, place = before.in_own_axes, system.body(i).placement
    motion = initial_motion(system, i, x.motion).fixed_to(place.transforms(ZERO))
    return RunBody(motion, x.virtual.to_child(place.to_axis.steps))


def _next_joint_frame(body: CanonicalBody, before: RunBody) -> RunBody:
    """The next joint frame of a run, in the axes of the run, at the place of the joint: it turns
    like the run's start."""
    assert before.start is not None
    transform, start = body.placement.to_axis.transform, before.start
    arm = transform.offset.expressed_after(-before.turn)
    angle = sum_in_order((turn.angle for turn in transform.turns), before.turn.angle)
    motion = replace(start.motion, a=before.motion.at(arm))
    virtual = Twist(start.virtual.w, before.virtual.at(arm))
    return RunBody(motion, virtual, Turn(2, replace(angle, variable=ZERO)), start)


def _rotated_body(system: CanonicalModel, i: int, at: RunBody, x: Sequence[Coordinates]) -> RunBody:
    """The body that swings at a joint frame of a run, at an absolute angle and its rates."""
    place, (q, qd, qdd, lam) = system.body(i).placement, (values[i - 1] for values in x)
    rate, change, virtual = (TURN.S.at_rate(r) for r in (qd, qdd, lam))
    shift = place.shift(ZERO)
    motion = at.motion.moving(rate, rate, change, shift, f"{i}").named(f"{i}")
    twist = at.virtual + virtual
    angle = at.turn.angle + Angle(q) + place.theta0
    return RunBody(motion, Twist(twist.w, twist.at(shift)), Turn(2, angle), at.start or at)


def _in_run_axes(body: CanonicalBody, turn: Turn) -> CanonicalBody:
    """A body in the axes from which its own are a turn further."""
    if turn.angle.is_zero:
        return body
    inertia, wrench = body.inertia.to_parent(turn), body.wrench.to_parent(turn)
    return replace(body, inertia=inertia, wrench=wrench)


@adjoint_hessians.hessian_quantity(
    source=SOURCE_IN_ANGLES,
    method="absolute_angles",
    variant="",
    applicable=has_parallel_joints,
    regroupings=("minimal",),
)
def inverse_dynamics_hessian_in_angles(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates, lam: Coordinates
) -> FourBlocks:
    """The second derivatives, from those in absolute angles."""
    x = [to_absolute_angles(system, values) for values in (q, qd, qdd, lam)]
    by_angles = second_derivatives(RecordedPower.at(system, x, virtual_power_in_angles))
    blocks = [_block_from_absolute(system, block) for block in by_angles]
    return adjoint_hessians.with_friction(system, qd, lam, blocks)


def _block_from_absolute(system: CanonicalModel, block: Coordinates) -> list[Scalar]:
    """An n x n block by rows and columns of coordinates."""
    n = system.size
    rows = [gradient_from_absolute(system, block[k * n : k * n + n]) for k in range(n)]
    columns = [gradient_from_absolute(system, column) for column in zip(*rows, strict=True)]
    return [columns[j][i] for i in range(n) for j in range(n)]


@adjoint_hessians.forward_hessian_quantity(
    source=f"by mu = M^-1 lambda; {SOURCE_IN_ANGLES}",
    method="absolute_angles",
    variant="",
    applicable=has_parallel_joints,
    regroupings=("minimal",),
)
def forward_dynamics_hessian_in_angles(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates, lam: Coordinates
) -> FourBlocks:
    """The Hessian of λᵀ q̈ in q, q̇ and τ, forward dynamics weighted, from derivatives in absolute
    angles."""
    formulations = inverse_dynamics_hessian_in_angles, inverse_dynamics_derivatives_by_duals
    return adjoint_hessians.forward_hessian_from_inverse(formulations, system, q, qd, tau, lam)
