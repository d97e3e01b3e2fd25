"""Forces of fluids on links: added mass, drag, buoyancy and a constant current.

In the axes of a link, with ν_r its velocity relative to the fluid, the joints have to balance M_A
ν̇_r + C_A(ν_r) ν_r + D(ν_r) ν_r and the buoyancy (Fossen, Handbook of Marine Craft Hydrodynamics
and Motion Control, 2nd ed. 2021, eqs. 6.1, 6.44 and 8.1). `ALGORITHMS_WITH_FLUIDS` names the
algorithms that contain them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from symgen.algorithms.motion import forward_kinematics, potential_per_mass, twists, unit_twists
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.fluid import LinkFluid
from symgen.mechanics.rigid_motion import (
    Motion,
    matvec,
    rotation_columns,
    transpose,
    twist_at_frame,
)
from symgen.mechanics.spatial import ZERO_FORCE, ZERO_VECTOR, Force, Twist, Vector
from symgen.numbers.operations import sign
from symgen.numbers.scalar import ZERO, Coordinates, Scalar, dot, structural

ALGORITHMS_WITH_FLUIDS: Final = frozenset(
    (
        *("newton_euler", "composite", "composite_shared", "forward_dynamics", "steps"),
        *("products", "derivatives_by_directions", "step_jacobians_by_directions"),
        *("controllers", "observers", "cartesian_impedance", "operational_space"),
    )
)
"""The algorithms that contain the forces of fluids: titles of formulations before the slash."""
QUANTITIES_WITH_FLUIDS: Final = frozenset(
    (
        *("energies:kinetic_energy", "energies:potential_energy"),
        *("coriolis:coriolis_transpose_product", "tensors:mass_matrix_gradient"),
        *("tensors:gravity_gradient", "rates:gravity_rate", "rates:gravity_second_rate"),
        *("rates:inverse_dynamics_rate", "rates:mass_matrix_rate", "rates:mass_matrix_second_rate"),
        *("virtual_power:inverse_dynamics_vjp", "virtual_power:forward_dynamics_vjp"),
        *("elastic:elastic_forward_dynamics", "elastic:elastic_step"),
        *("joint_wrenches:joint_wrench", "joint_wrenches:joint_wrench_aligned"),
        *("joint_wrenches:joint_wrenches", "joint_wrenches:joint_wrench_derivatives"),
    )
)
"""Further ones that contain them for some quantities: title and quantity. Of second derivatives the
reference has too few digits."""
INDEPENDENT_OF_FORCES: Final = frozenset(
    (
        *("kinematics", "task_space", "inverse_kinematics", "transmission", "motor_transmissions"),
        *("energies:com", "energies:com_jacobian", "centroidal:com_jacobian_rate"),
    )
)
"""The algorithms whose results do not depend on forces, some of them with the quantity."""


def _constant_vector(numbers: Sequence[float]) -> Vector:
    return Vector(*map(structural, numbers))


def _matrix_times_twist(rows: Sequence[Sequence[float]], x: Twist) -> Force:
    """A constant 6 x 6 matrix times a twist of the link."""
    velocities = [*x.v, *x.w]
    p = [dot([structural(m) for m in row], velocities) for row in rows]
    return Force(Vector(*p[:3]), Vector(*p[3:]))


def _drag(fluid: LinkFluid, x: Twist) -> Force:
    """D(ν) ν."""
    velocities = [*x.v, *x.w]
    forces: list[Scalar] = [ZERO] * len(velocities)
    for part in fluid.quadratic_drag:
        speed = velocities[part.speed]
        speed = speed if part.signed else sign(speed) * speed
        drag = structural(part.coefficient) * (velocities[part.velocity] * speed)
        forces[part.force] = forces[part.force] + drag
    quadratic = Force(Vector(*forces[:3]), Vector(*forces[3:]))
    return _matrix_times_twist(fluid.drag_rows, x) + quadratic


def fluid_forces(
    system: CanonicalModel,
    q: Coordinates,
    qd: Coordinates,
    moving: Mapping[int, Motion],
    qd_r: Coordinates | None = None,
) -> dict[int, Force]:
    """The forces on bodies, about the origins of their frames, that the joints must balance because
    of fluids; `moving` are the motions of the bodies, whose accelerations are less gravity.

    With reference velocities `qd_r` the Coriolis forces of the added mass are C(q, q̇) q̇_r with
    Christoffel's C; drag and what the current adds are those at q̇."""
    if not system.fluids:
        return {}
    velocity, potential = twists(system, q, qd), potential_per_mass(system, q)
    reference = velocity if qd_r is None else twists(system, q, qd_r)
    bodies_in_current = sorted({x.body for x in system.fluids if any(x.fluid.current)})
    poses = forward_kinematics(system, q, bodies_in_current)
    total: dict[int, Force] = {}
    for x in system.fluids:
        fluid, pose = x.fluid, x.pose
        at, motion = twist_at_frame(velocity[x.body], pose), moving[x.body].seen_in(pose)
        up = matvec(rotation_columns(pose), potential[x.body].slope)
        current = ZERO_VECTOR
        if x.body in poses:
            rows = poses[x.body].at(pose).rows
            current = matvec(transpose(rows), _constant_vector(fluid.current))
        relative, free = Twist(at.w, at.v - current), replace(motion, a=motion.a - up)
        if qd_r is None:
            inertial = _inertial_force(fluid, relative, free)
        else:
            inertial = _reference_inertial_force(
                fluid, at, twist_at_frame(reference[x.body], pose), free
            )
            drift = Twist(ZERO_VECTOR, at.w.cross(current))
            inertial = inertial + _matrix_times_twist(fluid.mass_rows, drift)
            inertial = inertial + _coriolis_force(fluid, relative) + -_coriolis_force(fluid, at)
        buoyancy = up.scaled(structural(-fluid.displaced))
        weight = Force(buoyancy, _constant_vector(fluid.centre).cross(buoyancy))
        force = (inertial + _drag(fluid, relative) + weight).placed(pose)
        total[x.body] = total.get(x.body, ZERO_FORCE) + force
    return total


