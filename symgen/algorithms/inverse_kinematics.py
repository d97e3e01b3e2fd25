"""Inverse kinematics of a link by damped least squares, with a fixed number of iterations.

An iteration minimises |W (J dq - e)|² + λ² |dq - dq_0|² over the step dq: W are the weights of the
six parts of the task, e the error of the link's pose in root axes, J its Jacobian, and dq_0 a step
toward a posture, which remains in the null space of W J as λ vanishes. With λ² = |W e|²/10 +
`MIN_DAMPING` the iterations converge quadratically to a pose that can be reached, and remain
bounded near singular postures and for poses out of reach (Sugihara, Solvability-unconcerned inverse
kinematics by the Levenberg-Marquardt method, IEEE T-RO 2011, eqs. 16 to 21). Positions are
clamped to their limits after each step. (A step can leave the positions at which closed loops
close, so that it does not exist for robots with these.)"""

from functools import partial
from typing import Final

from symgen.algorithms.composite import factorize_dense
from symgen.algorithms.kinematics import frame_jacobian_aligned, link_frame_pose
from symgen.algorithms.manifold import TwistChart, charts, moved
from symgen.algorithms.registry import JOINTS, Array, quantity
from symgen.algorithms.steps import difference
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.joint_type import quaternion_rows
from symgen.mechanics.parameters import WHOLE
from symgen.mechanics.spatial import Vector
from symgen.numbers.operations import sign, sqrt
from symgen.numbers.scalar import ZERO, Coordinates, Scalar, dot, sum_in_order

ITERATIONS: Final = 6
"""The iterations of `inverse_kinematics`: from 0.2 rad away, five of them lead to less than 1e-6 in
almost every posture of a UR5."""
DAMPING: Final = 0.1
"""λ² per square of the error. Of 0.5, 0.1, 0.03 and 0.01 it needs the fewest iterations from 0.2 to
2 rad away for a UR5 and a Panda."""
MIN_DAMPING: Final = 1e-8
"""λ² at the solution. It limits a step at a singular posture to |e| / sqrt(4 λ²), and moves the
solution by this part of dq_0 / σ², σ the least singular value of W J."""
SINGULAR_SQUARE: Final = 1e-6
"""μ: the square of a singular value of W J that counts as singular."""
CONVERGED: Final = 1e-6
"""The error (m, and 2 sin(θ/2)) below which a pose counts as reached."""
NEAR_SINGULAR: Final = 1e-3
"""The `singularity_distance` below which a posture counts as singular: the square root of
`SINGULAR_SQUARE`, which it is at most where a singular value vanishes."""
WEIGHTLESS_DIAGONAL: Final = 1e6
"""The diagonal entry of a row without weight, which adds its reciprocal to a sum of 1 / σ²."""
TINY: Final = 1e-30

SUGIHARA = "Sugihara, Solvability-unconcerned inverse kinematics, IEEE T-RO 2011"
TASK_INPUTS: Final = (
    "q",
    "q_ref",
    "p_ref",
    "quat_ref",
    "task_weight",
    "null_gain",
    "q_min",
    "q_max",
)
_task_quantity = partial(
    quantity,
    subject="link",
    coordinates=JOINTS,
    needs_gravity=False,
    needs_inertia=False,
    source=SUGIHARA,
    regroupings=(WHOLE,),
)


def _pose_error(
    system: CanonicalModel, q: Coordinates, p_ref: Coordinates, xyzw: Coordinates, link: str
) -> list[Scalar]:
    """From a link's pose to a reference, in root axes: of the origin, and 2 sin(θ/2) about the axis
    of the rotation E between them, vee(E - Eᵀ) / sqrt(1 + tr E)."""
    pose = link_frame_pose(system, q, link)
    x, y, z = (Vector(*column) for column in zip(*pose.rows, strict=True))
    a, b, c = (Vector(*column) for column in zip(*quaternion_rows(xyzw), strict=True))
    across = x.cross(a) + y.cross(b) + z.cross(c)
    trace = 1.0 + (x.dot(a) + y.dot(b) + z.dot(c))
    turn = across.scaled(1.0 / sqrt(trace * sign(trace) + TINY))
    return [*(Vector(*p_ref) - pose.origin), *turn]


