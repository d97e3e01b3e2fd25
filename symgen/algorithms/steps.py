"""Steps of an integrator on the manifold of positions.

A step takes (q, q̇) under constant joint forces through a time h. Euler's is the semi-implicit one,
q̇⁺ = q̇ + h q̈ and q⁺ = q ⊕ h q̇⁺. Runge and Kutta's of fourth order is that of the rotation
vectors and twists u with q(t) = q ⊕ u(t), whose rate is u̇ = q̇ + [u, q̇]/2 + [u, [u, q̇]]/12,
which is enough for its order (Munthe-Kaas, High order Runge-Kutta methods on manifolds, 1999);
where velocities are rates of coordinates it is the classical one."""

from collections.abc import Callable, Sequence
from functools import partial

from symgen.algorithms.forward_dynamics import (
    forward_dynamics,
    forward_dynamics_articulated,
    uncoupled,
)
from symgen.algorithms.manifold import Matrix, bracket, displacement, moved, slopes
from symgen.algorithms.registry import JOINTS, Array, quantity
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.parameters import WHOLE
from symgen.numbers.scalar import Coordinates, Scalar

Accelerations = Callable[[CanonicalModel, Coordinates, Coordinates, Coordinates], list[Scalar]]
LIE = "Solà, Deray & Atchuthan, A micro Lie theory for state estimation in robotics, 2018"
TwoVectors = tuple[list[Scalar], list[Scalar]]
Step = Callable[..., tuple[list[Scalar], ...]]
PartialQuantity = Callable[..., Callable[[Step], Step]]
"""A quantity's row, whose source and formulation are still to be told."""

EULER = "semi-implicit Euler; "
RUNGE_KUTTA = "Munthe-Kaas, High order Runge-Kutta methods on manifolds, 1999; "

_position_quantity = partial(
    quantity,
    coordinates=JOINTS,
    needs_gravity=False,
    needs_inertia=False,
    source=LIE,
    regroupings=(WHOLE,),
)
forward_quantity = partial(
    quantity, coordinates=JOINTS, needs_inverse=True, depends_on_external_forces=True
)


# -- positions -------------------------------------------------------------------------------------


@_position_quantity(
    "integrate",
    "q (+) dq",
    closed_loops=True,
    inputs=("q", "dq"),
    outputs=(Array("q_next", "positions moved along dq", "rad | m", ("nq",)),),
)
def integrate(system: CanonicalModel, q: Coordinates, dq: Coordinates) -> list[Scalar]:
    """q ⊕ dq, shape nq: coordinates add, where velocities are a twist it is q times exp of it;
    quaternions stay unit ones to rounding."""
    return moved(system.coupling, q, dq)


@_position_quantity(
    "difference",
    "dq with q (+) dq = q_end",
    closed_loops=True,
    inputs=("q", "q_end"),
    outputs=(Array("q_diff", "change from q to q_end", "rad | m"),),
)
def difference(system: CanonicalModel, q: Coordinates, q_end: Coordinates) -> list[Scalar]:
    """The velocity that leads from q to q_end in one unit of time, shape n; of turns the shorter,
    below π."""
    return displacement(system.coupling, q, q_end)


@_position_quantity(
    "integrate_jacobians",
    "d(q (+) dq)/dq, d(q (+) dq)/d(dq)",
    closed_loops=True,
    inputs=("dq",),
    outputs=(
        Array(
            "dint_dq",
            "derivative of q (+) dq with respect to q, in tangent spaces",
            "1 | m",
            ("n", "n"),
        ),
        Array(
            "dint_ddq",
            "derivative of q (+) dq with respect to dq, in tangent spaces",
            "1 | m",
            ("n", "n"),
        ),
    ),
)
def integrate_jacobians(
    system: CanonicalModel, dq: Coordinates
) -> tuple[list[Scalar], list[Scalar]]:
    """∂(q ⊕ dq)/∂q and ∂(q ⊕ dq)/∂dq, n x n each, which do not depend on q."""
    start, along = slopes(system.coupling, dq)
    return flattened(start), flattened(along)


