"""Kinematics of links by name: poses, Jacobians and their rates; and how external wrenches and
thrusts act on the coordinates, Jᵀ by columns.

Poses are in the root link's frame. Six-vectors have the linear part first, then the angular part. A
Jacobian or its rate is that of the velocity of the link's origin and the angular velocity, in the
link's axes (`body`) or the root's (`aligned`), or of the velocity at the root's origin, in the
root's axes (`world`)."""

from collections.abc import Sequence
from functools import partial

from symgen.algorithms.motion import (
    FramePose,
    constant_frame_pose,
    forward_kinematics,
    motions,
    twist_matrix,
    twists,
)
from symgen.algorithms.registry import Array, quantity
from symgen.mechanics.canonical_model import CanonicalModel, LinkFrame
from symgen.mechanics.parameters import WHOLE
from symgen.mechanics.rigid_motion import matvec, twist_at_frame
from symgen.mechanics.spatial import ZERO_TWIST, Twist, scale_constant
from symgen.numbers.scalar import ZERO, Coordinates, Scalar

F08 = "Featherstone, Rigid Body Dynamics Algorithms (2008), ch. 2 and 4"
link_frame_quantity = partial(
    quantity,
    subject="link",
    source=F08,
    needs_gravity=False,
    needs_inertia=False,
    regroupings=(WHOLE,),
)
"""A quantity of the frame of a link."""

JACOBIAN = "velocity Jacobian, linear rows first"


# -- frames ----------------------------------------------------------------------------------------


def link_frame_pose(system: CanonicalModel, q: Coordinates, link: str) -> FramePose:
    """Where a link's frame is in the root link's."""
    return fixed_frame_pose(system, q, system.link_frame(link))


def fixed_frame_pose(system: CanonicalModel, q: Coordinates, frame: LinkFrame) -> FramePose:
    """The pose in the root link's frame of a frame that is fixed to a body."""
    return (
        forward_kinematics(system, q, [frame.body])[frame.body].at(frame.pose)
        if frame.body
        else constant_frame_pose(frame.pose)
    )


@link_frame_quantity(
    "frame_pose",
    "R(q), p(q) of a link",
    closed_loops=True,
    inputs=("q",),
    outputs=(
        Array("R", "rotation matrix: link axes to root axes", "1", (3, 3)),
        Array("p", "position of the link's origin", "m", (3,)),
    ),
)
def frame_pose(
    system: CanonicalModel, q: Coordinates, *, link: str
) -> tuple[list[Scalar], list[Scalar]]:
    """Where the frame of `link` is in the root link's: R (3 x 3, row-major) and p (m)."""
    pose = link_frame_pose(system, q, link)
    return [x for row in pose.rows for x in row], [*pose.origin]


@link_frame_quantity(
    "frame_jacobian_body",
    "J(q) of a link, link axes",
    closed_loops=True,
    inputs=("q",),
    outputs=(Array("J", JACOBIAN, "1 | m", (6, "n")),),
)
def frame_jacobian_body(system: CanonicalModel, q: Coordinates, *, link: str) -> list[Scalar]:
    """The Jacobian of `link` about its origin in its axes, 6 x n, row-major."""
    frame = system.link_frame(link)
    link_in_body, units = constant_frame_pose(frame.pose.inverse), {}
    for i in (frame.body, *system.ancestors(frame.body)) if frame.body else ():
        units[i] = link_in_body.twist(system.body(i).S)
        link_in_body = link_in_body.to_parent(system.steps(i, q))
    return twist_matrix(system, units)


@link_frame_quantity(
    "frame_jacobian_world",
    "J(q) of a link, about the root's origin",
    closed_loops=True,
    inputs=("q",),
    outputs=(Array("J_w", JACOBIAN, "1 | m", (6, "n")),),
)
def frame_jacobian_world(system: CanonicalModel, q: Coordinates, *, link: str) -> list[Scalar]:
    """The Jacobian of `link` about the root link's origin in its axes, 6 x n, row-major."""
    body = system.link_frame(link).body
    poses = forward_kinematics(system, q, [body] if body else [])
    return twist_matrix(system, {i: pose.twist(system.body(i).S) for i, pose in poses.items()})


@link_frame_quantity(
    "frame_jacobian_aligned",
    "J(q) of a link, root axes",
    closed_loops=True,
    inputs=("q",),
    outputs=(Array("J_a", JACOBIAN, "1 | m", (6, "n")),),
)
def frame_jacobian_aligned(system: CanonicalModel, q: Coordinates, *, link: str) -> list[Scalar]:
    """The Jacobian of `link` about its origin in the root link's axes, 6 x n, row-major."""
    frame, point = system.link_frame(link), link_frame_pose(system, q, link).origin
    bodies = forward_kinematics(system, q, [frame.body] if frame.body else [])
    units = {}
    for i, pose in bodies.items():
        arm, unit = point - pose.origin, system.body(i).S
        w = matvec(pose.rows, unit.w)
        units[i] = Twist(w, matvec(pose.rows, unit.v) + w.cross(arm))
    return twist_matrix(system, units)


