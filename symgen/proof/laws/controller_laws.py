"""Laws of controllers: their equations on the textbook's terms, in many digits."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import numpy as np

from symgen.numbers.scalar import DecimalArray
from symgen.proof.laws import base_regressors as base
from symgen.proof.laws import law
from symgen.proof.laws.controller_physics import (
    check_decay,
    check_free_motion,
    check_passive,
    in_body_axes,
    without_friction,
)
from symgen.proof.laws.dynamics import (
    accelerations,
    coriolis,
    has_load,
    load_factors,
    mass,
    solve,
    tau,
    without_load,
)
from symgen.proof.laws.frame_laws import orientation_error, pose, task_matrices
from symgen.proof.laws.integration_laws import velocity_between
from symgen.proof.laws.regressor_laws import (
    SPRINGS,
    passive_columns,
    passive_terms,
    reference_columns,
)
from symgen.proof.states import (
    ONE_SIDED_STEP,
    STEP,
    States,
    batch_matvec,
    batch_transposed_matvec,
)
from symgen.proof.tangent import displaced

EQUATION = "its equation with terms of the reference"
LOOP = f"{EQUATION} and the motion of the closed loop"
Loads = Callable[[States], DecimalArray]
START, TINY = Decimal(100), Decimal("1e-30")
"""The variance that recursive least squares start with, and the least information of a row."""


def _clamped(x: DecimalArray, limit: DecimalArray) -> DecimalArray:
    return np.where(abs(x) < limit, x, np.where(x < 0, -limit, limit))


def _friction(x: States, reference: DecimalArray | None, loads: Loads) -> DecimalArray:
    """The friction that a controller compensates, with its reference velocities (None: at rest) and
    the loads of its joints, for the states without friction and springs."""
    if x.robot.friction_compensation == "none":
        return 0 * x.inputs["qd"]
    measured = x.robot.friction_compensation == "measured"
    rates = x.inputs["qd"] if measured else reference
    friction = _friction_at(without_load(x), rates)
    if not has_load(x):
        return friction
    return friction + load_factors(x, rates) * abs(loads(replace(x, passive={})))


def _friction_at(x: States, rates: DecimalArray | None) -> DecimalArray:
    """Friction at some rates: what it adds to the joint forces of the textbook."""
    at = x.with_inputs(qd=rates, qdd=None)
    return tau(at) - tau(without_friction(at))


def _friction_in_motion(x: States) -> DecimalArray:
    """Friction at the measured state, which may depend on the accelerations."""
    if not has_load(x):
        return _friction_at(x, x.inputs["qd"])
    at = x.with_inputs(qdd=accelerations(x))
    return tau(at) - tau(without_friction(at))


def _static_forces(x: States) -> DecimalArray:
    """g with the forces of springs, less those of external wrenches."""
    return tau(without_friction(x).with_inputs(qd=None, qdd=None))


def _fluid_resistance(x: States) -> DecimalArray:
    """What fluids add beyond M q̈ + C q̇ + g: drag, and the effect of a current on the motion."""
    if not x.robot.fluid:
        return 0 * x.inputs["qd"]
    y = without_friction(x)
    return (
        tau(y.with_inputs(qdd=None)) - batch_matvec(coriolis(x), x.inputs["qd"]) - _static_forces(x)
    )


def _slope_on_branch(term: Callable[[DecimalArray], DecimalArray]) -> DecimalArray:
    """The derivative at zero of a function of time that may jump there, from the side where it does
    not: the turn between two positions changes its sense at half a turn."""
    sides = [(term(t) - term(Decimal(0))) / t for t in (ONE_SIDED_STEP, -ONE_SIDED_STEP)]
    sizes = [abs(side).max(axis=-1, keepdims=True) for side in sides]
    return np.where(sizes[0] <= sizes[1], *sides)


def _paths(
    x: States,
) -> tuple[Callable[[DecimalArray], DecimalArray], Callable[[DecimalArray], DecimalArray]]:
    """Positions and their reference as functions of time."""
    g, robot = x.inputs, x.mechanism
    return (
        lambda t: displaced(robot, g["q"], t * g["qd"]),
        lambda t: displaced(robot, g["q_ref"], t * g["qd_ref"]),
    )


def _reference(x: States) -> tuple[DecimalArray, DecimalArray]:
    """The reference's velocities in the axes of the bodies where they are, and their rates."""
    g, (here, there) = x.inputs, _paths(x)
    after, before = (
        in_body_axes(x, g["qd_ref"] + t * g["qdd_ref"], here(t), there(t)) for t in (STEP, -STEP)
    )
    return in_body_axes(x, g["qd_ref"], g["q"], g["q_ref"]), (after - before) / (2 * STEP)