def _weighted_jacobian(
    system: CanonicalModel, q: Coordinates, weights: Coordinates, link: str
) -> list[list[Scalar]]:
    """The six rows of W J in the user's coordinates, at positions of the bodies."""
    n, system_there = system.dof, system.at_positions(q)
    flat = system_there.coupling.pull_back(
        frame_jacobian_aligned(system_there, q, link=link), (6, None)
    )
    return [[w * x for x in flat[k * n : k * n + n]] for k, w in enumerate(weights)]


def _gram(rows: list[list[Scalar]], diagonal: Coordinates) -> list[Scalar]:
    """W J (W J)ᵀ with a diagonal added, 6 x 6."""
    half = {(i, j): dot(rows[i], rows[j]) for i in range(6) for j in range(i + 1)}
    for i, x in enumerate(diagonal):
        half[i, i] = half[i, i] + x
    return [half[max(i, j), min(i, j)] for i in range(6) for j in range(6)]


def _within_limits(
    system: CanonicalModel, q: list[Scalar], low: Coordinates, high: Coordinates
) -> list[Scalar]:
    """Positions within limits, those of quaternion joints as they are."""
    single = (x for x in charts(system.coupling) if not isinstance(x, TwistChart))
    for k in (k for chart in single for k in chart.position_indices):
        above = 0.5 + 0.5 * sign(q[k] - high[k])
        x = (1.0 - above) * q[k] + above * high[k]
        below = 0.5 + 0.5 * sign(low[k] - x)
        q[k] = (1.0 - below) * x + below * low[k]
    return q


@_task_quantity(
    "inverse_kinematics_step",
    "q after an iteration of damped least squares toward p_ref and quat_ref, of a link",
    inputs=TASK_INPUTS,
    outputs=(Array("q_ik_step", "positions after the iteration", "rad | m", ("nq",)),),
)
def inverse_kinematics_step(
    system: CanonicalModel, *inputs: Coordinates, link: str
) -> list[Scalar]:
    """q ⊕ dq within limits, shape nq. Joints that do not move the link remain where they are."""
    q, q_ref, p_ref, xyzw, weights, (gain,), low, high = inputs
    positions = system.coupling.body_positions(q)
    rows = _weighted_jacobian(system, positions, weights, link)
    error = [
        w * x
        for w, x in zip(weights, _pose_error(system, positions, p_ref, xyzw, link), strict=True)
    ]
    damping = DAMPING * dot(error, error) + MIN_DAMPING
    moves = [any(row[k] is not ZERO for row in rows) for k in range(system.dof)]
    posture = [
        gain * x if moving else ZERO
        for x, moving in zip(difference(system, q, q_ref), moves, strict=True)
    ]
    remaining_error = [x - dot(row, posture) for x, row in zip(error, rows, strict=True)]
    y = factorize_dense(_gram(rows, [damping] * 6), 6).solve(remaining_error)
    step = [x + dot([row[k] for row in rows], y) for k, x in enumerate(posture)]
    return _within_limits(system, moved(system.coupling, q, step), low, high)


@_task_quantity(
    "pose_error",
    "|p_ref - p|, 2 sin(angle / 2) between quat_ref and R, of a link",
    closed_loops=True,
    inputs=("q", "p_ref", "quat_ref"),
    outputs=(Array("pose_error", "distance and 2 sin(angle / 2) to the reference", "m, 1", (2,)),),
)
def pose_error(
    system: CanonicalModel, q: Coordinates, p_ref: Coordinates, xyzw: Coordinates, *, link: str
) -> list[Scalar]:
    """How far a link's pose is from a reference: its origin (m), and its orientation as 2 sin(θ/2)
    of the angle between them."""
    error = _pose_error(system, system.coupling.body_positions(q), p_ref, xyzw, link)
    return [sqrt(sum_in_order([x * x for x in part], TINY)) for part in (error[:3], error[3:])]


