"""The simulation of a closed control loop in many digits: a controller of
`symgen.algorithms.controllers` on a robot that is simulated, both by their own algorithms in
decimal numbers; what C has to give is recorded.

The robot takes the forces of the controller, and of an observer small forces of its own and, from
half of the time on, one that the observer is not told of. What the controller reads is rounded as C
reads it; its own state is not."""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from math import inf, isfinite, prod
from typing import Any, Final

from symgen.algorithms.controllers import ControllerType
from symgen.compiler.evaluate import evaluate
from symgen.compiler.program import Program
from symgen.mechanics.coupling import coupling_of
from symgen.numbers.decimals import cos, decimal_precision, sin
from symgen.numbers.operations import OPS
from symgen.numbers.scalar import plain
from symgen.numbers.trig import TYPES
from symgen.tracing.function import Function
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace

SAMPLE_TIME: Final = 0.004
"""Sample time (s)."""
SUBSTEPS: Final = 4
"""Steps of the simulation for each sample."""
SAMPLES: Final = 30
OBSERVED_FORCE: Final = 10.0
"""The force that an observer is to find, at the first joint (N m or N)."""

Values = dict[str, list[Any]]
Number = Callable[[float], Any]
"""Makes a number of the kind that a loop computes with."""


@dataclass
class SimulatedController:
    """A controller with its state, on any scalars: the twin in Python of the struct of C.

    `gains` has every input that does not change, each as long as the array it is for."""

    row: ControllerType
    program: Program
    gains: Mapping[str, Sequence[Any]]
    state: Mapping[str, Sequence[Any]]
    number: Number = Decimal
    link: str = ""

    @property
    def forces(self) -> str:
        """The output that drives the robot; that of a link bears its name."""
        outputs = [out.name for out in self.program.outputs]
        return next((name for name in outputs if name.startswith(self.row.forces)), "")

    def step(self, measured: Mapping[str, Sequence[Any]]) -> Values:
        """The outputs for one sample of the inputs that change; the state is that after it."""
        known = {**self.gains, **self.state, **measured}
        inputs = {name: known[name] for name, _ in self.program.inputs}
        outputs: Values = evaluate(self.program, inputs, self.number)
        self.state = {name: outputs[out] for name, out in self.row.state.items()}
        return outputs


@dataclass(frozen=True)
class ControlRecord:
    """The record of a closed loop: a row for each sample by input that changes (`measured`) and by
    output (`wanted`), and the gains by name."""

    measured: Mapping[str, Sequence[Sequence[float]]]
    wanted: Mapping[str, Sequence[Sequence[float]]]
    gains: Mapping[str, Sequence[float]]

    @property
    def largest(self) -> float:
        """The largest of all numbers; infinite where one is not a number."""
        parts = (self.measured, self.wanted)
        sizes = [abs(x) for part in parts for rows in part.values() for row in rows for x in row]
        return max(sizes, default=0.0) if all(map(isfinite, sizes)) else inf


@lru_cache(maxsize=8)
def _traced(robot: ParametricModel, quantity: str) -> Program:
    """A quantity's tape; all controllers of a robot move the same one."""
    return trace(robot, FunctionRequest.parse(quantity)).program


def controller_of(
    robot: ParametricModel, row: ControllerType, function: Function, number: Number = Decimal
) -> SimulatedController:
    """The controller of a function at its start, with the gains of its row."""
    sizes = {name: prod(shape) for name, shape in function.program.inputs}
    gains = {
        name: [number(x) for x in (given if len(given) > 1 else given * sizes[name])]
        for name, given in row.gains.items()
    }
    if row.by_inertia:
        inertias = _inertias(robot)
        for name in row.by_inertia:
            gains[name] = [number(row.gains[name][0] * x) for x in inertias]
    state = {name: _initial_state(row, name, sizes[name], gains, number) for name in row.state}
    return SimulatedController(
        row, function.program, gains, state, number, function.quantities[0].link
    )


def _inertias(robot: ParametricModel) -> list[float]:
    """The inertia that each joint feels at the start, in three digits."""
    constant = ParametricModel(
        robot.model, allow_unphysical=robot.allow_unphysical, estimated=robot.estimated
    )
    n, program = robot.model.dof, _traced(constant, "mass_matrix")
    with decimal_precision():
        mass_matrix = evaluate(
            program, {"q": [Decimal(x) for x in _start_positions(robot)]}, Decimal
        )["M"]
    return [float(f"{plain(mass_matrix[k * n + k]):.3g}") for k in range(n)]


