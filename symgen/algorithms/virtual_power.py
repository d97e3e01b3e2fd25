"""The gradient of weighted joint forces, λᵀ τ, by going back through Kane's form of it.

With u the velocity field at joint rates λ, λᵀ τ is the virtual power ∫ u·(r̈ - g) dm, a sum over
bodies of their twists at rates λ times their inertial forces: only the outward pass of inverse
dynamics and no force is carried inward. (Kane & Levinson, Dynamics: theory and applications, 1985,
sec. 6.1.) What comes back along that pass (`symgen.numbers.reverse`) are forces and momenta, those
of `adjoints`, but carried over the turns of parallel joints at once, and only where they are read.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from symgen.algorithms import adjoint_hessians, adjoints
from symgen.algorithms.adjoint_hessians import FourBlocks
from symgen.algorithms.adjoints import ThreeGradients, power
from symgen.algorithms.derivatives import inverse_dynamics_derivatives_by_duals
from symgen.algorithms.fluids import fluid_forces
from symgen.algorithms.motion import motions, rotate_wrenches, velocities
from symgen.algorithms.newton_euler import inertial_force
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.numbers.dual import along, tangent, unit
from symgen.numbers.reverse import Record, RecordedNumber, gradient, record_inputs
from symgen.numbers.scalar import ZERO, Coordinates, Scalar

Form = Callable[[CanonicalModel, Coordinates, Coordinates, Coordinates, Coordinates], Scalar]
SOURCE = "reverse differentiation of Kane's form; Kane & Levinson, Dynamics (1985), sec. 6.1"


def virtual_power(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates, lam: Coordinates
) -> Scalar:
    """λᵀ τ without what joints do by themselves."""
    moving, virtual = motions(system, q, qd, qdd), velocities(system, q, lam)
    total: Scalar = ZERO
    for i, force in fluid_forces(system, q, qd, moving).items():
        total = total + power(virtual[i].body, force)
    system = rotate_wrenches(system, q)
    for i in system.outward:
        with system.section(i, "virtual power"):
            total = total + power(virtual[i].body, inertial_force(system.body(i), moving[i]))
    return total


@dataclass(frozen=True, slots=True)
class RecordedPower:
    """A form of virtual power at a state that is noted: what it is computed from, q, q̇, q̈ and λ,
    and what slopes of it can be asked for, those in q, q̇ and q̈ one behind the other."""

    system: CanonicalModel
    state: Sequence[Coordinates]
    inputs: Sequence[RecordedNumber]
    form: Form = virtual_power

    @classmethod
    def at(
        cls, system: CanonicalModel, state: Sequence[Coordinates], form: Form = virtual_power
    ) -> "RecordedPower":
        """At q, q̇, q̈ and λ."""
        record = Record()
        (q, by_q), (qd, by_qd), (qdd, by_qdd) = (record_inputs(record, x) for x in state[:3])
        weights = [record.input(x, wanted=False) for x in state[3]]
        return cls(system, (q, qd, qdd, weights), [*by_q, *by_qd, *by_qdd], form)

    def slopes(self, power: Scalar) -> ThreeGradients:
        """The gradients in q, q̇ and q̈."""
        n = self.system.size
        with self.system.sections("back through virtual power"):
            slopes = gradient(power, self.inputs)
        return slopes[:n], slopes[n : 2 * n], slopes[2 * n :]

    def first(self) -> ThreeGradients:
        """The gradients of the power."""
        return self.slopes(self.form(self.system, *self.state))

    def second(self, along_q: Coordinates, along_qd: Coordinates) -> ThreeGradients:
        """The gradients of its slope along displacements in q and changes of q̇."""
        q, qd, qdd, lam = self.state
        moved = along(q, along_q), along(qd, along_qd)
        return self.slopes(tangent(self.form(self.system, *moved, qdd, lam)))


@adjoints.vjp_quantity(source=SOURCE)
def inverse_dynamics_vjp(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates, lam: Coordinates
) -> ThreeGradients:
    """λᵀ ∂τ/∂q, λᵀ ∂τ/∂q̇ and λᵀ M, each of shape n."""
    dq, dqd, m = RecordedPower.at(system, (q, qd, qdd, lam)).first()
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
    by_q = [power.second(unit(n, k), zeros) for k in range(n)]
    by_qd = [power.second(zeros, unit(n, k))[1] for k in range(n)]
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
