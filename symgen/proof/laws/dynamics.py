"""Laws of the terms of τ = M q̈ + C q̇ + g and of its solution: Newton and Euler, kinetic energy,
Christoffel's definition, elimination; and of the forces of fluids on links, by the momentum of the
fluid in the axes of the root, whose rates are differences in time (Kirchhoff's equations)."""

from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Final

import numpy as np

from symgen.mechanics.fluid import LinkFluid
from symgen.numbers.caching import cached_method
from symgen.numbers.scalar import ZERO, DecimalArray
from symgen.proof import textbook
from symgen.proof.laws import law
from symgen.proof.reference_kinematics import body_poses
from symgen.proof.reference_model import Frame, entries_array, frame_of
from symgen.proof.states import (
    States,
    Term,
    batch_matmul,
    batch_matvec,
    batch_transposed_matvec,
    decimals,
    eye,
    gradient,
    not_differentiated,
    rate,
)
from symgen.proof.tangent import brackets

# -- fluids ----------------------------------------------------------------------------------------

FluidOfLink = tuple[str, LinkFluid]
"""A link, and a fluid around it."""


def _fluids(x: States) -> list[FluidOfLink]:
    """The fluids around moving links that count, and their links."""
    if not x.robot.fluid:
        return []
    links = (link for body in x.robot.model.bodies for link in body.links)
    return [(link.name, fluid) for link in links for fluid in link.fluids]


def _pose(x: States, at: FluidOfLink) -> DecimalArray:
    """R row by row, then p."""
    i, solid = x.mechanism.body_of(at[0])
    frame = solid.frame.of(frame_of(at[1].pose, Decimal))
    return pose_entries(
        body_poses(x.mechanism, x.textbook.trajectory.positions)[i].frame_in_world(frame), x
    )


def pose_entries(frame: Frame, x: States) -> DecimalArray:
    """The axes of a frame row by row, then its origin, (..., 12)."""
    axes = (e for row in frame.axes for e in row)
    return entries_array([*axes, *frame.origin], x.shape, Decimal(0))


def _rotation(x: States, at: FluidOfLink) -> DecimalArray:
    return _pose(x, at)[..., :9].reshape(*x.shape, 3, 3)


def _jacobian(x: States, at: FluidOfLink) -> DecimalArray:
    """The Jacobian in root axes, linear rows first, (..., 6, n)."""
    return jacobian_of_pose(partial(_pose, at=at), x)


def jacobian_of_pose(pose: Term, x: States) -> DecimalArray:
    """The Jacobian in root axes, (..., 6, n), of a frame with a pose (R row by row, then p): slopes
    of p, and ω with ω × = Ṙ Rᵀ."""
    slopes, rows = gradient(pose, x), pose(x)[..., :9].reshape(*x.shape, 3, 3)
    turning = slopes[..., :9, :].reshape(*x.shape, 3, 3, x.n)

    def spin(i: int, j: int) -> DecimalArray:
        return (turning[..., i, :, :] * rows[..., j, :, None]).sum(-2)

    w = np.stack([spin(2, 1), spin(0, 2), spin(1, 0)], axis=-2)
    return np.concatenate([slopes[..., 9:, :], w], axis=-2)


def _rotated_wrench(
    r: DecimalArray, wrench: DecimalArray, transposed: bool = False
) -> DecimalArray:
    """R (or Rᵀ) times the linear and the angular part of six numbers."""
    by = batch_transposed_matvec if transposed else batch_matvec
    return np.concatenate([by(r, wrench[..., :3]), by(r, wrench[..., 3:])], axis=-1)


def _relative(x: States, at: FluidOfLink) -> DecimalArray:
    """The velocity relative to the fluid in root axes."""
    current = decimals(np.array([*at[1].current, 0.0, 0.0, 0.0]))
    return batch_matvec(_jacobian(x, at), x.input("qd")) - current


def _momentum(x: States, at: FluidOfLink) -> DecimalArray:
    """The momentum of the fluid in root axes, about the origin of the link."""
    r, m = _rotation(x, at), decimals(np.array(at[1].mass_rows))
    return _rotated_wrench(
        r, batch_matvec(m, _rotated_wrench(r, _relative(x, at), transposed=True))
    )


