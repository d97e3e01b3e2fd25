"""Energies, the centre of mass and momenta, of all moving links, in the root link's axes; how
momenta about the centre of mass change, and the inertia about it.

Six-vectors have the linear part first, then the angular part."""

from functools import partial
from itertools import product

from symgen.algorithms.fluids import buoyancy_energy, momenta_of_added_mass
from symgen.algorithms.motion import (
    FramePose,
    constant_frame_pose,
    forward_kinematics,
    twist_matrix,
    twists,
)
from symgen.algorithms.registry import Array, quantity
from symgen.algorithms.term_derivatives import rate
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.inertia import NO_INERTIA, Inertia, SecondMoment, spatial_momentum
from symgen.mechanics.moments import shift_to_parent
from symgen.mechanics.parameters import WHOLE
from symgen.mechanics.rigid_motion import matvec, position_of, rotation_rows
from symgen.mechanics.spatial import ZERO_FORCE, ZERO_VECTOR, Force, Rotation, Shift, Twist, Vector
from symgen.numbers.autodiff import along, tangents, unit
from symgen.numbers.scalar import ZERO, Coordinates, Scalar, dot

F08 = "Featherstone, Rigid Body Dynamics Algorithms (2008), ch. 2 and 4"
GOA13 = "Garofalo, Ott & Albu-Schäffer, IROS 2013, eq. 7"
ORIN = "Orin, Goswami & Lee, Centroidal dynamics of a humanoid robot, Autonomous Robots 2013"

_mass_quantity = partial(
    quantity, closed_loops=True, needs_gravity=False, needs_mass=True, regroupings=(WHOLE,)
)


# -- energies --------------------------------------------------------------------------------------


@quantity(
    "kinetic_energy",
    "T = qd M(q) qd / 2",
    closed_loops=True,
    inputs=("q", "qd"),
    needs_gravity=False,
    source=F08,
    outputs=(Array("T", "kinetic energy", "J", (1,)),),
)
def kinetic_energy(system: CanonicalModel, q: Coordinates, qd: Coordinates) -> list[Scalar]:
    """The kinetic energy (J, one number), that of added mass included. Regrouping changes that of a
    body, not the sum of all."""
    total: Scalar = ZERO
    velocity = twists(system, q, qd)
    added = momenta_of_added_mass(system, velocity)
    for i, twist in velocity.items():
        if i:
            momentum = spatial_momentum(system.body(i).inertia, twist) + added.get(i, ZERO_FORCE)
            total = total + momentum.linear.dot(twist.v) + momentum.angular.dot(twist.w)
    return [0.5 * total]


