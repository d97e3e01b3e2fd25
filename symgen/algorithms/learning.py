"""Controllers and observers that estimate: external joint forces, or base parameters on the way
(see `controllers`)."""

from collections.abc import Sequence
from math import factorial
from typing import Final

from symgen.algorithms.composite import coupled_mass_matrix
from symgen.algorithms.controllers import (
    COMMAND,
    ControllerType,
    TwoVectors,
    clamped,
    controller,
    difference_of,
    friction_rates,
    model_forces,
    reference_motion,
    saturated,
    scaled_by,
    state_of_bodies,
    sum_of,
)
from symgen.algorithms.coriolis import coriolis_transpose_product
from symgen.algorithms.manifold import difference_rate
from symgen.algorithms.motion import motions
from symgen.algorithms.newton_euler import solved_loads
from symgen.algorithms.registry import Array
from symgen.algorithms.regressors import base_entries, base_regressor, with_passive_columns
from symgen.algorithms.steps import difference
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.independence import independent_parameters
from symgen.mechanics.parameters import WHOLE
from symgen.numbers.operations import sign
from symgen.numbers.scalar import ZERO, Coordinates, Scalar, dot, named, sum_in_order

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
    ControllerType(
        "momentum_observer",
        "momentum observer: estimates external joint forces without accelerations",
        state={"started": "started_next", "p_last": "p_next", "r": "tau_ext"},
        step=("q", "qd", "tau"),
        gains={"gain": (100.0,)},
    ),
    "r = exp(-gain h) r + (1 - exp(-gain h)) (M qd - p_last - h (u + C^T qd - g)) / h, "
    "u the applied forces",
)(
    method="observers",
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


# -- base parameters -------------------------------------------------------------------------------


BETA = "kg | kg m | kg m^2"
START_VARIANCE: Final = 100.0
"""The variance of each base parameter at the start of recursive least squares."""
TINY: Final = 1e-30
"""Keeps a row of zeros from dividing by zero; far below the information of any other."""
FACTORS = "U D U^T: D in the diagonal of a lower triangle by rows, U^T below"


def _rows(entries: Coordinates, width: int) -> list[list[Scalar]]:
    return [[*entries[k : k + width]] for k in range(0, len(entries), width)]


@controller(
    ControllerType(
        "adaptive_slotine_li",
        "adaptive control: follows a reference motion and estimates the base parameters",
        state={"beta_hat": "beta_next"},
        step=("q", "qd", "q_ref", "qd_ref", "qdd_ref"),
        gains={
            "k_p": (10.0,),
            "k_d": (20.0,),
            "gamma": (0.01,),
            "leak": (0.01,),
            "beta_mean": (0.0,),
            "beta_reach": (100.0,),
            "limit": (500.0,),
        },
        start={"beta_hat": "beta_mean"},
        by_inertia=("k_d",),
        forces="u_adaptive",
        units={"k_p": "1/s", "k_d": "N m s/rad | N s/m"},
    ),
    "u_adaptive = Y_b beta + k_d s, beta' = gamma Y_b^T s - leak (beta - beta_mean), within bounds",
)(
    closed_loops=True,
    inputs=(
        *("q", "qd", "q_ref", "qd_ref", "qdd_ref", "beta_hat"),
        *("k_p", "k_d", "gamma", "leak", "beta_mean", "beta_reach", "limit", "h"),
    ),
    needs_inertia=False,
    regroupings=(WHOLE,),
    source="Slotine & Li, On the adaptive control of robot manipulators, IJRR 1987; leakage as in "
    "Ioannou & Kokotovic (1983)",
    outputs=(
        Array("u_adaptive", *COMMAND),
        Array("beta_next", "base parameters after the step", BETA, ("y_b",)),
    ),
)
def adaptive_slotine_li(system: CanonicalModel, *inputs: Coordinates) -> TwoVectors:
    """τ = Y_b(q, q̇, q̇_r, q̈_r) β + k_d s within ±limit, with e = q_ref ⊖ q, q̇_r = q̇_ref + k_p
    e, its rate q̈_r and s = q̇_r - q̇, the reference as by `reference_motion`, and β after the
    step: β' = γ Y_bᵀ s - leak (β - β_mean), then within β_mean ± β_reach, where the parameters are
    known to be."""
    q, qd, q_ref, qd_ref, qdd_ref, beta, k_p, k_d, gamma, (leak,), mean, reach, limit, (h,) = inputs
    e = difference(system, q, q_ref)
    velocity, change = reference_motion(system, (q, qd), (q_ref, qd_ref, qdd_ref))
    e_rate = difference_rate(system.coupling, (q, qd), (q_ref, qd_ref))
    qd_r, qdd_r = sum_of(velocity, scaled_by(k_p, e)), sum_of(change, scaled_by(k_p, e_rate))
    s = difference_of(qd_r, qd)
    system, *motion = state_of_bodies(system, q, qd, qd_r, qdd_r)
    entries = _reference_regressor(system, *motion)
    width = len(beta)
    rows = _rows(system.coupling.pull_back(entries, (None, width)), width)
    tau = sum_of([dot(row, beta) for row in rows], scaled_by(k_d, s))
    gradient = [dot([row[k] for row in rows], s) for k in range(width)]
    adapted = []
    for b, g, x, centre, bound in zip(beta, gamma, gradient, mean, reach, strict=True):
        deviation = b - centre
        adapted.append(centre + clamped(deviation + h * (g * x - leak * deviation), bound))
    return saturated(tau, limit), adapted


def _reference_regressor(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qd_r: Coordinates, qdd_r: Coordinates
) -> list[Scalar]:
    """Y_b of M q̈_r + C(q, q̇) q̇_r + g, its columns of friction at the rates that
    `friction_rates` gives."""
    entries = base_entries(system, q, motions(system, q, qd, qdd_r, qd_r))
    friction_at = friction_rates(system, qd, qd_r)
    return with_passive_columns(
        entries, system, q, friction_at, len(independent_parameters(system).keys)
    )


@controller(
    ControllerType(
        "recursive_least_squares",
        "recursive least squares: estimates the base parameters from measurements",
        state={"beta_hat": "beta_rls", "P": "P_next"},
        step=("q", "qd", "qdd", "tau"),
        gains={"forget": (0.99,)},
        start={"P": START_VARIANCE},
        packed=("P",),
    ),
    "beta of min sum |Y_b beta - tau|^2, row by row, with directional forgetting",
)(
    closed_loops=True,
    loops=("base_regressor",),
    inputs=("q", "qd", "qdd", "tau", "beta_hat", "P", "forget"),
    needs_inertia=False,
    regroupings=(WHOLE,),
    source="Ljung, System Identification (1999), eq. 11.12; factors as in Bierman, Factorization "
    "Methods for Discrete Sequential Estimation (1977), section V.3; directional "
    "forgetting as in Kulhavý, Restricted exponential forgetting in real-time identification, "
    "Automatica 1987",
    outputs=(
        Array("beta_rls", "base parameters after the step", BETA, ("y_b",)),
        Array(
            "P_next",
            f"factors of the covariance after the step, {FACTORS}",
            "(beta / tau)^2",
            ("y_b2",),
        ),
    ),
)
def recursive_least_squares(system: CanonicalModel, *inputs: Coordinates) -> TwoVectors:
    """β and the factors of its covariance P = U D Uᵀ after one more measurement of joint forces, by
    one row of Y_b β = τ after the other. Before a row φ is used, the variance φᵀ P φ of what it
    predicts is divided by `forget`; nothing is forgotten in other directions, so that a robot at
    standstill keeps what it knows (see `_row_update`). The trace of P never exceeds that of the
    start.

    Entry (i, j), i >= j, of what is kept, at i (i + 1)/2 + j, is d_i on the diagonal and u_ji
    elsewhere. P itself would lose its sign to rounding, in single precision within a few steps."""
    q, qd, qdd, tau, beta, flat, (forget,) = inputs
    width, beta = len(beta), [*beta]
    system, *motion = state_of_bodies(system, q, qd, None, qdd)
    entries = base_regressor(system, motion[0], motion[1], motion[3])
    rows = _rows(system.coupling.pull_back(entries, (None, width)), width)
    start = [i * (i + 1) // 2 for i in range(width)]
    u = [[*flat[at : at + i]] for i, at in enumerate(start)]
    d = [flat[at + i] for i, at in enumerate(start)]
    max_trace = width * START_VARIANCE
    variances = [x + x * dot(column, column) for column, x in zip(u, d, strict=True)]
    margin = max_trace - sum_in_order(variances[1:], variances[0])
    max_growth = (0.5 / len(rows)) * (margin + margin * sign(margin))
    bounds = 1.0 / forget - 1.0, max_growth, (1.0 - forget) * (1.0 / START_VARIANCE)
    for k, (row, force) in enumerate(zip(rows, tau, strict=True)):
        u, d, step = _row_update(u, d, row, bounds, f"{k}")
        residual = named(force - dot(row, beta), f"missing{k}")
        beta = [
            named(b + x * residual, f"beta{k}_{i}")
            for i, (b, x) in enumerate(zip(beta, step, strict=True))
        ]
    return beta, [x for above, diagonal in zip(u, d, strict=True) for x in (*above, diagonal)]


def _forgetting_factor(
    variance: Scalar, size: Scalar, square: Scalar, bounds: tuple[Scalar, Scalar, Scalar]
) -> Scalar:
    """The part of the information along a row φ that is forgotten, with the variance φᵀ P φ
    (`variance`), |P φ|² (`size`) and |φ|² (`square`).

    `bounds` are 1/forget - 1, the most that the trace of P may grow by, and the dead zone: rows
    with a smaller square, whose steady state would be less certain than the start, forget
    nothing."""
    rate, max_growth, dead_zone = bounds
    growth = clamped(rate, max_growth * variance / (size + TINY))
    growth = (0.5 + 0.5 * sign(square - dead_zone)) * growth
    return growth / (1.0 + growth)


def _row_update(
    u: Sequence[Coordinates],
    d: Coordinates,
    row: Coordinates,
    bounds: tuple[Scalar, Scalar, Scalar],
    label: str,
) -> tuple[list[list[Scalar]], list[Scalar], list[Scalar]]:
    """The columns of U and the entries of D after a measurement of row·β with a variance of 1, and
    the gain (Bierman 1977); in generated code U, D, f, g, alpha and K with the label.

    Before, the information along the row is reduced by a part ρ (`_forgetting_factor`): P grows by
    ρ/(1 - ρ) P φ φᵀ P / ζ, ζ = φᵀ P φ. Both together are the update of a measurement with the
    variance ζ/(ζ - ρ), which is negative where more is forgotten than is seen, and the gain
    P φ/(1 - ρ + ζ). P may be singular: what has no variance gets none."""
    inner = [named(dot(column, row[:j]) + row[j], f"f{label}_{j}") for j, column in enumerate(u)]
    scaled = [named(x * f, f"g{label}_{j}") for j, (x, f) in enumerate(zip(d, inner, strict=True))]
    gains: list[list[Scalar]] = [[]]
    for j, (column, g) in enumerate(zip(u, scaled, strict=True)):
        pairs = zip(column, gains[j], strict=True)
        before = [named(b + e * g, f"K{label}_{i}_{j}") for i, (e, b) in enumerate(pairs)]
        gains.append([*before, g])
    variance = sum_in_order((f * g for f, g in zip(inner, scaled, strict=True)), TINY)
    gain = gains[len(u)]
    forgotten = named(
        _forgetting_factor(variance, dot(gain, gain), dot(row, row), bounds), f"lost{label}"
    )
    rest = variance - forgotten
    alpha = named(variance / (rest + TINY * sign(rest + TINY)), f"alpha{label}")
    share = 1.0 / alpha
    columns: list[list[Scalar]] = []
    diagonal: list[Scalar] = []
    for j, (column, x) in enumerate(zip(u, d, strict=True)):
        before_alpha, alpha = alpha, named(alpha + inner[j] * scaled[j], f"alpha{label}_{j}")
        p, share = inner[j] * share, 1.0 / alpha
        pairs = zip(column, gains[j], strict=True)
        columns.append([named(e - b * p, f"U{label}_{i}_{j}") for i, (e, b) in enumerate(pairs)])
        diagonal.append(named(x * (before_alpha * share), f"D{label}_{j}"))
    weight = 1.0 / (1.0 - forgotten + variance)
    return columns, diagonal, [named(weight * b, f"K{label}_{i}") for i, b in enumerate(gain)]