def _drag(fluid: LinkFluid, v: DecimalArray) -> DecimalArray:
    """The force of drag at a relative velocity, both in the axes of the fluid's numbers."""
    force = np.array(batch_matvec(decimals(np.array(fluid.drag_rows)), v))
    for part in fluid.quadratic_drag:
        speed = v[..., part.speed] if part.signed else abs(v[..., part.speed])
        push = Decimal(part.coefficient) * speed * v[..., part.velocity]
        force[..., part.force] = force[..., part.force] + push
    return force


def _force(x: States, at: FluidOfLink) -> DecimalArray:
    """The force and moment that balance a fluid, root axes, about the origin of its numbers."""
    fluid, r = at[1], _rotation(x, at)
    momentum, relative = _momentum(x, at), _relative(x, at)
    arm = np.cross(relative[..., :3], momentum[..., :3])
    force = rate(partial(_momentum, at=at), x) + np.concatenate([0 * arm, arm], axis=-1)
    force = force + _rotated_wrench(r, _drag(fluid, _rotated_wrench(r, relative, transposed=True)))
    buoyancy = Decimal(fluid.displaced) * _gravity(x) + 0 * force[..., :3]
    centre = batch_matvec(r, decimals(np.array(fluid.centre)) + 0 * force[..., :3])
    return force + np.concatenate([buoyancy, np.cross(centre, buoyancy)], axis=-1)


def _gravity(x: States) -> DecimalArray:
    return x.inputs["g"] if "g" in x.inputs else decimals(np.array(x.robot.model.gravity))


def fluid_tau(x: States) -> DecimalArray:
    """The joint forces that balance fluids, (..., n); zero without fluids."""
    total = decimals(np.zeros((*x.shape, x.n)))
    for at in _fluids(x):
        total = total + batch_transposed_matvec(_jacobian(x, at), _force(x, at))
    return total


def fluid_wrench(x: States, body: int, frame: Frame) -> DecimalArray:
    """The wrench of a joint that balances the fluids around its body and all beyond, about the
    origin of a frame in its axes, (..., 6)."""
    total = decimals(np.zeros((*x.shape, 6)))
    entries = pose_entries(frame, x)
    for at in _fluids(x):
        if body in x.mechanism.path(x.mechanism.body_of(at[0])[0]):
            force = _force(x, at)
            moment = np.cross(_pose(x, at)[..., 9:] - entries[..., 9:], force[..., :3])
            total = total + force + np.concatenate([0 * moment, moment], axis=-1)
    return _rotated_wrench(entries[..., :9].reshape(*x.shape, 3, 3), total, transposed=True)


def buoyancy_energy(x: States) -> DecimalArray:
    """The potential energy of the displaced fluids, (..., 1)."""
    total = decimals(np.zeros((*x.shape, 1)))
    for at in _fluids(x):
        centre = decimals(np.array(at[1].centre)) + 0 * _pose(x, at)[..., 9:]
        point = _pose(x, at)[..., 9:] + batch_matvec(_rotation(x, at), centre)
        height = (_gravity(x) * point).sum(-1, keepdims=True)
        total = total + Decimal(at[1].displaced) * height
    return total


def added_mass(x: States) -> DecimalArray:
    """Σ Jᵀ M_A J, (..., n, n); zero without fluids."""
    total = decimals(np.zeros((x.n, x.n)))
    for at in _fluids(x):
        j, r = _jacobian(x, at), _rotation(x, at)
        jacobian_of_link = np.concatenate(
            [batch_matmul(np.swapaxes(r, -1, -2), j[..., 3 * k : 3 * k + 3, :]) for k in range(2)],
            axis=-2,
        )
        m = decimals(np.array(at[1].mass_rows))
        total = total + batch_matmul(
            np.swapaxes(jacobian_of_link, -1, -2), batch_matmul(m, jacobian_of_link)
        )
    return total


# -- terms -----------------------------------------------------------------------------------------

NEWTON = "independent Newton-Euler, link by link in world axes"
CHRISTOFFEL = "definition by Christoffel symbols, derivatives of M in 75 digits"
ELIMINATION = "elimination on the reference M"


@law("inverse_dynamics", NEWTON)
@not_differentiated
@cached_method
def tau(x: States) -> DecimalArray:
    """Joint forces, the states first: (..., n)."""
    forces = textbook.inverse_dynamics(x.mechanism, x.textbook)
    total = x.pull_back(entries_array(forces, x.shape, Decimal(0)))
    return total + fluid_tau(x) if x.robot.fluid else total


