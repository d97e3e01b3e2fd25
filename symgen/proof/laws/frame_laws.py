"""References of frames, energies, the centre of mass and momenta, and of a link's frame as
controllers see it: textbook forward kinematics, Jacobians as derivatives of it, sums over the
textbook's links."""

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Final

import numpy as np

from symgen.mechanics.spatial import ZERO_VECTOR, Vector
from symgen.numbers.caching import cached_method
from symgen.numbers.scalar import ZERO, DecimalArray, Scalar
from symgen.proof.laws import law
from symgen.proof.laws.dynamics import (
    bias_forces,
    buoyancy_energy,
    inverse,
    jacobian_of_pose,
    mass,
    pose_entries,
    solve,
)
from symgen.proof.reference_kinematics import body_poses
from symgen.proof.reference_model import Frame, entries_array
from symgen.proof.states import (
    States,
    batch_matmul,
    batch_matvec,
    batch_transposed_matvec,
    decimal_sqrt,
    eye,
    gradient,
    normalized,
    not_differentiated,
    rate,
    second_rate,
)
from symgen.proof.textbook import NO_INERTIA, moving_inertias, spring_energy

Term = Callable[[States, str], DecimalArray]
POSE = "reference forward kinematics"
JACOBIAN = "derivatives of reference forward kinematics in 75 digits"
AXES = "joint axes of the reference forward kinematics"
LINKS = "sums over all links in world axes"


def frame(x: States, link: str) -> Frame:
    """Where a link is in the world."""
    i, solid = x.mechanism.body_of(link)
    return body_poses(x.mechanism, x.textbook.trajectory.positions)[i].frame_in_world(solid.frame)


@cached_method
def pose(x: States, link: str) -> DecimalArray:
    """R row by row, then p: twelve numbers."""
    return pose_entries(frame(x, link), x)


@cached_method
def aligned_jacobian(x: States, link: str) -> DecimalArray:
    """The Jacobian in root axes, (..., 6, n): slopes of p, and ω with ω × = Ṙ Rᵀ."""
    return jacobian_of_pose(partial(pose, link=link), x)


@cached_method
def jacobian_by_axes(x: States, link: str) -> DecimalArray:
    """The Jacobian in root axes, (..., 6, n), as `aligned_jacobian`: what each joint's axis moves
    at the origin of the link, z × (p - o) and z of a joint that turns, z of one that slides (Craig,
    Introduction to Robotics, 3rd ed. 2005, section 5.7)."""
    robot, point = x.mechanism, frame(x, link).origin
    bodies = body_poses(robot, x.textbook.trajectory.positions)
    columns: list[Scalar] = [ZERO] * (6 * len(robot.parts))
    for j in robot.path(robot.body_of(link)[0]):
        w, v = bodies[j].twist(point)
        for row, entry in enumerate((*v, *w)):
            columns[row * len(robot.parts) + j - 1] = entry
    flat = entries_array(columns, x.shape, Decimal(0))
    return x.pull_back(flat.reshape(*x.shape, 6, len(robot.parts)), inner=1)


def body_jacobian(x: States, link: str, jacobian: Term = aligned_jacobian) -> DecimalArray:
    """The Jacobian in the link's axes."""
    j, back = jacobian(x, link), pose(x, link)[..., :9].reshape(*x.shape, 3, 3)

    def seen(v: DecimalArray) -> DecimalArray:
        return (back[..., :, :, None] * v[..., :, None, :]).sum(-3)

    return np.concatenate([seen(j[..., :3, :]), seen(j[..., 3:, :])], axis=-2)


def world_jacobian(x: States, link: str, jacobian: Term = aligned_jacobian) -> DecimalArray:
    """The Jacobian of the velocity at the root's origin, v + p × ω."""
    j, p = jacobian(x, link), pose(x, link)[..., 9:, None]
    w = j[..., 3:, :]
    shift = np.cross(np.broadcast_to(p, w.shape), w, axis=-2)
    return np.concatenate([j[..., :3, :] + shift, w], axis=-2)


@law("frame_pose", POSE)
def frame_pose(x: States, link: str) -> tuple[DecimalArray, DecimalArray]:
    """R and p."""
    entries = pose(x, link)
    return entries[..., :9], entries[..., 9:]


