"""Inverse dynamics, bias and gravity by the recursive Newton-Euler algorithm in pseudo-inertia
form, with friction that depends on the load of a joint in closed form; and the wrenches of joints.

Symbols: w angular velocity, wd its derivative, a acceleration of the body's origin less gravity, f
and n the force and moment on the body at its origin, all in the body's own axes; U the field of
accelerations.

The load x of a joint is the force that it transmits, M q̈ + C q̇ + g less external wrenches, of its
coordinate: with those of the joints and rotors that follow it. Inverse dynamics adds k |x| to it.
Forward dynamics solves τ = x + k |x| + other friction for x joint by joint, and runs without
friction on x.

The wrench of a joint moves the child and all that it carries, rotors included, against gravity and
external wrenches: the backward pass of the algorithm (Featherstone, Rigid Body Dynamics Algorithms,
2008, table 5.1, f_i). It is that of the bearing, the drive and the friction of the joint together;
along the axis of the joint it is the joint force less friction, springs and the joint's own rotor.
Six-vectors have the force (N) first, then the moment (N m) about the origin of the joint's frame of
the robot's file, which moves with the child."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial, wraps
from types import MappingProxyType

from symgen.algorithms.fluids import fluid_forces, without_resistance
from symgen.algorithms.kinematics import fixed_frame_pose
from symgen.algorithms.motion import motions, rotate_wrenches
from symgen.algorithms.registry import Array, quantity
from symgen.algorithms.regressors import SOURCE as REGRESSOR_SOURCE
from symgen.algorithms.regressors import check_outside_loops, wrench_entries
from symgen.errors import OptionError
from symgen.mechanics.canonical_model import CanonicalBody, CanonicalModel, LinkFrame
from symgen.mechanics.joint_forces import NO_JOINT_FORCE, JointState
from symgen.mechanics.moments import shift_to_parent_named
from symgen.mechanics.parameters import WHOLE
from symgen.mechanics.rigid_motion import Motion, matvec
from symgen.mechanics.spatial import ZERO_FORCE, Force, Vector
from symgen.numbers.autodiff import jacobian
from symgen.numbers.scalar import ZERO, Coordinates, Scalar

SOURCE = (
    "Khalil & Kleinfinger, ICRA 1986; Featherstone, Rigid Body Dynamics Algorithms (2008), "
    "table 5.1"
)


@quantity(
    "inverse_dynamics",
    "tau = M(q) qdd + C(q, qd) qd + g(q)",
    closed_loops=True,
    depends_on_external_forces=True,
    supports=("load", "presliding"),
    inputs=("q", "qd", "qdd"),
    source=SOURCE,
    outputs=(Array("tau", "joint forces", "N m | N"),),
)
def inverse_dynamics(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> list[Scalar]:
    """Joint forces that cause the accelerations `qdd`: tau = M q̈ + C q̇ + g (N m or N, shape
    n)."""
    inertial = reference_dynamics(system, q, qd, qdd)
    loads = joint_loads(system, inertial)
    return [
        force + body.passive.force(JointState(x, rate, load))
        for body, force, x, rate, load in zip(system.bodies, inertial, q, qd, loads, strict=True)
    ]


def reference_dynamics(
    system: CanonicalModel,
    q: Coordinates,
    qd: Coordinates,
    qdd: Coordinates,
    qd_r: Coordinates | None = None,
) -> list[Scalar]:
    """Joint forces M q̈ + C(q, q̇) q̇_r + g less those of external wrenches (N m or N, shape n),
    without friction and springs; q̇_r is q̇ by default. With the C of Christoffel symbols Ṁ - 2 C
    is skew-symmetric (Slotine & Li 1987; Echeandia & Wensing 2021, eq. 9)."""
    moving = motions(system, q, qd, qdd, qd_r)
    forces = subtree_forces(system, q, moving, fluid_forces(system, q, qd, moving, qd_r))
    return [system.body(i).joint.project(forces[i]) for i in range(1, system.size + 1)]


def subtree_forces(
    system: CanonicalModel,
    q: Coordinates,
    moving: Mapping[int, Motion],
    added: Mapping[int, Force] = MappingProxyType({}),
) -> dict[int, Force]:
    """For each body the force that moves it and all bodies beyond it as `moving`, less external
    wrenches on them, at the body's origin in its axes; `added` forces on bodies are added."""
    system = rotate_wrenches(system, q)
    forces = dict.fromkeys(range(system.size + 1), ZERO_FORCE) | dict(added)
    for i in system.inward:
        body = system.body(i)
        with system.section(i, "forces"):
            forces[i] = (forces[i] + inertial_force(body, moving[i])).named(f"{i}")
            forces[body.parent] = forces[body.parent] + shift_to_parent_named(
                forces[i], system.steps(i, q), f"{i}"
            )
    return forces