@quantity(
    "potential_energy",
    "V(q)",
    closed_loops=True,
    inputs=("q",),
    source=F08,
    regroupings=(WHOLE,),
    depends_on_springs=True,
    outputs=(Array("V", "potential energy of gravity, zero at the root link's origin", "J", (1,)),),
)
def potential_energy(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """The potential energy of gravity of all moving bodies, zero at the root link's origin, and of
    springs, zero where they are relaxed, and of buoyancy (J, one number)."""
    total: Scalar = ZERO
    carried = composites(system, q)
    for i, pose in system.roots.items():
        body, fall = carried[-i], system.gravity[i]
        level = constant_frame_pose(pose.inverse).origin.dot(fall)
        total = total - body.h.dot(fall) + body.m * level
    for i in system.spring_bodies:
        total = total + system.body(i).passive.energy(q[i - 1])
    return [total + buoyancy_energy(system, q)]


# -- the centre of mass and momentum ---------------------------------------------------------------


def regrouped_inertias(system: CanonicalModel) -> dict[int, Inertia]:
    """The bodies' inertias with what looks the same from the parent handed to it, if they are
    known.

    The first moment of all and the momentum at unit rate of any joint stay. What the base gets from
    joint i on it is under -i, in base axes."""
    total = {i: system.body(i).inertia for i in range(1, system.size + 1)}
    base = {-i: NO_INERTIA for i in system.roots}
    for i in system.inward if all(body.constant for body in system.bodies) else ():
        body = system.body(i)
        total[i], handed = body.split_inertia(total[i])
        parent, at_parent = body.parent, body.placement.to_parent(handed, ZERO)
        if parent:
            total[parent] = total[parent] + at_parent
        else:
            base[-i] = at_parent
    return total | base


def composites(system: CanonicalModel, q: Coordinates) -> dict[int, Inertia]:
    """Every body with all that it carries; under -i all that joint i on the base carries, in base
    axes."""
    total = regrouped_inertias(system)
    for i in system.inward:
        with system.section(i, "composite body"):
            parent = system.body(i).parent or -i
            total[parent] = total[parent] + shift_to_parent(total[i], system.steps(i, q)).named(
                f"{parent}".lstrip("-")
            )
    return total


def first_moment(system: CanonicalModel, total: dict[int, Inertia]) -> tuple[Scalar, Vector]:
    """Mass and first moment of all moving bodies in the root link's frame."""
    mass: Scalar = ZERO
    first = ZERO_VECTOR
    for i, pose in ((i, pose) for i, pose in system.roots.items() if system.body(i).on_robot):
        mass = mass + total[-i].m
        first = (
            first + matvec(rotation_rows(pose), total[-i].h) + position_of(pose).scaled(total[-i].m)
        )
    return mass, first


@_mass_quantity(
    "com",
    "c(q)",
    inputs=("q",),
    source=GOA13,
    outputs=(Array("c", "centre of mass of all moving links", "m", (3,)),),
)
def com(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """The centre of mass of all moving links in the root link's frame (m)."""
    mass, first = first_moment(system, composites(system, q))
    return [*first.scaled(1.0 / mass)]


def _unit_momenta(
    system: CanonicalModel, q: Coordinates, total: dict[int, Inertia]
) -> dict[int, tuple[FramePose, Force]]:
    """For every joint the place of its body and the momentum of all it carries at its unit rate, in
    root axes."""
    poses = forward_kinematics(system, q, range(1, system.size + 1))
    momenta = {}
    for i, pose in poses.items():
        body = system.body(i)
        momentum = body.joint.momentum(total[i]) if body.on_robot else ZERO_FORCE
        momenta[i] = (
            pose,
            Force(matvec(pose.rows, momentum.linear), matvec(pose.rows, momentum.angular)),
        )
    return momenta


@_mass_quantity(
    "com_jacobian",
    "dc/dq",
    inputs=("q",),
    source=GOA13,
    outputs=(Array("J_c", "Jacobian of the centre of mass", "m | 1", (3, "n")),),
)
def com_jacobian(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """The Jacobian of the centre of mass in root axes, 3 x n, row-major: linear momenta by total
    mass."""
    total = composites(system, q)
    inverse_mass = 1.0 / first_moment(system, total)[0]
    momenta = _unit_momenta(system, q, total)
    return [
        inverse_mass * momenta[i][1].linear[k] for k in range(3) for i in range(1, system.size + 1)
    ]


@_mass_quantity(
    "centroidal_momentum_matrix",
    "A(q) qd = momentum about the centre of mass",
    inputs=("q",),
    outputs=(
        Array(
            "A",
            "centroidal momentum matrix, linear rows first",
            "kg m | kg, kg m^2 | kg m",
            (6, "n"),
        ),
    ),
    source=ORIN,
)
def centroidal_momentum_matrix(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """A with A q̇ the momentum about the centre of mass in root axes, 6 x n, row-major, linear rows
    first."""
    total = composites(system, q)
    mass, first = first_moment(system, total)
    centre, units = first.scaled(1.0 / mass), {}
    for i, (pose, momentum) in _unit_momenta(system, q, total).items():
        arm = pose.origin - centre
        units[i] = Twist(momentum.angular + arm.cross(momentum.linear), momentum.linear)
    return twist_matrix(system, units)


@quantity(
    "momentum",
    "h(q, qd)",
    closed_loops=True,
    inputs=("q", "qd"),
    needs_gravity=False,
    source=F08,
    outputs=(
        Array("h", "momentum about the root link's origin, linear part first", "N s, N m s", (6,)),
    ),
)
def momentum(system: CanonicalModel, q: Coordinates, qd: Coordinates) -> list[Scalar]:
    """The spatial momentum of all moving links about the root link's origin, 6 numbers, linear part
    first.

    What regrouping hands to the base does not move, so the sum is that of the links.
    """
    total, at_root = dict.fromkeys(range(system.size + 1), ZERO_FORCE), ZERO_FORCE
    moving = twists(system, q, qd)
    for i in system.inward:
        body = system.body(i)
        if body.on_robot:
            total[i] = total[i] + spatial_momentum(body.inertia, moving[i])
        at_parent = shift_to_parent(total[i], system.steps(i, q))
        if body.parent:
            total[body.parent] = total[body.parent] + at_parent
        else:
            rows, origin = rotation_rows(system.roots[i]), position_of(system.roots[i])
            linear = matvec(rows, at_parent.linear)
            angular = matvec(rows, at_parent.angular) + origin.cross(linear)
            at_root = at_root + Force(linear, angular)
    return [*at_root.linear, *at_root.angular]


# -- about the centre of mass ----------------------------------------------------------------------


_centroidal_quantity = partial(
    quantity,
    needs_gravity=False,
    needs_mass=True,
    source=ORIN,
    regroupings=(WHOLE,),
    method="centroidal",
)


@_centroidal_quantity(
    "com_jacobian_rate",
    "d/dt dc/dq",
    inputs=("q", "qd"),
    outputs=(Array("Jd_c", "rate of the Jacobian of the centre of mass", "m/s | 1/s", (3, "n")),),
)
def com_jacobian_rate(system: CanonicalModel, *flow: Coordinates) -> list[Scalar]:
    """The rate of the Jacobian of the centre of mass, 3 x n, row-major."""
    return rate(com_jacobian, system, *flow)


CENTROIDAL = "kg m/s | kg/s, kg m^2/s | kg m/s"


@_centroidal_quantity(
    "centroidal_momentum_rate",
    "dA/dt, dA/dt qd",
    inputs=("q", "qd"),
    outputs=(
        Array("A_dot", "rate of the centroidal momentum matrix", CENTROIDAL, (6, "n")),
        Array("Ad_qd", "rate of the momentum without accelerations", "N, N m", (6,)),
    ),
)
def centroidal_momentum_rate(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> tuple[list[Scalar], list[Scalar]]:
    """Ȧ, 6 x n, row-major, and Ȧ q̇: the rate of the momentum about the centre of mass is A q̈ + Ȧ
    q̇."""
    rates, n = rate(centroidal_momentum_matrix, system, q, qd), system.size
    return rates, [dot(rates[k * n : k * n + n], qd) for k in range(6)]


@_centroidal_quantity(
    "centroidal_momentum_gradient",
    "d(A qd)/dq",
    inputs=("q", "qd"),
    outputs=(
        Array(
            "h_c_q",
            "derivative of the momentum about the centre of mass with respect to q",
            CENTROIDAL,
            (6, "n"),
        ),
    ),
)
def centroidal_momentum_gradient(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> list[Scalar]:
    """∂(A q̇)/∂q, 6 x n, row-major."""
    n, columns = system.size, []
    for k in range(n):
        moved = tangents(centroidal_momentum_matrix(system, along(q, unit(n, k))))
        columns.append([dot(moved[i * n : i * n + n], qd) for i in range(6)])
    return [column[i] for i in range(6) for column in columns]


@_centroidal_quantity(
    "composite_inertia",
    "I_c(q) about the centre of mass",
    closed_loops=True,
    inputs=("q",),
    outputs=(Array("I_c", "inertia tensor of all moving links, root axes", "kg m^2", (3, 3)),),
)
def composite_inertia(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """The inertia tensor of all moving links as one rigid body about their centre of mass, in root
    axes, 3 x 3."""
    total, robot = composites(system, q), NO_INERTIA
    for i, pose in ((i, pose) for i, pose in system.roots.items() if system.body(i).on_robot):
        shifts = [Shift(k, x) for k, x in enumerate(position_of(pose)) if x is not ZERO]
        robot = robot + shift_to_parent(total[-i], (*shifts, Rotation.by(rotation_rows(pose))))
    mass, _ = first_moment(system, total)
    k, (x, y, z) = -1.0 / mass, robot.h
    s = robot.s + SecondMoment(*(k * e for e in (x * x, x * y, x * z, y * y, y * z, z * z)))
    usual = SecondMoment(s.yy + s.zz, -s.xy, -s.xz, s.xx + s.zz, -s.yz, s.xx + s.yy)
    return [usual[i, j] for i, j in product(range(3), repeat=2)]
