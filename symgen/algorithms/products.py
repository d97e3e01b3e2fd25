"""Jacobian-vector products: the change of a result along a change of all its inputs, without any
Jacobian."""

from functools import partial

from symgen.algorithms.composite import coupled_mass_matrix, factorize
from symgen.algorithms.forward_dynamics import (
    accelerating_forces,
    forward_dynamics_articulated,
    uncoupled,
)
from symgen.algorithms.newton_euler import inverse_dynamics
from symgen.algorithms.registry import Array, quantity
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.numbers.dual import along, tangents
from symgen.numbers.scalar import ZERO, Coordinates, Scalar

SOURCE = "forward differentiation of the algorithm"


@quantity(
    "inverse_dynamics_jvp",
    "tau_q dq + tau_qd dqd + M dqdd",
    source=SOURCE,
    depends_on_external_forces=True,
    supports=("load", "presliding"),
    inputs=("q", "qd", "qdd", "dq", "dqd", "dqdd"),
    outputs=(Array("tau_jvp", "change of the joint forces", "N m | N"),),
)
def inverse_dynamics_jvp(system: CanonicalModel, *inputs: Coordinates) -> list[Scalar]:
    """Change of τ along (dq, dq̇, dq̈), shape n."""
    at, by = inputs[:3], inputs[3:]
    return tangents(inverse_dynamics(system, *(along(x, d) for x, d in zip(at, by, strict=True))))


_forward = partial(
    quantity,
    "forward_dynamics_jvp",
    "qdd_q dq + qdd_qd dqd + Minv dtau",
    source=SOURCE,
    depends_on_external_forces=True,
    needs_inverse=True,
    inputs=("q", "qd", "tau", "dq", "dqd", "dtau"),
    outputs=(Array("qdd_jvp", "change of the joint accelerations", "rad/s^2 | m/s^2"),),
)


@_forward()
def forward_dynamics_jvp(system: CanonicalModel, *inputs: Coordinates) -> list[Scalar]:
    """Change of q̈ along (dq, dq̇, dτ), shape n: M⁻¹ (dτ - that of inverse dynamics at the
    accelerations that τ causes), so that no tangent goes through the factors of M."""
    q, qd, tau, dq, dqd, dtau = inputs
    coupling, solver = system.coupling, factorize(system, coupled_mass_matrix(system, q))
    qdd = coupling.body_rates(solver.solve(accelerating_forces(system, q, qd, tau)))
    at, by = (q, qd, qdd), (dq, dqd, [ZERO] * system.size)
    change = coupling.forces(inverse_dynamics_jvp(system, *at, *by))
    return solver.solve([d - x for d, x in zip(dtau, change, strict=True)])


@_forward(applicable=uncoupled)
def forward_dynamics_jvp_articulated(system: CanonicalModel, *inputs: Coordinates) -> list[Scalar]:
    """Change of q̈ along (dq, dq̇, dτ), shape n, by articulated bodies, best for long chains."""
    at, by = inputs[:3], inputs[3:]
    return tangents(
        forward_dynamics_articulated(system, *(along(x, d) for x, d in zip(at, by, strict=True)))
    )
