"""The second derivatives of weighted joint forces, λᵀ τ, without any n x n x n array.

Symbols of `adjoints`: λᵀ ∂τ/∂q_i = B_i·F + S̈_i·Π + 2 σ̇_i·s with B_i = V × S_i and
s = ∫ ρ̇ × u dm, λᵀ ∂τ/∂q̇_i = 2 (Ṡ_i·Π + σ_i·s) and λᵀ M e_i = S_i·Π. Of all these, only F, Π and s
depend on a joint j further out than i. With J_j and β the fields of S_j and B_j and I the composite
body beyond j,

    ∂Π/∂q_j = S_j ×* Π + I B_j,      ∂F/∂q_j as in `gradients`,
    ∂s/∂q_j = ∫ (σ̇ × ρ + ṫ) × u dm + σ × s + ∫ ρ̇ × β dm,
    ∂F/∂q̇_j = 2 ∫ J̇_j dm and its moment,      ∂s/∂q̇_j = ∫ J_j × u dm,      ∂F/∂q̈_j = I S_j,

so that a column for each joint j is carried to its ancestors i, which read it. (Contracted before
it is formed, the second-order algorithm of Singh, Russell & Wensing, Analytical second-order
partial derivatives of rigid-body inverse dynamics, IROS 2022.)

Where the axes of a joint go with its body (`together`), displacements do not commute: ∂²/∂q_i∂q_j
is the derivative along j of that along i, whose S_i turns with the body, by S_j × S_i."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

from symgen.algorithms.adjoint_columns import (
    SubtreeDerivatives,
    column_of_joint,
    columns_at_ancestors,
    inward_moments,
)
from symgen.algorithms.adjoints import (
    SOURCE,
    JointReadout,
    RobotMotion,
    half_rate,
)
from symgen.algorithms.christoffel import commutators
from symgen.algorithms.composite import MassMatrixFactors, coupled_mass_matrix, factorize
from symgen.algorithms.coriolis import Entries, composites, square_matrix
from symgen.algorithms.derivatives import Matrices, inverse_dynamics_derivatives
from symgen.algorithms.forward_dynamics import accelerating_forces
from symgen.algorithms.motion import wrenches_in_link_axes
from symgen.algorithms.registry import Array, quantity
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.joint_type import Freedom
from symgen.mechanics.spatial import ZERO_VECTOR, Turn
from symgen.numbers.autodiff import along, tangents
from symgen.numbers.scalar import ZERO, Coordinates, Scalar

FourBlocks = tuple[list[Scalar], list[Scalar], list[Scalar], list[Scalar]]
Hessian = Callable[[CanonicalModel, Coordinates, Coordinates, Coordinates, Coordinates], FourBlocks]
Gradient = Callable[[CanonicalModel, Coordinates, Coordinates, Coordinates], Matrices]


@dataclass(frozen=True, slots=True)
class HessianBlocks:
    """Entries of the four blocks by row and column, and the gradients in q and q̈."""

    qq: Entries
    qqd: Entries
    qdqd: Entries
    qqdd: Entries
    first: dict[int, Scalar]
    momentum: dict[int, Scalar]

    def add(
        self, i: int, j: int, reading: JointReadout, joint: Freedom, x: SubtreeDerivatives
    ) -> None:
        """The entries of joint `i` with the column of `j`."""
        turning = reading.turning
        self.qq[i, j] = reading.entry(x.load, x.momentum, turning.dot(x.cross_moment))
        self.qqd[i, j] = reading.bracket.power(x.rate_load) + turning.dot(x.cross_moment_rate)
        self.qqdd[i, j] = reading.bracket.power(x.inertia)
        self.qdqd[i, j] = joint.S.w.dot(x.cross_moment_rate)

    def add_transposed(
        self, i: int, j: int, joint: Freedom, rates: Scalar, x: SubtreeDerivatives
    ) -> None:
        """The other order, i before j; `rates` is the derivative of λᵀ ∂τ/∂q̇_i in q_j."""
        self.qq[j, i], self.qdqd[j, i] = self.qq[i, j], self.qdqd[i, j]
        self.qqd[j, i], self.qqdd[j, i] = rates, joint.project(x.momentum)


def _axis_rates(
    system: CanonicalModel, i: int, motion: RobotMotion, x: SubtreeDerivatives
) -> Scalar:
    """The derivative of λᵀ ∂τ/∂q̇_i in q_j, from the column of j in the joint frame of i: as its
    carrier sees it, plus as that sees it which the axes go with."""
    joint, place, rates = system.body(i).joint, system.body(i).placement, motion.rates[i]
    w = place.select_by_axes(parent=rates.carrier.w, body=rates.body.w)
    slip = place.select_by_axes(parent=ZERO_VECTOR, body=rates.relative.v)
    rates_of_axis = half_rate(joint, rates.carrier.w, x.momentum) + half_rate(joint, w, x.momentum)
    return rates_of_axis + joint.S.w.dot(x.cross_moment - slip.cross(x.momentum.linear))


def _in_later_joint_frame(
    system: CanonicalModel, j: int, i: int, q: Coordinates, x: SubtreeDerivatives
) -> SubtreeDerivatives:
    """A column of joint `j` in the joint frame of `i`, which stays with it and comes after it."""
    for k in range(j + 1, i + 1):
        for step in system.body(k).placement.to_joint_frame(q[k - 1]):
            assert isinstance(step, Turn)
            x = x.to_parent(-step)
    return x


def second_derivatives(
    system: CanonicalModel,
    q: Coordinates,
    qd: Coordinates,
    qdd: Coordinates,
    lam: Coordinates,
) -> HessianBlocks:
    """All blocks of the bodies' joints."""
    motion = RobotMotion.of(system, q, (qd, qdd), lam)
    doubled_rates = {i: x.scaled(2.0) for i, x in motion.rates.items()}
    readouts = {
        i: JointReadout.of(
            system.body(i).joint, motion.carrier[i].carrier, motion.virtual[i].carrier
        )
        for i in system.outward
    }
    out = HessianBlocks({}, {}, {}, {}, {}, {})
    by_joint = zip(
        composites(system, q, doubled_rates), inward_moments(system, q, motion), strict=True
    )
    for (j, *composite), (_, at) in by_joint:
        with system.section(j, "column"):
            joint, readout, axes = system.body(j).joint, readouts[j], doubled_rates[j].joint
            out.first[j] = readout.entry(at.load, at.momentum, readout.turning.dot(at.cross_moment))
            out.momentum[j] = joint.project(at.momentum)
            start = column_of_joint(joint, composite, motion, j, at, axes)
            for i in (i for i in system.bodies_of_joint(j) if i >= j):
                out.add(
                    i,
                    j,
                    readouts[i],
                    system.body(i).joint,
                    _in_later_joint_frame(system, j, i, q, start),
                )
            for i, at_joint in columns_at_ancestors(system, j, q, motion, start):
                joint = system.body(i).joint
                out.add(i, j, readouts[i], joint, at_joint)
                if i not in system.bodies_of_joint(j):
                    rates = _axis_rates(system, i, motion, at_joint)
                    out.add_transposed(i, j, joint, rates, at_joint)
    _add_commutator_terms(system, qd, out)
    return out


