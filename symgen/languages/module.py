"""A module to be written: a robot, its traced functions and every choice that shapes the files."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from symgen import __version__
from symgen.algorithms import INPUTS
from symgen.algorithms.registry import Array
from symgen.compiler.program import LoopProgram, Program
from symgen.languages.accuracy import Accuracy, Steps, steps
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.joint_listing import (
    UserCoordinate,
    position_coordinates,
    velocity_coordinates,
)
from symgen.mechanics.parameters import WHOLE
from symgen.numbers.caching import IdentityCache
from symgen.options import Choices, rows
from symgen.proof.bounds import Rounding, roundings
from symgen.proof.reference_values import References, references
from symgen.proof.state_generation import (
    UNIT_QUATERNIONS,
    choose_states,
    finite_states,
    torques_and_accelerations,
    varied,
    with_large_angles,
    with_random_unit_quaternions,
)
from symgen.tracing.function import Function
from symgen.tracing.robot import ParametricModel, RegroupedModel, dimensions

TEST_STATES = 5
FEWEST_TEST_STATES = 2
TEST_ENTRIES = 20_000
"""Entries of the results of a function with loops over bodies, at all states together, above which
there are fewer states."""
CANDIDATES = 64
"""States of which those become test states that tell most."""

SPREAD = {"q": 3.0, "qd": 5.0, "qdd": 20.0, "tau": 10.0, "g": 9.81, "h": 0.01, "limit": 20.0}
SPREAD |= {"presliding": 1.0}
"""Test inputs are drawn evenly from plus or minus this (2 where nothing is said)."""
NONZERO = {"h": 1e-4}
"""Short numbers of inputs that quantities divide by, where rounding gives 0."""
LOADED_FRICTION_SPREAD = 0.4
"""The same for coefficients of friction that depends on the load: the coefficients of `load` and
`presliding_load` together have to be below 1."""
MOTOR_LIMIT_SPREAD = 5000.0
"""The same for the limit of motors behind springs, whose torques contain four derivatives."""

Floats = tuple[float, ...]
Drawn = tuple[Mapping[str, Floats], Mapping[str, Floats]]
"""Inputs by name, and inertial parameters by link, of a state."""


Group = TypeVar("Group")


@dataclass(frozen=True)
class RobotOrigin:
    """Where the robot came from: the file's name without its folder, and the SHA-256 of its bytes.

    So for the file of actuators, where there is one. Of a xacro file it is the SHA-256 of what it
    expands to."""

    file: str
    sha256: str
    actuators: str | None = None
    actuators_sha256: str | None = None


@dataclass(frozen=True)
class TestState:
    """One row of a self-test: inputs by name, and what each function's outputs must be."""

    inputs: Mapping[str, Floats]
    tens: Mapping[str, Floats]
    expected: Mapping[str, Floats]