@_task_quantity(
    "singularity_distance",
    "1/sqrt(tr((W J (W J)^T + mu)^-1)) of a link",
    closed_loops=True,
    inputs=("q", "task_weight"),
    outputs=(
        Array("singularity_distance", "least singular value of W J, or up to 60 % less", "1", (1,)),
    ),
)
def singularity_distance(
    system: CanonicalModel, q: Coordinates, weights: Coordinates, *, link: str
) -> list[Scalar]:
    """(Σ 1/(σ² + μ))^(-1/2) over the singular values σ of the rows of W J whose weights are not
    zero, shape 1. It is between σ_min/sqrt(6) and σ_min where σ_min is far above sqrt(μ) = 1e-3,
    and at most sqrt(μ) at a singular posture, as for robots with fewer joints than such rows."""
    rows = _weighted_jacobian(system, system.coupling.body_positions(q), weights, link)
    diagonal = [WEIGHTLESS_DIAGONAL * (1.0 - sign(w) * sign(w)) + SINGULAR_SQUARE for w in weights]
    inverse = factorize_dense(_gram(rows, diagonal), 6).inverse()
    return [1.0 / sqrt(sum_in_order(inverse[7::7], inverse[0]))]


@_task_quantity(
    "inverse_kinematics_status",
    "0: converged, 1: not converged, + 2: near singular, of a link",
    closed_loops=True,
    inputs=("q", "p_ref", "quat_ref", "task_weight"),
    outputs=(
        Array(
            "posture_status", "0 converged, 1 not converged; 2 more near a singularity", "1", (1,)
        ),
    ),
)
def inverse_kinematics_status(
    system: CanonicalModel,
    q: Coordinates,
    p_ref: Coordinates,
    xyzw: Coordinates,
    weights: Coordinates,
    *,
    link: str,
) -> list[Scalar]:
    """0 if the position and the orientation are within `CONVERGED` of the reference in the parts
    whose weight is not 0, else 1; and 2 more if `singularity_distance` is below `NEAR_SINGULAR`.
    Shape 1."""
    error = _pose_error(system, system.coupling.body_positions(q), p_ref, xyzw, link)
    parts = [sign(w) * sign(w) * (x * x) for w, x in zip(weights, error, strict=True)]
    (distance,) = singularity_distance(system, q, weights, link=link)
    excess = [sum_in_order(part, ZERO) - CONVERGED**2 for part in (parts[:3], parts[3:])]
    near, oriented, singular = (0.5 - 0.5 * sign(x) for x in (*excess, distance - NEAR_SINGULAR))
    return [1.0 - near * oriented + 2.0 * singular]


@_task_quantity(
    "inverse_kinematics",
    f"q after {ITERATIONS} iterations toward p_ref and quat_ref, of a link",
    inputs=TASK_INPUTS,
    loops=(
        "inverse_kinematics_step",
        "pose_error",
        "singularity_distance",
        "inverse_kinematics_status",
    ),
    outputs=(
        Array("q_ik", "positions after the iterations", "rad | m", ("nq",)),
        Array("ik_error", "distance and 2 sin(angle / 2) that remain", "m, 1", (2,)),
        Array("ik_singularity_distance", "singularity_distance there", "1", (1,)),
        Array("ik_status", "0 converged, 1 not converged; 2 more near a singularity", "1", (1,)),
    ),
)
def inverse_kinematics(
    system: CanonicalModel, *inputs: Coordinates, link: str
) -> tuple[list[Scalar], list[Scalar], list[Scalar], list[Scalar]]:
    """Positions after `ITERATIONS` of `inverse_kinematics_step` from q, and `pose_error`,
    `singularity_distance` and `inverse_kinematics_status` there."""
    q, q_ref, p_ref, xyzw, weights, *rest = inputs
    for _ in range(ITERATIONS):
        q = inverse_kinematics_step(system, q, q_ref, p_ref, xyzw, weights, *rest, link=link)
    error = pose_error(system, q, p_ref, xyzw, link=link)
    status = inverse_kinematics_status(system, q, p_ref, xyzw, weights, link=link)
    return [*q], error, singularity_distance(system, q, weights, link=link), status
