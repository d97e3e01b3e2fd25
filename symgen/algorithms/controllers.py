"""Controllers and observers as functions: measurement, references, gains and state go in, joint
forces and the state after a time h come out.

A state is zero at the start (`started` says so where a first measurement is kept), and whoever
calls keeps it: C has a struct and a step for each (`symgen.languages.c.controllers`). Errors of
position are q_ref ⊖ q (`steps.difference`), so that floating and ball joints are no exception.
Joint forces stay within `limit`, which must be finite; nothing branches."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from symgen.algorithms.composite import mass_matrix
from symgen.algorithms.coriolis import coriolis_transpose_product
from symgen.algorithms.newton_euler import gravity, inverse_dynamics
from symgen.algorithms.registry import Array, Registered, quantity
from symgen.algorithms.regressors import base_regressor, slotine_li_base_regressor
from symgen.algorithms.steps import difference
from symgen.mechanics.parameters import WHOLE
from symgen.mechanics.system import System
from symgen.numbers.operations import sign
from symgen.numbers.scalar import ZERO, Scalar

Coordinates = Sequence[Scalar]
Pair = tuple[list[Scalar], list[Scalar]]

COMMAND = ("joint forces to apply", "N m | N")
BETA = "kg | kg m | kg m^2"


@dataclass(frozen=True, slots=True)
class Controller:
    """What a caller keeps between steps: each state, an input, and the output that follows it. What
    else is read is a `measured` or wanted value that changes with every step, or a gain."""

    name: str
    summary: str
    state: Mapping[str, str]
    step: tuple[str, ...]
    """The inputs that change with every step, but the sample time."""
    gains: Mapping[str, float]
    """The other inputs, with the values of the recorded closed loop."""
    start: Mapping[str, str | float] = field(default_factory=dict)
    """States that do not start at zero: as a gain is, or with a number on the diagonal."""
    by_inertia: tuple[str, ...] = ()
    """Gains of which the closed loop has so many times the inertia of each joint."""
    forces: str = ""
    """The output that drives the robot; empty of an observer, which only looks on."""


CONTROLLERS: Final[dict[str, Controller]] = {}
"""By name of the quantity, which is the controller's."""


def controller(
    name: str,
    summary: str,
    formula: str,
    *,
    step: Sequence[str],
    gains: Mapping[str, float],
    state: Mapping[str, str] | None = None,
    start: Mapping[str, str | float] | None = None,
    by_inertia: Sequence[str] = (),
    forces: str = "",
) -> partial[Callable[[Registered], Registered]]:
    """A row of `CONTROLLERS` and of quantities, whose remaining facts are still to be told."""
    kept, begun = state or {}, start or {}
    row = Controller(name, summary, kept, tuple(step), gains, begun, tuple(by_inertia), forces)
    CONTROLLERS[name] = row
    return partial(quantity, name, formula, of_user=True)


# -- parts -----------------------------------------------------------------------------------------


def _inside(x: Scalar, limit: Scalar) -> Scalar:
    """1 where |x| < limit, 0 where it is more."""
    return 0.5 + 0.5 * sign(limit - x * sign(x))


def clamped(x: Scalar, limit: Scalar) -> Scalar:
    """x, within ±limit."""
    inside = _inside(x, limit)
    return inside * x + (1.0 - inside) * (sign(x) * limit)


def _saturated(tau: Coordinates, limit: Coordinates) -> list[Scalar]:
    return [clamped(x, most) for x, most in zip(tau, limit, strict=True)]


def _minus(a: Coordinates, b: Coordinates) -> list[Scalar]:
    return [x - y for x, y in zip(a, b, strict=True)]


def _plus(*parts: Coordinates) -> list[Scalar]:
    return [sum(row[1:], row[0]) for row in zip(*parts, strict=True)]


def _by(gains: Coordinates, x: Coordinates) -> list[Scalar]:
    return [k * e for k, e in zip(gains, x, strict=True)]


def _joints(system: System, *at: Coordinates) -> list[Coordinates]:
    """Positions, then rates, of the bodies' joints."""
    q, *rates = at
    return [system.coupling.places(q), *(system.coupling.rates(x) for x in rates)]


def _forces(system: System, tau: Coordinates) -> list[Scalar]:
    return system.coupling.forces(tau)


# -- controllers -----------------------------------------------------------------------------------


@controller(
    "gravity_compensation",
    "holds the robot against gravity, and brakes it",
    "g(q) - k_d qd within limit",
    step=("q", "qd"),
    gains={"k_d": 2.0, "limit": 500.0},
    by_inertia=("k_d",),
    forces="u_gravity",
)(
    inputs=("q", "qd", "k_d", "limit"),
    source="Siciliano et al., Robotics (2009), section 8.5.1",
    outputs=(Array("u_gravity", *COMMAND),),
)
def gravity_compensation(
    system: System, q: Coordinates, qd: Coordinates, k_d: Coordinates, limit: Coordinates
) -> list[Scalar]:
    """g(q) - k_d q̇, shape n, within ±limit."""
    held = _forces(system, gravity(system, *_joints(system, q)))
    return _saturated(_minus(held, _by(k_d, qd)), limit)


