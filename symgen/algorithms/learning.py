"""Controllers and observers that learn the base parameters on the way (see `controllers`)."""

from collections.abc import Sequence

from symgen.algorithms.controllers import (
    COMMAND,
    Pair,
    by,
    clamped,
    controller,
    joints,
    minus,
    plus,
    saturated,
)
from symgen.algorithms.registry import Array
from symgen.algorithms.regressors import base_regressor, slotine_li_base_regressor
from symgen.algorithms.steps import difference
from symgen.mechanics.parameters import WHOLE
from symgen.mechanics.system import System
from symgen.numbers.scalar import Scalar, dot, named

Coordinates = Sequence[Scalar]
BETA = "kg | kg m | kg m^2"
FACTORS = "U D U^T: D in the diagonal of a lower triangle by rows, U^T below"


def _rows(entries: Coordinates, width: int) -> list[list[Scalar]]:
    return [[*entries[k : k + width]] for k in range(0, len(entries), width)]


@controller(
    "adaptive_slotine_li",
    "follows a motion and learns the base parameters on the way",
    "Y_b beta + k_s s, beta' = gamma Y_b^T s - leak (beta - beta_0), within bounds",
    state={"beta_hat": "beta_next"},
    step=("q", "qd", "q_ref", "qd_ref", "qdd_ref"),
    gains={
        "k_p": 10.0,
        "k_d": 20.0,
        "gamma": 0.01,
        "leak": 0.01,
        "beta_mean": 0.0,
        "beta_reach": 100.0,
        "limit": 500.0,
    },
    start={"beta_hat": "beta_mean"},
    by_inertia=("k_d",),
    forces="u_adaptive",
)(
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
def adaptive_slotine_li(system: System, *inputs: Coordinates) -> Pair:
    """τ = Y_b(q, q̇, q̇_r, q̈_r) β + k_d s within ±limit, with e = q_ref ⊖ q, q̇_r = q̇_ref + k_p e and
    s = q̇_r - q̇, and β after the step: β' = γ Y_bᵀ s - leak (β - β_mean), then within β_mean ±
    β_reach, where the parameters are known to be."""
    q, qd, q_ref, qd_ref, qdd_ref, beta, k_p, k_d, gamma, (leak,), mean, reach, limit, (h,) = inputs
    e = difference(system, q, q_ref)
    qd_r = plus(qd_ref, by(k_p, e))
    qdd_r, s = plus(qdd_ref, by(k_p, minus(qd_ref, qd))), minus(qd_r, qd)
    entries = slotine_li_base_regressor(system, *joints(system, q, qd, qd_r, qdd_r))
    width = len(beta)
    rows = _rows(system.coupling.projected(entries, (None, width)), width)
    tau = plus([dot(row, beta) for row in rows], by(k_d, s))
    learnt = [dot([row[k] for row in rows], s) for k in range(width)]
    adapted = []
    for b, g, x, middle, most in zip(beta, gamma, learnt, mean, reach, strict=True):
        off = b - middle
        adapted.append(middle + clamped(off + h * (g * x - leak * off), most))
    return saturated(tau, limit), adapted


@controller(
    "recursive_least_squares",
    "estimates the base parameters as measurements come in",
    "beta of min sum forget^k |Y_b beta - tau|^2, row by row",
    state={"beta_hat": "beta_rls", "P": "P_next"},
    step=("q", "qd", "qdd", "tau"),
    gains={"forget": 0.99},
    start={"P": 100.0},
    packed=("P",),
    loops="base_regressor",
)(
    inputs=("q", "qd", "qdd", "tau", "beta_hat", "P", "forget"),
    needs_inertia=False,
    regroupings=(WHOLE,),
    source="Ljung, System Identification (1999), eq. 11.12; factors as in Bierman, Factorization "
    "Methods for Discrete Sequential Estimation (1977), section V.3",
    outputs=(
        Array("beta_rls", "base parameters after the step", BETA, ("y_b",)),
        Array("P_next", f"the same after the step, {FACTORS}", "of beta by tau", ("y_b2",)),
    ),
)
def recursive_least_squares(system: System, *inputs: Coordinates) -> Pair:
    """β and the factors of its covariance P = U D Uᵀ after one more measurement of joint forces, by
    one row of Y_b β = τ after the other; what is old counts `forget` times as much with every step.
    Entry (i, j), i >= j, of what is kept, at i (i + 1)/2 + j, is d_i on the diagonal and u_ji
    elsewhere. P itself would lose its sign to rounding, in single precision within a few steps."""
    q, qd, qdd, tau, beta, flat, (forget,) = inputs
    width, beta = len(beta), [*beta]
    entries = base_regressor(system, *joints(system, q, qd, qdd))
    rows = _rows(system.coupling.projected(entries, (None, width)), width)
    start = [i * (i + 1) // 2 for i in range(width)]
    u = [[*flat[at : at + i]] for i, at in enumerate(start)]
    d = [flat[at + i] / forget for i, at in enumerate(start)]
    for k, (row, force) in enumerate(zip(rows, tau, strict=True)):
        u, d, step = _after_row(u, d, row, f"{k}")
        missing = named(force - dot(row, beta), f"missing{k}")
        beta = [
            named(b + x * missing, f"beta{k}_{i}")
            for i, (b, x) in enumerate(zip(beta, step, strict=True))
        ]
    return beta, [x for above, diagonal in zip(u, d, strict=True) for x in (*above, diagonal)]


def _after_row(
    u: Sequence[Coordinates], d: Coordinates, row: Coordinates, label: str
) -> tuple[list[list[Scalar]], list[Scalar], list[Scalar]]:
    """The columns of U and the entries of D after a measurement of row·β with a variance of 1, and
    the gain (Bierman 1977); in generated code U, D, f, g, alpha and K with the label."""
    share: Scalar = 1.0
    alpha: Scalar = 1.0
    columns: list[list[Scalar]] = []
    diagonal: list[Scalar] = []
    gain: list[Scalar] = []
    for j, (column, x) in enumerate(zip(u, d, strict=True)):
        f = named(dot(column, row[:j]) + row[j], f"f{label}_{j}")
        g = named(x * f, f"g{label}_{j}")
        before, alpha = alpha, named(alpha + f * g, f"alpha{label}_{j}")
        p, share = f * share, 1.0 / alpha
        pairs = [*zip(column, gain, strict=True)]
        columns.append([named(e - b * p, f"U{label}_{i}_{j}") for i, (e, b) in enumerate(pairs)])
        gain = [*(named(b + e * g, f"K{label}_{i}_{j}") for i, (e, b) in enumerate(pairs)), g]
        diagonal.append(named(x * (before * share), f"D{label}_{j}"))
    return columns, diagonal, [named(share * b, f"K{label}_{i}") for i, b in enumerate(gain)]