@cached_method
def first_moment(x: States) -> DecimalArray:
    """First moment and mass of all moving links, (..., 4)."""
    total: Scalar = ZERO
    first = ZERO_VECTOR
    for i, link in moving_inertias(x.mechanism, x.textbook):
        if x.mechanism.part(i).grounded:
            continue
        total, first = total + link.m, first + link.h + link.origin.scaled(link.m)
    return entries_array([*first, total], x.shape, Decimal(0))


@law("com", LINKS)
@not_differentiated
@cached_method
def centre_of_mass(x: States) -> DecimalArray:
    """The centre of mass, (..., 3)."""
    moment = first_moment(x)
    return moment[..., :3] / moment[..., 3:]


com_jacobian: Final = law("com_jacobian", "derivatives of the centre of mass in 75 digits", 1)(
    partial(gradient, centre_of_mass)
)
"""∂c/∂q."""


@cached_method
def momentum_matrix(x: States) -> DecimalArray:
    """Momentum about the root's origin at unit velocities, linear part first, (..., 6, n)."""
    robot, state = x.mechanism, x.textbook
    bodies = body_poses(robot, state.trajectory.positions)
    columns: list[list[Scalar]] = [[ZERO] * len(robot.parts) for _ in range(6)]
    for i, link in moving_inertias(robot, state):
        for j in robot.path(i) if not robot.part(i).grounded else ():
            p, spin = link.momentum(*bodies[j].twist(link.origin))
            for row, e in enumerate((*p, *(spin + link.origin.cross(p)))):
                columns[row][j - 1] = columns[row][j - 1] + e
    flat = entries_array([e for row in columns for e in row], x.shape, Decimal(0))
    return x.pull_back(flat.reshape(*x.shape, 6, len(robot.parts)), inner=1)


@law("kinetic_energy", "qd^T M qd / 2 with the reference M")
def kinetic(x: States) -> DecimalArray:
    """½ q̇ᵀ M q̇, (..., 1)."""
    v = x.inputs["qd"]
    return (mass(x) * v[..., :, None] * v[..., None, :]).sum((-1, -2))[..., None] / 2


@law("potential_energy", LINKS)
def potential(x: States) -> DecimalArray:
    """-Σ g·(m p + h) and what springs store, (..., 1)."""
    moment, state = first_moment(x), x.textbook
    weight = -sum(e * moment[..., k] for k, e in enumerate(state.trajectory.gravity))[..., None]
    stored = weight + entries_array([spring_energy(x.mechanism, state)], x.shape, Decimal(0))
    return stored + buoyancy_energy(x) if x.robot.fluid else stored


@law("centroidal_momentum_matrix", LINKS)
def centroidal_momentum_matrix(x: States) -> DecimalArray:
    """A: the momenta, the angular ones about the centre of mass."""
    units, c = momentum_matrix(x), centre_of_mass(x)
    p = units[..., :3, :]
    less = np.cross(np.broadcast_to(c[..., None], p.shape), p, axis=-2)
    return np.concatenate([p, units[..., 3:, :] - less], axis=-2)


@law("momentum", LINKS)
def momentum(x: States) -> DecimalArray:
    """h."""
    return batch_matvec(momentum_matrix(x), x.inputs["qd"])


DIFFERENCES = f"finite differences in time of {JACOBIAN}"
TASK = f"elimination on the reference M, {JACOBIAN}"


def _register(axes: str, jacobian: Term, geometric: Term) -> None:
    """Register the laws of a Jacobian in some axes: `jacobian` from derivatives of poses, and for
    its own derivatives `geometric` from joint axes."""

    def velocity(x: States, link: str) -> DecimalArray:
        return batch_matvec(jacobian(x, link), x.inputs["qd"])

    def change(x: States, link: str, term: Term = jacobian) -> DecimalArray:
        return rate(lambda y: term(y, link), x)

    law(f"frame_jacobian_{axes}", JACOBIAN, 1)(jacobian)
    law(f"frame_velocity_{axes}", JACOBIAN, 1)(velocity)
    law(f"frame_acceleration_{axes}", DIFFERENCES, 1)(partial(change, term=velocity))
    law(f"frame_jacobian_dot_{axes}", DIFFERENCES, 1)(change)
    law(f"frame_jacobian_rate_{axes}", DIFFERENCES, 1)(
        lambda x, link: batch_matvec(change(x, link), x.inputs["qd"])
    )
    law(f"frame_hessian_{axes}", f"derivatives of the Jacobian by {AXES}", 1)(
        lambda x, link: gradient(lambda y: geometric(y, link), x)
    )
    law(f"frame_jacobian_ddot_{axes}", f"finite differences in time of the Jacobian by {AXES}", 1)(
        lambda x, link: second_rate(lambda y: geometric(y, link), x)
    )


