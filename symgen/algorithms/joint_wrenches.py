"""The force and moment that each joint transmits from its parent to its child.

The wrench moves the child and all that it carries, rotors included, against gravity and external
wrenches: the backward pass of the recursive Newton-Euler algorithm (Featherstone, Rigid Body
Dynamics Algorithms, 2008, table 5.1, f_i). It is that of the bearing, the drive and the friction of
the joint together; along the axis of the joint it is the joint force less friction, springs and the
joint's own rotor. Six-vectors have the force (N) first, then the moment (N m) about the origin of
the joint's frame of the robot's file, which moves with the child."""

from functools import partial

from symgen.algorithms.fluids import fluid_forces
from symgen.algorithms.kinematics import fixed_frame_pose
from symgen.algorithms.motion import motions
from symgen.algorithms.newton_euler import subtree_forces
from symgen.algorithms.registry import Array, quantity
from symgen.algorithms.regressors import SOURCE as REGRESSOR_SOURCE
from symgen.algorithms.regressors import check_outside_loops, wrench_entries
from symgen.mechanics.canonical_model import CanonicalModel, LinkFrame
from symgen.mechanics.parameters import WHOLE
from symgen.mechanics.rigid_motion import matvec
from symgen.mechanics.spatial import Force, Vector
from symgen.numbers.dual import jacobian
from symgen.numbers.scalar import Coordinates, Scalar

SOURCE = "Featherstone, Rigid Body Dynamics Algorithms (2008), table 5.1"
PER_COORDINATE = "N or N m, per {}"

_wrench_quantity = partial(
    quantity,
    inputs=("q", "qd", "qdd"),
    source=SOURCE,
    depends_on_external_forces=True,
    wrenches_only=True,
    regroupings=(WHOLE,),
)


def _entries(force: Force) -> list[Scalar]:
    return [*force.linear, *force.angular]


def _transmitted_forces(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> dict[int, Force]:
    """The force of each joint on its body and all beyond it, at the body's origin."""
    moving = motions(system, q, qd, qdd)
    return subtree_forces(system, q, moving, fluid_forces(system, q, qd, moving))


def _in_frame(force: Force, frame: LinkFrame) -> Force:
    """A force at the origin of a body, at a frame that is fixed to the body."""
    return force.placed(frame.pose.inverse)


@_wrench_quantity(
    "joint_wrench",
    "force and moment in a joint, joint axes",
    closed_loops=True,
    subject="joint",
    outputs=(Array("w_joint", "force, then moment of parent on child", "N, N m", (6,)),),
)
def joint_wrench(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates, *, joint: str
) -> list[Scalar]:
    """The wrench of the parent on the child about the joint's origin in the joint's axes, 6
    numbers."""
    frame = system.joint_frame(joint)
    check_outside_loops(system, frame.body, joint)
    forces = _transmitted_forces(system, q, qd, qdd)
    return _entries(_in_frame(forces[frame.body], frame))


@_wrench_quantity(
    "joint_wrench_aligned",
    "force and moment in a joint, root axes",
    closed_loops=True,
    subject="joint",
    outputs=(
        Array("w_joint_a", "force, then moment of parent on child, root axes", "N, N m", (6,)),
    ),
)
def joint_wrench_aligned(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates, *, joint: str
) -> list[Scalar]:
    """The wrench of the parent on the child about the joint's origin in the root link's axes, 6
    numbers."""
    frame = system.joint_frame(joint)
    rows, wrench = (
        fixed_frame_pose(system, q, frame).rows,
        joint_wrench(system, q, qd, qdd, joint=joint),
    )
    force, moment = (Vector(*wrench[k : k + 3]) for k in (0, 3))
    return [*matvec(rows, force), *matvec(rows, moment)]


@_wrench_quantity(
    "joint_wrenches",
    "force and moment in every joint, joint axes",
    outputs=(
        Array(
            "w_joints",
            "force, then moment of parent on child, one row per moving joint in file order",
            "N, N m",
            ("joints", 6),
        ),
    ),
)
def joint_wrenches(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> list[Scalar]:
    """The wrenches of all moving joints, each about its origin in its axes, joints x 6,
    row-major."""
    forces = _transmitted_forces(system, q, qd, qdd)
    frames = system.joint_frames.values()
    return [x for frame in frames for x in _entries(_in_frame(forces[frame.body], frame))]


@quantity(
    "joint_wrench_regressor",
    "W(q, qd, qdd) pi = force and moment in a joint",
    closed_loops=True,
    inputs=("q", "qd", "qdd"),
    subject="joint",
    outputs=(
        Array(
            "W_joint",
            "regressor of the wrench in a joint, ten columns per body",
            "N, N m per kg, kg m, kg m^2",
            (6, "ten"),
        ),
    ),
    source=REGRESSOR_SOURCE,
    needs_inertia=False,
    regroupings=(WHOLE,),
)
def joint_wrench_regressor(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates, *, joint: str
) -> list[Scalar]:
    """W with W π the wrench in the joint without external wrenches, 6 x 10 n, row-major."""
    return wrench_entries(system, (q, qd, qdd), system.joint_frame(joint), joint)


@_wrench_quantity(
    "joint_wrench_derivatives",
    "derivatives of force and moment in a joint in q, qd, qdd",
    subject="joint",
    outputs=tuple(
        Array(f"w_joint_{name}", f"dw/d{name}, joint axes", PER_COORDINATE.format(units), (6, "n"))
        for name, units in (("q", "rad | m"), ("qd", "rad/s | m/s"), ("qdd", "rad/s^2 | m/s^2"))
    ),
)
def joint_wrench_derivatives(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates, *, joint: str
) -> tuple[list[Scalar], ...]:
    """∂w/∂q, ∂w/∂q̇ and ∂w/∂q̈ of the wrench in the joint's axes, each 6 x n, row-major, by forward
    differentiation."""
    wrench = partial(joint_wrench, system, joint=joint)
    return (
        jacobian(lambda x: wrench(x, qd, qdd), q),
        jacobian(lambda x: wrench(q, x, qdd), qd),
        jacobian(lambda x: wrench(q, qd, x), qdd),
    )
