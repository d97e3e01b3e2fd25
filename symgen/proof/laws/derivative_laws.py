"""References of derivatives and of rates along a motion: central differences of terms of the
textbook in many digits, in coordinates and in time."""

from decimal import Decimal
from functools import partial
from typing import Any, Final

import numpy as np

from symgen.numbers.caching import cached_method
from symgen.numbers.scalar import DecimalArray
from symgen.proof.laws import law
from symgen.proof.laws.dynamics import (
    accelerations,
    christoffel,
    coriolis,
    gravity_forces,
    has_load,
    inverse,
    mass,
    symbols_from_gradient,
    tau,
)
from symgen.proof.states import (
    STEP,
    States,
    Term,
    after_steps,
    batch_transposed_matvec,
    gradient,
    rate,
    second_difference,
    second_rate,
    slope,
    slope_by_input,
    step_sizes,
    units,
)
from symgen.proof.tangent import brackets

SLOPES = "derivatives of {} in 75 digits"


def _unit_pairs(x: States) -> DecimalArray:
    """The unit changes and the sums of two of them, each pair once, in the order of
    `np.triu_indices`. All steps have one size in each coordinate, so that errors of their order
    cancel where a term is a sum of functions of one coordinate each."""
    unit = units(x)
    pairs = np.transpose(np.triu_indices(x.n))
    return np.stack([unit[i] if i == j else unit[i] + unit[j] for i, j in pairs])


ROUNDING: Final = Decimal("1e-36")
"""The part of a term up to which its second differences are rounding: 1e-75 over `STEP` squared is
1e-41."""


def _without_rounding(derivatives: DecimalArray, values: DecimalArray) -> DecimalArray:
    """Derivatives of `values`, zero where rounding alone makes them."""
    limit = ROUNDING * max(np.abs(values).flat, default=Decimal(0))
    rounded = derivatives.copy()
    rounded[np.abs(derivatives) < limit] = Decimal(0)
    return rounded


def second_gradient(term: Term, x: States, name: str = "q") -> DecimalArray:
    """The derivative of the gradient of a term in every coordinate of an input: the last axis,
    after that of the gradient.

    Where coordinates commute it is symmetric, so that second differences along the sum of every two
    unit changes determine it: a quarter of the steps of two gradients."""
    if name == "q" and brackets(x.mechanism).any():
        return gradient(lambda y: gradient(term, y), x)
    first, second = np.triu_indices(x.n)
    along_pairs = second_difference(term, x, after_steps(x, name, _unit_pairs, STEP, -STEP), 1)
    diagonal = along_pairs[..., first == second]
    mixed = (along_pairs - diagonal[..., first] - diagonal[..., second]) / 2
    hessian = np.empty((*along_pairs.shape[:-1], x.n, x.n), object)
    hessian[..., first, second] = hessian[..., second, first] = mixed
    hessian[..., range(x.n), range(x.n)] = diagonal
    return _without_rounding(hessian, term(x))


@cached_method
def second_derivatives(x: States, term: Term) -> tuple[DecimalArray, DecimalArray, DecimalArray]:
    """The second derivatives of a term: in q twice, in q̇ twice, in q and q̇."""
    by_q, by_qd = second_gradient(term, x), second_gradient(term, x, "qd")
    unit, offsets = units(x), step_sizes(x, STEP, -STEP)[:, None]
    stepped = x.displaced_by((2, x.n, x.n), q=offsets * unit[:, None], qd=offsets * unit)
    along = second_difference(term, x, stepped, 2)
    q, qd = (np.diagonal(own, axis1=-2, axis2=-1) for own in (by_q, by_qd))
    mixed = (along - q[..., :, None] - qd[..., None, :]) / 2
    return by_q, by_qd, _without_rounding(mixed, term(x))


def christoffel_gradient(x: States) -> DecimalArray:
    """∂Γ_ijk/∂q_l, (..., n, n, n, n), by the same formula on derivatives of M."""
    by_last = (np.moveaxis(a, -1, 0) for a in (gradient(mass, x), second_gradient(mass, x)))
    return np.moveaxis(symbols_from_gradient(x, *by_last), 0, -1)


@law("inverse_dynamics_derivatives", SLOPES.format("the reference tau"), 1)
@cached_method
def inverse_dynamics_derivatives(x: States) -> tuple[DecimalArray, ...]:
    """∂τ/∂q, ∂τ/∂q̇, M, and ∂τ/∂thrust if there are thrusts."""
    external = _by_external_inputs(tau, x, "thrust")
    return gradient(tau, x), gradient(tau, x, "qd"), mass(x), *external


@law("forward_dynamics_derivatives", SLOPES.format("qdd = M^-1 (tau - bias)"), 1)
@cached_method
def forward_dynamics_derivatives(x: States) -> tuple[DecimalArray, ...]:
    """∂q̈/∂q, ∂q̈/∂q̇, M⁻¹, and those in external wrenches and thrusts if there are any."""
    external = _by_external_inputs(accelerations, x, "wrench", "thrust")
    return gradient(accelerations, x), gradient(accelerations, x, "qd"), inverse(x), *external


def _by_external_inputs(term: Term, x: States, *names: str) -> tuple[DecimalArray, ...]:
    return tuple(slope_by_input(term, x, name) for name in names if name in x.inputs)