@quantity(
    "gravity",
    "g(q)",
    closed_loops=True,
    inputs=("q",),
    source=SOURCE,
    outputs=(Array("tau_g", "joint forces", "N m | N"),),
)
def gravity(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """Joint forces that hold the robot still: g(q) (N m or N, shape n); inverse dynamics with q̇ =
    q̈ = 0."""
    return inverse_dynamics(system, q, _zeros(system), _zeros(system))


@quantity(
    "bias",
    "C(q, qd) qd + g(q)",
    closed_loops=True,
    inputs=("q", "qd"),
    source=SOURCE,
    outputs=(Array("tau_b", "joint forces", "N m | N"),),
)
def bias(system: CanonicalModel, q: Coordinates, qd: Coordinates) -> list[Scalar]:
    """Joint forces at rest acceleration: C q̇ + g (N m or N, shape n); inverse dynamics with q̈ =
    0."""
    return inverse_dynamics(system, q, qd, system.bias_accelerations)


@quantity(
    "coriolis_force",
    "C(q, qd) qd",
    closed_loops=True,
    inputs=("q", "qd"),
    source=SOURCE,
    needs_gravity=False,
    outputs=(Array("tau_c", "joint forces", "N m | N"),),
)
def coriolis_force(system: CanonicalModel, q: Coordinates, qd: Coordinates) -> list[Scalar]:
    """Coriolis and centrifugal joint forces C q̇ (N m or N, shape n): the bias without gravity, and
    without drag and current of fluids."""
    return bias(without_resistance(system.weightless), q, qd)


def _zeros(system: CanonicalModel) -> Coordinates:
    return [ZERO] * system.size


def inertial_force(body: CanonicalBody, x: Motion) -> Force:
    """F = m a + U h and N = vee(U S - (U S)ᵀ) + h × a about the body's origin, less what the
    surroundings give."""
    inertia = body.inertia
    force = x.a.scaled(inertia.m) + x @ inertia.h
    moment = x.moment(inertia.s, body.constant) + inertia.h.cross(x.a)
    return Force(force, moment) + -body.wrench


Algorithm = Callable[[CanonicalModel, Coordinates, Coordinates, Coordinates], list[Scalar]]


def depends_on_load(system: CanonicalModel) -> bool:
    """Whether friction depends on the load of a joint."""
    return any(body.passive.depends_on_load for body in system.bodies)


def joint_loads(system: CanonicalModel, forces: Coordinates) -> list[Scalar]:
    """The load of each body's joint from the forces of all of them, with those of the joints and
    rotors that follow it; zero if no friction depends on it."""
    if not depends_on_load(system):
        return [ZERO] * system.size
    loads = [*forces]
    for k, (drive, led_by) in enumerate(zip(system.coupling.maps, system.leaders, strict=True)):
        if drive.follows:
            for term, i in zip(drive.terms, led_by, strict=True):
                loads[i - 1] = loads[i - 1] + term.factor * forces[k]
    return loads


def solved_loads(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates
) -> tuple[CanonicalModel, Coordinates]:
    """The system without friction and springs, and the loads that joint forces `tau` of the user
    leave; both unchanged if no friction depends on the load. Raises OptionError for robots with
    joints that follow others: their loads do not follow from `tau`."""
    if not depends_on_load(system):
        return system, tau
    check_own_coordinates(system)
    loads = [*tau]
    for i, (body, drive) in enumerate(zip(system.bodies, system.coupling.maps, strict=True), 1):
        if system.leaders[i - 1] == (i,):
            loads[drive.velocity_index] = body.passive.load(
                q[i - 1], qd[i - 1], tau[drive.velocity_index]
            )
    return system.with_passive([NO_JOINT_FORCE] * system.size), loads


def check_own_coordinates(system: CanonicalModel) -> None:
    """Raises OptionError if friction depends on the load and a joint follows others, whose load
    does not follow from the joint forces."""
    if depends_on_load(system) and any(
        leaders != (i,) and (len(leaders) != 1 or i not in system.rotors)
        for i, leaders in enumerate(system.leaders, 1)
    ):
        raise OptionError(
            "--friction load: joints of this robot follow others, so their loads do not follow "
            "from the joint forces; remove forward dynamics and controllers, or load"
        )


def with_solved_loads(algorithm: Algorithm) -> Algorithm:
    """A forward dynamics algorithm that `solved_loads` prepares."""

    @wraps(algorithm)
    def solved(
        system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates
    ) -> list[Scalar]:
        """The accelerations."""
        frictionless, loads = solved_loads(system, q, qd, tau)
        return algorithm(frictionless, q, qd, loads)

    return solved


# -- joint wrenches --------------------------------------------------------------------------------


PER_COORDINATE = "N or N m, per {}"

_wrench_quantity = partial(
    quantity,
    inputs=("q", "qd", "qdd"),
    source="Featherstone, Rigid Body Dynamics Algorithms (2008), table 5.1",
    method="joint_wrenches",
    depends_on_external_forces=True,
    wrenches_only=True,
    regroupings=(WHOLE,),
)


def _wrenches(
    system: CanonicalModel,
    q: Coordinates,
    qd: Coordinates,
    qdd: Coordinates,
    frames: Iterable[LinkFrame],
) -> list[Scalar]:
    """The forces of joints on their bodies and all beyond them, at their frames, six entries
    each."""
    moving = motions(system, q, qd, qdd)
    forces = subtree_forces(system, q, moving, fluid_forces(system, q, qd, moving))
    at_frames = (forces[frame.body].placed(frame.pose.inverse) for frame in frames)
    return [x for force in at_frames for x in (*force.linear, *force.angular)]


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
    return _wrenches(system, q, qd, qdd, [frame])


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
    return _wrenches(system, q, qd, qdd, system.joint_frames.values())


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
    method="joint_wrenches",
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
