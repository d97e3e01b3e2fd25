"""Laws of positions moved along velocities and of integration steps: exponentials and logarithms of
matrices, slopes of what they give; and of inverse kinematics: the minimum of its cost by the normal
equations in joint space, on poses and Jacobians of the reference."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal

import numpy as np

from symgen.algorithms.inverse_kinematics import (
    CONVERGED,
    DAMPING,
    ITERATIONS,
    MIN_DAMPING,
    NEAR_SINGULAR,
    SINGULAR_SQUARE,
)
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.spatial import Vector
from symgen.numbers.caching import cached_method
from symgen.numbers.scalar import DecimalArray
from symgen.proof.laws import law
from symgen.proof.laws.dynamics import accelerations, solve
from symgen.proof.laws.frame_laws import JACOBIAN, POSE, aligned_jacobian, orientation_error, pose
from symgen.proof.reference_kinematics import orientation
from symgen.proof.reference_model import ReferenceModel, matvec
from symgen.proof.states import (
    ONE_SIDED_STEP,
    STEP,
    States,
    batch_matmul,
    batch_matvec,
    batch_transposed_matvec,
    decimals,
    eye,
    input_units,
    normalized,
    units,
)
from symgen.proof.tangent import TangentBlock, blocks

SERIES = "matrix exponentials by their series"
ROOTS = "matrix logarithms by repeated square roots"
STEPS = "{} from the reference and matrix exponentials"
SERIES_TERMS, HALVINGS, ROOTS_TAKEN = 30, 12, 60


def _matrix_exponential(a: DecimalArray) -> DecimalArray:
    """The exponential of square matrices, the last two axes: a series, squared again and again."""
    small, size = a / 2**HALVINGS, a.shape[-1]
    term = total = np.broadcast_to(eye(size), a.shape)
    for k in range(1, SERIES_TERMS):
        term = batch_matmul(term, small) / k
        total = total + term
    for _ in range(HALVINGS):
        total = batch_matmul(total, total)
    return total


def _matrix_of_entries(rows: list[list[DecimalArray]]) -> DecimalArray:
    wide = np.broadcast_arrays(*(x for row in rows for x in row))
    flat = np.stack(wide, axis=-1)
    return flat.reshape(*flat.shape[:-1], len(rows), len(rows[0]))


def _twist(v: DecimalArray, place: int) -> tuple[list[DecimalArray], list[DecimalArray]]:
    """Linear and angular numbers of a twist."""
    flat = [v[..., k] for k in range(v.shape[-1])]
    none = [0 * flat[0]] * 3
    return (flat[:3] if place else none), flat[place:]


def _matrix_of_twist(v: DecimalArray, place: int) -> DecimalArray:
    """The 4 x 4 matrix of a twist."""
    (a, b, c), (x, y, z) = _twist(v, place)
    o = 0 * x
    return _matrix_of_entries([[o, -z, y, a], [z, o, -x, b], [-y, x, o, c], [o, o, o, o]])


def _rotated_quaternion(four: DecimalArray, v: DecimalArray, place: int) -> DecimalArray:
    """A quaternion x, y, z, w times that of exp of a rotation vector."""
    x, y, z = (e / 2 for e in _twist(v, place)[1])
    o = 0 * x
    by = _matrix_of_entries([[o, z, -y, x], [-z, o, x, y], [y, -x, o, z], [-x, -y, -z, o]])
    return batch_matvec(_matrix_exponential(by), four)


def _moved_block(block: TangentBlock, q: DecimalArray, v: DecimalArray) -> DecimalArray:
    n = block.translation_count
    if n is None:
        return q + v
    turned = _rotated_quaternion(q[..., n:], v, n)
    if not n:
        return turned
    arm = _matrix_exponential(_matrix_of_twist(v, n))[..., :3, 3]  # in the axes of the quaternion
    rows = orientation([q[..., k] for k in range(3, 7)])
    shift = matvec(rows, Vector(*(arm[..., k] for k in range(3))))
    place = np.stack([q[..., k] + x for k, x in enumerate(shift)], axis=-1)
    return np.concatenate([place, turned], axis=-1)


def _joined_blocks(size: int, parts: list[tuple[slice, DecimalArray]]) -> DecimalArray:
    shape = np.broadcast_shapes(*(x.shape[:-1] for _, x in parts))
    out = np.full((*shape, size), Decimal(0), object)
    for at, x in parts:
        out[..., at] = x
    return out


def moved(robot: ReferenceModel, q: DecimalArray, v: DecimalArray) -> DecimalArray:
    """q ⊕ v."""
    parts = [
        (b.position_slice, _moved_block(b, q[..., b.position_slice], v[..., b.velocity_slice]))
        for b in blocks(robot)
    ]
    return _joined_blocks(robot.positions, parts)


def _quotient(a: DecimalArray, b: DecimalArray) -> DecimalArray:
    """The quaternion conj(a) b, of those x, y, z, w."""
    x, y, z, w = (a[..., k] for k in range(4))
    by = _matrix_of_entries([[w, z, -y, -x], [-z, w, x, -y], [y, -x, w, -z], [x, y, z, w]])
    return batch_matvec(by, b)


def _block_velocity(
    block: TangentBlock, a: DecimalArray, b: DecimalArray, roots: int
) -> DecimalArray:
    """The velocity from one position to another: 2 to the number of `roots` times the small step
    that so many square roots leave."""
    n = block.translation_count
    if n is None:
        return b - a
    four = _quotient(a[..., n:], b[..., n:])
    four = np.where(four[..., 3:] < 0, -four, four)
    arm = None
    if n:
        rows = orientation([a[..., k] for k in range(3, 7)])
        d = [b[..., k] - a[..., k] for k in range(3)]
        back = [sum(rows[k][i] * d[k] for k in range(3)) for i in range(3)]
        arm = np.stack(back, axis=-1)
    for _ in range(roots):
        four = normalized(four + decimals([0, 0, 0, 1]))
        if arm is not None:
            rows = orientation([four[..., k] for k in range(4)])
            jacobian = _matrix_of_entries(
                [[rows[i][k] + (1 if i == k else 0) for k in range(3)] for i in range(3)]
            )
            arm = solve(jacobian, arm[..., None])[..., 0]
    turn = 2 * four[..., :3] / four[..., 3:]
    velocity = turn if arm is None else np.concatenate([arm, turn], axis=-1)
    return velocity * 2**roots


def velocity_between(
    robot: ReferenceModel, a: DecimalArray, b: DecimalArray, roots: int = ROOTS_TAKEN
) -> DecimalArray:
    """The velocity numbers v that lead from a to b in one unit of time: a ⊕ v = b."""
    parts = [
        (
            x.velocity_slice,
            _block_velocity(x, a[..., x.position_slice], b[..., x.position_slice], roots),
        )
        for x in blocks(robot)
    ]
    return _joined_blocks(robot.velocities, parts)


def euler_step(x: States) -> tuple[DecimalArray, DecimalArray]:
    """A semi-implicit step of Euler."""
    h = x.inputs["h"]
    qd = x.inputs["qd"] + h * accelerations(x)
    return moved(x.mechanism, x.inputs["q"], h * qd), qd


@cached_method
def rk4_step(x: States) -> tuple[DecimalArray, DecimalArray]:
    """A step of Runge and Kutta's on velocities u with q ⊕ u."""
    h, q, qd = x.inputs["h"], x.inputs["q"], x.inputs["qd"]
    rates, fasts = [qd], [accelerations(x)]
    for share in (Decimal("0.5"), Decimal("0.5"), Decimal(1)):
        u, later = share * h * rates[-1], qd + share * h * fasts[-1]
        rates.append(tangent_rate(x.mechanism, u, later))
        there = x.with_inputs(q=moved(x.mechanism, q, u), qd=later)
        fasts.append(accelerations(_after_presliding(there, u)))
    u, a = (y[0] + 2 * y[1] + 2 * y[2] + y[3] for y in (rates, fasts))
    return moved(x.mechanism, q, h / 6 * u), qd + h / 6 * a