@_position_quantity(
    "presliding_update",
    "s after the joints moved from q to q_end",
    closed_loops=True,
    inputs=("q", "q_end", "presliding"),
    outputs=(Array("presliding_next", "states of presliding friction, -1 to 1", "1"),),
)
def presliding_update(
    system: CanonicalModel, q: Coordinates, q_end: Coordinates, states: Coordinates
) -> list[Scalar]:
    """The states of presliding friction after a step from q to q_end, shape n, each monotone
    (`symgen.mechanics.joint_forces.presliding_after`); of coordinates without presliding friction
    as they are."""
    after = system.with_presliding_after(difference(system, q, q_end))
    out = [*states]
    for body, drive in zip(after.bodies, system.coupling.maps, strict=True):
        if not drive.follows and "presliding_distance" in body.passive.shape:
            out[drive.velocity_index] = body.passive.presliding
    return out


# -- steps -----------------------------------------------------------------------------------------


def _step(method: str) -> PartialQuantity:
    return partial(
        forward_quantity,
        f"step:{method}",
        f"(q, qd) after a step h of {method}",
        supports=("load", "presliding"),
        method="steps",
        inputs=("q", "qd", "tau", "h"),
        outputs=(
            Array(f"q_{method}", "positions after the step", "rad | m", ("nq",)),
            Array(f"qd_{method}", "velocities after the step", "rad/s | m/s"),
        ),
    )


def accelerations_of_user(
    formulation: Accelerations,
    system: CanonicalModel,
    q: Coordinates,
    qd: Coordinates,
    tau: Coordinates,
) -> list[Scalar]:
    """The accelerations that a formulation gives, from the positions and velocities of the user."""
    state, x, rates = system.at_state(q, qd)
    return formulation(state, x, rates, tau)


def axpy(x: Coordinates, h: Scalar, v: Coordinates) -> list[Scalar]:
    """x + h v."""
    return [a + h * b for a, b in zip(x, v, strict=True)]


def euler_step(formulation: Accelerations, system: CanonicalModel, *at: Coordinates) -> TwoVectors:
    """(q⁺, q̇⁺) after a semi-implicit step of Euler: q̇⁺ = q̇ + h q̈, q⁺ = q ⊕ h q̇⁺."""
    q, qd, tau, (h,) = at
    qd_next = axpy(qd, h, accelerations_of_user(formulation, system, q, qd, tau))
    return moved(system.coupling, q, [h * v for v in qd_next]), qd_next


def tangent_rate(system: CanonicalModel, u: Coordinates, qd: Coordinates) -> list[Scalar]:
    """u̇ of the module's text."""
    once = bracket(system.coupling, u, qd)
    twice = bracket(system.coupling, u, once)
    return [a + 0.5 * b + (1 / 12) * c for a, b, c in zip(qd, once, twice, strict=True)]


STAGES = ((0.5, 1.0), (0.5, 2.0), (1.0, 2.0))
"""For each stage after the first how far it goes along the slopes before, and what those weigh."""


def rk4_step(formulation: Accelerations, system: CanonicalModel, *at: Coordinates) -> TwoVectors:
    """(q⁺, q̇⁺) after a step of Runge and Kutta's method of fourth order, forces held."""
    q, qd, tau, (h,) = at
    rate, acceleration = [*qd], accelerations_of_user(formulation, system, q, qd, tau)
    rates, accelerations = [rate], [acceleration]
    for share, _ in STAGES:
        u, qd_stage = [share * h * x for x in rate], axpy(qd, share * h, acceleration)
        rate = tangent_rate(system, u, qd_stage)
        system_at_stage = system.with_presliding_after(u)
        acceleration = accelerations_of_user(
            formulation, system_at_stage, moved(system.coupling, q, u), qd_stage, tau
        )
        rates.append(rate)
        accelerations.append(acceleration)
    u = [(h / 6.0) * x for x in rk4_sum(rates)]
    return moved(system.coupling, q, u), axpy(qd, h / 6.0, rk4_sum(accelerations))


def rk4_sum(slopes: Sequence[Coordinates]) -> list[Scalar]:
    """The weighted sum of the slopes, six times their mean."""
    return [a + (b + b) + (c + c) + d for a, b, c, d in zip(*slopes, strict=True)]


for _method, _integrator, _source in (
    ("euler", euler_step, EULER),
    ("rk4", rk4_step, RUNGE_KUTTA),
):
    _row = _step(_method)
    _row(source=_source + "by factors of M", closed_loops=True)(
        partial(_integrator, forward_dynamics)
    )
    _row(source=_source + "by articulated bodies", applicable=uncoupled, variant="_articulated")(
        partial(_integrator, forward_dynamics_articulated)
    )


def flattened(matrix: Matrix) -> list[Scalar]:
    """The entries, row by row."""
    return [x for row in matrix for x in row]
