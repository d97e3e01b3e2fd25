"""Inverse dynamics, bias and gravity by the recursive Newton-Euler algorithm in pseudo-inertia
form.

Symbols: w angular velocity, wd its derivative, a acceleration of the body's origin less gravity, f
and n the force and moment on the body at its origin, all in the body's own axes; U the field of
accelerations."""

from collections.abc import Mapping
from types import MappingProxyType

from symgen.algorithms.fluids import fluid_forces, without_resistance
from symgen.algorithms.forward_kinematics import rotate_wrenches
from symgen.algorithms.loads import joint_loads
from symgen.algorithms.motion import motions
from symgen.algorithms.registry import Array, quantity
from symgen.mechanics.canonical_model import CanonicalBody, CanonicalModel
from symgen.mechanics.joint_forces import JointState
from symgen.mechanics.moments import shift_to_parent_named
from symgen.mechanics.rigid_motion import Motion
from symgen.mechanics.spatial import ZERO_FORCE, Force
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
    without friction and springs; q̇_r is q̇ by default. With the C of Christoffel symbols Ṁ - 2 C is
    skew-symmetric (Slotine & Li 1987; Echeandia & Wensing 2021, eq. 9)."""
    moving = motions(system, q, qd, qdd, qd_r)
    forces = subtree_forces(system, q, moving, fluid_forces(system, q, qd, moving, qd_r))
    return [system.body(i).joint.project(forces[i]) for i in range(1, system.size + 1)]


def subtree_forces(
    system: CanonicalModel,
    q: Coordinates,
    moving: Mapping[int, Motion],
    further: Mapping[int, Force] = MappingProxyType({}),
) -> dict[int, Force]:
    """For each body the force that moves it and all bodies beyond it as `moving`, less external
    wrenches on them, at the body's origin in its axes; `further` forces on bodies are added."""
    system = rotate_wrenches(system, q)
    forces = dict.fromkeys(range(system.size + 1), ZERO_FORCE) | dict(further)
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
    return inverse_dynamics(system, q, _still(system), _still(system))


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
    return inverse_dynamics(system, q, qd, system.rest_accelerations)


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


def _still(system: CanonicalModel) -> Coordinates:
    return [ZERO] * system.size


def inertial_force(body: CanonicalBody, x: Motion) -> Force:
    """F = m a + U h and N = vee(U S - (U S)ᵀ) + h × a about the body's origin, less what the
    surroundings give."""
    inertia = body.inertia
    force = x.a.scaled(inertia.m) + x @ inertia.h
    moment = x.moment(inertia.s, body.constant) + inertia.h.cross(x.a)
    return Force(force, moment) + -body.wrench
