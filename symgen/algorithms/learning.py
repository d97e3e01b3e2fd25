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
from symgen.numbers.scalar import ZERO, Scalar

Coordinates = Sequence[Scalar]
BETA = "kg | kg m | kg m^2"


def _rows(entries: Coordinates, width: int) -> list[list[Scalar]]:
    return [[*entries[k : k + width]] for k in range(0, len(entries), width)]


def _dot(a: Coordinates, b: Coordinates) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), ZERO)


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
    tau = plus([_dot(row, beta) for row in rows], by(k_d, s))
    learnt = [_dot([row[k] for row in rows], s) for k in range(width)]
    found = []
    for b, g, x, middle, most in zip(beta, gamma, learnt, mean, reach, strict=True):
        off = b - middle
        found.append(middle + clamped(off + h * (g * x - leak * off), most))
    return saturated(tau, limit), found


@controller(
    "recursive_least_squares",
    "estimates the base parameters as measurements come in",
    "beta of min sum forget^k |Y_b beta - tau|^2, row by row",
    state={"beta_hat": "beta_rls", "P": "P_next"},
    step=("q", "qd", "qdd", "tau"),
    gains={"forget": 0.99},
    start={"P": 100.0},
)(
    inputs=("q", "qd", "qdd", "tau", "beta_hat", "P", "forget"),
    needs_inertia=False,
    regroupings=(WHOLE,),
    source="Ljung, System Identification (1999), eq. 11.12",
    outputs=(
        Array("beta_rls", "base parameters after the step", BETA, ("y_b",)),
        Array(
            "P_next", "their covariance after the step, symmetric", "of beta by tau", ("y_b", "y_b")
        ),
    ),
)
def recursive_least_squares(system: System, *inputs: Coordinates) -> Pair:
    """β and its covariance P after one more measurement of joint forces, by one row of Y_b β = τ
    after the other; what is old counts `forget` times as much with every step."""
    q, qd, qdd, tau, beta, flat, (forget,) = inputs
    width, beta = len(beta), [*beta]
    entries = base_regressor(system, *joints(system, q, qd, qdd))
    rows = _rows(system.coupling.projected(entries, (None, width)), width)
    covariance = [[x / forget for x in row] for row in _rows(flat, width)]
    for row, force in zip(rows, tau, strict=True):
        seen = [_dot(line, row) for line in covariance]
        share = 1.0 / (1.0 + _dot(row, seen))
        missing = share * (force - _dot(row, beta))
        beta = [b + x * missing for b, x in zip(beta, seen, strict=True)]
        scaled = [share * x for x in seen]
        half = {
            (i, j): covariance[i][j] - seen[i] * scaled[j]
            for i in range(width)
            for j in range(i + 1)
        }
        covariance = [[half[max(i, j), min(i, j)] for j in range(width)] for i in range(width)]
    return beta, [x for line in covariance for x in line]
