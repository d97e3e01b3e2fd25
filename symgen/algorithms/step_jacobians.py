"""Jacobians of a step of an integrator, in its start and in the joint forces.

Symbols of `steps`. Changes of positions are in the tangent spaces at both ends."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Final

from symgen.algorithms.derivatives import (
    DIRECTIONS,
    ForwardDerivatives,
    Matrices,
    forward_derivatives,
    forward_derivatives_by_directions,
    in_fluid,
)
from symgen.algorithms.gradients import gradients, gradients_by_duals
from symgen.algorithms.manifold import Matrix, bracket, moved, slopes
from symgen.algorithms.motion import wrenches_in_link_axes
from symgen.algorithms.registry import Array
from symgen.algorithms.steps import (
    EULER,
    RUNGE_KUTTA,
    STAGES,
    PartialQuantity,
    axpy,
    flattened,
    forward_quantity,
    rk4_sum,
    tangent_rate,
)
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.numbers.scalar import ZERO, Coordinates, Scalar

UNIT = "1, s, 1/s, and these times rad/m or m/rad"


def _step_jacobians(method: str) -> PartialQuantity:
    square = ("n_twice", "n_twice")
    return partial(
        forward_quantity,
        f"step_jacobians:{method}",
        f"derivatives of step:{method} in (q, qd), tau",
        inputs=("q", "qd", "tau", "h"),
        supports=(),
        method="step_jacobians",
        outputs=(
            Array(
                f"A_{method}",
                "derivative of (q, qd) after the step with respect to (q, qd)",
                UNIT,
                square,
            ),
            Array(
                f"B_{method}",
                "derivative of (q, qd) after the step with respect to tau",
                UNIT,
                ("n_twice", "n"),
            ),
            Array(
                f"B_w_{method}",
                "derivative of (q, qd) after the step with respect to the external wrenches",
                "s/kg, s^2/kg, and these per m or rad",
                ("n_twice", "wrench"),
            ),
            Array(
                f"B_thrust_{method}",
                "derivative of (q, qd) after the step with respect to the thrusts",
                "s/kg, s^2/kg, and these per m or rad",
                ("n_twice", "thrust"),
            ),
        ),
    )


UserSlopes = Callable[..., ForwardDerivatives]
"""q̈ of the user and its derivatives, from the system, q, q̇ and τ of the user."""


def _slopes_of_user(
    formulation: Callable[..., ForwardDerivatives],
    system: CanonicalModel,
    q: Coordinates,
    qd: Coordinates,
    tau: Coordinates,
) -> ForwardDerivatives:
    """They from a formulation for the bodies' joints and the forces of the user."""
    return formulation(
        system, system.coupling.body_positions(q), system.coupling.body_rates(qd), tau
    )


