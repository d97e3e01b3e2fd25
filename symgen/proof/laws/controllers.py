"""Laws of controllers: their equations on the textbook's terms, in many digits."""

from decimal import Decimal
from typing import Any

import numpy as np

from symgen.proof.arrays import applied, applied_transposed
from symgen.proof.laws import base
from symgen.proof.laws.dynamics import at_rest, coriolis, mass, solved, tau
from symgen.proof.laws.kinematics import pose
from symgen.proof.laws.manifold import between
from symgen.proof.laws.registry import law
from symgen.proof.laws.task_space import task
from symgen.proof.states import States

Array = Any
EQUATION = "its equation on the textbook's terms"


def _clamped(x: Array, limit: Array) -> Array:
    return np.where(abs(x) < limit, x, np.where(x < 0, -limit, limit))


def _error(x: States) -> Array:
    return between(x.mechanism, x.given["q"], x.given["q_ref"])


@law("gravity_compensation", EQUATION)
def gravity_compensation(x: States) -> Array:
    """g - k_d q̇."""
    return _clamped(at_rest(x) - x.given["k_d"] * x.given["qd"], x.given["limit"])


@law("computed_torque", EQUATION)
def computed_torque(x: States) -> tuple[Array, Array]:
    """The forces, and the integral after the step."""
    g, e = x.given, _error(x)
    de, total = g["qd_ref"] - g["qd"], g["e_int"] + g["h"] * e
    wanted = g["qdd_ref"] + g["k_d"] * de + g["k_p"] * e + g["k_i"] * total
    forces = tau(x.free().put(qdd=wanted))
    free = abs(forces) < g["limit"]
    return _clamped(forces, g["limit"]), np.where(free, total, g["e_int"])


@law("joint_impedance", EQUATION)
def joint_impedance(x: States) -> Array:
    """The forces."""
    g = x.given
    ahead = tau(x.free().put(qdd=g["qdd_ref"]))
    spring = g["k_p"] * _error(x) + g["k_d"] * (g["qd_ref"] - g["qd"])
    return _clamped(ahead + spring, g["limit"])


@law("momentum_observer", EQUATION, 1)
def momentum_observer(x: States) -> tuple[Array, Array, Array]:
    """r, the momentum that is explained, 1."""
    g, p = x.given, applied(mass(x), x.given["qd"])
    moved = applied_transposed(coriolis(x), g["qd"])
    after = g["p_int"] + g["h"] * (g["tau"] + moved - at_rest(x) + g["r"])
    explained = g["started"] * after + (1 - g["started"]) * p
    return g["gain"] * (p - explained), explained, 0 * g["started"] + 1


@law("adaptive_slotine_li", EQUATION, 2)
def adaptive_slotine_li(x: States) -> tuple[Array, Array]:
    """The forces, and the parameters after the step."""
    g, e = x.given, _error(x)
    qd_r = g["qd_ref"] + g["k_p"] * e
    qdd_r, s = g["qdd_ref"] + g["k_p"] * (g["qd_ref"] - g["qd"]), qd_r - g["qd"]
    rows = base.slotine_li_base_regressor(x.put(qd_r=qd_r, qdd_r=qdd_r))
    forces = applied(rows, g["beta_hat"]) + g["k_d"] * s
    off = g["beta_hat"] - g["beta_mean"]
    learnt = applied_transposed(rows, s)
    after = off + g["h"] * (g["gamma"] * learnt - g["leak"] * off)
    return _clamped(forces, g["limit"]), g["beta_mean"] + _clamped(after, g["beta_reach"])


@law("recursive_least_squares", EQUATION, 1)
def recursive_least_squares(x: States) -> tuple[Array, Array]:
    """The parameters and the factors of their covariance after all rows."""
    g = x.given
    rows, beta = base.base_regressor(x), g["beta_hat"]
    width = beta.shape[-1]
    lower, diagonal = np.tril_indices(width), range(width)
    u = np.full((*x.shape, width, width), Decimal(0))
    u[..., lower[1], lower[0]] = g["P"]
    d = u[..., diagonal, diagonal] / g["forget"]
    u[..., diagonal, diagonal] = Decimal(1)
    p = ((u * d[..., None, :])[..., :, None, :] * u[..., None, :, :]).sum(-1)
    for k in range(x.n):
        y = rows[..., k, :]
        gain = applied(p, y)
        share = 1 / (1 + (y * gain).sum(-1, keepdims=True))
        beta = beta + gain * share * (g["tau"][..., k, None] - (y * beta).sum(-1, keepdims=True))
        p = p - gain[..., :, None] * (share * gain)[..., None, :]
    for k in reversed(diagonal):  # P = U D Uᵀ, from the last column on
        d[..., k] = p[..., k, k]
        u[..., :, k] = p[..., :, k] / d[..., k, None]
        p = p - u[..., :, None, k] * (d[..., k, None] * u[..., :, k])[..., None, :]
    u[..., diagonal, diagonal] = d
    return beta, u[..., lower[1], lower[0]]


def _half_turn(here: Array, xyzw: Array) -> Array:
    """2 sin(θ/2) about the axis of the rotation E that turns a link's axes into those of a
    quaternion, from its matrix: vee(E - Eᵀ) / sqrt(1 + tr E)."""
    v, w = xyzw[..., :3], xyzw[..., 3]
    rows = here[..., :9].reshape(*here.shape[:-1], 3, 3)
    wanted = [_axis(v, w, k) for k in range(3)]
    across = sum(np.cross(rows[..., k], wanted[k]) for k in range(3))
    trace = sum((rows[..., k] * wanted[k]).sum(-1) for k in range(3))
    return across / np.frompyfunc(Decimal.sqrt, 1, 1)(1 + trace)[..., None]


def _axis(v: Array, w: Array, k: int) -> Array:
    """Axis k as turned by a unit quaternion: e + 2 w v × e + 2 v × (v × e)."""
    once = 2 * np.cross(v, np.eye(3, dtype=int)[k])
    return np.eye(3, dtype=int)[k] + w[..., None] * once + np.cross(v, once)


@law("cartesian_impedance", EQUATION, 1)
def cartesian_impedance(x: States, link: str) -> Array:
    """Jᵀ (k_x e - d_x V) + (1 - Jᵀ J̄ᵀ) τ_0 + g."""
    g = x.given
    j, right, inverse = task(x, link)
    here = pose(x, link)
    e = np.concatenate([g["p_ref"] - here[..., 9:], _half_turn(here, g["quat_ref"])], axis=-1)
    force = g["k_x"] * e - g["d_x"] * applied(j, g["qd"])
    free = g["k_p"] * _error(x) - g["k_d"] * g["qd"]
    felt = solved(inverse, applied(np.swapaxes(right, -1, -2), free)[..., None])[..., 0]
    driving = applied_transposed(j, force - felt)
    return _clamped(driving + free + at_rest(x), g["limit"])
