"""References of closed loops and of transmissions to one or several joints: the coordinates of the
textbook's bodies, and least squares with the rates of motors; and of elastic joints: the reference
dynamics with the torques of the springs."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

import numpy as np

from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.joint_listing import motor_coordinates, single_positions
from symgen.mechanics.spatial import Vector
from symgen.numbers.operations import cos, sin
from symgen.numbers.scalar import ZERO, DecimalArray, Scalar
from symgen.proof.laws import law
from symgen.proof.laws.controller_physics import check_elastic_decay
from symgen.proof.laws.dynamics import accelerations, inverse, solve, tau
from symgen.proof.laws.integration_laws import moved, tangent_rate
from symgen.proof.reference_kinematics import (
    body_coordinate,
    body_poses,
    body_rates,
    poses_at,
)
from symgen.proof.reference_loops import Poses, ReferenceLoop
from symgen.proof.reference_model import entries_array
from symgen.proof.states import (
    States,
    batch_matmul,
    batch_matvec,
    batch_transposed_matvec,
    eye,
    gradient,
    rate,
    second_rate,
    slope,
)

METHOD: Final = "Newton's method on the gaps of the closed loops, and least squares with J"
Point = tuple[Sequence[int], Vector]
"""The bodies that move a point, and where it is."""


def _rates(x: States) -> DecimalArray:
    """The rates of all bodies at unit rate of each velocity, (..., bodies, n)."""
    units = ([Decimal(1) if i == k else ZERO for i in range(x.n)] for k in range(x.n))
    columns = [body_rates(x.mechanism, x.textbook.trajectory.positions, unit) for unit in units]
    arrays = [entries_array(column, x.shape, Decimal(0)) for column in columns]
    return np.stack(arrays, axis=-1)


@law("loop_closure", "Newton's method of the reference in 75 digits, at states that close")
def loop_closure(x: States) -> tuple[DecimalArray, DecimalArray]:
    """Positions of the reference, and no gap."""
    closed, mechanism = x.inputs["q"].copy(), x.mechanism
    for body, place in mechanism.newton_positions:
        closed[..., place] = body_coordinate(mechanism, body, x.textbook.trajectory.positions)
    return closed, np.full((*x.shape, 1), Decimal(0))


@law("transmission", "Newton's method and least squares on the gaps of the closed loops")
def transmission(x: States, joint: str) -> tuple[DecimalArray, ...]:
    """x, ẋ and the row of G."""
    body = next(i for i, b in enumerate(x.robot.model.bodies, 1) if b.joint.name == joint)
    position = entries_array(
        [body_coordinate(x.mechanism, body, x.textbook.trajectory.positions)], x.shape, Decimal(0)
    )
    rates = body_rates(x.mechanism, x.textbook.trajectory.positions, x.textbook.trajectory.qd)
    return (
        position,
        entries_array([rates[body - 1]], x.shape, Decimal(0)),
        _rates(x)[..., body - 1, :],
    )


def _coordinates_of_motors(x: States, joint: str) -> dict[int, int]:
    """The body of each motor, with the coordinate whose place it takes."""
    numbers = {body.joint.name: i for i, body in reversed([*enumerate(x.robot.model.bodies, 1)])}
    names = [joint] if joint in numbers else joint.split(",")
    bodies = tuple(numbers[name] for name in names)
    return dict(
        zip(bodies, motor_coordinates(coupling_of(x.robot.model), bodies) or (), strict=True)
    )


def _motor_jacobian(x: States, joint: str) -> DecimalArray:
    """J, (..., n, n): the identity, with the rows of G of the motors."""
    rates = _rates(x)
    matrix = np.broadcast_to(eye(x.n), (*x.shape, x.n, x.n)).copy()
    for body, k in _coordinates_of_motors(x, joint).items():
        matrix[..., k, :] = rates[..., body - 1, :]
    return matrix


def _least_squares(matrix: DecimalArray, right: DecimalArray) -> DecimalArray:
    """The solution of a system, from the normal equations."""
    normal = batch_matmul(matrix.swapaxes(-1, -2), matrix)
    return solve(normal, batch_transposed_matvec(matrix, right)[..., None])[..., 0]


@law("motor_motion", METHOD)
def motor_motion(x: States, joint: str) -> tuple[DecimalArray, DecimalArray]:
    """Positions and velocities of motors."""
    positions, mechanism = x.textbook.trajectory.positions, x.mechanism
    entries: list[Scalar] = [ZERO] * x.n
    for k, place in single_positions(coupling_of(x.robot.model)).items():
        entries[k] = x.inputs["q"][..., place]
    for body, k in _coordinates_of_motors(x, joint).items():
        entries[k] = body_coordinate(mechanism, body, positions)
    rates = batch_matvec(_motor_jacobian(x, joint), x.inputs["qd"])
    return entries_array(entries, x.shape, Decimal(0)), rates


@law("motor_torques", METHOD)
def motor_torques(x: States, joint: str) -> DecimalArray:
    """τ_m with Jᵀ τ_m = τ."""
    return _least_squares(_motor_jacobian(x, joint).swapaxes(-1, -2), x.inputs["tau"])


@law("joint_torques", "virtual work of the motor torques with J")
def joint_torques(x: States, joint: str) -> DecimalArray:
    """τ = Jᵀ τ_m."""
    return batch_transposed_matvec(_motor_jacobian(x, joint), x.inputs["tau_m"])


@law("joint_rates", METHOD)
def joint_rates(x: States, joint: str) -> DecimalArray:
    """q̇ with J q̇ = q̇_m."""
    return _least_squares(_motor_jacobian(x, joint), x.inputs["qd_m"])


@law("reflected_inertia", "second derivative of the motors' kinetic energy, with J")
def reflected_inertia(x: States, joint: str) -> DecimalArray:
    """Jᵀ B J."""
    j = _motor_jacobian(x, joint)
    return batch_matmul(j.swapaxes(-1, -2), x.inputs["motor_inertia"][..., None] * j)


def _rod(loop: ReferenceLoop, body: int, poses: Poses) -> tuple[Point, Point] | None:
    """The ends of a rod of constant length that alone connects the joint of a body with those that
    its loop does not determine; None without one."""
    tips = loop.ends(poses)
    if loop.cut.distance:
        return (loop.paths[0], tips[0]), (loop.paths[1], tips[1])
    pair = sorted({*loop.dependent} - {body})
    side = 0 if pair[0] in loop.paths[0] else 1
    path, other = loop.paths[side], loop.paths[1 - side]
    start = path[: path.index(pair[0])]
    if loop.cut.rows != len(loop.dependent) or [*path[len(start) :]] != pair:
        return None
    if body not in (*start, *other):
        return None
    return (start, poses[pair[0]].origin), (other, tips[1 - side])


def _rod_equation(
    x: States, loop: ReferenceLoop, body: int, motor: DecimalArray
) -> tuple[DecimalArray, DecimalArray] | None:
    """Half the difference of the squares of a rod's length at a motor position and of its true
    length, and the derivative in the coordinates; None without a rod."""
    positions, rates = x.textbook.trajectory.positions, _rates(x)
    closed = _rod(loop, body, body_poses(x.mechanism, positions))
    coordinates = [
        motor if i == body else body_coordinate(x.mechanism, i, positions)
        for i in range(1, len(x.mechanism.parts) + 1)
    ]
    poses = poses_at(x.mechanism, positions, coordinates)
    moved = _rod(loop, body, poses)
    if closed is None or moved is None:
        return None
    (first, a), (second, b) = moved
    true, r = closed[0][1] - closed[1][1], a - b
    row = np.full((*x.shape, x.n), Decimal(0), object)
    for sign, path, point in ((1, first, a), (-1, second, b)):
        for i in (i for i in path if i != body):
            along = entries_array([sign * r.dot(poses[i].twist(point)[1])], x.shape, Decimal(0))
            row = row + along * rates[..., i - 1, :]
    return np.asarray((r.dot(r) - true.dot(true)) / 2), row


@law("joint_step", "Newton's step on lengths of rods or positions of motors, least squares")
def joint_step(x: States, joint: str) -> DecimalArray:
    """Joint positions after a step."""
    positions, loops = x.textbook.trajectory.positions, x.mechanism.loops
    matrix, residuals = _motor_jacobian(x, joint), np.full((*x.shape, x.n), Decimal(0), object)
    places = _coordinates_of_motors(x, joint)
    for body, k in places.items():
        motor = x.inputs["q_m"][..., k]
        loop = next((loop for loop in loops if body in loop.dependent), None)
        away = body_coordinate(x.mechanism, body, positions) - motor
        rod = None
        if isinstance(loop, ReferenceLoop):
            rod = _rod_equation(x, loop, body, motor)
        if rod is not None:
            residuals[..., k], matrix[..., k, :] = rod
        elif loop is not None and x.robot.model.body(body).freedom.turn is not ZERO:
            residuals[..., k] = 2 * sin(away / 2) / cos(away / 2)
        else:
            residuals[..., k] = away
    out, change = x.inputs["q"].copy(), _least_squares(matrix, residuals)
    single = single_positions(coupling_of(x.robot.model))
    for k in places.values():
        out[..., single[k]] = out[..., single[k]] - change[..., k]
    return out


# -- elastic joints --------------------------------------------------------------------------------

SPRINGS = "qdd = M^-1 (tau - bias) at the torques of the springs"
FourBlocks = tuple[DecimalArray, DecimalArray, DecimalArray, DecimalArray]


def _spring(x: States) -> DecimalArray:
    """The torques of the springs."""
    g = x.inputs
    return g["joint_stiffness"] * g["delta"] + g["spring_damping"] * g["deltad"]


def _driven_by_springs(x: States) -> States:
    """The states of the links, driven by their springs."""
    return x.with_inputs(tau=_spring(x))


@law("elastic_forward_dynamics", SPRINGS)
def elastic_forward_dynamics(x: States) -> tuple[DecimalArray, DecimalArray]:
    """q̈ and θ̈."""
    motor = (x.inputs["tau_m"] - _spring(x)) / x.inputs["motor_inertia"]
    return accelerations(_driven_by_springs(x)), motor


@law("elastic_forward_dynamics_derivatives", f"derivatives of {SPRINGS} in 75 digits", 1)
def elastic_forward_dynamics_derivatives(x: States) -> FourBlocks:
    """∂q̈/∂q, ∂q̈/∂q̇, M⁻¹ K and M⁻¹ D."""
    y, m = _driven_by_springs(x), inverse(x)
    by_q, by_qd = gradient(accelerations, y), gradient(accelerations, y, "qd")
    gains = (x.inputs[name][..., None, :] for name in ("joint_stiffness", "spring_damping"))
    by_delta, by_deltad = (m * k for k in gains)
    return by_q, by_qd, by_delta, by_deltad


@law("elastic_step:euler", f"a step of euler from {SPRINGS}")
def euler(x: States) -> FourBlocks:
    """Velocities of links and motors first, then positions of both."""
    g, h = x.inputs, x.inputs["h"]
    links, motors = elastic_forward_dynamics(x)
    qd, thetad = g["qd"] + h * links, g["qd"] + g["deltad"] + h * motors
    return moved(x.mechanism, g["q"], h * qd), qd, g["delta"] + h * (thetad - qd), thetad - qd


@law("elastic_step:rk4", f"a step of rk4 from {SPRINGS}")
def rk4(x: States) -> FourBlocks:
    """Four slopes of (u, q̇, θ - q, θ̇ - q̇) with q ⊕ u."""
    g, h, names = x.inputs, x.inputs["h"], ("qd", "delta", "deltad")
    slopes = list[list[DecimalArray]]()
    for share in map(Decimal, ("0", "0.5", "0.5", "1")):
        u, *changes = [share * h * s for s in slopes[-1]] if slopes else [0 * g["qd"]] * 4
        now = {name: g[name] + d for name, d in zip(names, changes, strict=True)}
        links, motors = elastic_forward_dynamics(
            x.with_inputs(q=moved(x.mechanism, g["q"], u), **now)
        )
        slopes.append(
            [tangent_rate(x.mechanism, u, now["qd"]), links, now["deltad"], motors - links]
        )
    weights = np.array([Decimal(k) / 6 for k in (1, 2, 2, 1)], object)
    u, *changes = (
        h * np.tensordot(weights, np.array(x, object), 1) for x in zip(*slopes, strict=True)
    )
    qd, delta, deltad = (g[name] + d for name, d in zip(names, changes, strict=True))
    return moved(x.mechanism, g["q"], u), qd, delta, deltad


@law("elastic_feedforward", "finite differences in time of the reference tau in 75 digits", 1)
def elastic_feedforward(x: States) -> tuple[DecimalArray, DecimalArray, DecimalArray]:
    """Motor torques, deflections and their rates."""
    g = x.inputs
    stiffness, inertia = g["joint_stiffness"], g["motor_inertia"]
    joint, change = tau(x), rate(tau, x)
    second = second_rate(tau, x)
    motor = joint + inertia * (g["qdd"] + second / stiffness)
    return motor, joint / stiffness, change / stiffness


def _linearizing_torques(x: States) -> DecimalArray:
    """The motor torques of feedback linearisation, not limited."""
    g, stiffness = x.inputs, x.inputs["joint_stiffness"]
    driven = x.with_inputs(tau=stiffness * g["delta"])
    qdd = accelerations(driven)
    directions = {"q": g["qd"], "qd": qdd, "tau": stiffness * g["deltad"]}
    qddd = slope(accelerations, driven, **{k: x[None] for k, x in directions.items()})[..., 0]
    wanted = g["qdddd_ref"] + g["k_j"] * (g["qddd_ref"] - qddd) + g["k_a"] * (g["qdd_ref"] - qdd)
    wanted = wanted + g["k_d"] * (g["qd_ref"] - g["qd"]) + g["k_p"] * (g["q_ref"] - g["q"])
    second = second_rate(tau, x.with_inputs(qdd=qdd, qddd=qddd, qdddd=wanted))
    return stiffness * g["delta"] + g["motor_inertia"] * (qdd + second / stiffness)


@law(
    "elastic_feedback_linearization",
    "finite differences in time of the reference tau and the motion of the closed loop",
    1,
)
def elastic_feedback_linearization(x: States) -> DecimalArray:
    """The motor torques."""
    check_elastic_decay(x, _linearizing_torques)
    forces, limit = _linearizing_torques(x), x.inputs["limit"]
    return np.where(abs(forces) < limit, forces, np.where(forces < 0, -limit, limit))