def _add_commutator_terms(system: CanonicalModel, qd: Coordinates, out: HessianBlocks) -> None:
    """The terms that are added where axes go with bodies; of rates see `torsion.by_rates`."""
    run = system.bodies_of_joint
    for k, j, at, sign in commutators(system):
        out.qq[j, k] = out.qq[j, k] + sign * out.first[at]
        out.qq[k, j] = out.qq[k, j] - sign * out.first[at]
        out.qdqd[j, k] = out.qdqd[k, j] = out.qdqd[j, k] + sign * out.momentum[at]
        for i in {*run(j), *system.ancestors(run(j)[0])}:
            out.qqd[i, k] = out.qqd[i, k] + sign * out.qqdd[i, at] * qd[j - 1]
            out.qqd[i, j] = out.qqd[i, j] - sign * out.qqdd[i, at] * qd[k - 1]


def with_friction(
    system: CanonicalModel, qd: Coordinates, lam: Coordinates, blocks: Sequence[list[Scalar]]
) -> FourBlocks:
    """The blocks with the second derivatives of joint friction, where it is smooth."""
    qq, qqd, qdqd, qqdd = blocks
    for k in range(system.size):
        (rate,) = along([qd[k]], [1.0])
        x = lam[k] * tangents([system.body(k + 1).passive.rate_slope(rate)])[0]
        qdqd[k * (system.size + 1)] = qdqd[k * (system.size + 1)] + x
    return qq, qqd, qdqd, qqdd


def _blocks(prefix: str, function: str, force: str) -> tuple[Array, ...]:
    """The outputs with the blocks of a Hessian in q, q̇ and q̈ or τ (`force`)."""
    mixed = f"second derivative of {function} with respect to"
    meanings = {
        "qq": f"d(d {function}/dq_i)/dq_j at [i, j]",
        "qqd": f"{mixed} q (row) and qd",
        "qdqd": f"{mixed} qd, symmetric",
        f"q{force}": f"{mixed} q (row) and {force}",
    }
    unit = f"unit of {function} per units of both variables"
    return tuple(Array(f"{prefix}H_{x}", text, unit, ("n", "n")) for x, text in meanings.items())


