"""The dynamics of a robot as they are felt at a link: Λ ẍ + μ = F for the velocity of its origin,
and its angular velocity, in root axes, whose rate is ẍ = J q̈ + dJ/dt q̇.

Λ⁻¹ = J M⁻¹ Jᵀ is singular where the joints do not move the link in all six ways; the damping ρ that
is an input, Λ⁻¹ = J M⁻¹ Jᵀ + ρ² 1, keeps Λ finite there, and 0 leaves it out."""

from dataclasses import dataclass
from functools import partial

from symgen.algorithms.composite import coupled_mass_matrix, factorize, factorize_dense
from symgen.algorithms.kinematics import frame_jacobian_aligned, frame_jacobian_rate_aligned
from symgen.algorithms.newton_euler import bias
from symgen.algorithms.registry import Array, quantity
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.numbers.scalar import Coordinates, Scalar, dot

KHATIB = (
    "Khatib, A unified approach for motion and force control of robot manipulators, IEEE Journal "
    "of Robotics and Automation 1987"
)
INERTIA = "kg | kg m | kg m^2"
_of_task = partial(quantity, of_link=True, needs_inverse=True, source=KHATIB)


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


@_of_task(
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


@_of_task(
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


@_of_task(
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