def _presliding_after(row: Mapping[str, DecimalArray], change: DecimalArray) -> DecimalArray:
    """The state of presliding after a change: the share exp(-|change| / distance) of the old one,
    and the rest of the direction of the change."""
    share = np.frompyfunc(Decimal.exp, 1, 1)(-abs(change) / row["presliding_distance"])
    return share * row["state"] + (1 - share) * np.where(change < 0, -1, 1)


def _after_presliding(x: States, u: DecimalArray) -> States:
    """The states with presliding after a change u of positions."""
    rows = {
        i: {**row, "state": _presliding_after(row, u[..., x.mechanism.part(i).terms[0][0]])}
        if {"state", "presliding_distance"} <= {*row}
        else row
        for i, row in x.passive.items()
    }
    return replace(x, passive=rows)


@law("presliding_update", "the exact solution of Dahl's equation, on the reference displacement")
def presliding_update(x: States) -> DecimalArray:
    """The states after the motion."""
    change = velocity_between(x.mechanism, x.inputs["q"], x.inputs["q_end"])
    out = x.inputs["presliding"].copy()
    for i in range(1, len(x.mechanism.parts) + 1):
        row = x.force_shape(i)
        if {"state", "presliding_distance"} <= {*row}:
            index = x.mechanism.part(i).terms[0][0]
            out[..., index] = _presliding_after(row, change[..., index])
    return out