@law("forward_dynamics_residual", NEWTON)
def residual(x: States) -> DecimalArray:
    """τ less the joint forces that the accelerations need, (..., n)."""
    return x.inputs["tau"] - tau(x)


@law("mass_matrix", "kinetic energy of the links at unit velocities")
@not_differentiated
def mass(x: States) -> DecimalArray:
    """M, (..., n, n)."""
    return np.broadcast_to(_mass(x), (*x.shape, x.n, x.n))


@cached_method
def _mass(x: States) -> DecimalArray:
    """M without the axes in front that positions and parameters do not have."""
    m, size = textbook.mass_matrix(x.mechanism, x.textbook), len(x.mechanism.parts)
    shape = np.broadcast_shapes(*(getattr(entry, "shape", ()) for entry in m))
    flat = entries_array(m, shape, Decimal(0))
    rigid = x.pull_back(flat.reshape(*shape, size, size), 2)
    return rigid + added_mass(x) if x.robot.fluid else rigid


@law("gravity", NEWTON)
@not_differentiated
@cached_method
def gravity_forces(x: States) -> DecimalArray:
    """g(q), (..., n)."""
    return tau(x.without_external_forces().with_inputs(qd=None, qdd=None))


@law("bias", NEWTON)
@cached_method
def bias_forces(x: States) -> DecimalArray:
    """Joint forces where q̈ = 0, with friction, springs and wrenches where x has them."""
    return tau(x.with_inputs(qdd=None))


@law("coriolis_force", f"{NEWTON}, less that at rest")
def coriolis_force(x: States) -> DecimalArray:
    """C q̇, (..., n)."""
    if x.robot.fluid:
        return batch_matvec(coriolis(x), x.inputs["qd"])
    return bias_forces(x) - gravity_forces(x)


@law("christoffel_symbols_full", CHRISTOFFEL, 1)
@cached_method
def christoffel(x: States) -> DecimalArray:
    """Γ_ijk, (..., n, n, n): Christoffel's symbols of the first kind, in velocities that need not
    be rates of coordinates.

    2 Γ_ijk = e_k M_ij + e_j M_ik - e_i M_jk + [e_k, e_j]·M_i - [e_k, e_i]·M_j - [e_j, e_i]·M_k,
    where e_k is the derivative along velocity k (Koszul's formula; do Carmo, Riemannian Geometry,
    ch. 2)."""
    return symbols_from_gradient(x, mass(x), gradient(mass, x))


def symbols_from_gradient(x: States, m: DecimalArray, by_q: DecimalArray) -> DecimalArray:
    """Koszul's formula, which is linear in M and its gradient."""
    b = brackets(x.mechanism)
    twice = by_q + np.swapaxes(by_q, -1, -2) - np.moveaxis(by_q, -1, -3)
    if b.any():
        terms = _along_brackets(m, b)
        twice = twice + np.swapaxes(terms, -1, -2) - np.moveaxis(terms, -1, -3)
        twice = twice - np.swapaxes(terms, -1, -3)
    return twice / 2


def _along_brackets(m: DecimalArray, b: DecimalArray) -> DecimalArray:
    """M_c · [e_a, e_b] at [c, a, b]."""
    out = np.full((*m.shape, len(b)), Decimal(0), object)
    for j, k, at in zip(*np.nonzero(b), strict=True):
        out[..., j, k] = out[..., j, k] + int(b[j, k, at]) * m[..., at]
    return out


@law("coriolis_matrix", CHRISTOFFEL, 1)
@cached_method
def coriolis(x: States) -> DecimalArray:
    """C_ij = Σ_k Γ_ijk q̇_k, (..., n, n)."""
    return (christoffel(x) * x.inputs["qd"][..., None, None, :]).sum(-1)


def solve(m: DecimalArray, right: DecimalArray) -> DecimalArray:
    """M⁻¹ times the columns of `right`, (..., n, k), by elimination without exchange. Where `right`
    has more axes in front, that of M is done once."""
    remaining, n = m.copy(), m.shape[-1]
    front = np.broadcast_shapes(m.shape[:-2], right.shape[:-2])
    solution = np.broadcast_to(right, (*front, n, right.shape[-1])).copy()
    for k in range(n):
        pivot, below = remaining[..., k, k, None], remaining[..., k + 1 :, k, None]
        remaining[..., k, k + 1 :] = remaining[..., k, k + 1 :] / pivot
        solution[..., k, :] = solution[..., k, :] / pivot
        remaining[..., k + 1 :, k + 1 :] -= below * remaining[..., k, None, k + 1 :]
        solution[..., k + 1 :, :] -= below * solution[..., k, None, :]
    for k in reversed(range(n)):
        solution[..., :k, :] -= remaining[..., :k, k, None] * solution[..., k, None, :]
    return solution