_register("body", body_jacobian, partial(body_jacobian, jacobian=jacobian_by_axes))
_register("world", world_jacobian, partial(world_jacobian, jacobian=jacobian_by_axes))
_register("aligned", aligned_jacobian, jacobian_by_axes)


@law("frame_acceleration_classical", DIFFERENCES, 1)
def frame_acceleration_classical(x: States, link: str) -> DecimalArray:
    """The acceleration in the root's axes, seen in the link's."""
    change = rate(lambda y: batch_matvec(aligned_jacobian(y, link), y.inputs["qd"]), x)
    rows = pose(x, link)[..., :9].reshape(*x.shape, 3, 3)
    parts = [batch_transposed_matvec(rows, v) for v in (change[..., :3], change[..., 3:])]
    return np.concatenate(parts, axis=-1)


@law("frame_quaternion", POSE)
def frame_quaternion(x: States, link: str) -> DecimalArray:
    """w, x, y, z from a rotation matrix: the column of w w, w x, ... whose diagonal is largest."""
    r = pose(x, link)[..., :9].reshape(*x.shape, 3, 3)
    a, b, c = (r[..., k, k] for k in range(3))
    p, q, s = (r[..., i, j] - r[..., j, i] for i, j in ((2, 1), (0, 2), (1, 0)))
    u, v, w = (r[..., i, j] + r[..., j, i] for i, j in ((0, 1), (0, 2), (1, 2)))
    table = [
        [1 + a + b + c, p, q, s],
        [p, 1 + a - b - c, u, v],
        [q, u, 1 - a + b - c, w],
        [s, v, w, 1 - a - b + c],
    ]
    products = np.stack([np.stack(row, axis=-1) for row in table], axis=-2)
    best = np.argmax(np.diagonal(products, axis1=-2, axis2=-1).astype(float), axis=-1)
    longest = np.take_along_axis(products, best[..., None, None], axis=-2)[..., 0, :]
    return normalized(np.where(longest[..., :1] < 0, -longest, longest))


@law("frame_quaternion_xyzw", POSE)
def frame_quaternion_xyzw(x: States, link: str) -> DecimalArray:
    """x, y, z, w."""
    return np.roll(frame_quaternion(x, link), -1, axis=-1)


@law("frame_jacobian_rpy", f"derivatives of the angles of {POSE} in 75 digits", 1)
def frame_jacobian_rpy(x: States, link: str) -> DecimalArray:
    """The Jacobian of the origin, and of atan2(R32, R33), asin(-R31) and atan2(R21, R11)."""
    slopes, entries = gradient(lambda y: pose(y, link), x), pose(x, link)

    def angle(s: int, c: int) -> DecimalArray:
        a, b = entries[..., s, None], entries[..., c, None]
        return (b * slopes[..., s, :] - a * slopes[..., c, :]) / (a * a + b * b)

    flat = (entries[..., 0] ** 2 + entries[..., 3] ** 2)[..., None]
    root = decimal_sqrt(flat)
    angles = [angle(7, 8), -slopes[..., 6, :] / root, angle(3, 0)]
    return np.concatenate([slopes[..., 9:, :], np.stack(angles, axis=-2)], axis=-2)


law(
    "com_jacobian_rate",
    "finite differences in time of derivatives of the centre of mass in 75 digits",
    1,
)(partial(rate, com_jacobian))


@law("centroidal_momentum_rate", f"finite differences in time of {LINKS}")
def centroidal_momentum_rate(x: States) -> tuple[DecimalArray, DecimalArray]:
    """Ȧ and Ȧ q̇."""
    change = rate(centroidal_momentum_matrix, x)
    return change, batch_matvec(change, x.inputs["qd"])


@law("centroidal_momentum_gradient", f"derivatives of {LINKS}", 1)
def centroidal_momentum_gradient(x: States) -> DecimalArray:
    """∂(A q̇)/∂q."""
    return gradient(lambda y: batch_matvec(centroidal_momentum_matrix(y), x.inputs["qd"]), x)


