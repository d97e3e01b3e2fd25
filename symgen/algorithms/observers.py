"""Observers of external joint forces (see `symgen.algorithms.controllers`)."""

from math import factorial
from typing import Final

from symgen.algorithms.composite import coupled_mass_matrix
from symgen.algorithms.controllers import (
    controller,
    difference_of,
    model_forces,
    state_of_bodies,
    sum_of,
)
from symgen.algorithms.coriolis import coriolis_transpose_product
from symgen.algorithms.newton_euler import solved_loads
from symgen.algorithms.registry import Array
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.numbers.scalar import ZERO, Coordinates, Scalar

HALVINGS: Final = 6
"""The exponential of an observer's filter is that of a part 2^-6 as large, squared six times."""
TERMS: Final = 8
"""The terms of its series: exact to the digits of a double up to a gain of 4 by the sample time,
and to 1e-8 of the residual for any."""


def filter_step(gain: Scalar, h: Scalar) -> tuple[Scalar, Scalar]:
    """The factors of an exact step of a first-order filter ṙ = gain (x - r): exp(-gain h) for r,
    and (1 - exp(-gain h))/h for the integral of x over the step.

    With x = gain h, y = x/2^6 and the series T(y) = 1 + x S of e^y, z = 1/T lies between 0 and 1
    for any gain ≥ 0, so that every step is stable. Nothing divides by h or by the gain: 1 - z =
    x S z, and 1 - z^64 = (1 - z)(1 + z)(1 + z²)...(1 + z^32)."""
    x, share = gain * h, 1.0 / 2**HALVINGS
    series: Scalar = share**TERMS / factorial(TERMS)
    for k in range(TERMS - 1, 0, -1):
        series = series * x + share**k / factorial(k)
    power = 1.0 / (series * x + 1.0)
    weight = gain * series * power
    for _ in range(HALVINGS):
        weight = weight + weight * power
        power = power * power
    return power, weight


@controller(
    "momentum_observer",
    "momentum observer: estimates external joint forces without accelerations",
    "r = exp(-gain h) r + (1 - exp(-gain h)) (M qd - p_last - h (u + C^T qd - g)) / h, "
    "u the applied forces",
    state={"started": "started_next", "p_last": "p_next", "r": "tau_ext"},
    step=("q", "qd", "tau"),
    gains={"gain": 100.0},
)(
    inputs=("q", "qd", "tau", "started", "p_last", "r", "gain", "h"),
    depends_on_external_forces=True,
    supports=("load", "presliding"),
    source="De Luca & Mattone, Sensorless robot collision detection and hybrid force/motion "
    "control, ICRA 2005; its filter solved exactly over a step",
    outputs=(
        Array("tau_ext", "external joint forces", "N m | N"),
        Array("p_next", "momentum at this step", "N m s | N s"),
        Array("started_next", "always 1: the observer has started", "1", (1,)),
    ),
)
def momentum_observer(
    system: CanonicalModel, *inputs: Coordinates
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """The residual r, which follows the external joint forces with the time constants 1/gain, and
    the state after the step. The change of momentum that the model does not explain,
    M q̇ - p_last - h (τ + Cᵀ q̇ - g - friction), goes through an exact step of the filter, which is
    stable for any gain; r is zero at the first step. Friction is that at the measured velocity:
    nothing is fed back."""
    at, rates = system.coupling.body_positions(inputs[0]), system.coupling.body_rates(inputs[1])
    coriolis_transpose_rates = system.coupling.forces(coriolis_transpose_product(system, at, rates))
    return observer_step(system, coriolis_transpose_rates, *inputs)


def observer_step(
    system: CanonicalModel, coriolis_transpose_rates: Coordinates, *inputs: Coordinates
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """A step of the observer from Cᵀ q̇ of the user's coordinates."""
    q, qd, tau, (started,), p_last, r, gain, (h,) = inputs
    system, positions, rates, *_ = state_of_bodies(system, q, qd)
    system, tau = solved_loads(system, positions, rates, tau)
    n, m, zeros = system.dof, coupled_mass_matrix(system, positions), [ZERO] * system.size
    p = [sum((m[i * n + j] * qd[j] for j in range(n)), ZERO) for i in range(n)]
    holding = model_forces(
        system, positions, (rates if system.fluids else zeros, zeros), zeros, rates
    )
    explained = difference_of(sum_of(tau, coriolis_transpose_rates), holding)
    residual: list[Scalar] = []
    for k, (x, before, y) in enumerate(zip(p, p_last, explained, strict=True)):
        decay, weight = filter_step(gain[k], h)
        residual.append(started * (decay * r[k] + weight * (x - before - h * y)))
    return residual, p, [1.0]
