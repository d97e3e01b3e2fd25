"""A module to be written: a robot, its traced functions and every choice that shapes the files."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from math import prod
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from symgen import __version__
from symgen.algorithms import INPUTS
from symgen.algorithms.registry import Array
from symgen.compiler.program import LoopProgram, Program
from symgen.languages.accuracy import Accuracy, QuantizedErrors, quantize_errors
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.joint_listing import position_coordinates, velocity_coordinates
from symgen.mechanics.parameters import WHOLE
from symgen.numbers.caching import IdentityCache
from symgen.options import Choices, rows
from symgen.proof.bounds import Rounding, roundings
from symgen.proof.reference_values import References, references
from symgen.proof.state_generation import (
    UNIT_QUATERNIONS,
    choose_states,
    finite_states,
    perturbed_parameters,
    torques_and_accelerations,
    with_large_angles,
    with_random_unit_quaternions,
)
from symgen.tracing.function import Function
from symgen.tracing.robot import ParametricModel, RegroupedModel, Sizes

TEST_STATES = 5
MIN_TEST_STATES = 2
MAX_TEST_ENTRIES = 20_000
"""Entries of the results of a function with loops over bodies, at all states together, above which
there are fewer states."""
CANDIDATE_STATES = 64
"""Random states from which the test states are chosen."""

INPUT_RANGES = {"q": 3.0, "qd": 5.0, "qdd": 20.0, "tau": 10.0, "g": 9.81, "h": 0.01, "limit": 20.0}
INPUT_RANGES |= {"presliding": 1.0}
"""Test inputs are uniformly distributed between plus and minus these limits (by default 2)."""
NONZERO_DEFAULTS = {"h": 1e-4}
"""Values of inputs that quantities divide by, for states in which rounding gives 0."""
LOADED_FRICTION_RANGE = 0.4
"""The same for coefficients of load-dependent friction: the coefficients of `load` and
`presliding_load` together have to be below 1."""
MOTOR_LIMIT_RANGE = 5000.0
"""The same for the limit of motors behind springs, whose torques contain four derivatives."""

Floats = tuple[float, ...]
RandomState = tuple[Mapping[str, Floats], Mapping[str, Floats]]
"""Inputs by name, and inertial parameters by link, of a state."""
CoordinateRow = tuple[int, str, str, str, str]


Group = TypeVar("Group")


@dataclass(frozen=True)
class RobotOrigin:
    """The names (without folders) and SHA-256 of the robot's file and of its actuator file, if
    there is one. The SHA-256 of a xacro file is that of the URDF that it expands to."""

    file: str
    sha256: str
    actuators: str | None = None
    actuators_sha256: str | None = None


@dataclass(frozen=True)
class TestState:
    """A state of the self-test: inputs by name, and the expected outputs of each function."""

    inputs: Mapping[str, Floats]
    link_parameters: Mapping[str, Floats]
    expected: Mapping[str, Floats]


@dataclass(frozen=True, eq=False)
class Module:
    """The input of every backend. Modules are compared by identity, so that analyses can be cached
    for each."""

    name: str
    """The prefix of all global names: a legal identifier."""
    robot: ParametricModel
    functions: tuple[Function, ...]
    source: RobotOrigin
    choices: Choices
    """The options of the job, by their groups."""
    vector_jacobians: int = 0
    """The order up to which each function also has its products of row vectors with Jacobians, for
    automatic differentiation: 1 for gradients, 2 for gradients of gradients."""

    def __getitem__(self, group: type[Group]) -> Group:
        """The options of that group, such as those of a language."""
        return self.choices[group]

    @property
    def options(self) -> dict[str, Any]:
        """All options as plain data, those of this machine alone left out."""
        local = {row.name for row in rows(*self.choices.values) if row.local}
        return {name: x for name, x in self.choices.flat().items() if name not in local}

    @property
    def is_looped(self) -> bool:
        """Whether its functions are loops over the bodies, which have no expression graph."""
        return any(isinstance(f.program, LoopProgram) for f in self.functions)

    @property
    def version(self) -> str:
        """The version of symgen that writes it."""
        return __version__

    @property
    def dof(self) -> int:
        """The number of independent velocities."""
        return self.robot.model.dof

    @cached_property
    def regroup(self) -> RegroupedModel | None:
        """The regrouping of runtime parameters that all functions share; None without runtime
        parameters."""
        return self._shared_regrouping if self.robot.runtime else None

    @cached_property
    def _shared_regrouping(self) -> RegroupedModel:
        """A regrouping of some function; one that takes the regrouped parameters `par`, if there is
        any."""
        regroups = [r for f in self.functions for r in f.regroups.values()]
        return next((r for r in regroups if r.regrouping != WHOLE), regroups[0])

    @property
    def layout(self) -> CanonicalModel:
        """The robot as its functions see it."""
        return self._shared_regrouping.layout

    @property
    def cause_of_failure(self) -> str:
        """The reason why functions that solve for accelerations or close loops can fail."""
        loops = "a closed loop cannot reach the state, " if self.robot.model.closures else ""
        return f"{loops}the mass matrix is not positive definite"

    @cached_property
    def dimensions(self) -> dict[str, int]:
        """The named sizes of arrays."""
        return Sizes(self._shared_regrouping)

    def inputs(self, function: Function) -> tuple[Array, ...]:
        """The input arrays of a function, in argument order."""
        return tuple(INPUTS[name] for name in function.inputs)

    def outputs(self, function: Function) -> tuple[Array, ...]:
        """The output arrays of a function, in argument order."""
        return tuple({out.name: out for q in function.quantities for out in q.outputs}.values())

    def joint_rows(self) -> list[CoordinateRow]:
        """Index, joint, moved link, type and unit of each position, as data (not yet escaped)."""
        rows = enumerate(position_coordinates(self.robot.model))
        return [(k, c.name, c.link, c.kind, c.unit) for k, c in rows]

    def velocity_rows(self) -> list[CoordinateRow]:
        """The row of the table of joints for each velocity; empty if velocities are the rates of
        the positions."""
        rows = enumerate(velocity_coordinates(self.robot.model))
        found = [(k, c.name, c.link, c.kind, c.unit) for k, c in rows]
        return found if len(found) < self.dimensions["nq"] else []

    @cached_property
    def test_states(self) -> tuple[TestState, ...]:
        """Plausible states with the values of the outputs there."""
        values = self.references.values
        return tuple(
            TestState(inputs, link_parameters, {name: rows[k] for name, rows in values.items()})
            for k, (inputs, link_parameters) in enumerate(self._drawn_states)
        )

    @cached_property
    def references(self) -> References:
        """The values of the outputs at the states of the self-test, and where these come from."""
        return references(self.robot, self.functions, self.regroup, _input_rows(self._drawn_states))

    @cached_property
    def _drawn_states(self) -> list[RandomState]:
        """The states of the self-test, one of them with large angles."""
        rng = random.Random(self.source.sha256)
        programs = [f.program for f in self.functions if not isinstance(f.program, LoopProgram)]
        draw = partial(self._draw_independently, rng)
        first = draw(self._test_state_count)
        first[-1] = self._with_large_angles(first[-1])
        return choose_states(
            programs, first, draw, self._finish_states, self.accuracy_at, CANDIDATE_STATES
        )

    @property
    def _test_state_count(self) -> int:
        """The number of states of the self-test: fewer for large results of loops over bodies."""
        most = max(sum(prod(out.shape) for out in f.program.outputs) for f in self.functions)
        fewer = max(MIN_TEST_STATES, MAX_TEST_ENTRIES // max(most, 1))
        return min(TEST_STATES, fewer) if self.is_looped else TEST_STATES

    def draw(self, rng: random.Random, count: int) -> list[RandomState]:
        """Plausible states in short numbers."""
        return [*map(self._rounded_state, self.random_states(rng, count))]

    def _finish_states(
        self, drawn: Sequence[RandomState], programs: Sequence[Program]
    ) -> list[RandomState]:
        """The drawn states as plausible ones in short numbers. Consistent torques and accelerations
        need a run of the reference model, so they are computed only if a program reads them."""
        read = any(name in ("tau", "qdd") for program in programs for name, _ in program.inputs)
        return [*map(self._rounded_state, self._with_consistent_torques(drawn) if read else drawn)]

    def _rounded_state(self, drawn: RandomState) -> RandomState:
        """A state in short numbers, except torques, which are short already, and positions that
        Newton's method found for closed loops."""
        inputs, link_parameters = drawn
        newton_positions = coupling_of(self.robot.model).newton_positions
        held_positions = {("q", place) for _, place in newton_positions}
        rounded = {
            k: tuple(
                x if (k, n) in held_positions else round(x, 4) or NONZERO_DEFAULTS.get(k, 0.0)
                for n, x in enumerate(row)
            )
            for k, row in inputs.items()
            if k != "tau"
        }
        return {k: rounded.get(k, row) for k, row in inputs.items()}, link_parameters

    def random_states(
        self, rng: random.Random, count: int, large_angles: int | None = None
    ) -> list[RandomState]:
        """Random values of the inputs that the functions read; torques and accelerations belong
        together. The state of number `large_angles`, if there is one, has angles of many turns."""
        drawn = self._draw_independently(rng, count)
        if large_angles is not None and large_angles < count:
            drawn[large_angles] = self._with_large_angles(drawn[large_angles])
        return self._with_consistent_torques(drawn)

    def _with_large_angles(self, drawn: RandomState) -> RandomState:
        """A state with angles of many turns; those that it is compared with are the same."""
        inputs, link_parameters = drawn
        scalar, rng = self.arithmetic[0], random.Random(self.source.sha256)
        large = with_large_angles(self.robot.model, inputs["q"], scalar, rng)
        turns = [a - b for a, b in zip(large, inputs["q"], strict=True)]
        moved = {
            name: tuple(
                round(x + t, 4) if t else x for x, t in zip(inputs[name], turns, strict=True)
            )
            for name in ("q_end", "q_ref")
            if name in inputs
        }
        return {**inputs, **moved, "q": large}, link_parameters

    def _draw_independently(self, rng: random.Random, count: int) -> list[RandomState]:
        ranges = {name: INPUT_RANGES.get(name, 2.0) for name in self._input_sizes}
        if self.robot.depends_on_load:
            ranges["friction"] = LOADED_FRICTION_RANGE
        if "delta" in ranges and "limit" in ranges:
            ranges["limit"] = MOTOR_LIMIT_RANGE
        states, coupling = list[RandomState](), coupling_of(self.robot.model)
        for _ in range(count):
            drawn = {
                name: tuple(rng.uniform(-ranges[name], ranges[name]) for _ in range(size))
                for name, size in self._input_sizes.items()
            }
            for name in sorted(drawn.keys() & {"q", "q_end", "q_ref"}):
                drawn[name] = with_random_unit_quaternions(coupling, drawn[name], rng)
            if "quat_ref" in drawn:
                drawn["quat_ref"] = rng.choice(UNIT_QUATERNIONS)
            blocks = self.robot.blocks.items()
            parameters = {name: perturbed_parameters(rng, block) for name, block in blocks}
            states.append((drawn, parameters))
        return states

    def _with_consistent_torques(self, drawn: Sequence[RandomState]) -> list[RandomState]:
        """The states with torques and accelerations that belong together, where torques are
        read."""
        if "tau" not in self._input_sizes:
            return [*drawn]
        pairs = torques_and_accelerations(self.robot, [inputs for inputs, _ in drawn])
        return self._with_reachable_steps(
            ({**inputs, "tau": tau, "qdd": qdd}, link_parameters)
            for (inputs, link_parameters), (tau, qdd) in zip(drawn, pairs, strict=True)
        )

    def _with_reachable_steps(self, drawn: Iterable[RandomState]) -> list[RandomState]:
        """The states, with the shortest time step where a closed loop does not close at all
        positions of a step."""
        states, looped = [*drawn], bool(self.robot.model.closures)
        stepping = [f.program for f in self.functions if looped and "h" in f.inputs]
        if not stepping:
            return states
        program = None if self.regroup is None else self.regroup.program
        finite = finite_states(stepping, program, _input_rows(states))
        return [
            (inputs if closes else {**inputs, "h": (NONZERO_DEFAULTS["h"],)}, link_parameters)
            for (inputs, link_parameters), closes in zip(states, finite, strict=True)
        ]

    @cached_property
    def _input_sizes(self) -> dict[str, int]:
        """The inputs that the functions read with their sizes, and q, q̇ and q̈; without inertial
        parameters."""
        read = {name for f in self.functions for name in f.inputs} | {"q", "qd", "qdd"}
        sizes = {a.name: prod(a.sizes(self.dimensions)) for a in INPUTS.values() if a.name in read}
        return {name: n for name, n in sizes.items() if name not in ("par", "pi")}

    @property
    def arithmetic(self) -> tuple[str, str]:
        """The scalar type of compiled code, and whose sines it has."""
        return self.options["scalar"], self.options["trig"]

    @cached_property
    def accuracy(self) -> Accuracy:
        """The errors of its functions at the test states."""
        return self.accuracy_at(self._drawn_states)

    def accuracy_at(self, drawn: Sequence[RandomState]) -> Accuracy:
        """The errors of its functions at any states; the latest ones of each number of states are
        kept, because a few test states are compared with many others."""

        def accuracy() -> Accuracy:
            return Accuracy(self.robot, self.regroup, *self.arithmetic, _input_rows(drawn))

        latest: Accuracy = self._accuracies.latest(len(drawn), [drawn], accuracy)
        return latest

    @cached_property
    def _accuracies(self) -> IdentityCache:
        return IdentityCache()

    @cached_property
    def roundings(self) -> dict[str, tuple[Rounding, ...]]:
        """Bounds of rounding errors, by function, over the test states."""
        programs = {f.name: f.program for f in self.functions}
        if self.regroup is not None:
            programs["regroup"] = self.regroup.program
        at, (scalar, _) = self.accuracy, self.arithmetic
        return {
            name: roundings(program, at.inputs, at.bounds(program), scalar)
            for name, program in programs.items()
        }

    @cached_property
    def accuracy_in_double(self) -> Accuracy:
        """The errors at the test states of code in double precision, whatever the options of C
        are; the bound of the sines of `--trig inline` includes those of libraries."""
        arithmetic = ("double", "inline")
        if self.arithmetic == arithmetic:
            return self.accuracy
        return Accuracy(self.robot, self.regroup, *arithmetic, _input_rows(self._drawn_states))

    def allowed(
        self,
        function: Function,
        accuracy: Accuracy | None = None,
        limits: Mapping[str, Any] = MappingProxyType({}),
    ) -> dict[str, QuantizedErrors]:
        """How far the entries of each output of a function may be from the reference in each test
        state, with the accuracy of C or another, at most `limits` (states x entries)."""
        wanted = {
            out.name: [state.expected[out.name] for state in self.test_states]
            for out in self.outputs(function)
        }
        errors = (accuracy or self.accuracy).allowed(function.program, wanted)
        return {
            name: quantize_errors(np.minimum(x, limits.get(name, np.inf)))
            for name, x in errors.items()
        }


def _input_rows(drawn: Sequence[RandomState]) -> dict[str, list[Floats]]:
    """The rows of each input, one for each state, ``pi`` included."""
    rows = {name: [inputs[name] for inputs, _ in drawn] for name in drawn[0][0]}
    rows["pi"] = [tuple(chain.from_iterable(parameters.values())) for _, parameters in drawn]
    return rows
