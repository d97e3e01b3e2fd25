"""A module to be written: a robot, its traced functions and every choice that shapes the files."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from math import prod
from pathlib import PurePath
from typing import Any, TypeVar

from symgen import __version__
from symgen.algorithms import INPUTS
from symgen.algorithms.registry import Array
from symgen.compiler.evaluate import evaluate
from symgen.languages.accuracy import Accuracy, Steps, steps
from symgen.mechanics.coupling import Coordinate, coupling_of, positions, upright, velocities
from symgen.mechanics.parameters import WHOLE
from symgen.mechanics.spatial import Vector
from symgen.numbers.exact import in_decimals, number
from symgen.numbers.scalar import ZERO, Scalar
from symgen.options import Choices
from symgen.proof.plausible import speeds, torques_and_accelerations, varied
from symgen.proof.rounding import Rounding, roundings
from symgen.proof.textbook import REFERENCES, State
from symgen.tracing.robot import Regroup, Robot, dimensions
from symgen.tracing.trace import Function

TEST_STATES = 5
SPREAD = {"q": 3.0, "qd": 5.0, "qdd": 20.0, "tau": 10.0, "g": 9.81}
"""Test inputs are drawn evenly from plus or minus this (2 where nothing is said)."""

Numbers = tuple[float, ...]

Group = TypeVar("Group")


@dataclass(frozen=True)
class Source:
    """Where the robot came from: the file's name without its folder, and the SHA-256 of its bytes.

    So for the file of actuators, where there is one. Of a xacro file it is the SHA-256 of what it
    expands to."""

    file: str
    sha256: str
    actuators: str | None = None
    actuators_sha256: str | None = None

    @classmethod
    def of(
        cls,
        path: str,
        sha256: str,
        actuators: str | None = None,
        actuators_sha256: str | None = None,
    ) -> "Source":
        """Of the paths and digests of the robot's file and that of its actuators."""
        return cls(
            PurePath(path).name, sha256, actuators and PurePath(actuators).name, actuators_sha256
        )


@dataclass(frozen=True)
class TestState:
    """One row of a self-test: inputs by name, and what each function's outputs must be."""

    inputs: Mapping[str, Numbers]
    tens: Mapping[str, Numbers]
    expected: Mapping[str, Numbers]


