"""Rates of positions, small displacements of a state, and the linearization of the dynamics of a
robot about a state."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.errors import OptionError
from symgen.jobs import api
from symgen.jobs.job import Job
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.joint_listing import position_coordinates
from symgen.mechanics.joint_type import BodyAxesJoint, quaternion_rows, twist_from_rates
from symgen.mechanics.leg_positions import NewtonLoop
from symgen.mechanics.loop_groups import closed_by_newton
from symgen.mechanics.model import RigidBodyModel
from symgen.native.library import MASKED, is_masked
from symgen.numbers.scalar import Numbers, plain
from symgen.reading.sources import RobotSource
from symgen.text import html_table
from symgen.tracing.function import Function


def vector(name: str, values: Any, size: int, default: Any) -> Numbers:
    """`values` as an array of `size` finite numbers without masked entries. Raises OptionError."""
    if is_masked(values):
        raise OptionError(f"{name} {MASKED}")
    array = np.array(default if values is None else values, dtype=float).ravel()
    if array.shape != (size,) or not np.isfinite(array).all():
        raise OptionError(f"{name} needs {size} finite numbers, not {array.tolist()}"[:300])
    return array


def normalized(model: RigidBodyModel, q: Numbers) -> Numbers:
    """The positions with normalized quaternions, and with the loops closed whose positions Newton's
    method gives. Raises OptionError for a quaternion of zeros and where a loop does not close."""
    unit, coupling = q.copy(), coupling_of(model)
    for four in coupling.quaternions:
        length = float(np.linalg.norm(unit[four]))
        if not length:
            raise OptionError("q has a quaternion of zeros; give 0, 0, 0, 1 for no rotation")
        unit[four] /= length
    if coupling.newton_positions:
        unit = np.array(closed_by_newton(coupling, unit.tolist()))
        x = dict(enumerate(coupling.body_positions(unit.tolist()), 1))
        if not all(loop.closes(x) for loop in coupling.loops if isinstance(loop, NewtonLoop)):
            raise OptionError(
                "the closed loops do not close from these positions; give nearer ones"
            )
    return unit


def rates(model: RigidBodyModel, q: Numbers, v: Numbers) -> Numbers:
    """The rates of the positions: velocities, and for a joint with a quaternion x, y, z, w turned
    by R the rates R v and ½ (x, y, z, w)(ω, 0) of its twist (v, ω) in the body's axes."""
    coupling, qd = coupling_of(model), np.zeros(len(q))
    if coupling.newton_positions:
        at, _ = coupling.at(q.tolist())
        for body, place in coupling.newton_positions:
            qd[place] = plain(at.maps[body - 1].rate(v.tolist()))
    for drive, (joint, part) in zip(coupling.maps, coupling.joint_parts, strict=True):
        if not isinstance(joint, BodyAxesJoint):
            for term in drive.terms:  # of the user's own coordinates, whatever they move
                qd[term.position_index] = v[term.velocity_index]
            continue
        if drive.follows or part:
            continue
        quaternion = slice(drive.position_index, drive.position_index + len(joint.positions))
        first = drive.velocity_index - joint.constant_parts[0].velocity
        qd[quaternion] = _twisted(joint, q[quaternion], v[first : first + len(joint.velocities)])
    return qd


def _twisted(joint: Any, q: Numbers, v: Numbers) -> Numbers:
    twist = twist_from_rates(
        joint.units, [float(v[part.velocity]) for part in joint.constant_parts]
    )
    (x, y, z, w), (a, b, c) = q[joint.quaternion], map(plain, twist.w)
    turn = [w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a]
    spin = [*turn, -(x * a + y * b + z * c)]
    if joint.quaternion.start == 0:
        return np.array(spin) / 2
    rows = [[plain(e) for e in row] for row in quaternion_rows((x, y, z, w))]
    return np.concatenate([np.array(rows) @ [plain(e) for e in twist.v], np.array(spin) / 2])