def _slopes(
    formulation: UserSlopes, system: CanonicalModel, *at: Coordinates
) -> tuple[list[Scalar], Matrix, Matrix, Matrix]:
    """q̈ and its derivatives in q, in q̇, and in all inputs: τ, external wrenches, thrusts."""
    x, n = formulation(system, *at), system.coupling.velocities
    sized = ((a, len(a) // n) for a in (x.dq, x.dqd, x.inverse, x.dwrench, x.dthrust))
    by_q, by_qd, *inputs = ([[*a[k * m : k * m + m]] for k in range(n)] for a, m in sized)
    by_inputs = [[e for row in rows for e in row] for rows in zip(*inputs, strict=True)]
    return x.qdd, by_q, by_qd, by_inputs


def _product(a: Matrix, b: Matrix) -> Matrix:
    columns = [*zip(*b, strict=True)]
    return [
        [sum((x * y for x, y in zip(row, column, strict=True)), ZERO) for column in columns]
        for row in a
    ]


def _scaled(k: Scalar, a: Matrix) -> Matrix:
    return [[k * x for x in row] for row in a]


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How something changes with q and q̇ at the start and with the inputs (τ, external wrenches,
    thrusts): a row for each of its n numbers, 2 n + m columns."""

    rows: Matrix

    def __add__(self, other: "Sensitivity") -> "Sensitivity":
        return Sensitivity(
            [
                [x + y for x, y in zip(*rows, strict=True)]
                for rows in zip(self.rows, other.rows, strict=True)
            ]
        )

    def scaled(self, k: Scalar) -> "Sensitivity":
        """k times as much."""
        return Sensitivity(_scaled(k, self.rows))

    def left_multiplied(self, matrix: Matrix) -> "Sensitivity":
        """A matrix times it."""
        return Sensitivity(_product(matrix, self.rows))

    def column(self, k: int) -> list[Scalar]:
        """The change with one number at the start."""
        return [row[k] for row in self.rows]


def _initial_sensitivities(system: CanonicalModel) -> tuple[Sensitivity, Sensitivity, Sensitivity]:
    """The changes of q, q̇ and the inputs themselves: unit columns."""
    n = system.coupling.velocities
    size = 3 * n + 6 * len(system.wrench_links) + len(system.thrusters)
    eye: Matrix = [[1.0 if k == i else ZERO for k in range(size)] for i in range(size)]
    return Sensitivity(eye[:n]), Sensitivity(eye[n : 2 * n]), Sensitivity(eye[2 * n :])


def _parts(system: CanonicalModel, q: Sensitivity, qd: Sensitivity) -> Matrices:
    """A, B, and the derivatives in those external inputs that there are."""
    rows, n = [*q.rows, *qd.rows], system.coupling.velocities
    sizes = (2 * n, n, 6 * len(system.wrench_links), len(system.thrusters))
    ends = [*accumulate(sizes)]
    spans = (slice(end - size, end) for end, size in zip(ends, sizes, strict=True) if size)
    return tuple(flattened([row[span] for row in rows]) for span in spans)


def _position_sensitivity(
    system: CanonicalModel, u: Coordinates, q: Sensitivity, change: Sensitivity
) -> Sensitivity:
    """The change of q ⊕ u by those of q and u."""
    start, along = slopes(system.coupling, u)
    return q.left_multiplied(start) + change.left_multiplied(along)


def euler_jacobians(formulation: UserSlopes, system: CanonicalModel, *at: Coordinates) -> Matrices:
    """A = ∂(q⁺, q̇⁺)/∂(q, q̇), 2n x 2n, and B = ∂(q⁺, q̇⁺)/∂τ, 2n x n, of a semi-implicit step of
    Euler from derivatives of forward dynamics; changes of positions in the tangent spaces at both
    ends."""
    q, qd, tau, (h,) = at
    acceleration, *by = _slopes(formulation, system, q, qd, tau)
    start = _initial_sensitivities(system)
    dqd_next = start[1]
    for matrix, change in zip(by, start, strict=True):
        dqd_next = dqd_next + change.left_multiplied(_scaled(h, matrix))
    u = [h * v for v in axpy(qd, h, acceleration)]
    return _parts(system, _position_sensitivity(system, u, start[0], dqd_next.scaled(h)), dqd_next)


def _tangent_rate_sensitivity(
    system: CanonicalModel, u: Coordinates, v: Coordinates, du: Sensitivity, dv: Sensitivity
) -> Sensitivity:
    """The change of u̇ = v + [u, v]/2 + [u, [u, v]]/12."""
    along = partial(bracket, system.coupling)
    once, columns = along(u, v), []
    for k in range(len(du.rows[0])):
        a, b = du.column(k), dv.column(k)
        first = [x + y for x, y in zip(along(a, v), along(u, b), strict=True)]
        second = zip(along(a, once), along(u, first), strict=True)
        terms = zip(b, first, (x + y for x, y in second), strict=True)
        columns.append([x + 0.5 * y + (1 / 12) * z for x, y, z in terms])
    return Sensitivity([[*row] for row in zip(*columns, strict=True)])


def rk4_jacobians(formulation: UserSlopes, system: CanonicalModel, *at: Coordinates) -> Matrices:
    """The same of a step of Runge and Kutta's method of fourth order."""
    q, qd, tau, (h,) = at
    start = _initial_sensitivities(system)
    acceleration, *by = _slopes(formulation, system, q, qd, tau)
    rate, drate, dacceleration = [*qd], start[1], _acceleration_sensitivity(by, *start)
    rates, drates, accelerations, daccelerations = [rate], [drate], [acceleration], [dacceleration]
    for share, _ in STAGES:
        u, du = [share * h * x for x in rate], drate.scaled(share * h)
        qd_stage, dqd_stage = (
            axpy(qd, share * h, acceleration),
            start[1] + dacceleration.scaled(share * h),
        )
        rate, drate = (
            tangent_rate(system, u, qd_stage),
            _tangent_rate_sensitivity(system, u, qd_stage, du, dqd_stage),
        )
        acceleration, *by = _slopes(
            formulation, system, moved(system.coupling, q, u), qd_stage, tau
        )
        dacceleration = _acceleration_sensitivity(
            by, _position_sensitivity(system, u, start[0], du), dqd_stage, start[2]
        )
        rates.append(rate)
        drates.append(drate)
        accelerations.append(acceleration)
        daccelerations.append(dacceleration)
    u, sixth = [(h / 6.0) * x for x in rk4_sum(rates)], h / 6.0
    dq = _position_sensitivity(system, u, start[0], _rk4_sum_of_sensitivities(drates).scaled(sixth))
    return _parts(system, dq, start[1] + _rk4_sum_of_sensitivities(daccelerations).scaled(sixth))


def _acceleration_sensitivity(by: Sequence[Matrix], *changes: Sensitivity) -> Sensitivity:
    """The change of q̈ by those of q, q̇ and the inputs and its derivatives in them."""
    first, second, third = (
        x.left_multiplied(matrix) for matrix, x in zip(by, changes, strict=True)
    )
    return first + second + third


def _rk4_sum_of_sensitivities(slopes: Sequence[Sensitivity]) -> Sensitivity:
    """The change of six times Runge and Kutta's mean (1, 2, 2, 1) of four slopes."""
    a, b, c, d = slopes
    return a + (b + b) + (c + c) + d


RECURSIVE: Final = partial(_slopes_of_user, partial(forward_derivatives, formulation=gradients))
BY_DUALS: Final = partial(
    _slopes_of_user, partial(forward_derivatives, formulation=gradients_by_duals)
)
BY_DIRECTIONS: Final = partial(_slopes_of_user, forward_derivatives_by_directions)
for _method, _jacobians, _source in (
    ("euler", euler_jacobians, EULER),
    ("rk4", rk4_jacobians, RUNGE_KUTTA),
):
    _row = _step_jacobians(_method)
    _row(
        source=_source + "derivatives of forward dynamics by recursion",
        only_minimal_competitive=_method == "rk4",
        applicable=wrenches_in_link_axes,
    )(partial(_jacobians, RECURSIVE))
    _row(source=_source + "those by duals", regroupings=("minimal",), variant="_by_duals")(
        partial(_jacobians, BY_DUALS)
    )
    _row(source=_source + DIRECTIONS, applicable=in_fluid, variant="_by_directions")(
        partial(_jacobians, BY_DIRECTIONS)
    )