def _initial_state(
    row: ControllerType, name: str, size: int, gains: Mapping[str, list[Any]], number: Number
) -> list[Any]:
    start = row.start.get(name)
    if isinstance(start, str):
        return [*gains[start]]
    return [number(x) for x in row.initial_values(name, size)]


def recordable(row: ControllerType, function: Function) -> bool:
    """Whether all that the function reads is the controller's: nothing of the robot is open."""
    known = {*row.step, *row.gains, *row.state, "h"}
    return {name for name, _ in function.program.inputs} <= known


def with_known_forces(robot: ParametricModel) -> ParametricModel:
    """A robot to simulate: with the springs and the friction whose numbers are known."""
    friction = () if robot.runtime_friction else robot.friction
    return ParametricModel(
        robot.model,
        friction=friction,
        friction_width=robot.friction_width if friction else 0.0,
        springs=robot.springs and not robot.runtime_springs,
        allow_unphysical=robot.allow_unphysical,
        estimated=robot.estimated,
    )


@dataclass
class Plant:
    """A simulated robot: its state, which its program replaces, the other numbers that the program
    reads, and the mean accelerations of the last sample."""

    program: Program
    state: Values
    constants: Mapping[str, Sequence[Any]]
    qdd: list[Any]
    number: Number

    def moved(self, tau: Sequence[Any]) -> None:
        """Goes on by a sample under these forces."""
        before, h = self.state["qd"], self.number(SAMPLE_TIME)
        forces = {"tau": tau, "tau_m": tau, "h": [h / SUBSTEPS]}
        for _ in range(SUBSTEPS):
            known = {**self.constants, **forces, **self.state}
            inputs = {name: known[name] for name, _ in self.program.inputs}
            after = evaluate(self.program, inputs, self.number)
            self.state = dict(zip(self.state, after.values(), strict=True))
        self.qdd = [(a - b) / h for a, b in zip(self.state["qd"], before, strict=True)]


def _plant(robot: ParametricModel, loop: SimulatedController, start: Sequence[float]) -> Plant:
    """The robot at rest at the start; of a controller of motors with springs that are not
    deflected."""
    zeros, elastic = [loop.number(0.0)] * robot.model.dof, loop.row.is_elastic
    state: Values = {"q": [loop.number(x) for x in start], "qd": zeros}
    state |= {"delta": zeros, "deltad": zeros} if elastic else {}
    program = _traced(robot, "elastic_step:euler" if elastic else "step:euler")
    return Plant(program, state, {**loop.gains, "spring_damping": zeros}, zeros, loop.number)


def record(
    robot: ParametricModel,
    loop: SimulatedController,
    scalar: str = "double",
    samples: int = SAMPLES,
    plant: ParametricModel | None = None,
) -> ControlRecord:
    """The closed loop of a robot whose numbers are all known, by default with its friction and
    springs, or of another `plant` with the same joints."""
    real, row = TYPES[scalar], loop.row
    n, start, number = robot.model.dof, _start_positions(robot), loop.number
    zeros = [number(0.0)] * n
    pose_reference = _pose_reference(robot, loop.link, start, number) if "p_ref" in row.step else {}
    plant_state = _plant(plant or with_known_forces(robot), loop, start)
    rows: dict[str, list[list[float]]] = {}
    tau = zeros
    with decimal_precision():
        for sample in range(samples):
            t = sample * SAMPLE_TIME
            known = {**plant_state.state, "qdd": plant_state.qdd, "tau": tau}
            known |= _reference(robot, start, t, number) | pose_reference
            measured = {name: [float(real(float(x))) for x in known[name]] for name in row.step}
            inputs = {name: [number(x) for x in values] for name, values in measured.items()}
            results = loop.step({**inputs, "h": [number(float(real(SAMPLE_TIME)))]})
            for name, values in (*measured.items(), *results.items()):
                rows.setdefault(name, []).append([float(x) for x in values])
            tau = (
                results[loop.forces]
                if row.forces
                else [number(0.2 * sin((20 + 3 * k) * t)) for k in range(n)]
            )
            late = not row.forces and sample >= samples // 2
            plant_state.moved([tau[0] + number(OBSERVED_FORCE * late), *tau[1:]])
    gains = {name: [float(x) for x in values] for name, values in loop.gains.items()}
    wanted = {name: values for name, values in rows.items() if name not in row.step}
    return ControlRecord({name: rows[name] for name in row.step}, wanted, gains)


