"""A small honest integrator for trying things: `scipy.integrate.solve_ivp` on the compiled forward
dynamics.

There are no contacts, no end stops and no clever time steps: what is integrated is M q̈ + C q̇ + g
= τ, to the tolerance that is asked for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from symgen.errors import OptionError, SymgenError
from symgen.identification.prediction.prediction_errors import JointLoads, bearing_loads
from symgen.numbers.scalar import Numbers
from symgen.robot.linearization import normalized, rates, vector
from symgen.text import html_table, install
from symgen.tracing.function import inputs_by_option
from symgen.tracing.request import find_quantity

if TYPE_CHECKING:
    from symgen.robot.robot import Robot

Forces = Callable[[float, Numbers, Numbers], Any]
Rate = Callable[[float, Numbers], Numbers]

DEFAULT_ROWS = 200
"""Rows of a simulation where no times are asked for."""


class SimulationError(SymgenError):
    """The integration failed before the end of the motion."""


@dataclass(frozen=True)
class Simulation:
    """A simulated motion: times `t` (N), positions `q` (N x nq), velocities `qd` (N x n), joint
    forces `tau` (N x n), the number of evaluations of the dynamics, the states of `presliding`
    friction (N x n; N x 0 without), and the output of ``joint_wrenches`` (N x joints x 6; N x 0 x
    6 if it was not requested)."""

    t: Numbers
    q: Numbers
    qd: Numbers
    tau: Numbers
    positions: tuple[str, ...]
    velocities: tuple[str, ...]
    evaluations: int
    presliding: Numbers
    joint_wrenches: Numbers
    joint_loads: tuple[JointLoads, ...]
    """The largest and root-mean-square load of each joint, from `joint_wrenches`."""

    def __repr__(self) -> str:
        return f"Simulation({len(self.t)} rows, {self.t[0]:g} to {self.t[len(self.t) - 1]:g} s)"

    def _repr_html_(self) -> str:
        head = ("t", *self.positions, *(f"{name}'" for name in self.velocities))
        shown_rows = np.unique(np.linspace(0, len(self.t) - 1, 11).astype(int))
        rows = ([f"{x:.4g}" for x in (self.t[k], *self.q[k], *self.qd[k])] for k in shown_rows)
        return html_table(
            f"{len(self.t)} rows; the table shows {len(shown_rows)} of them", head, rows
        )


def simulate(
    robot: "Robot",
    duration: float,
    q: Sequence[float] | None = None,
    qd: Sequence[float] | None = None,
    tau: Any = None,
    *,
    times: Sequence[float] | None = None,
    wrench: Any = None,
    thrust: Any = None,
    joint_wrenches: bool = False,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    method: str = "DOP853",
    **options: Any,
) -> Simulation:
    """Simulate a robot for `duration` seconds from positions `q` (nq; 0 by default) and velocities
    `qd` (n; 0 by default).

    `tau` is None for no joint forces, an array (n), or a function ``tau(t, q, qd)`` that returns
    one. `times` (s, from 0) are the times of the rows, by default 200 at equal intervals.
    `wrench` and `thrust` are given like `tau` for a robot with the options ``external_wrench`` and
    ``thrusters``. Quaternions keep their length. With `joint_wrenches` the force and moment in each
    moving joint and their largest values are computed. `method`, `rtol` and `atol` are those of
    ``scipy.integrate.solve_ivp``; `options` are those of `symgen.compile`, such as
    ``friction="viscous"``. The states s of presliding friction are 0 at the start and follow
    ``ds/dt = (qd - s abs(qd)) / delta``. Requires SciPy and a C compiler. Raises SymgenError, also
    if the integration fails before the end."""
    robot = robot.with_options(**options)
    solve, model, n = _solver(), robot.model, robot.dof
    distances = _presliding_distances(robot)
    external = _external_inputs(robot, wrench=wrench, thrust=thrust)
    start = np.concatenate(
        [
            normalized(model, vector("q", q, len(robot.positions), robot.neutral)),
            vector("qd", qd, n, np.zeros(n)),
            np.zeros(len(distances)),
        ]
    )
    nq = len(start) - n - len(distances)
    forces, at = _forces("tau", tau, n), _times(duration, times)
    dynamics = robot.compile("forward_dynamics").forward_dynamics

    def rate(t: float, x: Numbers) -> Numbers:
        place, speed, state = normalized(model, x[:nq]), x[nq : nq + n], x[nq + n :]
        states = (state,) if len(distances) else ()
        external_forces = (push(t, place, speed) for push in external)
        acceleration = dynamics(place, speed, forces(t, place, speed), *states, *external_forces)
        sliding = (speed - state * abs(speed)) / distances if states else state
        return np.concatenate([rates(model, place, speed), acceleration, sliding])

    solved = _solution(solve, rate, start, at, method=method, rtol=rtol, atol=atol)
    rows = solved.y.T
    positions = np.array([normalized(model, row[:nq]) for row in rows])
    speeds = rows[:, nq : nq + n]
    joint_forces = np.array(
        [forces(t, *x) for t, *x in zip(solved.t, positions, speeds, strict=True)]
    )
    wrenches = np.zeros((len(positions), 0, 6))
    if joint_wrenches:
        states = (rows[:, nq + n :],) if len(distances) else ()
        motion = [*zip(solved.t, positions, speeds, strict=True)]
        external_forces = [np.array([push(*x) for x in motion]) for push in external]
        accelerations = dynamics(positions, speeds, joint_forces, *states, *external_forces)
        transmitted = robot.compile("joint_wrenches").joint_wrenches
        wrenches = transmitted(positions, speeds, accelerations, *external_forces)
    return Simulation(
        solved.t,
        positions,
        speeds,
        joint_forces,
        robot.positions,
        robot.velocities,
        int(solved.nfev),
        rows[:, nq + n :],
        wrenches,
        bearing_loads(model, [wrenches]) if joint_wrenches else (),
    )


def _presliding_distances(robot: "Robot") -> Numbers:
    """The distances of presliding of all velocities, empty without presliding friction. Raises
    OptionError for other inputs of run time, which a motion does not have."""
    traced = robot.job.robot(robot.loaded)
    needed = {*inputs_by_option(traced, [find_quantity("forward_dynamics")])}
    needed |= {"par"} if traced.runtime else set()
    needed -= {"presliding", "wrench", "thrust"}
    if needed:
        raise OptionError(
            f"simulate: {', '.join(sorted(needed))} would be inputs; do not make gravity, "
            "parameters or friction runtime inputs"
        )
    return np.array(traced.presliding_distances if traced.has_presliding else ())


def _solver() -> Callable[..., Any]:
    try:
        from scipy.integrate import solve_ivp
    except ImportError:
        raise OptionError(f"simulate needs SciPy; install it: {install('scipy')}") from None
    return solve_ivp  # type: ignore[no-any-return]


def _external_inputs(robot: "Robot", **given: Any) -> list[Forces]:
    """The external wrenches and thrusts that the robot has, as functions of t, q and qd. Raises
    OptionError for one that it does not have."""
    traced = robot.job.robot(robot.loaded)
    sizes = {"wrench": 6 * len(traced.wrenches), "thrust": len(traced.thrusters)}
    options = {"wrench": "external_wrench", "thrust": "thrusters"}
    for name, value in given.items():
        if value is not None and not sizes[name]:
            raise OptionError(f"simulate: {name} needs the option {options[name]}")
    return [_forces(name, given[name], size) for name, size in sizes.items() if size]


def _forces(name: str, given: Any, n: int) -> Forces:
    """An input of forces as a function of t, q and qd, 0 by default. Raises OptionError."""
    if callable(given):
        return lambda t, q, qd: vector(name, given(t, q, qd), n, ())
    constant = vector(name, given, n, np.zeros(n))
    return lambda t, q, qd: constant


def _times(duration: float, times: Sequence[float] | None) -> Numbers:
    if not (np.isfinite(duration) and duration > 0):
        raise OptionError(f"simulate: a duration of {duration} s; give a positive number")
    at = np.linspace(0.0, duration, DEFAULT_ROWS + 1) if times is None else np.array(times, float)
    inside = at.ndim == 1 and len(at) and at[0] >= 0 and at[len(at) - 1] <= duration
    if not inside or (np.diff(at) <= 0).any():
        raise OptionError(f"simulate: times must increase and be from 0 to {duration:g} s")
    return at


def _solution(
    solve: Callable[..., Any], rate: Rate, start: Numbers, at: Numbers, **how: Any
) -> Any:
    """SciPy's solution at the given times. Raises SimulationError if the integration ends early."""
    try:
        solved = solve(rate, (0.0, at[len(at) - 1]), start, t_eval=at, **how)
    except (np.linalg.LinAlgError, ValueError) as error:
        raise SimulationError(f"error: simulate: {error}") from None
    if not solved.success or not np.isfinite(solved.y).all():
        raise SimulationError(
            "error: simulate: the integration failed after t =  "
            f"{solved.t[len(solved.t) - 1]:g} s: {solved.message}"
        )
    return solved