def link_motion(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates, link: str
) -> tuple[Twist, Twist]:
    """Velocity and classical acceleration of a link's origin, in its axes."""
    frame = system.link_frame(link)
    if not frame.body:
        return ZERO_TWIST, ZERO_TWIST
    x = motions(system.weightless, q, qd, qdd)[frame.body].seen_in(frame.pose)
    velocity = twist_at_frame(twists(system, q, qd)[frame.body], frame.pose)
    return velocity, Twist(x.wd, x.a)


def _body_rate(system: CanonicalModel, q: Coordinates, qd: Coordinates, link: str) -> Twist:
    velocity, rate = link_motion(system, q, qd, system.bias_accelerations, link)
    return Twist(rate.w, rate.v - velocity.w.cross(velocity.v))


def twist_entries(twist: Twist) -> list[Scalar]:
    """The six numbers of a twist as outputs have them, linear ones first."""
    return [*twist.v, *twist.w]


@link_frame_quantity(
    "frame_jacobian_rate_body",
    "dJ/dt qd of a link, link axes",
    closed_loops=True,
    inputs=("q", "qd"),
    outputs=(Array("Jd_qd", "rate of the Jacobian times qd", "m/s^2, rad/s^2", (6,)),),
)
def frame_jacobian_rate_body(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, *, link: str
) -> list[Scalar]:
    """dJ/dt q̇ for the Jacobian in the link's axes, 6 numbers."""
    return twist_entries(_body_rate(system, q, qd, link))


@link_frame_quantity(
    "frame_jacobian_rate_world",
    "dJ/dt qd of a link, about the root's origin",
    closed_loops=True,
    inputs=("q", "qd"),
    outputs=(Array("Jd_qd_w", "rate of the Jacobian times qd", "m/s^2, rad/s^2", (6,)),),
)
def frame_jacobian_rate_world(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, *, link: str
) -> list[Scalar]:
    """dJ/dt q̇ for the Jacobian about the root link's origin, 6 numbers."""
    return twist_entries(link_frame_pose(system, q, link).twist(_body_rate(system, q, qd, link)))


@link_frame_quantity(
    "frame_jacobian_rate_aligned",
    "dJ/dt qd of a link, root axes",
    closed_loops=True,
    inputs=("q", "qd"),
    outputs=(Array("Jd_qd_a", "rate of the Jacobian times qd", "m/s^2, rad/s^2", (6,)),),
)
def frame_jacobian_rate_aligned(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, *, link: str
) -> list[Scalar]:
    """dJ/dt q̇ for the Jacobian in the root link's axes: the acceleration of the link's origin, 6
    numbers."""
    rows = link_frame_pose(system, q, link).rows
    _, rate = link_motion(system, q, qd, system.bias_accelerations, link)
    return [*matvec(rows, rate.v), *matvec(rows, rate.w)]


Columns = list[list[Scalar]]


def wrench_columns(system: CanonicalModel, q: Coordinates) -> Columns:
    """The joint forces of the bodies that act like one unit of each external wrench: six columns
    for each link, in the axes in which wrenches are given."""
    jacobian = frame_jacobian_aligned if system.wrenches_in_root_axes else frame_jacobian_body
    return [
        row for link in system.wrench_links for row in _rows(system, jacobian(system, q, link=link))
    ]


def thrust_columns(system: CanonicalModel, q: Coordinates) -> Columns:
    """The joint forces of the bodies that act like one unit of each thrust: the columns of the
    allocation matrix."""
    return [
        _combined(
            thruster.wrench(1.0), _rows(system, frame_jacobian_body(system, q, link=thruster.link))
        )
        for thruster in system.thrusters
    ]


def _rows(system: CanonicalModel, jacobian: Sequence[Scalar]) -> Columns:
    n = system.size
    return [[*jacobian[k * n : k * n + n]] for k in range(6)]


def _combined(weights: Sequence[Scalar], rows: Columns) -> list[Scalar]:
    """The sum of the rows times constant weights."""
    return [
        sum((scale_constant(w, x) for w, x in zip(weights, column, strict=True)), ZERO)
        for column in zip(*rows, strict=True)
    ]


def external_matrices(system: CanonicalModel, q: Coordinates) -> tuple[list[Scalar], ...]:
    """The joint forces of the user that act like external wrenches and like thrusts, n x 6 k and
    n x k, row-major; empty where these are no inputs. `q` are the positions of the bodies."""
    forces = system.coupling.forces
    wrenches, thrusts = wrench_columns(system, q), thrust_columns(system, q)
    return tuple(row_major([forces(x) for x in columns]) for columns in (wrenches, thrusts))


def row_major(columns: Columns) -> list[Scalar]:
    """The matrix with these columns, row-major."""
    return [x for row in zip(*columns, strict=True) for x in row]