def _inertial_force(fluid: LinkFluid, x: Twist, motion: Motion) -> Force:
    """M_A ẋ + C_A(x) x for the relative twist x of a link that moves so."""
    rate = _matrix_times_twist(fluid.mass_rows, Twist(motion.wd, motion.a - motion.w.cross(x.v)))
    return rate + _coriolis_force(fluid, x)


def _coriolis_force(fluid: LinkFluid, x: Twist, of: Twist | None = None) -> Force:
    """C_A(x) x: how the momentum of the fluid turns in space; `of` replaces the twist that it is
    the momentum of."""
    return x.cross_force(_matrix_times_twist(fluid.mass_rows, of or x))


def _reference_inertial_force(fluid: LinkFluid, x: Twist, y: Twist, motion: Motion) -> Force:
    """M_A ẏ + C(x) y with Christoffel's C, for the reference twist y of a link that moves at x: the
    Levi-Civita connection of M_A on rigid motions (Bullo & Lewis, Geometric Control of Mechanical
    Systems, 2005, section 5.3)."""
    change = Twist(motion.wd - x.w.cross(y.w), motion.a - x.w.cross(y.v))
    twice = (
        _matrix_times_twist(fluid.mass_rows, x.cross(y))
        + _coriolis_force(fluid, x, y)
        + _coriolis_force(fluid, y, x)
    )
    return _matrix_times_twist(fluid.mass_rows, change) + twice.scaled(0.5)


def momenta_of_added_mass(
    system: CanonicalModel, velocity: Mapping[int, Twist]
) -> dict[int, Force]:
    """The momenta of the added mass at velocities of the bodies in still fluid, about the origins
    of their frames."""
    total: dict[int, Force] = {}
    for x in system.fluids:
        momentum = _matrix_times_twist(x.fluid.mass_rows, twist_at_frame(velocity[x.body], x.pose))
        total[x.body] = total.get(x.body, ZERO_FORCE) + momentum.placed(x.pose)
    return total


def without_resistance(system: CanonicalModel) -> CanonicalModel:
    """The system with the added mass of its fluids alone."""
    masses = (replace(x, fluid=LinkFluid(added_mass=x.fluid.added_mass)) for x in system.fluids)
    return replace(system, fluids=tuple(masses))


def buoyancy_energy(system: CanonicalModel, q: Coordinates) -> Scalar:
    """The potential energy of the displaced fluids, zero at the root link's origin."""
    if not any(x.fluid.displaced for x in system.fluids):
        return ZERO
    heights = potential_per_mass(system, q)
    total: Scalar = ZERO
    for x in system.fluids:
        height = heights[x.body].seen_in(x.pose)
        level = height.level + height.slope.dot(_constant_vector(x.fluid.centre))
        total = total - structural(x.fluid.displaced) * level
    return total


def with_added_mass(system: CanonicalModel, q: Coordinates, matrix: list[Scalar]) -> list[Scalar]:
    """A mass matrix of the bodies (n x n, row-major) with the added mass of all links."""
    if not system.fluids:
        return matrix
    units, n, total = unit_twists(system, q), system.size, [*matrix]
    for x in system.fluids:
        columns = {j: twist_at_frame(u, x.pose) for j, u in units[x.body].items()}
        momenta = {j: _matrix_times_twist(x.fluid.mass_rows, u) for j, u in columns.items()}
        for j, u in columns.items():
            for k, p in momenta.items():
                if k <= j:
                    entry = u.v.dot(p.linear) + u.w.dot(p.angular)
                    total[(j - 1) * n + k - 1] = total[(j - 1) * n + k - 1] + entry
                    if k < j:
                        total[(k - 1) * n + j - 1] = total[(k - 1) * n + j - 1] + entry
    return total