def rounding_departures(
    loop: SimulatedController, recorded: ControlRecord, number: Number
) -> dict[str, float]:
    """How far each output of the loop, at its start, departs from the record when it computes with
    `number`: what rounding may do to it, which controllers that learn from little make large."""
    largest = dict.fromkeys(recorded.wanted, 0.0)
    for sample in range(len(next(iter(recorded.measured.values())))):
        measured = {
            name: [number(x) for x in rows[sample]] for name, rows in recorded.measured.items()
        }
        for name, values in loop.step({**measured, "h": [number(SAMPLE_TIME)]}).items():
            exact = recorded.wanted[name][sample]
            gaps = (abs(float(a) - b) for a, b in zip(values, exact, strict=True))
            largest[name] = max(largest[name], *gaps)
    return largest


def _start_positions(robot: ParametricModel) -> list[float]:
    """Positions to start from."""
    coupling = coupling_of(robot.model)
    q = [0.3 + 0.1 * k for k in range(coupling.positions)]
    for four in coupling.quaternions:
        q[four] = [0.0, 0.0, 0.0, 1.0]
    return [*coupling.closing_positions(q)]


def _reference(
    robot: ParametricModel, start: Sequence[float], t: float, number: Number
) -> dict[str, list[Any]]:
    """A slow swing about the start; what has a quaternion is to stay."""
    coupling = coupling_of(robot.model)
    q, n = [*start], coupling.velocities
    rates = [[0.0] * n for _ in range(4)]
    for drive, (joint, _) in zip(coupling.maps, coupling.joint_parts, strict=True):
        for term in () if joint.in_body_axes else drive.terms:
            w = 3.0 + term.velocity_index
            q[term.position_index] = start[term.position_index] + 0.2 * (1 - cos(w * t))
            swing = (sin(w * t), cos(w * t), -sin(w * t), -cos(w * t))
            for k, (rate, x) in enumerate(zip(rates, swing, strict=True), 1):
                rate[term.velocity_index] = 0.2 * w**k * x
    names = ("q_ref", "qd_ref", "qdd_ref", "qddd_ref", "qdddd_ref")
    reference = zip(names, (q, *rates), strict=True)
    return {name: [number(x) for x in values] for name, values in reference}


def _pose_reference(
    robot: ParametricModel, link: str, start: Sequence[float], number: Number
) -> dict[str, list[Any]]:
    """A place a little beside that where a link is at the start."""
    at = {"q": [Decimal(x) for x in start]}
    poses = (
        evaluate(_traced(robot, f"{name}:{link}"), at, Decimal).values()
        for name in ("frame_pose", "frame_quaternion_xyzw")
    )
    with decimal_precision():
        (_, p), (quat,) = (list(entries) for entries in poses)
    return {
        "p_ref": [number(plain(x) + 0.05) for x in p],
        "quat_ref": [number(plain(x)) for x in quat],
    }


def _rounding(operation: Callable[[Any, Any], Any]) -> Callable[["MachineNumber", Any], Any]:
    """The operation on numbers of the scalar type; it leaves operands of other kinds to these."""

    def rounded(a: "MachineNumber", b: Any) -> Any:
        if not isinstance(b, (MachineNumber, int, float)):
            return NotImplemented
        other = b.x if isinstance(b, MachineNumber) else TYPES[a.scalar](b)
        return MachineNumber(operation(a.x, other), a.scalar)

    return rounded


class MachineNumber:
    """A number of C's ``double`` or ``float``; every operation is rounded to that type."""

    __slots__ = ("scalar", "x")

    def __init__(self, x: Any, scalar: str) -> None:
        self.x, self.scalar = TYPES[scalar](x), scalar

    __add__ = __radd__ = _rounding(operator.add)
    __sub__ = _rounding(operator.sub)
    __rsub__ = _rounding(lambda a, b: b - a)
    __mul__ = __rmul__ = _rounding(operator.mul)
    __truediv__ = _rounding(operator.truediv)
    __rtruediv__ = _rounding(lambda a, b: b / a)

    def __neg__(self) -> "MachineNumber":
        return MachineNumber(-self.x, self.scalar)

    def __float__(self) -> float:
        return float(self.x)

    def applied(self, op: str) -> "MachineNumber":
        """A function of the table; one without arithmetic of its own is that of the machine's math
        library, which Python has for double alone. Raises TypeError elsewhere."""
        fixed = OPS[op].reproducible
        if fixed is not None:
            return MachineNumber(fixed(self.x, self.scalar), self.scalar)
        if self.scalar != "double":
            raise TypeError(f"{op} has no portable implementation: its bits depend on the machine")
        return MachineNumber(OPS[op].evaluate(float(self.x)), self.scalar)


def machine_numbers(values: Sequence[float], scalar: str) -> list[MachineNumber]:
    """The values, rounded to the scalar type."""
    return [MachineNumber(x, scalar) for x in values]
