"""Cartesian impedance of a link, with what its null space leaves to the joints.

See `controllers`. The error is the way from where the link is to where it should be, in root axes:
of its origin, and twice the vector part of the unit quaternion that turns one into the other
(2 sin(θ/2) about the axis, the shorter way round). So the moment is the slope of the potential
4 k (1 - cos(θ/2)), has no singular orientation, and takes no arcus tangent (Caccavale, Natale,
Siciliano & Villani, Six-DOF impedance control based on angle/axis representations, IEEE T-RA 1999,
section IV)."""

from symgen.algorithms.composite import coupled_mass_matrix, factorize, factorize_dense
from symgen.algorithms.controllers import (
    COMMAND,
    STIFFNESS_UNITS,
    controller,
    difference_of,
    friction_rates,
    model_forces,
    saturated,
    scaled_by,
    sum_of,
)
from symgen.algorithms.kinematics import frame_jacobian_aligned, link_frame_pose
from symgen.algorithms.registry import Array
from symgen.algorithms.steps import difference
from symgen.algorithms.task_space import quaternion
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.spatial import Vector
from symgen.numbers.operations import sign
from symgen.numbers.scalar import ZERO, Coordinates, Scalar, dot

TINY = 1e-30


def _orientation_error(
    system: CanonicalModel, q: Coordinates, link: str, xyzw: Coordinates
) -> Vector:
    """Twice the vector part of the quaternion, in root axes, from the link's axes to those of
    another."""
    x, y, z, w = xyzw
    s, v = quaternion(system, q, link)
    reference = Vector(x, y, z)
    u, c = reference.scaled(s) - v.scaled(w) + v.cross(reference), w * s + reference.dot(v)
    return u.scaled(2.0 * sign(c + TINY))


@controller(
    "cartesian_impedance",
    "Cartesian impedance: spring and damper of a link, with a posture in the null space",
    "J^T (k_x e - d_x V) + (1 - J^T J_bar^T) (k_p e_q - k_d qd) + g within limit, of a link",
    step=("q", "qd", "q_ref", "p_ref", "quat_ref"),
    gains={
        "k_x": (*[200.0] * 3, *[5.0] * 3),
        "d_x": (*[30.0] * 3, *[0.3] * 3),
        "k_p": 10.0,
        "k_d": 4.0,
        "damping": 0.02,
        "limit": 500.0,
    },
    by_inertia=("k_p", "k_d"),
    forces="u_cartesian",
    units=STIFFNESS_UNITS,
)(
    inputs=(
        *("q", "qd", "q_ref", "p_ref", "quat_ref"),
        *("k_x", "d_x", "k_p", "k_d", "damping", "limit"),
    ),
    of_link=True,
    depends_on_external_forces=True,
    supports=("load", "presliding"),
    needs_inverse=True,
    closed_loops=True,
    source="Khatib 1987; Ott, Cartesian Impedance Control of Redundant and Flexible-Joint Robots, "
    "2008, ch. 4",
    outputs=(Array("u_cartesian", *COMMAND),),
)
def cartesian_impedance(system: CanonicalModel, *inputs: Coordinates, link: str) -> list[Scalar]:
    """τ = Jᵀ (k_x e - d_x V) + (1 - Jᵀ J̄ᵀ)(k_p (q_ref ⊖ q) - k_d q̇) + g within ±limit, V = J q̇
    and e the way of the link's origin to p_ref and twice the vector part of the quaternion to
    quat_ref (x, y, z, w), in root axes; J̄ the dynamically consistent inverse, damped as
    `operational_space_inertia` is."""
    q, qd, q_ref, p_ref, quat_ref, k_x, d_x, k_p, k_d, (damping,), limit = inputs
    system, positions, rates = system.at_state(q, qd)
    n = system.dof
    jacobian = system.coupling.pull_back(
        frame_jacobian_aligned(system, positions, link=link), (6, None)
    )
    rows = [[*jacobian[k * n : k * n + n]] for k in range(6)]
    position = link_frame_pose(system, positions, link).origin
    e = [*difference_of(p_ref, [*position]), *_orientation_error(system, positions, link, quat_ref)]
    force = difference_of(scaled_by(k_x, e), scaled_by(d_x, [dot(row, qd) for row in rows]))
    solver = factorize(system, coupled_mass_matrix(system, positions))
    solved = [solver.solve(row) for row in rows]
    inverse = [
        dot(a, b) + (damping * damping if i == j else ZERO)
        for i, a in enumerate(solved)
        for j, b in enumerate(rows)
    ]
    null_space_force = difference_of(
        scaled_by(k_p, difference(system, q, q_ref)), scaled_by(k_d, qd)
    )
    task_force = factorize_dense(inverse, 6).solve([dot(row, null_space_force) for row in solved])
    task = difference_of(force, task_force)
    joint_force = [dot([row[k] for row in rows], task) for k in range(n)]
    zeros = [ZERO] * system.size
    friction_at = friction_rates(system, rates, zeros)
    holding = model_forces(system, positions, (zeros, zeros), zeros, friction_at)
    return saturated(sum_of(joint_force, null_space_force, holding), limit)