@law("forward_dynamics", ELIMINATION)
@not_differentiated
@cached_method
def accelerations(x: States) -> DecimalArray:
    """q̈ with M q̈ = τ - (C q̇ + g, friction, springs and wrenches), (..., n)."""
    accelerating, m = x.inputs["tau"] - bias_forces(x), _mass(x)
    if has_load(x):
        accelerating = _load(x) - bias_forces(replace(x, passive={}))
    if x.n >= MIN_REFINED_SIZE and m.shape[:-2] == accelerating.shape[:-1]:
        refined = _refined(m, accelerating)
        if refined is not None:
            return refined
    return solve(m, accelerating[..., None])[..., 0]


def has_load(x: States) -> bool:
    """Whether the friction of a joint depends on its load."""
    return any(map(textbook.has_load, x.passive.values()))


def without_load(x: States) -> States:
    """The states without friction that depends on the load."""
    loaded = ("load", "presliding_load")
    rows = {i: {k: v for k, v in row.items() if k not in loaded} for i, row in x.passive.items()}
    return replace(x, passive=rows)


def load_factors(x: States, rates: DecimalArray | None) -> DecimalArray:
    """The friction of each joint per unit of its load at some rates (None: at rest), (..., n)."""
    factors = np.full((*x.shape, x.n), Decimal(0), object)
    for i, row in x.passive.items():
        if textbook.has_load(row):
            k = x.mechanism.part(i).terms[0][0]
            rate = ZERO if rates is None else rates[..., k]
            factors[..., k] = textbook.load_factor(rate, row) + Decimal(0)
    return factors


def _load(x: States) -> DecimalArray:
    """The loads that the joint forces leave: of τ - f = y + k |y| the solution with y > 0, if there
    is one, else that with y < 0."""
    friction = bias_forces(without_load(x)) - bias_forces(replace(x, passive={}))
    left, k = x.inputs["tau"] - friction, load_factors(x, x.inputs["qd"])
    return np.where(left > 0, left / (1 + k), left / (1 - k))


MIN_REFINED_SIZE: Final = 60
"""Velocities from which on elimination in many digits takes longer than refinement."""
REFINEMENTS: Final = 60
MAX_RESIDUAL: Final = Decimal("1e-65")
"""The residual, as a part of the largest force, at which a refined solution is right."""


def _refined(m: DecimalArray, right: DecimalArray) -> DecimalArray | None:
    """M⁻¹ times `right`, (..., n), by iterative refinement: solved in double precision for what a
    residual in many digits leaves (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.
    2002, ch. 12). None where it does not converge."""
    try:
        inverses = np.linalg.inv(m.astype(float))
    except np.linalg.LinAlgError:
        return None
    solution = decimals(np.zeros(right.shape))
    largest = np.abs(right).max()
    for _ in range(REFINEMENTS):
        residual = right - (m * solution[..., None, :]).sum(-1)
        size = np.abs(residual).max()
        if size <= MAX_RESIDUAL * largest:
            return solution
        scaled = (residual / size).astype(float)
        step = (inverses * scaled[..., None, :]).sum(-1)
        if not np.isfinite(step).all():
            return None
        solution = solution + decimals(step) * size
    return None


@law("mass_matrix_inverse", ELIMINATION)
@cached_method
def inverse(x: States) -> DecimalArray:
    """M⁻¹."""
    return solve(mass(x), eye(x.n))


@law("christoffel_symbols", CHRISTOFFEL, 1)
def christoffel_symbols(x: States) -> DecimalArray:
    """Γ_ijk with j ≤ k, the mean of both orders."""
    gamma = christoffel(x)
    j, k = np.triu_indices(x.n)
    return (gamma[..., j, k] + gamma[..., k, j]) / 2


@law("coriolis_transpose_product", CHRISTOFFEL, 1)
def coriolis_transpose_product(x: States) -> DecimalArray:
    """Cᵀ q̇."""
    return batch_transposed_matvec(coriolis(x), x.inputs["qd"])