def tangent_rate(robot: ReferenceModel, u: DecimalArray, v: DecimalArray) -> DecimalArray:
    """v + [u, v]/2 + [u, [u, v]]/12."""
    parts = []
    for b in blocks(robot):
        at = u[..., b.velocity_slice], v[..., b.velocity_slice]
        once = b.bracket(*at) + 0 * at[1]
        twice = b.bracket(at[0], once)
        parts.append((b.velocity_slice, at[1] + once / 2 + twice / 12))
    return _joined_blocks(robot.velocities, parts)


@law("integrate", SERIES)
def integrate(x: States) -> DecimalArray:
    """q ⊕ dq."""
    return moved(x.mechanism, x.inputs["q"], x.inputs["dq"])


@law("difference", ROOTS)
def difference(x: States) -> DecimalArray:
    """From q to q_end."""
    return velocity_between(x.mechanism, x.inputs["q"], x.inputs["q_end"])


Flow = Callable[[States], tuple[DecimalArray, DecimalArray]]


def _flow_derivative(flow: Flow, x: States, **directions: DecimalArray) -> DecimalArray:
    """How (q, q̇) after a flow change, (..., 2 n, directions), in the tangent space there. As in
    `gradient`, one-sided steps suffice where the flow takes no derivative, and positions add."""
    count, (middle, rate) = len(next(iter(directions.values()))), flow(x)
    one_sided = not x.robot.fluid and not coupling_of(x.robot.model).quaternions
    steps = (ONE_SIDED_STEP,) if one_sided else (STEP, -STEP)
    offsets = np.array(steps).reshape(-1, 1, *(1 for _ in x.shape), 1)
    q, qd = flow(
        x.displaced_by((len(steps), count), **{k: offsets * d[None] for k, d in directions.items()})
    )
    dq = velocity_between(x.mechanism, np.broadcast_to(middle, q.shape), q, 0)
    change = np.concatenate([dq, np.broadcast_to(qd - rate, dq.shape)], axis=-1)
    slopes = change[0] / ONE_SIDED_STEP if one_sided else (change[0] - change[1]) / (2 * STEP)
    return np.moveaxis(slopes, 0, -1)


@law("integrate_jacobians", f"derivatives of {SERIES}", 1)
def integrate_jacobians(x: States) -> tuple[DecimalArray, DecimalArray]:
    """∂(q ⊕ dq)/∂q, ∂(q ⊕ dq)/∂dq."""

    def at_rest(y: States) -> tuple[DecimalArray, DecimalArray]:
        q = moved(y.mechanism, y.inputs["q"], y.inputs["dq"])
        return q, decimals(np.zeros((*q.shape[:-1], y.n)))

    origin = decimals(np.zeros((*x.shape, x.mechanism.positions)))
    for b in blocks(x.mechanism):
        if b.translation_count is not None:
            origin[..., b.position_slice.stop - 1] = Decimal(1)
    start = x.with_inputs(q=origin)
    return tuple(
        _flow_derivative(at_rest, start, **{k: units(x)})[..., : x.n, :] for k in ("q", "dq")
    )


