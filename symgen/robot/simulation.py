"""A robot in time: controllers with their state, which correspond to the struct and the `_step`
function of generated C, and simulation.

The simulation is a small honest integrator for trying things: `scipy.integrate.solve_ivp` on the
compiled forward dynamics. There are no contacts, no end stops and no clever time steps: what is
integrated is M q̈ + C q̇ + g = τ, to the tolerance that is asked for."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from symgen.algorithms.controllers import (
    CONTROLLERS,
    UNIT_TOLERANCE,
    VALID_RANGES,
    quaternions_in,
    unknown_controller,
)
from symgen.algorithms.registry import INPUTS
from symgen.errors import OptionError, SymgenError
from symgen.mechanics.coupling import coupling_of
from symgen.native.library import MASKED, is_masked
from symgen.numbers.scalar import AnyArray, Numbers
from symgen.robot.linearization import normalized, rates, vector
from symgen.text import html_table, install
from symgen.tracing.function import inputs_by_option
from symgen.tracing.request import find_quantity

if TYPE_CHECKING:
    from symgen.identification.prediction.prediction_errors import JointLoads
    from symgen.robot.robot import Robot

NEXT_STATE_SUFFIX: Final = "_next"
"""How outputs end that are of use only to the next step."""


def check_ranges(controller: str, arrays: Mapping[str, AnyArray]) -> None:
    """Raises OptionError for an input of a controller with a value outside its range."""
    for name, values in arrays.items():
        valid = VALID_RANGES.get(name)
        bad = next((x for x in values if valid and not valid.contains(x)), None)
        if valid and bad is not None:
            raise OptionError(f"{controller}: {name} has {bad:g}; give {valid.description}")


class Controller:
    """A controller or observer with its state.

    >>> observer = robot.controller("momentum_observer", gain=50.0)
    >>> tau_ext = observer.step(q=q, qd=qd, tau=tau, h=0.001)

    `gains` and `state` are arrays by name; ``symgen list`` and docs/controllers.md state their
    units. Gains can be changed between steps; `reset` restores the initial state. Raises the errors
    of `Robot.compile`."""

    def __init__(self, robot: "Robot", name: str, gains: Mapping[str, Any], **options: Any) -> None:
        if name.partition(":")[0] not in CONTROLLERS:
            raise unknown_controller(name)
        self.row = CONTROLLERS[name.partition(":")[0]]
        traced = robot.trace(name, **options)
        self._sizes = {name: math.prod(shape) for name, shape in traced.program.inputs}
        self._outputs = [out.name for out in traced.program.outputs]
        self._function = robot.compile(name, **options).functions[traced.name]
        self._coupling = coupling_of(robot.model)
        self.gains = {k: self._array(k, gains[k]) for k in self._checked_gains(name, gains)}
        self._check_valid(self.gains)
        self.state: dict[str, AnyArray] = {}
        self.reset()

    def _checked_gains(self, name: str, gains: Mapping[str, Any]) -> list[str]:
        """The names of the gains. Raises OptionError where one is missing or unknown."""
        known = [gain for gain in self.row.gains if gain in self._sizes]
        for gain in known:
            if gain not in gains:
                about = f"{INPUTS[gain].meaning}, in {INPUTS[gain].unit}"
                raise OptionError(f"{name} has a gain {gain} ({about}); give {gain}=...")
        for gain in gains:
            if gain not in known:
                raise OptionError(f"{name} has no gain {gain}; it has {', '.join(known)}")
        return known

    def _array(self, name: str, value: Any) -> AnyArray:
        """An input as an array of its size; one number is that of all entries."""
        if is_masked(value):
            raise OptionError(f"{name} {MASKED}")
        array = np.asarray(value, dtype=float)
        try:
            return np.array(np.broadcast_to(array.ravel(), (self._sizes[name],)))
        except ValueError:
            size = self._sizes[name]
            raise OptionError(f"{name}: give {size} numbers or one, not {array.size}") from None

    def _check_valid(self, arrays: Mapping[str, AnyArray]) -> None:
        """Raises OptionError for an input outside its range and for a quaternion that is not of
        unit length; NaN and infinities of other inputs show in the results."""
        check_ranges(self.row.name, arrays)
        for name, values in arrays.items():
            for four in quaternions_in(name, self._coupling):
                square = float(values[four] @ values[four])
                if abs(square - 1.0) > UNIT_TOLERANCE:
                    raise OptionError(
                        f"{self.row.name}: the quaternion in {name} has the length "
                        f"{math.sqrt(square):g}; give one of length 1"
                    )

    def reset(self) -> None:
        """Set the state to its initial value."""
        self.state = {name: self._initial_value(name) for name in self.row.state}

    def _initial_value(self, name: str) -> AnyArray:
        initial = self.row.start.get(name)
        if isinstance(initial, str):
            return self.gains[initial].copy()
        return np.array(self.row.initial_values(name, self._sizes[name]))

    def step(self, **measured: Any) -> AnyArray:
        """Compute one step; returns the joint forces to apply, or the estimate of an observer.

        `measured` contains the arrays of docs/controllers.md by name, and the sample time h (s) if
        the controller has one. Raises TypeError for missing or unknown names, OptionError for a
        gain, sample time or quaternion that is not valid, and ArithmeticError if a result is not
        finite; the state is then unchanged."""
        names = [name for name in self._sizes if name not in self.gains and name not in self.state]
        if set(names) != set(measured):
            raise TypeError(f"{self.row.name}: a step takes {', '.join(names)} by name")
        arrays = {**self.gains, **self.state}
        arrays |= {name: self._array(name, measured[name]) for name in names}
        self._check_valid({name: arrays[name] for name in (*self.gains, *names)})
        out = self._function(*(arrays[name] for name in self._sizes))
        results = dict(zip(self._outputs, out if isinstance(out, tuple) else (out,), strict=True))
        if not all(np.isfinite(x).all() for x in results.values()):
            raise ArithmeticError(f"{self.row.name}: the results of this step are not finite")
        self.state = {name: results[out] for name, out in self.row.state.items()}
        return next(x for name, x in results.items() if not name.endswith(NEXT_STATE_SUFFIX))


# -- simulation ------------------------------------------------------------------------------------

Forces = Callable[[float, Numbers, Numbers], Any]

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
    joint_loads: "tuple[JointLoads, ...]"
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
    try:
        from scipy.integrate import solve_ivp
    except ImportError:
        raise OptionError(f"simulate needs SciPy; install it: {install('scipy')}") from None
    from symgen.identification.prediction.prediction_errors import bearing_loads

    robot = robot.with_options(**options)
    model, n = robot.model, robot.dof
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

    how: dict[str, Any] = {"method": method, "rtol": rtol, "atol": atol}
    try:
        solved = solve_ivp(rate, (0.0, at[len(at) - 1]), start, t_eval=at, **how)
    except (np.linalg.LinAlgError, ValueError) as error:
        raise SimulationError(f"error: simulate: {error}") from None
    if not solved.success or not np.isfinite(solved.y).all():
        raise SimulationError(
            "error: simulate: the integration failed after t =  "
            f"{solved.t[len(solved.t) - 1]:g} s: {solved.message}"
        )
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