@law("inverse_dynamics_jvp", SLOPES.format("the reference tau"), 1)
def inverse_dynamics_jvp(x: States) -> DecimalArray:
    """The change of τ."""
    return _directional_derivative(tau, x, q="dq", qd="dqd", qdd="dqdd")


@law("forward_dynamics_jvp", SLOPES.format("qdd = M^-1 (tau - bias)"), 1)
def forward_dynamics_jvp(x: States) -> DecimalArray:
    """The change of q̈."""
    return _directional_derivative(accelerations, x, q="dq", qd="dqd", tau="dtau")


@law("inverse_dynamics_vjp", SLOPES.format("the reference tau"), 1)
def inverse_dynamics_vjp(x: States) -> tuple[DecimalArray, ...]:
    """λᵀ ∂τ/∂q, λᵀ ∂τ/∂q̇, λᵀ M."""
    return _weighted(inverse_dynamics_derivatives(x)[:3], x.inputs["lam_tau"])


@law("forward_dynamics_vjp", SLOPES.format("qdd = M^-1 (tau - bias)"), 1)
def forward_dynamics_vjp(x: States) -> tuple[DecimalArray, ...]:
    """λᵀ ∂q̈/∂q, λᵀ ∂q̈/∂q̇, λᵀ M⁻¹."""
    return _weighted(forward_dynamics_derivatives(x)[:3], x.inputs["lam_qdd"])


def _weighted(
    matrices: tuple[DecimalArray, ...], weights: DecimalArray
) -> tuple[DecimalArray, ...]:
    """Each from the left by the weights of its rows."""
    return tuple(batch_transposed_matvec(m, weights) for m in matrices)


def _directional_derivative(term: Any, x: States, **by: str) -> DecimalArray:
    """The change of a term along the inputs that are changes."""
    return slope(term, x, **{name: x.inputs[change][None] for name, change in by.items()})[..., 0]


law("mass_matrix_gradient", SLOPES.format("the reference M"), 1)(partial(gradient, mass))
law("gravity_gradient", SLOPES.format("the reference tau"), 1)(partial(gradient, gravity_forces))


@law("coriolis_matrix_gradient", SLOPES.format("C from Christoffel symbols"), 2)
def coriolis_matrix_gradient(x: States) -> tuple[DecimalArray, DecimalArray]:
    """∂C_ij/∂q_k and, for C_ij = Σ_k Γ_ijk q̇_k, Γ_ijk."""
    by_q = christoffel_gradient(x) * x.inputs["qd"][..., None, None, :, None]
    return by_q.sum(-2), christoffel(x)


@law("inverse_dynamics_second_derivatives", SLOPES.format("the reference tau"), 2)
def inverse_dynamics_second_derivatives(
    x: States,
) -> tuple[DecimalArray, DecimalArray, DecimalArray, DecimalArray]:
    """∂(∂τ_i/∂q_j)/∂q_k, ∂²τ/∂q̇², ∂²τ/∂q∂q̇ and ∂M/∂q."""
    return (
        *second_derivatives(x, tau),
        np.swapaxes(_without_rounding(gradient(mass, x), mass(x)), -1, -2),
    )


def _weighted_second_derivatives(
    term: Term, x: States, weights: str, last: str, effect: Term
) -> tuple[DecimalArray, ...]:
    """The second derivatives of the weighted term: in q twice, q and q̇, q̇ twice, q and `last`, an
    input that has this `effect` on the term unless friction depends on the load."""
    lam = x.inputs[weights]
    by_q, by_qd, in_both = (
        (lam[..., None, None] * blocks).sum(-3) for blocks in second_derivatives(x, term)
    )
    if has_load(x):
        in_last = gradient(lambda y: batch_transposed_matvec(gradient(term, y), lam), x, last)
    else:
        in_last = gradient(lambda y: batch_transposed_matvec(effect(y), lam), x)
        in_last = np.swapaxes(_without_rounding(in_last, effect(x)), -1, -2)
    return by_q, in_both, by_qd, in_last


@law("inverse_dynamics_hessian", SLOPES.format("the reference tau"), 2)
def inverse_dynamics_hessian(x: States) -> tuple[DecimalArray, ...]:
    """The blocks of ∂²(λᵀτ)/∂(q, q̇, q̈)²."""
    return _weighted_second_derivatives(tau, x, "lam_tau", "qdd", mass)


@law("forward_dynamics_hessian", SLOPES.format("qdd = M^-1 (tau - bias)"), 2)
def forward_dynamics_hessian(x: States) -> tuple[DecimalArray, ...]:
    """The blocks of ∂²(λᵀq̈)/∂(q, q̇, τ)²."""
    return _weighted_second_derivatives(accelerations, x, "lam_qdd", "tau", inverse)


TERMS: dict[str, tuple[str, Term, int]] = {
    "mass_matrix": ("the reference M", mass, 0),
    "coriolis_matrix": ("C from Christoffel symbols", coriolis, 1),
    "gravity": ("the reference tau", gravity_forces, 0),
    "inverse_dynamics": ("the reference tau", tau, 0),
}
"""The terms that have a rate and a second rate, by quantity: in words, the term, derivatives nested
in it."""


for _quantity, (_words, _term, _order) in TERMS.items():
    _source = f"finite differences in time of {_words} in 75 digits"
    law(f"{_quantity}_rate", _source, _order)(partial(rate, _term))
    law(f"{_quantity}_second_rate", _source, _order)(partial(second_rate, _term))