def drift(model: RigidBodyModel, v: Numbers) -> NDArray[np.float64]:
    """How a small displacement turns with the motion at velocities `v`: δ̇ = δv - drift δ, which is
    ad of the twist for displacements in the body's axes, else 0. (Murray, Li & Sastry 1994, eq.
    2.58.)"""
    coupling, drift_matrix = coupling_of(model), np.zeros((len(v), len(v)))
    for drive, (joint, part) in zip(coupling.maps, coupling.joint_parts, strict=True):
        if not isinstance(joint, BodyAxesJoint) or part or drive.follows:
            continue
        order = [
            drive.velocity_index - joint.constant_parts[0].velocity + p.velocity
            for p in joint.constant_parts
        ]
        basis = np.array([[*map(plain, u.w), *map(plain, u.v)] for u in joint.units]).T
        twist = basis @ v[order]
        w, zero = _cross(twist[:3]), np.zeros((3, 3))
        ad = np.block([[w, zero], [_cross(twist[3:]), w]])
        drift_matrix[np.ix_(order, order)] = np.linalg.pinv(basis) @ ad @ basis
    return drift_matrix


def _cross(a: Numbers) -> NDArray[np.float64]:
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


@dataclass(frozen=True)
class Linearized:
    """The linearized dynamics ẋ = A x + B u about a state; unpacks into A (2n x 2n) and B (2n x n).

    x contains the changes of positions (n) and of velocities (n), u the changes of joint forces
    (n). The change of the position of a joint with a quaternion is a small twist in body axes.
    `residual` is the acceleration at the state, 0 at an equilibrium; otherwise
    ẋ = A x + B u + (qd, residual)."""

    A: Numbers
    B: Numbers
    q: Numbers
    qd: Numbers
    tau: Numbers
    residual: Numbers
    names: tuple[str, ...]

    def __iter__(self) -> Iterator[Numbers]:
        return iter((self.A, self.B))

    def _repr_html_(self) -> str:
        states = [*self.names, *(f"{name}'" for name in self.names)]
        rows = [
            (state, *(f"{x:.4g}" for x in row))
            for state, row in zip(states, np.hstack([self.A, self.B]), strict=True)
        ]
        head = ("rate of", *states, *(f"tau {name}" for name in self.names))
        return html_table("A and B", head, rows)


def linearize(
    robot: RobotSource,
    q: Sequence[float],
    qd: Sequence[float] | None = None,
    tau: Sequence[float] | None = None,
    **options: Any,
) -> Linearized:
    """Linearize the dynamics about the state `q` (nq), `qd` (n; 0 by default) with joint forces
    `tau` (n), by default those for which the accelerations are 0.

    >>> A, B = symgen.linearize("arm.urdf", q0)

    The derivatives are those of ``forward_dynamics_derivatives`` and exact except for rounding.
    `options` are those of `symgen.compile`, such as ``friction="viscous"``. Raises SymgenError,
    also for a robot with runtime parameters."""
    job = Job.of(robot, **options)
    loaded = job.load()
    model = loaded.model
    slopes = api.trace(job, "forward_dynamics_derivatives")
    other_inputs = [name for name in slopes.inputs if name not in ("q", "qd", "tau")]
    if other_inputs:
        raise OptionError(
            f"linearize: {', '.join(other_inputs)} would be inputs; do not make gravity, "
            "parameters or friction runtime inputs, and use no presliding"
        )
    n, nq = model.dof, len(position_coordinates(model))
    place = normalized(model, vector("q", q, nq, ()))
    speed = vector("qd", qd, n, np.zeros(n))
    at_rest = {"q": place.tolist(), "qd": speed.tolist(), "qdd": [0.0] * n}
    holding = _values(api.trace(job, "inverse_dynamics"), at_rest)[0]
    force = vector("tau", tau, n, holding)
    state = {"q": place.tolist(), "qd": speed.tolist(), "tau": force.tolist()}
    by_q, by_qd, by_tau = [x.reshape(n, n) for x in _values(slopes, state)]
    a = np.block([[-drift(model, speed), np.eye(n)], [by_q, by_qd]])
    b = np.vstack([np.zeros((n, n)), by_tau])
    residual = _values(api.trace(job, "forward_dynamics"), state)[0]
    return Linearized(a, b, place, speed, force, residual, model.joint_names)


def _values(function: Function, state: dict[str, list[float]]) -> list[Numbers]:
    """The outputs of a function on floats."""
    outputs = function.run(**{name: state[name] for name in function.inputs})
    return [np.array([float(x) for x in out]) for out in outputs.values()]  # type: ignore[arg-type]