def _error(x: States) -> DecimalArray:
    return velocity_between(x.mechanism, x.inputs["q"], x.inputs["q_ref"])


@law("gravity_compensation", EQUATION)
def gravity_compensation(x: States) -> DecimalArray:
    """g + friction - k_d q̇."""
    held = _static_forces(x) + _friction(x, None, _static_forces)
    return _clamped(held - x.inputs["k_d"] * x.inputs["qd"], x.inputs["limit"])


def _computed_forces(x: States) -> DecimalArray:
    """The forces of computed torque, not limited."""
    g, e, (qd_r, qdd_r) = x.inputs, _error(x), _reference(x)
    total = g["e_int"] + g["h"] * e
    desired = qdd_r + g["k_d"] * (qd_r - g["qd"]) + g["k_p"] * e + g["k_i"] * total
    inertial = tau(without_friction(x).with_inputs(qdd=desired))
    return inertial + _friction(x, qd_r, lambda y: tau(y.with_inputs(qdd=desired)))


@law("computed_torque", LOOP)
def computed_torque(x: States) -> tuple[DecimalArray, DecimalArray]:
    """The forces, and the integral after the step."""
    check_decay(x, _computed_forces, lambda y: y.inputs["k_p"] + y.inputs["k_i"] * y.inputs["h"])
    g, forces = x.inputs, _computed_forces(x)
    free = abs(forces) < g["limit"]
    total = g["e_int"] + g["h"] * _error(x)
    return _clamped(forces, g["limit"]), np.where(free, total, g["e_int"])


def _impedance_forces(x: States) -> DecimalArray:
    """The forces of joint impedance, not limited, with Christoffel's C."""
    g, (qd_r, qdd_r) = x.inputs, _reference(x)
    moving = batch_matvec(mass(x), qdd_r) + batch_matvec(coriolis(x), qd_r)
    spring = g["k_p"] * _error(x) + g["k_d"] * (qd_r - g["qd"])
    friction = _friction(x, qd_r, lambda y: moving + _static_forces(y))
    return moving + _static_forces(x) + _fluid_resistance(x) + friction + spring


@law("joint_impedance", LOOP, 1)
def joint_impedance(x: States) -> DecimalArray:
    """The forces."""
    check_passive(x, _impedance_forces)
    return _clamped(_impedance_forces(x), x.inputs["limit"])


@law("momentum_observer", LOOP, 1)
def momentum_observer(x: States) -> tuple[DecimalArray, DecimalArray, DecimalArray]:
    """r by the exact solution of its filter, the momentum, 1."""
    g, p = x.inputs, batch_matvec(mass(x), x.inputs["qd"])
    moved = batch_transposed_matvec(coriolis(x), g["qd"])
    explained = g["tau"] + moved - _static_forces(x) - _fluid_resistance(x) - _friction_in_motion(x)
    check_free_motion(x, explained)
    decay = np.frompyfunc(Decimal.exp, 1, 1)(-g["gain"] * g["h"])
    external = (p - g["p_last"]) / g["h"] - explained
    r = decay * g["r"] + (1 - decay) * external
    return g["started"] * r, p, 0 * g["started"] + 1


@law("adaptive_slotine_li", EQUATION, 2)
def adaptive_slotine_li(x: States) -> tuple[DecimalArray, DecimalArray]:
    """The forces, and the parameters after the step."""
    g, e, (velocity, change) = x.inputs, _error(x), _reference(x)
    here, there = _paths(x)
    e_rate = _slope_on_branch(lambda t: velocity_between(x.mechanism, here(t), there(t)))
    qd_r, qdd_r = velocity + g["k_p"] * e, change + g["k_p"] * e_rate
    s, rows = qd_r - g["qd"], _regressor_with_friction(x, qd_r, qdd_r)
    forces = batch_matvec(rows, g["beta_hat"]) + g["k_d"] * s
    off = g["beta_hat"] - g["beta_mean"]
    learnt = batch_transposed_matvec(rows, s)
    after = off + g["h"] * (g["gamma"] * learnt - g["leak"] * off)
    return _clamped(forces, g["limit"]), g["beta_mean"] + _clamped(after, g["beta_reach"])