@dataclass(frozen=True, eq=False)
class Module:
    """Everything a language needs to write its files; each is itself alone, so that what is read
    off it is kept."""

    name: str
    """The prefix of all global names: a legal identifier."""
    robot: Robot
    functions: tuple[Function, ...]
    source: Source
    choices: Choices
    """The options of the job, by their groups."""

    def __getitem__(self, group: type[Group]) -> Group:
        """The options of that group, such as those of a language."""
        return self.choices[group]

    @property
    def options(self) -> dict[str, Any]:
        """All options as plain data."""
        return self.choices.flat()

    @property
    def version(self) -> str:
        return __version__

    @property
    def dof(self) -> int:
        return self.robot.model.dof

    @cached_property
    def regroup(self) -> Regroup | None:
        """The regrouping of runtime parameters that all functions share, None where there are
        none."""
        return self._layout if self.robot.runtime else None

    @cached_property
    def _layout(self) -> Regroup:
        """A regrouping of some function; one that takes the regrouped parameters `par`, if there is
        any."""
        every = [r for f in self.functions for r in f.regroups.values()]
        return next((r for r in every if r.regrouping != WHOLE), every[0])

    @cached_property
    def dimensions(self) -> dict[str, int]:
        return dimensions(self._layout)

    def inputs(self, function: Function) -> tuple[Array, ...]:
        """The input arrays of a function, in argument order."""
        return tuple(INPUTS[name] for name in function.inputs)

    def outputs(self, function: Function) -> tuple[Array, ...]:
        """The output arrays of a function, in argument order."""
        return tuple({out.name: out for q in function.quantities for out in q.outputs}.values())

    def joint_rows(self) -> list[tuple[int, str, str, str, str]]:
        """Index, joint, moved link, type and unit of each position, as data (not yet escaped)."""
        return _rows(positions(self.robot.model))

    def velocity_rows(self) -> list[tuple[int, str, str, str, str]]:
        """The same of each velocity, where these are not the rates of the positions; none
        elsewhere."""
        rows = _rows(velocities(self.robot.model))
        return rows if len(rows) < self.dimensions["nq"] else []

    @cached_property
    def test_states(self) -> tuple[TestState, ...]:
        """Random states with the outputs that the textbook gives in 40-digit arithmetic."""
        rng = random.Random(self.source.sha256)
        return tuple(self._test_state(rng) for _ in range(TEST_STATES))

    @property
    def arithmetic(self) -> tuple[str, str]:
        """The scalar type of compiled code, and whose sines it has."""
        return self.options["scalar"], self.options["trig"]

    @cached_property
    def accuracy(self) -> Accuracy:
        """The errors of its functions at the test states."""
        states = {
            name: [state.inputs[name] for state in self.test_states]
            for name in self.test_states[0].inputs
        }
        states["pi"] = [tuple(x for ten in s.tens.values() for x in ten) for s in self.test_states]
        return Accuracy(self.robot, self.regroup, *self.arithmetic, states)

    @cached_property
    def roundings(self) -> dict[str, tuple[Rounding, ...]]:
        """Bounds of rounding errors, by function, over the test states."""
        programs = {f.name: f.program for f in self.functions}
        if self.regroup is not None:
            programs["regroup"] = self.regroup.program
        inputs = self.accuracy.inputs
        return {
            name: roundings(program, inputs, *self.arithmetic) for name, program in programs.items()
        }

    def allowed(self, function: Function) -> dict[str, Steps]:
        """By output of a function, how far its entries may be from the reference in each test
        state."""
        wanted = {
            out.name: [state.expected[out.name] for state in self.test_states]
            for out in self.outputs(function)
        }
        found = self.accuracy.allowed(function.program, wanted)
        return {name: steps(x) for name, x in found.items()}

    def random_inputs(self, rng: random.Random) -> dict[str, Numbers]:
        """Random values of the inputs that the functions read, inertial parameters of `blocks`
        apart; torques and accelerations belong together."""
        read = {name for f in self.functions for name in f.inputs} | {"q", "qd", "qdd"}
        sizes = {
            a.name: prod(a.sizes(self.dimensions))
            for a in INPUTS.values()
            if a.name in read - {"par", "pi"}
        }
        spread = {name: SPREAD.get(name, 2.0) for name in sizes}
        drawn = {
            k: tuple(rng.uniform(-spread[k], spread[k]) for _ in range(n)) for k, n in sizes.items()
        }
        drawn["q"] = upright(coupling_of(self.robot.model), drawn["q"], rng)
        drawn["qd"] = speeds(self.robot.model, drawn["qd"], SPREAD["qd"])
        if "tau" in read:
            drawn["tau"], drawn["qdd"] = torques_and_accelerations(
                self.robot.lumped, drawn, self.wrenches(drawn.get("wrench", ()))
            )
        return drawn

    def wrenches(self, flat: Sequence[Scalar]) -> dict[str, Sequence[Scalar]]:
        """The input of external wrenches by link."""
        return {link: flat[6 * k : 6 * k + 6] for k, link in enumerate(self.robot.wrenches) if flat}

    def frictions(self, given: Sequence[Scalar] | None) -> list[tuple[float, ...]]:
        """Viscous, Coulomb and offset of each joint as numbers, none without friction."""
        rows = self.robot.frictions(given) if self.robot.friction else []
        return [(_plain(row.viscous), _plain(row.coulomb), _plain(row.offset)) for row in rows]

    def _test_state(self, rng: random.Random) -> TestState:
        inputs = {
            k: values if k == "tau" else tuple(round(x, 4) for x in values)
            for k, values in self.random_inputs(rng).items()
        }
        tens = {name: varied(rng, ten) for name, ten in self.robot.blocks.items()}
        return TestState(inputs, tens, self._expected(inputs, tens))

    def _expected(
        self, inputs: Mapping[str, Numbers], tens: Mapping[str, Numbers]
    ) -> dict[str, Numbers]:
        exact = {name: [number(x) for x in values] for name, values in inputs.items()}
        given = self._given(inputs, tens)
        found: dict[str, Numbers] = {}
        for function in self.functions:
            wanted = [out.name for out in self.outputs(function) if out.name not in found]
            found |= {
                name: self._judged(name, exact, tens) for name in wanted if name in REFERENCES
            }
            if not found.keys() >= set(wanted):
                with in_decimals():
                    run = evaluate(
                        function.program, {name: given[name] for name in function.inputs}, Decimal
                    )
                found |= {
                    name: tuple(map(float, run[name])) for name in wanted if name not in found
                }
        return found

    def _judged(
        self, output: str, exact: Mapping[str, list[Scalar]], tens: Mapping[str, Numbers]
    ) -> Numbers:
        """From the independent judge; what that does not know comes from the tape in many
        digits."""
        model = self.robot.lumped
        fall = Vector(*exact["g"]) if "g" in exact else Vector(*model.gravity)
        state = State(
            exact["q"],
            exact["qd"],
            exact["qdd"],
            fall,
            tens,
            self.wrenches(exact.get("wrench", ())),
            self.frictions(exact.get("friction")),
            self.robot.friction_width,
        )
        return tuple(map(float, REFERENCES[output](model, state)))

    def _given(
        self, inputs: Mapping[str, Numbers], tens: Mapping[str, Numbers]
    ) -> dict[str, list[Scalar]]:
        """The inputs of all functions as decimal numbers."""
        given: dict[str, list[Scalar]] = {
            name: [Decimal(x) for x in values] for name, values in inputs.items()
        }
        given["pi"] = [Decimal(x) for ten in tens.values() for x in ten]
        if self.regroup is not None:
            with in_decimals():
                given["par"] = evaluate(self.regroup.program, {"pi": given["pi"]}, Decimal)["par"]
        return given


def _rows(coordinates: Sequence[Coordinate]) -> list[tuple[int, str, str, str, str]]:
    return [(k, c.name, c.link, c.kind, c.unit) for k, c in enumerate(coordinates)]


def _plain(x: Scalar) -> Scalar:
    return 0.0 if x is ZERO else x
