"""The dynamics of a robot as they are felt at a link, and its control by an impedance there:
Λ ẍ + μ = F for the velocity of the link's origin, and its angular velocity, in root axes, whose
rate is ẍ = J q̈ + dJ/dt q̇.

Λ⁻¹ = J M⁻¹ Jᵀ is singular where the joints do not move the link in all six ways; the damping ρ that
is an input, Λ⁻¹ = J M⁻¹ Jᵀ + ρ² 1, keeps Λ finite there, and 0 leaves it out.

Cartesian impedance (see `controllers`) has what the null space of the task leaves to the joints.
Its error is the way from where the link is to where it should be, in root axes: of its origin, and
twice the vector part of the unit quaternion that turns one into the other (2 sin(θ/2) about the
axis, the shorter way round). So the moment is the slope of the potential 4 k (1 - cos(θ/2)), has no
singular orientation, and takes no arcus tangent (Caccavale, Natale, Siciliano & Villani, Six-DOF
impedance control based on angle/axis representations, IEEE T-RA 1999, section IV)."""

from dataclasses import dataclass
from functools import partial

from symgen.algorithms.composite import coupled_mass_matrix, factorize, factorize_dense
from symgen.algorithms.controllers import (
    COMMAND,
    STIFFNESS_UNITS,
    ControllerType,
    controller,
    difference_of,
    friction_rates,
    model_forces,
    saturated,
    scaled_by,
    sum_of,
)
from symgen.algorithms.kinematics import (
    frame_jacobian_aligned,
    frame_jacobian_rate_aligned,
    link_frame_pose,
)
from symgen.algorithms.newton_euler import bias
from symgen.algorithms.registry import Array, quantity
from symgen.algorithms.steps import difference
from symgen.algorithms.task_space import quaternion
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.spatial import Vector
from symgen.numbers.operations import sign
from symgen.numbers.scalar import ZERO, Coordinates, Scalar, dot

KHATIB = (
    "Khatib, A unified approach for motion and force control of robot manipulators, IEEE Journal "
    "of Robotics and Automation 1987"
)
INERTIA = "kg | kg m | kg m^2"
_task_quantity = partial(quantity, subject="link", needs_inverse=True, source=KHATIB)


@dataclass(frozen=True, slots=True)
class Task:
    """A link in operational space: the rows of J, those of J M⁻¹, and J M⁻¹ Jᵀ (6 x 6) with its
    damping."""

    jacobian: tuple[list[Scalar], ...]
    solved: tuple[list[Scalar], ...]
    inverse: list[Scalar]

    @classmethod
    def of(cls, system: CanonicalModel, q: Coordinates, damping: Coordinates, link: str) -> "Task":
        """At q."""
        flat = frame_jacobian_aligned(system, q, link=link)
        flat, n = system.coupling.pull_back(flat, (6, None)), system.dof
        jacobian = tuple([*flat[k * n : k * n + n]] for k in range(6))
        solver = factorize(system, coupled_mass_matrix(system, q))
        solved = tuple(solver.solve(row) for row in jacobian)
        half = {(i, j): dot(solved[i], jacobian[j]) for i in range(6) for j in range(i + 1)}
        for i in range(6):
            half[i, i] = half[i, i] + damping[0] * damping[0]
        inverse_inertia = [half[max(i, j), min(i, j)] for i in range(6) for j in range(6)]
        return cls(jacobian, solved, inverse_inertia)


@_task_quantity(
    "operational_space_inertia",
    "(J M^-1 J^T + damping^2)^-1 of a link",
    closed_loops=True,
    inputs=("q", "damping"),
    needs_gravity=False,
    outputs=(
        Array("Lambda", "inertia at the link's origin, root axes", INERTIA, (6, 6)),
        Array(
            "Lambda_inv", "inverse of Lambda, J M^-1 J^T + damping^2", "1/kg | 1/(kg m^2)", (6, 6)
        ),
    ),
)
def operational_space_inertia(
    system: CanonicalModel, q: Coordinates, damping: Coordinates, *, link: str
) -> tuple[list[Scalar], list[Scalar]]:
    """Λ and Λ⁻¹ at a link's origin in root axes, 6 x 6, symmetric, linear part first."""
    task = Task.of(system, q, damping, link)
    return factorize_dense(task.inverse, 6).inverse(), task.inverse


@_task_quantity(
    "operational_space_bias",
    "Lambda (J M^-1 (C qd + g) - dJ/dt qd) of a link",
    closed_loops=True,
    inputs=("q", "qd", "damping"),
    outputs=(Array("mu_task", "force at the link's origin, root axes", "N, N m", (6,)),),
)
def operational_space_bias(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, damping: Coordinates, *, link: str
) -> list[Scalar]:
    """μ of Λ ẍ + μ = F, gravity included: the force at a link's origin that goes with no
    acceleration, 6 numbers."""
    task = Task.of(system, q, damping, link)
    forces = system.coupling.forces(bias(system, q, qd))
    change = frame_jacobian_rate_aligned(system, q, qd, link=link)
    wanted = [dot(row, forces) - x for row, x in zip(task.solved, change, strict=True)]
    return factorize_dense(task.inverse, 6).solve(wanted)


@_task_quantity(
    "dynamically_consistent_inverse",
    "M^-1 J^T Lambda of a link",
    closed_loops=True,
    inputs=("q", "damping"),
    needs_gravity=False,
    outputs=(Array("J_bar", "generalised inverse of J, root axes", "1 | 1/m", ("n", 6)),),
)
def dynamically_consistent_inverse(
    system: CanonicalModel, q: Coordinates, damping: Coordinates, *, link: str
) -> list[Scalar]:
    """J̄ = M⁻¹ Jᵀ Λ, n x 6, row-major: of all accelerations with the link's acceleration wanted,
    those of least kinetic energy; 1 - Jᵀ J̄ᵀ are the joint forces that the link does not feel."""
    task = Task.of(system, q, damping, link)
    solver = factorize_dense(task.inverse, 6)
    return [x for column in zip(*task.solved, strict=True) for x in solver.solve(column)]


# -- Cartesian impedance ---------------------------------------------------------------------------


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
    ControllerType(
        "cartesian_impedance",
        "Cartesian impedance: spring and damper of a link, with a posture in the null space",
        step=("q", "qd", "q_ref", "p_ref", "quat_ref"),
        gains={
            "k_x": (*[200.0] * 3, *[5.0] * 3),
            "d_x": (*[30.0] * 3, *[0.3] * 3),
            "k_p": (10.0,),
            "k_d": (4.0,),
            "damping": (0.02,),
            "limit": (500.0,),
        },
        by_inertia=("k_p", "k_d"),
        forces="u_cartesian",
        units=STIFFNESS_UNITS,
    ),
    "J^T (k_x e - d_x V) + (1 - J^T J_bar^T) (k_p e_q - k_d qd) + g within limit, of a link",
)(
    inputs=(
        *("q", "qd", "q_ref", "p_ref", "quat_ref"),
        *("k_x", "d_x", "k_p", "k_d", "damping", "limit"),
    ),
    subject="link",
    depends_on_external_forces=True,
    supports=("load", "presliding"),
    needs_inverse=True,
    method="cartesian_impedance",
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
