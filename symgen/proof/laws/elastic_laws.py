"""Laws of robots with elastic joints: the reference dynamics with the torques of the springs."""

from decimal import Decimal

import numpy as np

from symgen.numbers.types import DecimalArray
from symgen.proof.laws.dynamics import accelerations, inverse, tau
from symgen.proof.laws.integration_laws import moved, series
from symgen.proof.laws.law_registry import law
from symgen.proof.laws.loop_physics import check_elastic_decay
from symgen.proof.states import States, gradient, rate, second_rate, slope

SPRINGS = "qdd = M^-1 (tau - bias) at the torques of the springs"
Four = tuple[DecimalArray, DecimalArray, DecimalArray, DecimalArray]


def _spring(x: States) -> DecimalArray:
    """The torques of the springs."""
    g = x.given
    return g["joint_stiffness"] * g["delta"] + g["spring_damping"] * g["deltad"]


def _driven(x: States) -> States:
    """The states of the links, driven by their springs."""
    return x.put(tau=_spring(x))


@law("elastic_forward_dynamics", SPRINGS)
def elastic_forward_dynamics(x: States) -> tuple[DecimalArray, DecimalArray]:
    """q̈ and θ̈."""
    motor = (x.given["tau_m"] - _spring(x)) / x.given["motor_inertia"]
    return accelerations(_driven(x)), motor


@law("elastic_forward_dynamics_derivatives", f"derivatives of {SPRINGS} in 75 digits", 1)
def elastic_forward_dynamics_derivatives(x: States) -> Four:
    """∂q̈/∂q, ∂q̈/∂q̇, M⁻¹ K and M⁻¹ D."""
    y, m = _driven(x), inverse(x)
    by_q, by_qd = gradient(accelerations, y), gradient(accelerations, y, "qd")
    gains = (x.given[name][..., None, :] for name in ("joint_stiffness", "spring_damping"))
    by_delta, by_deltad = (m * k for k in gains)
    return by_q, by_qd, by_delta, by_deltad


@law("elastic_step:euler", f"a step of euler from {SPRINGS}")
def euler(x: States) -> Four:
    """Velocities of links and motors first, then positions of both."""
    g, h = x.given, x.given["h"]
    links, motors = elastic_forward_dynamics(x)
    qd, thetad = g["qd"] + h * links, g["qd"] + g["deltad"] + h * motors
    return moved(x.mechanism, g["q"], h * qd), qd, g["delta"] + h * (thetad - qd), thetad - qd


@law("elastic_step:rk4", f"a step of rk4 from {SPRINGS}")
def rk4(x: States) -> Four:
    """Four slopes of (u, q̇, θ - q, θ̇ - q̇) with q ⊕ u."""
    g, h, names = x.given, x.given["h"], ("qd", "delta", "deltad")
    slopes = list[list[DecimalArray]]()
    for share in map(Decimal, ("0", "0.5", "0.5", "1")):
        u, *changes = [share * h * s for s in slopes[-1]] if slopes else [0 * g["qd"]] * 4
        now = {name: g[name] + d for name, d in zip(names, changes, strict=True)}
        links, motors = elastic_forward_dynamics(x.put(q=moved(x.mechanism, g["q"], u), **now))
        slopes.append([series(x.mechanism, u, now["qd"]), links, now["deltad"], motors - links])
    weights = np.array([Decimal(k) / 6 for k in (1, 2, 2, 1)], object)
    u, *changes = (
        h * np.tensordot(weights, np.array(x, object), 1) for x in zip(*slopes, strict=True)
    )
    qd, delta, deltad = (g[name] + d for name, d in zip(names, changes, strict=True))
    return moved(x.mechanism, g["q"], u), qd, delta, deltad


@law("elastic_feedforward", "finite differences in time of the reference tau in 75 digits", 1)
def elastic_feedforward(x: States) -> tuple[DecimalArray, DecimalArray, DecimalArray]:
    """Motor torques, deflections and their rates."""
    g = x.given
    stiffness, inertia = g["joint_stiffness"], g["motor_inertia"]
    joint, change = tau(x), rate(tau, x)
    second = second_rate(tau, x)
    motor = joint + inertia * (g["qdd"] + second / stiffness)
    return motor, joint / stiffness, change / stiffness


def _linearizing(x: States) -> DecimalArray:
    """The motor torques of feedback linearisation, not limited."""
    g, stiffness = x.given, x.given["joint_stiffness"]
    driven = x.put(tau=stiffness * g["delta"])
    qdd = accelerations(driven)
    directions = {"q": g["qd"], "qd": qdd, "tau": stiffness * g["deltad"]}
    qddd = slope(accelerations, driven, **{k: x[None] for k, x in directions.items()})[..., 0]
    wanted = g["qdddd_ref"] + g["k_j"] * (g["qddd_ref"] - qddd) + g["k_a"] * (g["qdd_ref"] - qdd)
    wanted = wanted + g["k_d"] * (g["qd_ref"] - g["qd"]) + g["k_p"] * (g["q_ref"] - g["q"])
    second = second_rate(tau, x.put(qdd=qdd, qddd=qddd, qdddd=wanted))
    return stiffness * g["delta"] + g["motor_inertia"] * (qdd + second / stiffness)


@law(
    "elastic_feedback_linearization",
    "finite differences in time of the reference tau and the motion of the closed loop",
    1,
)
def elastic_feedback_linearization(x: States) -> DecimalArray:
    """The motor torques."""
    check_elastic_decay(x, _linearizing)
    forces, limit = _linearizing(x), x.given["limit"]
    return np.where(abs(forces) < limit, forces, np.where(forces < 0, -limit, limit))