@law("composite_inertia", LINKS)
def composite_inertia(x: States) -> DecimalArray:
    """Steiner's rule on every link."""
    c = centre_of_mass(x)
    point, total = Vector(*(c[..., k] for k in range(3))), NO_INERTIA
    for i, link in moving_inertias(x.mechanism, x.textbook):
        if not x.mechanism.part(i).grounded:
            total = total.plus(link.about(point))
    return entries_array([e for row in total.inertia for e in row], x.shape, Decimal(0))


def task_matrices(x: States, link: str) -> tuple[DecimalArray, DecimalArray, DecimalArray]:
    """J, M⁻¹ Jᵀ and J M⁻¹ Jᵀ with damping."""
    j, m = aligned_jacobian(x, link), inverse(x)
    right = batch_matmul(m, np.swapaxes(j, -1, -2))
    inverse_inertia = batch_matmul(j, right)
    return j, right, inverse_inertia + (x.inputs["damping"] ** 2)[..., None] * eye(6)


@law("operational_space_inertia", TASK, 1)
def operational_space_inertia(x: States, link: str) -> tuple[DecimalArray, DecimalArray]:
    """Λ and Λ⁻¹."""
    inverse_inertia = task_matrices(x, link)[2]
    return solve(inverse_inertia, eye(6)), inverse_inertia


@law("operational_space_bias", TASK, 1)
def operational_space_bias(x: States, link: str) -> DecimalArray:
    """μ."""
    _, right, inverse_inertia = task_matrices(x, link)
    forces = bias_forces(x.without_external_forces())
    moved = batch_matvec(np.swapaxes(right, -1, -2), forces)
    change = batch_matvec(
        rate(lambda y: aligned_jacobian(y, link), x.with_inputs(qdd=None)), x.inputs["qd"]
    )
    return solve(inverse_inertia, (moved - change)[..., None])[..., 0]


@law("dynamically_consistent_inverse", TASK, 1)
def dynamically_consistent_inverse(x: States, link: str) -> DecimalArray:
    """M⁻¹ Jᵀ Λ."""
    _, right, inverse_inertia = task_matrices(x, link)
    return np.swapaxes(solve(inverse_inertia, np.swapaxes(right, -1, -2)), -1, -2)


def orientation_error(here: DecimalArray, xyzw: DecimalArray) -> DecimalArray:
    """2 sin(θ/2) about the axis of the rotation E that turns a link's axes into those of a
    quaternion, from its matrix: vee(E - Eᵀ) / sqrt(1 + tr E), or the column of E + Eᵀ with the
    largest diagonal entry where the rotation is nearly a half turn and 1 + tr E loses digits."""
    v, w = xyzw[..., :3], xyzw[..., 3]
    rows = here[..., :9].reshape(*here.shape[:-1], 3, 3)
    reference_axes = []
    for e in np.eye(3, dtype=int):  # an axis e rotated: e + 2 w v × e + 2 v × (v × e)
        once = 2 * np.cross(v, e)
        reference_axes.append(e + w[..., None] * once + np.cross(v, once))
    columns = np.stack(reference_axes, axis=-1)
    across = np.cross(rows, columns, axisa=-2, axisb=-2, axisc=-1).sum(-2)
    turned = batch_matmul(rows, np.swapaxes(columns, -1, -2))
    trace = turned.trace(axis1=-2, axis2=-1)[..., None]
    small = across / decimal_sqrt(1 + np.where(trace < 0, 0 * trace, trace))
    squares = 1 - trace + 2 * turned.diagonal(axis1=-2, axis2=-1)
    largest = np.argmax(squares, axis=-1)[..., None]
    square = np.take_along_axis(squares, largest, axis=-1)
    size = decimal_sqrt(np.where(trace < 0, square, 1 + 0 * square))
    symmetric = turned + np.swapaxes(turned, -1, -2) + np.eye(3, dtype=int) * (1 - trace[..., None])
    large = np.take_along_axis(symmetric, largest[..., None], axis=-1)[..., 0] / size
    side = np.where((large * across).sum(-1, keepdims=True) < 0, -1, 1)
    return np.where(trace < 0, side * large, small)
