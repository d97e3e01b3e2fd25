"""Laws of a link's frame as controllers see it: textbook kinematics and its differences in many
digits."""

from decimal import Decimal
from functools import partial

import numpy as np

from symgen.mechanics.spatial import Vector
from symgen.numbers.types import DecimalArray
from symgen.proof.laws.dynamics import inverse, solve, without_acceleration
from symgen.proof.laws.frame_laws import (
    AXES,
    JACOBIAN,
    LINKS,
    POSE,
    Term,
    aligned,
    body,
    by_axes,
    centre,
    centroidal_momentum_matrix,
    com_jacobian,
    pose,
    world,
)
from symgen.proof.laws.law_registry import law
from symgen.proof.reference_model import entries_array
from symgen.proof.states import (
    States,
    batch_matmul,
    batch_matvec,
    batch_transposed_matvec,
    decimal_sqrt,
    eye,
    gradient,
    normalized,
    rate,
    second_rate,
)
from symgen.proof.textbook import NO_INERTIA, moving_inertias

DIFFERENCES = f"finite differences in time of {JACOBIAN}"
TASK = f"elimination on the reference M, {JACOBIAN}"


def _register(axes: str, jacobian: Term, geometric: Term) -> None:
    """Register the laws of a Jacobian in some axes: `jacobian` from derivatives of poses, and for
    its own derivatives `geometric` from joint axes."""

    def velocity(x: States, link: str) -> DecimalArray:
        return batch_matvec(jacobian(x, link), x.given["qd"])

    def change(x: States, link: str, term: Term = jacobian) -> DecimalArray:
        return rate(lambda y: term(y, link), x)

    law(f"frame_jacobian_{axes}", JACOBIAN, 1)(jacobian)
    law(f"frame_velocity_{axes}", JACOBIAN, 1)(velocity)
    law(f"frame_acceleration_{axes}", DIFFERENCES, 1)(partial(change, term=velocity))
    law(f"frame_jacobian_dot_{axes}", DIFFERENCES, 1)(change)
    law(f"frame_jacobian_rate_{axes}", DIFFERENCES, 1)(
        lambda x, link: batch_matvec(change(x, link), x.given["qd"])
    )
    law(f"frame_hessian_{axes}", f"derivatives of the Jacobian by {AXES}", 1)(
        lambda x, link: gradient(lambda y: geometric(y, link), x)
    )
    law(f"frame_jacobian_ddot_{axes}", f"finite differences in time of the Jacobian by {AXES}", 1)(
        lambda x, link: second_rate(lambda y: geometric(y, link), x)
    )


_register("body", body, partial(body, jacobian=by_axes))
_register("world", world, partial(world, jacobian=by_axes))
_register("aligned", aligned, by_axes)


@law("frame_acceleration_classical", DIFFERENCES, 1)
def frame_acceleration_classical(x: States, link: str) -> DecimalArray:
    """The acceleration in the root's axes, seen in the link's."""
    change = rate(lambda y: batch_matvec(aligned(y, link), y.given["qd"]), x)
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
    four = np.stack([np.stack(row, axis=-1) for row in table], axis=-2)
    best = np.argmax(np.diagonal(four, axis1=-2, axis2=-1).astype(float), axis=-1)
    longest = np.take_along_axis(four, best[..., None, None], axis=-2)[..., 0, :]
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
    return change, batch_matvec(change, x.given["qd"])


@law("centroidal_momentum_gradient", f"derivatives of {LINKS}", 1)
def centroidal_momentum_gradient(x: States) -> DecimalArray:
    """∂(A q̇)/∂q."""
    return gradient(lambda y: batch_matvec(centroidal_momentum_matrix(y), x.given["qd"]), x)


@law("composite_inertia", LINKS)
def composite_inertia(x: States) -> DecimalArray:
    """Steiner's rule on every link."""
    c = centre(x)
    point, total = Vector(*(c[..., k] for k in range(3))), NO_INERTIA
    for i, link in moving_inertias(x.mechanism, x.textbook):
        if not x.mechanism.part(i).grounded:
            total = total.joined(link.about(point))
    return entries_array([e for row in total.inertia for e in row], x.shape, Decimal(0))


def task(x: States, link: str) -> tuple[DecimalArray, DecimalArray, DecimalArray]:
    """J, M⁻¹ Jᵀ and J M⁻¹ Jᵀ with damping."""
    j, m = aligned(x, link), inverse(x)
    right = batch_matmul(m, np.swapaxes(j, -1, -2))
    inverse_inertia = batch_matmul(j, right)
    return j, right, inverse_inertia + (x.given["damping"] ** 2)[..., None] * eye(6)


@law("operational_space_inertia", TASK, 1)
def operational_space_inertia(x: States, link: str) -> tuple[DecimalArray, DecimalArray]:
    """Λ and Λ⁻¹."""
    inverse_inertia = task(x, link)[2]
    return solve(inverse_inertia, eye(6)), inverse_inertia


@law("operational_space_bias", TASK, 1)
def operational_space_bias(x: States, link: str) -> DecimalArray:
    """μ."""
    _, right, inverse_inertia = task(x, link)
    forces = without_acceleration(x.free())
    moved = batch_matvec(np.swapaxes(right, -1, -2), forces)
    change = batch_matvec(rate(lambda y: aligned(y, link), x.put(qdd=None)), x.given["qd"])
    return solve(inverse_inertia, (moved - change)[..., None])[..., 0]


@law("dynamically_consistent_inverse", TASK, 1)
def dynamically_consistent_inverse(x: States, link: str) -> DecimalArray:
    """M⁻¹ Jᵀ Λ."""
    _, right, inverse_inertia = task(x, link)
    return np.swapaxes(solve(inverse_inertia, np.swapaxes(right, -1, -2)), -1, -2)
