"""Laws of inverse kinematics: the minimum of its cost by the normal equations in joint space, on
poses and Jacobians of the reference."""

from decimal import Decimal

import numpy as np

from symgen.algorithms.inverse_kinematics import (
    CONVERGED,
    DAMPING,
    ITERATIONS,
    LEAST_DAMPING,
    NEAR_SINGULAR,
    SINGULAR,
)
from symgen.numbers.types import DecimalArray
from symgen.proof.laws.controller_laws import half_turn
from symgen.proof.laws.dynamics import solve
from symgen.proof.laws.frame_laws import JACOBIAN, POSE, aligned, pose
from symgen.proof.laws.integration_laws import between, moved
from symgen.proof.laws.law_registry import law
from symgen.proof.states import States, batch_matmul, batch_transposed_matvec, eye
from symgen.proof.tangent import blocks

UNMOVED = Decimal("1e-15")
"""Joints whose column of the Jacobian is below this do not move the link."""
_square_root = np.frompyfunc(Decimal.sqrt, 1, 1)


def _error(x: States, link: str) -> DecimalArray:
    here = pose(x, link)
    turn = half_turn(here, x.given["quat_ref"])
    return np.concatenate([x.given["p_ref"] - here[..., 9:], turn], axis=-1)


@law("inverse_kinematics_step", f"the normal equations of its cost, {JACOBIAN}", 1)
def inverse_kinematics_step(x: States, link: str) -> DecimalArray:
    """q ⊕ dq with (Jᵀ W² J + λ²) dq = Jᵀ W² e + λ² dq_0, within limits."""
    g = x.given
    square = (g["task_weight"] ** 2)[..., None]
    j, e = aligned(x, link), _error(x, link)
    damping = ((square[..., 0] * e * e).sum(-1) * Decimal(DAMPING) + Decimal(LEAST_DAMPING))[
        ..., None
    ]
    moves = (abs(j) > UNMOVED).any(axis=-2)
    posture = moves * (g["null_gain"] * between(x.mechanism, g["q"], g["q_ref"]))
    normal = batch_matmul(np.swapaxes(j, -1, -2), square * j)
    right = batch_transposed_matvec(j, square[..., 0] * e) + damping * posture
    step = solve(normal + damping[..., None] * eye(x.n), right[..., None])[..., 0]
    q = moved(x.mechanism, g["q"], moves * step)
    within = np.maximum(np.minimum(q, g["q_max"]), g["q_min"])
    for block in blocks(x.mechanism):
        if block.translation_count is not None:
            within[..., block.position_slice] = q[..., block.position_slice]
    return within


@law("pose_error", POSE)
def pose_error(x: States, link: str) -> DecimalArray:
    """|p_ref - p| and 2 sin(θ/2)."""
    parts = _error(x, link).reshape(*x.shape, 2, 3)
    return _square_root((parts * parts).sum(-1))


@law("singularity_distance", JACOBIAN, 1)
def singularity_distance(x: States, link: str) -> DecimalArray:
    """(tr (W J (W J)ᵀ + μ)⁻¹)^(-1/2), by the sum of 1/μ and of the trace of the inverse in joint
    space, which has the same eigenvalues but for those of the kernels."""
    rows = x.given["task_weight"][..., None] * aligned(x, link)
    normal = batch_matmul(np.swapaxes(rows, -1, -2), rows)
    inverse = solve(normal + Decimal(SINGULAR) * eye(x.n), np.broadcast_to(eye(x.n), normal.shape))
    trace = np.trace(inverse, axis1=-2, axis2=-1) + (6 - x.n) / Decimal(SINGULAR)
    return (1 / _square_root(trace))[..., None]


@law("inverse_kinematics_status", JACOBIAN, 1)
def inverse_kinematics_status(x: States, link: str) -> DecimalArray:
    """0 or 1 by the error of the parts with weights, and 2 near a singular posture."""
    counted = np.where(x.given["task_weight"] == 0, 0, _error(x, link)).reshape(*x.shape, 2, 3)
    far = ((counted * counted).sum(-1) > Decimal(CONVERGED) ** 2).any(axis=-1)
    singular = singularity_distance(x, link)[..., 0] < Decimal(NEAR_SINGULAR)
    return np.vectorize(Decimal, otypes=[object])(far + 2 * singular)[..., None]


@law("inverse_kinematics", f"the normal equations of its cost, {JACOBIAN}", 1)
def inverse_kinematics(x: States, link: str) -> tuple[DecimalArray, ...]:
    """Step after step."""
    for _ in range(ITERATIONS):
        x = x.put(q=inverse_kinematics_step(x, link))
    status = inverse_kinematics_status(x, link)
    return x.given["q"], pose_error(x, link), singularity_distance(x, link), status