hessian_quantity = partial(
    quantity,
    "inverse_dynamics_hessian",
    "d2(lam_tau^T tau)/d(q, qd, qdd)2",
    depends_on_external_forces=True,
    inputs=("q", "qd", "qdd", "lam_tau"),
    outputs=_blocks("", "lam_tau^T tau", "qdd"),
)
forward_hessian_quantity = partial(
    quantity,
    "forward_dynamics_hessian",
    "d2(lam_qdd^T qdd)/d(q, qd, tau)2",
    depends_on_external_forces=True,
    needs_inverse=True,
    inputs=("q", "qd", "tau", "lam_qdd"),
    outputs=_blocks("fwd_", "lam_qdd^T qdd", "tau"),
)


@hessian_quantity(
    source=f"{SOURCE}; second order after the same, IROS 2022", applicable=wrenches_in_link_axes
)
def inverse_dynamics_hessian(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates, lam: Coordinates
) -> FourBlocks:
    """The blocks of ∂²(λᵀ τ)/∂(q, q̇, q̈)² that do not vanish: in q twice, q and q̇, q̇ twice, q
    and q̈, each n x n with a row for the first."""
    second = second_derivatives(system, q, qd, qdd, lam)
    blocks = (second.qq, second.qqd, second.qdqd, second.qqdd)
    return with_friction(system, qd, lam, [square_matrix(system, block) for block in blocks])


@forward_hessian_quantity(
    source=f"by mu = M^-1 lambda, from the {SOURCE}", applicable=wrenches_in_link_axes
)
def forward_dynamics_hessian(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates, lam: Coordinates
) -> FourBlocks:
    """The blocks of ∂²(λᵀ q̈)/∂(q, q̇, τ)² that do not vanish: in q twice, q and q̇, q̇ twice, q
    and τ, each n x n with a row for the first.

    With μ = M⁻¹ λ and E = ∂²(μᵀ τ)/∂q∂q̈ the last is W = -E M⁻¹, and the others are those of
    inverse dynamics with the weights -μ, less W ∂τ/∂q and its transpose, and W ∂τ/∂q̇."""
    return forward_hessian_from_inverse(
        (inverse_dynamics_hessian, inverse_dynamics_derivatives), system, q, qd, tau, lam
    )


def forward_hessian_from_inverse(
    formulations: tuple[Hessian, Gradient],
    system: CanonicalModel,
    q: Coordinates,
    qd: Coordinates,
    tau: Coordinates,
    lam: Coordinates,
) -> FourBlocks:
    """The Hessian of forward dynamics from formulations of the Hessian and the derivatives of
    inverse dynamics."""
    coupling = system.coupling
    solver = factorize(system, coupled_mass_matrix(system, q))
    qdd, mu = (
        coupling.body_rates(solver.solve(x)) for x in (accelerating_forces(system, q, qd, tau), lam)
    )
    second = [coupling.matrix(x) for x in formulations[0](system, q, qd, qdd, mu)]
    by_q, by_qd = (coupling.matrix(x) for x in formulations[1](system, q, qd, qdd)[:2])
    return hessian_from_factors(solver, second, by_q, by_qd)


def hessian_from_factors(
    solver: MassMatrixFactors,
    second: Sequence[Coordinates],
    by_q: Coordinates,
    by_qd: Coordinates,
) -> FourBlocks:
    """The Hessian of λᵀ q̈ from that of μᵀ τ, μ = M⁻¹ λ, and the derivatives of inverse dynamics,
    all of the user's coordinates."""
    qq, qqd, qdqd, qqdd = ([-x for x in block] for block in second)
    n = math.isqrt(len(qqdd))
    w = [x for k in range(n) for x in solver.solve(qqdd[k * n : k * n + n])]
    products, rates = _product(w, by_q, n), _product(w, by_qd, n)
    by_positions = [qq[k] - (products[k] + products[k % n * n + k // n]) for k in range(n * n)]
    return by_positions, [a - b for a, b in zip(qqd, rates, strict=True)], qdqd, w


def _product(a: Sequence[Scalar], b: Sequence[Scalar], n: int) -> list[Scalar]:
    """The product of two n x n matrices, row-major."""
    return [
        sum((a[i * n + k] * b[k * n + j] for k in range(n)), ZERO)
        for i, j in product(range(n), repeat=2)
    ]