@controller(
    "computed_torque",
    "follows a motion: inverse dynamics with position, rate and integral errors",
    "M (qdd_ref + k_d de + k_p e + k_i int e) + C qd + g within limit",
    state={"e_int": "e_int_next"},
    step=("q", "qd", "q_ref", "qd_ref", "qdd_ref"),
    gains={"k_p": 400.0, "k_d": 40.0, "k_i": 100.0, "limit": 500.0},
    forces="u_computed",
)(
    inputs=(
        *("q", "qd", "q_ref", "qd_ref", "qdd_ref"),
        *("e_int", "k_p", "k_d", "k_i", "limit", "h"),
    ),
    source="Siciliano et al., Robotics (2009), section 8.5.2",
    outputs=(
        Array("u_computed", *COMMAND),
        Array("e_int_next", "integral of the errors after the step", "rad s | m s"),
    ),
)
def computed_torque(system: System, *inputs: Coordinates) -> Pair:
    """τ = M (q̈_ref + k_d ė + k_p e + k_i ∫e) + C q̇ + g within ±limit, and ∫e after the step; the
    integral of a joint stands still while its force is at the limit."""
    q, qd, q_ref, qd_ref, qdd_ref, e_int, k_p, k_d, k_i, limit, (h,) = inputs
    e, de = difference(system, q, q_ref), _minus(qd_ref, qd)
    total = [x + h * y for x, y in zip(e_int, e, strict=True)]
    wanted = _plus(qdd_ref, _by(k_d, de), _by(k_p, e), _by(k_i, total))
    tau = _forces(system, inverse_dynamics(system, *_joints(system, q, qd, wanted)))
    free = [_inside(x, most) for x, most in zip(tau, limit, strict=True)]
    kept = [x + h * (k * y) for x, k, y in zip(e_int, free, e, strict=True)]
    return _saturated(tau, limit), kept


@controller(
    "joint_impedance",
    "lets every joint give way like a spring and a damper about a motion",
    "M qdd_ref + C qd + g + k_p e + k_d de within limit",
    step=("q", "qd", "q_ref", "qd_ref", "qdd_ref"),
    gains={"k_p": 100.0, "k_d": 20.0, "limit": 500.0},
    by_inertia=("k_p", "k_d"),
    forces="u_impedance",
)(
    inputs=("q", "qd", "q_ref", "qd_ref", "qdd_ref", "k_p", "k_d", "limit"),
    source="Hogan, Impedance control, J. Dyn. Sys. Meas. Control 1985; inertia as it is",
    outputs=(Array("u_impedance", *COMMAND),),
)
def joint_impedance(system: System, *inputs: Coordinates) -> list[Scalar]:
    """τ = M q̈_ref + C q̇ + g + k_p e + k_d ė, shape n, within ±limit."""
    q, qd, q_ref, qd_ref, qdd_ref, k_p, k_d, limit = inputs
    ahead = _forces(system, inverse_dynamics(system, *_joints(system, q, qd, qdd_ref)))
    e, de = difference(system, q, q_ref), _minus(qd_ref, qd)
    return _saturated(_plus(ahead, _by(k_p, e), _by(k_d, de)), limit)


@controller(
    "momentum_observer",
    "tells the external joint forces from the momentum, without accelerations",
    "r = gain (M qd - int (tau + C^T qd - g + r))",
    state={"started": "started_next", "p_int": "p_int_next", "r": "tau_ext"},
    step=("q", "qd", "tau"),
    gains={"gain": 100.0},
)(
    inputs=("q", "qd", "tau", "started", "p_int", "r", "gain", "h"),
    source="De Luca & Mattone, Sensorless robot collision detection and hybrid force/motion "
    "control, ICRA 2005",
    outputs=(
        Array("tau_ext", "external joint forces", "N m | N"),
        Array("p_int_next", "momentum that is explained, after the step", "N m s | N s"),
        Array("started_next", "1", "1", (1,)),
    ),
)
def momentum_observer(
    system: System, *inputs: Coordinates
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """The residual r, which follows the external joint forces with the time constants 1/gain, and
    the state after the step: r = gain (M q̇ - ∫(τ + Cᵀ q̇ - g + r) dt), zero at the first one."""
    q, qd, tau, (started,), p_int, r, gain, (h,) = inputs
    at, rates = _joints(system, q, qd)
    n, m = system.dof, system.coupling.matrix(mass_matrix(system, at))
    p = [sum((m[i * n + j] * qd[j] for j in range(n)), ZERO) for i in range(n)]
    moved = _forces(system, coriolis_transpose_product(system, at, rates))
    change = _plus(tau, moved, [-x for x in _forces(system, gravity(system, at))], r)
    explained = [
        started * (x + h * y) + (1.0 - started) * z
        for x, y, z in zip(p_int, change, p, strict=True)
    ]
    return _by(gain, _minus(p, explained)), explained, [1.0]


# -- what learns -----------------------------------------------------------------------------------


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
    qd_r = _plus(qd_ref, _by(k_p, e))
    qdd_r, s = _plus(qdd_ref, _by(k_p, _minus(qd_ref, qd))), _minus(qd_r, qd)
    entries = slotine_li_base_regressor(system, *_joints(system, q, qd, qd_r, qdd_r))
    width = len(beta)
    rows = _rows(system.coupling.projected(entries, (None, width)), width)
    tau = _plus([_dot(row, beta) for row in rows], _by(k_d, s))
    learnt = [_dot([row[k] for row in rows], s) for k in range(width)]
    found = []
    for b, g, x, middle, most in zip(beta, gamma, learnt, mean, reach, strict=True):
        off = b - middle
        found.append(middle + clamped(off + h * (g * x - leak * off), most))
    return _saturated(tau, limit), found


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
    entries = base_regressor(system, *_joints(system, q, qd, qdd))
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