def _regressor_with_friction(x: States, qd_r: DecimalArray, qdd_r: DecimalArray) -> DecimalArray:
    """Y_b of Slotine and Li with the columns of friction at the rates where it is compensated."""
    rows, terms = reference_columns(base.moment_columns(x), qd_r, qdd_r), passive_terms(x)
    at = x.robot.friction_compensation
    passive = passive_columns(x.with_inputs(qd=x.inputs["qd"] if at == "measured" else qd_r))
    if at == "none":
        is_friction = [kind not in SPRINGS for _, kind in terms]
        passive = np.where(is_friction, 0 * passive, passive)
    return np.concatenate([rows, passive], axis=-1)


@law("recursive_least_squares", EQUATION, 2)
def recursive_least_squares(x: States) -> tuple[DecimalArray, DecimalArray]:
    """The parameters and the factors of their covariance after all rows."""
    g = x.inputs
    rows, beta = base.base_regressor(x), g["beta_hat"]
    width = beta.shape[-1]
    lower, diagonal = np.tril_indices(width), range(width)
    u = np.full((*x.shape, width, width), Decimal(0))
    u[..., lower[1], lower[0]] = g["P"]
    d = np.array(u[..., diagonal, diagonal])
    u[..., diagonal, diagonal] = Decimal(1)
    p = np.full(u.shape, Decimal(0))
    for k in diagonal:  # U is an upper triangle
        column = u[..., : k + 1, k]
        p[..., : k + 1, : k + 1] += (d[..., k, None] * column)[..., None] * column[..., None, :]
    below = width * START - np.trace(p, axis1=-2, axis2=-1)[..., None]
    room = np.where(below > 0, below, 0 * below) / x.n
    for k in range(x.n):
        y = rows[..., k, :]
        v, size = batch_matvec(p, y), (y * y).sum(-1, keepdims=True)
        known = (y * v).sum(-1, keepdims=True) + TINY
        most = room * known / ((v * v).sum(-1, keepdims=True) + TINY)
        lost = _clamped(1 / g["forget"] - 1, most)
        lost = np.where(size * START > 1 - g["forget"], lost, 0 * lost) / known
        p = p + lost[..., None] * v[..., :, None] * v[..., None, :]
        gain = batch_matvec(p, y)
        share = 1 / (1 + (y * gain).sum(-1, keepdims=True))
        beta = beta + gain * share * (g["tau"][..., k, None] - (y * beta).sum(-1, keepdims=True))
        p = p - gain[..., :, None] * (share * gain)[..., None, :]
    for k in reversed(diagonal):  # P = U D Uᵀ, from the last column on
        d[..., k] = p[..., k, k]
        column = u[..., :k, k] = p[..., :k, k] / d[..., k, None]
        p[..., :k, :k] -= column[..., None] * (d[..., k, None] * column)[..., None, :]
    u[..., diagonal, diagonal] = d
    return beta, u[..., lower[1], lower[0]]


@law("cartesian_impedance", EQUATION, 1)
def cartesian_impedance(x: States, link: str) -> DecimalArray:
    """Jᵀ (k_x e - d_x V) + (1 - Jᵀ J̄ᵀ) τ_0 + g."""
    g = x.inputs
    j, right, inverse = task_matrices(x, link)
    here = pose(x, link)
    e = np.concatenate(
        [g["p_ref"] - here[..., 9:], orientation_error(here, g["quat_ref"])], axis=-1
    )
    force = g["k_x"] * e - g["d_x"] * batch_matvec(j, g["qd"])
    null_space_force = g["k_p"] * _error(x) - g["k_d"] * g["qd"]
    task_force = solve(
        inverse, batch_matvec(np.swapaxes(right, -1, -2), null_space_force)[..., None]
    )[..., 0]
    driving = batch_transposed_matvec(j, force - task_force)
    weight = _static_forces(x) + _friction(x, None, _static_forces)
    return _clamped(driving + null_space_force + weight, g["limit"])
