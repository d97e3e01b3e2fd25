"""How momenta about the centre of mass change, and the inertia about it.

Six-vectors have the linear part first."""

from functools import partial
from itertools import product

from symgen.algorithms.energies import (
    ORIN,
    centroidal_momentum_matrix,
    com_jacobian,
    composites,
    first_moment,
)
from symgen.algorithms.rates import rate
from symgen.algorithms.registry import Array, quantity
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.inertia import NO_INERTIA, Inertia, SecondMoment
from symgen.mechanics.moments import shift_to_parent
from symgen.mechanics.parameters import WHOLE
from symgen.mechanics.rigid_motion import position_of, rotation_rows
from symgen.mechanics.spatial import Rotation, Shift
from symgen.numbers.dual import along, tangents, unit
from symgen.numbers.scalar import ZERO, Coordinates, Scalar, dot

_of_mass = partial(
    quantity, needs_gravity=False, needs_mass=True, source=ORIN, regroupings=(WHOLE,)
)


@_of_mass(
    "com_jacobian_rate",
    "d/dt dc/dq",
    inputs=("q", "qd"),
    outputs=(Array("Jd_c", "rate of the Jacobian of the centre of mass", "m/s | 1/s", (3, "n")),),
)
def com_jacobian_rate(system: CanonicalModel, *flow: Coordinates) -> list[Scalar]:
    """The rate of the Jacobian of the centre of mass, 3 x n, row-major."""
    return rate(com_jacobian, system, flow, 1)


CENTROIDAL = "kg m/s | kg/s, kg m^2/s | kg m/s"


@_of_mass(
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
    rates, n = rate(centroidal_momentum_matrix, system, (q, qd), 1), system.size
    return rates, [dot(rates[k * n : k * n + n], qd) for k in range(6)]


@_of_mass(
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


@_of_mass(
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
    s = robot.s + _outer(robot, -1.0 / mass)
    usual = SecondMoment(s.yy + s.zz, -s.xy, -s.xz, s.xx + s.zz, -s.yz, s.xx + s.yy)
    return [usual[i, j] for i, j in product(range(3), repeat=2)]


def _outer(body: Inertia, k: Scalar) -> SecondMoment:
    x, y, z = body.h
    return SecondMoment(*(k * e for e in (x * x, x * y, x * z, y * y, y * z, z * z)))
