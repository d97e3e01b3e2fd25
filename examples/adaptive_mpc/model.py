"""Everything the controller, the estimator and the plant know of a robot: functions that symgen
generates.

The C is generated and compiled by the public `symgen.compile`; the parameters of one link, the
payload, are an input."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import symgen
from examples.adaptive_mpc.inertia import Array, moved
from symgen.native.store import Compiled

QUANTITIES = (
    "dynamics=forward_dynamics+forward_dynamics_derivatives",
    "forward_dynamics",
    "inverse_dynamics",
    "mass_matrix",
    "regressor",
    "base_parameters",
)
NOTHING: Array = np.zeros(10)
"""The ten parameters of no payload."""


@dataclass(frozen=True)
class Limits:
    """Limits of the joints as the URDF states them: rad, rad/s, N m; infinite where it states
    none."""

    lower: Array
    upper: Array
    velocity: Array
    effort: Array


@dataclass(frozen=True)
class Hand:
    """Position (m) and velocity (m/s) of a link's origin in the root's axes, and their Jacobians;
    any batch shape.

    `position_q` is ∂p/∂q = ∂v/∂q̇ (3 x n), `velocity_q` is ∂v/∂q (3 x n).
    """

    position: Array
    velocity: Array
    position_q: Array
    velocity_q: Array


class Arm:
    """A serial arm with a payload on one of its links; every method broadcasts over leading axes.

    `payload` arguments are ten parameters about the link's origin in its axes. Raises SymgenError.
    """

    def __init__(self, file: Path | str, link: str) -> None:
        hand = f"hand=frame_pose:{link}+frame_jacobian_aligned:{link}"
        model = symgen.load(str(file)).model
        body = next(
            k for k, body in enumerate(model.bodies) if any(one.name == link for one in body.links)
        )
        seat = next(one.pose for one in model.bodies[body].links if one.name == link)
        self.functions: Compiled = symgen.compile(
            file, *QUANTITIES, hand, parameters=f"runtime:{link}"
        )
        self.file, self.dof = file, model.dof
        self.limits = _limits(model)
        self._columns = slice(10 * body, 10 * body + 10)
        self._to_body = moved(np.array(seat.rotation), np.array(seat.position))

    def dynamics(
        self, q: Array, qd: Array, tau: Array, payload: Array
    ) -> tuple[Array, Array, Array, Array]:
        """q̈ (n) and its derivatives with respect to q, q̇ and τ (n x n each)."""
        return self.functions.dynamics(q, qd, tau, self._prepared(payload))  # type: ignore[no-any-return]

    def forward_dynamics(self, q: Array, qd: Array, tau: Array, payload: Array) -> Array:
        return self.functions.forward_dynamics(q, qd, tau, self._prepared(payload))  # type: ignore[no-any-return]

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array, payload: Array) -> Array:
        return self.functions.inverse_dynamics(q, qd, qdd, self._prepared(payload))  # type: ignore[no-any-return]

    def mass_matrix(self, q: Array, payload: Array) -> Array:
        return self.functions.mass_matrix(q, self._prepared(payload))  # type: ignore[no-any-return]

    def payload_regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """The joint forces by the payload's parameters, n x 10: columns of its body, moved to its
        link."""
        return self.functions.regressor(q, qd, qdd)[..., self._columns] @ self._to_body  # type: ignore[no-any-return]

    def base_by_payload(self) -> Array:
        """The base parameters of the arm by the payload's parameters, a column each."""
        ten = np.zeros((10, 10 * self.dof))
        ten[:, self._columns] = self._to_body.T
        return self.functions.base_parameters(ten).T  # type: ignore[no-any-return]

    def hand(self, q: Array, qd: Array) -> Hand:
        """Where the payload's link is, how it moves, and how that depends on q and q̇."""
        _, position, jacobian = self.functions.hand(q)
        linear, angular = jacobian[..., :3, :], jacobian[..., 3:, :]
        velocity = (linear @ qd[..., None])[..., 0]
        return Hand(position, velocity, linear, _velocity_by_q(linear, angular, qd))

    def _prepared(self, payload: Array) -> Array:
        return self.functions.regroup(payload)  # type: ignore[no-any-return]


def _velocity_by_q(linear: Array, angular: Array, qd: Array) -> Array:
    """∂(J q̇)/∂q of a serial arm, 3 x n: column j is (Σ_{i<j} ω_i q̇_i) x v_j + ω_j x Σ_{i≥j} v_i
    q̇_i.

    For J_v's columns v_i and J_ω's ω_i: a joint turns the columns of all joints beyond it, and
    moves the hand for those before it."""
    rates = qd[..., None, :]
    turned = np.cumsum(angular * rates, axis=-1) - angular * rates
    beyond = np.cumsum((linear * rates)[..., ::-1], axis=-1)[..., ::-1]
    return _cross(turned, linear) + _cross(angular, beyond)


def _cross(a: Array, b: Array) -> Array:
    """a x b of columns, without what `numpy.cross` spends on telling axes."""
    one, two = (1, 2, 0), (2, 0, 1)
    found: Array = a[..., one, :] * b[..., two, :] - a[..., two, :] * b[..., one, :]
    return found


def _limits(model: object) -> Limits:
    rows = [body.joint.limits for body in model.bodies]  # type: ignore[attr-defined]

    def column(name: str, sign: float = 1.0) -> Array:
        values = [getattr(row, name) if row is not None else None for row in rows]
        return np.array([sign * np.inf if value is None else value for value in values])

    return Limits(column("lower", -1.0), column("upper"), column("velocity"), column("effort"))