def _register(method: str, flow: Flow, order: int) -> None:
    words = STEPS.format(f"a step of {method}")
    law(f"step:{method}", words)(flow)

    @law(f"step_jacobians:{method}", f"derivatives of {words}", order)
    def jacobians(x: States) -> tuple[DecimalArray, ...]:
        a = [_flow_derivative(flow, x, **{k: units(x)}) for k in ("q", "qd")]
        external = [name for name in ("wrench", "thrust") if name in x.inputs]
        by_external = (_flow_derivative(flow, x, **{k: input_units(x, k)}) for k in external)
        return np.concatenate(a, axis=-1), _flow_derivative(flow, x, tau=units(x)), *by_external


_register("euler", euler_step, 1)
_register("rk4", rk4_step, 2)  # four accelerations and exponentials take as long as a nested slope


# -- inverse kinematics ----------------------------------------------------------------------------

MAX_UNMOVED_COLUMN = Decimal("1e-15")
"""Joints whose column of the Jacobian is below this do not move the link."""
_square_root = np.frompyfunc(Decimal.sqrt, 1, 1)


def _error(x: States, link: str) -> DecimalArray:
    here = pose(x, link)
    turn = orientation_error(here, x.inputs["quat_ref"])
    return np.concatenate([x.inputs["p_ref"] - here[..., 9:], turn], axis=-1)


@law("inverse_kinematics_step", f"the normal equations of its cost, {JACOBIAN}", 1)
def inverse_kinematics_step(x: States, link: str) -> DecimalArray:
    """q ⊕ dq with (Jᵀ W² J + λ²) dq = Jᵀ W² e + λ² dq_0, within limits."""
    g = x.inputs
    square = (g["task_weight"] ** 2)[..., None]
    j, e = aligned_jacobian(x, link), _error(x, link)
    damping = ((square[..., 0] * e * e).sum(-1) * Decimal(DAMPING) + Decimal(MIN_DAMPING))[
        ..., None
    ]
    moves = (abs(j) > MAX_UNMOVED_COLUMN).any(axis=-2)
    posture = moves * (g["null_gain"] * velocity_between(x.mechanism, g["q"], g["q_ref"]))
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
    rows = x.inputs["task_weight"][..., None] * aligned_jacobian(x, link)
    normal = batch_matmul(np.swapaxes(rows, -1, -2), rows)
    inverse = solve(
        normal + Decimal(SINGULAR_SQUARE) * eye(x.n), np.broadcast_to(eye(x.n), normal.shape)
    )
    trace = np.trace(inverse, axis1=-2, axis2=-1) + (6 - x.n) / Decimal(SINGULAR_SQUARE)
    return (1 / _square_root(trace))[..., None]


@law("inverse_kinematics_status", JACOBIAN, 1)
def inverse_kinematics_status(x: States, link: str) -> DecimalArray:
    """0 or 1 by the error of the parts with weights, and 2 near a singular posture."""
    counted = np.where(x.inputs["task_weight"] == 0, 0, _error(x, link)).reshape(*x.shape, 2, 3)
    far = ((counted * counted).sum(-1) > Decimal(CONVERGED) ** 2).any(axis=-1)
    singular = singularity_distance(x, link)[..., 0] < Decimal(NEAR_SINGULAR)
    return np.vectorize(Decimal, otypes=[object])(far + 2 * singular)[..., None]


@law("inverse_kinematics", f"the normal equations of its cost, {JACOBIAN}", 1)
def inverse_kinematics(x: States, link: str) -> tuple[DecimalArray, ...]:
    """Step after step."""
    for _ in range(ITERATIONS):
        x = x.with_inputs(q=inverse_kinematics_step(x, link))
    status = inverse_kinematics_status(x, link)
    return x.inputs["q"], pose_error(x, link), singularity_distance(x, link), status