@dataclass(frozen=True, eq=False)
class Module:
    """Everything a language needs to write its files; each is itself alone, so that what is read
    off it is kept."""

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
        """Whether its functions are loops over the bodies, of which there is no tape."""
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
        """The regrouping of runtime parameters that all functions share, None where there are
        none."""
        return self._layout if self.robot.runtime else None

    @cached_property
    def _layout(self) -> RegroupedModel:
        """A regrouping of some function; one that takes the regrouped parameters `par`, if there is
        any."""
        regroups = [r for f in self.functions for r in f.regroups.values()]
        return next((r for r in regroups if r.regrouping != WHOLE), regroups[0])

    @property
    def layout(self) -> CanonicalModel:
        """The robot as its functions see it."""
        return self._layout.layout

    @property
    def cause_of_failure(self) -> str:
        """Why its functions that solve for accelerations, or close loops, can fail."""
        loops = "a closed loop cannot reach the state, " if self.robot.model.closures else ""
        return f"{loops}the mass matrix is not positive definite"

    @cached_property
    def dimensions(self) -> dict[str, int]:
        """The named sizes of arrays."""
        return dimensions(self._layout)

    def inputs(self, function: Function) -> tuple[Array, ...]:
        """The input arrays of a function, in argument order."""
        return tuple(INPUTS[name] for name in function.inputs)

    def outputs(self, function: Function) -> tuple[Array, ...]:
        """The output arrays of a function, in argument order."""
        return tuple({out.name: out for q in function.quantities for out in q.outputs}.values())

    def joint_rows(self) -> list[tuple[int, str, str, str, str]]:
        """Index, joint, moved link, type and unit of each position, as data (not yet escaped)."""
        return _rows(position_coordinates(self.robot.model))

    def velocity_rows(self) -> list[tuple[int, str, str, str, str]]:
        """The row of the table of joints for each velocity, where these are not the rates of the
        positions; none elsewhere."""
        rows = _rows(velocity_coordinates(self.robot.model))
        return rows if len(rows) < self.dimensions["nq"] else []

    @cached_property
    def test_states(self) -> tuple[TestState, ...]:
        """Plausible states with the values of the outputs there."""
        values = self.references.values
        return tuple(
            TestState(inputs, tens, {name: rows[k] for name, rows in values.items()})
            for k, (inputs, tens) in enumerate(self._drawn)
        )

    @cached_property
    def references(self) -> References:
        """The values of the outputs at the states of the self-test, and where these come from."""
        return references(self.robot, self.functions, self.regroup, _rows_of(self._drawn))

    @cached_property
    def _drawn(self) -> list[Drawn]:
        """The states of the self-test, one of them with large angles."""
        rng = random.Random(self.source.sha256)
        programs = [f.program for f in self.functions if not isinstance(f.program, LoopProgram)]
        draw = partial(self._draw, rng)
        first = draw(self._test_count)
        first[-1] = self._turned_far(first[-1])
        return choose_states(programs, first, draw, self._finished, self.accuracy_at, CANDIDATES)

    @property
    def _test_count(self) -> int:
        """The number of states of the self-test: fewer for large results of loops over bodies."""
        most = max(sum(prod(out.shape) for out in f.program.outputs) for f in self.functions)
        fewer = max(FEWEST_TEST_STATES, TEST_ENTRIES // max(most, 1))
        return min(TEST_STATES, fewer) if self.is_looped else TEST_STATES

    def draw(self, rng: random.Random, count: int) -> list[Drawn]:
        """Plausible states in short numbers."""
        return [*map(self._short, self.random_states(rng, count))]

    def _finished(self, drawn: Sequence[Drawn], programs: Sequence[Program]) -> list[Drawn]:
        """The drawn states as plausible ones in short numbers. Where no program reads torques or
        accelerations, these are left as they are: that they belong together takes a textbook
        run."""
        read = any(name in ("tau", "qdd") for program in programs for name, _ in program.inputs)
        return [*map(self._short, self._together(drawn) if read else drawn)]

    def _short(self, drawn: Drawn) -> Drawn:
        """A state in short numbers; torques are so already, and positions at which loops of
        Newton's method close stay as they are."""
        inputs, tens = drawn
        held = {("q", place) for _, place in coupling_of(self.robot.model).held}
        short = {
            k: tuple(
                x if (k, n) in held else round(x, 4) or NONZERO.get(k, 0.0)
                for n, x in enumerate(row)
            )
            for k, row in inputs.items()
            if k != "tau"
        }
        return {k: short.get(k, row) for k, row in inputs.items()}, tens

    def random_states(
        self, rng: random.Random, count: int, large_angles: int | None = None
    ) -> list[Drawn]:
        """Random values of the inputs that the functions read; torques and accelerations belong
        together. The state of number `large_angles`, if there is one, has angles of many turns."""
        drawn = self._draw(rng, count)
        if large_angles is not None and large_angles < count:
            drawn[large_angles] = self._turned_far(drawn[large_angles])
        return self._together(drawn)

    def _turned_far(self, drawn: Drawn) -> Drawn:
        """A state with angles of many turns; those that it is compared with are the same."""
        inputs, tens = drawn
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
        return {**inputs, **moved, "q": large}, tens

    def _draw(self, rng: random.Random, count: int) -> list[Drawn]:
        return [
            (self._random(rng), {name: varied(rng, ten) for name, ten in self.robot.blocks.items()})
            for _ in range(count)
        ]

    def _together(self, drawn: Sequence[Drawn]) -> list[Drawn]:
        """The states with torques and accelerations that belong together, where torques are
        read."""
        if "tau" not in self._read:
            return [*drawn]
        pairs = torques_and_accelerations(self.robot, [inputs for inputs, _ in drawn])
        return self._within_reach(
            ({**inputs, "tau": tau, "qdd": qdd}, tens)
            for (inputs, tens), (tau, qdd) in zip(drawn, pairs, strict=True)
        )

    def _within_reach(self, drawn: Iterable[Drawn]) -> list[Drawn]:
        """The states, with the shortest time step where a closed loop does not close at all
        positions of a step."""
        states, looped = [*drawn], bool(self.robot.model.closures)
        stepping = [f.program for f in self.functions if looped and "h" in f.inputs]
        if not stepping:
            return states
        program = None if self.regroup is None else self.regroup.program
        finite = finite_states(stepping, program, _rows_of(states))
        return [
            (inputs if closes else {**inputs, "h": (NONZERO["h"],)}, tens)
            for (inputs, tens), closes in zip(states, finite, strict=True)
        ]

    @cached_property
    def _read(self) -> dict[str, int]:
        """The inputs that the functions read with their sizes, and q, q̇ and q̈; without inertial
        parameters."""
        read = {name for f in self.functions for name in f.inputs} | {"q", "qd", "qdd"}
        sizes = {a.name: prod(a.sizes(self.dimensions)) for a in INPUTS.values() if a.name in read}
        return {name: n for name, n in sizes.items() if name not in ("par", "pi")}

    def _random(self, rng: random.Random) -> dict[str, Floats]:
        spread = {name: SPREAD.get(name, 2.0) for name in self._read}
        if self.robot.depends_on_load:
            spread["friction"] = LOADED_FRICTION_SPREAD
        if "delta" in spread and "limit" in spread:
            spread["limit"] = MOTOR_LIMIT_SPREAD
        drawn = {
            k: tuple(rng.uniform(-spread[k], spread[k]) for _ in range(n))
            for k, n in self._read.items()
        }
        for name in sorted(drawn.keys() & {"q", "q_end", "q_ref"}):
            drawn[name] = with_random_unit_quaternions(
                coupling_of(self.robot.model), drawn[name], rng
            )
        if "quat_ref" in drawn:
            drawn["quat_ref"] = rng.choice(UNIT_QUATERNIONS)
        return drawn

    @property
    def arithmetic(self) -> tuple[str, str]:
        """The scalar type of compiled code, and whose sines it has."""
        return self.options["scalar"], self.options["trig"]

    @cached_property
    def accuracy(self) -> Accuracy:
        """The errors of its functions at the test states."""
        return self.accuracy_at(self._drawn)

    def accuracy_at(self, drawn: Sequence[Drawn]) -> Accuracy:
        """The errors of its functions at any states; the latest ones of each number of states are
        kept, because a few test states are compared with many others."""

        def accuracy() -> Accuracy:
            return Accuracy(self.robot, self.regroup, *self.arithmetic, _rows_of(drawn))

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
        return Accuracy(self.robot, self.regroup, *arithmetic, _rows_of(self._drawn))

    def allowed(
        self,
        function: Function,
        accuracy: Accuracy | None = None,
        most: Mapping[str, Any] = MappingProxyType({}),
    ) -> dict[str, Steps]:
        """How far the entries of each output of a function may be from the reference in each test
        state, with the accuracy of C or another, and no further than `most` (states x entries)."""
        wanted = {
            out.name: [state.expected[out.name] for state in self.test_states]
            for out in self.outputs(function)
        }
        limits = (accuracy or self.accuracy).allowed(function.program, wanted)
        return {name: steps(np.minimum(x, most.get(name, np.inf))) for name, x in limits.items()}


def _rows_of(drawn: Sequence[Drawn]) -> dict[str, list[Floats]]:
    """The rows of each input, one for each state, ``pi`` included."""
    rows = {name: [inputs[name] for inputs, _ in drawn] for name in drawn[0][0]}
    return rows | {"pi": [tuple(x for ten in tens.values() for x in ten) for _, tens in drawn]}


def _rows(coordinates: Sequence[UserCoordinate]) -> list[tuple[int, str, str, str, str]]:
    return [(k, c.name, c.link, c.kind, c.unit) for k, c in enumerate(coordinates)]
