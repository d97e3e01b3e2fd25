"""Controllers in C: a struct for the state, one for the gains, a start and a step, around the
function that computes it; and a closed loop that was recorded in many digits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any, Final

import numpy as np

from symgen.algorithms.controllers import (
    CONTROLLERS,
    UNIT_TOLERANCE,
    VALID_RANGES,
    ControllerType,
    diagonal_indices,
    quaternions_in,
)
from symgen.errors import OptionError
from symgen.languages.c.options import COptions
from symgen.languages.c.printed_function import CFunction
from symgen.languages.c.syntax import literal
from symgen.languages.describe import Argument
from symgen.languages.module import Module
from symgen.mechanics.coupling import coupling_of
from symgen.numbers.trig import TYPES
from symgen.proof.controller_simulation import (
    SAMPLE_TIME,
    ControlRecord,
    controller_of,
    record,
    recordable,
    rounding_departures,
    with_known_forces,
)
from symgen.render import render
from symgen.tracing.function import Function
from symgen.tracing.robot import ParametricModel

MIN_TOLERANCE: Final = {"double": 1e-9, "float": 2e-3}
"""The least difference from the record that is allowed, as a part of an output's largest entry over
the loop."""
MIN_OUTPUT_SCALE: Final = 1e-3
"""An output that stays below this counts as so large."""
ROUNDING_MARGIN: Final = 4.0
"""How many times the difference is allowed that the loop has in the module's own precision."""
MAX_ROUNDING_RATIO: Final = 0.05
"""The largest such difference, by the largest entry, with which a record says something."""


@dataclass(frozen=True)
class CController:
    """A controller of a module as C."""

    module: Module
    function: CFunction
    row: ControllerType

    def _arguments_named(self, names: Any) -> list[Argument]:
        by_name = {a.name: a for a in self.function.arguments}
        return [by_name[name] for name in names if name in by_name]

    @property
    def state(self) -> list[Argument]:
        """The arrays that the caller keeps from one step to the next."""
        return self._arguments_named(self.row.state)

    @property
    def gains(self) -> list[Argument]:
        """The arrays of constants that are set once."""
        return self._arguments_named(self.row.gains)

    @property
    def inputs(self) -> list[Argument]:
        """Arrays of a step: what changes, and what else of the robot comes at run time."""
        stored = {*self.row.state, *self.row.gains, "h"}
        return [a for a in self.function.arguments if a.direction == "in" and a.name not in stored]

    @property
    def has_sample_time(self) -> bool:
        """Whether a step takes the sample time."""
        return any(a.name == "h" for a in self.function.arguments)

    @property
    def range_checks(self) -> list[str]:
        """The conditions in C that gains and the sample time must meet; zero is excluded by the
        least number that is not denormal."""
        scalar = self.module[COptions].scalar
        stored = {a.name: f"gains->{a.name}" for a in self.gains}
        return [
            f"in_range({stored.get(a.name, '&h')}, {a.size}, {low}, {high})"
            for a in self.function.arguments
            if a.direction == "in" and a.name in VALID_RANGES
            for valid in (VALID_RANGES[a.name],)
            for low in ("LEAST" if valid.excluded else literal(valid.low, scalar),)
            for high in (literal(valid.high, scalar) if isfinite(valid.high) else "LARGEST",)
        ]

    @property
    def unit_checks(self) -> list[str]:
        """The conditions in C that quaternions must meet."""
        coupling = coupling_of(self.module.robot.model)
        return [
            f"is_unit(&{a.name}[{quaternion.start}])"
            for a in self.inputs
            for quaternion in quaternions_in(a.name, coupling)
        ]

    @property
    def valid(self) -> list[str]:
        """The values that are valid, in words."""
        names_by_text = dict[str, list[str]]()
        for a in self.function.arguments:
            if a.direction == "in" and a.name in VALID_RANGES:
                names_by_text.setdefault(VALID_RANGES[a.name].description, []).append(a.name)
        lines = [
            f"Valid range of {', '.join(names)}: {text}." for text, names in names_by_text.items()
        ]
        if self.unit_checks:
            lines.append("Valid quaternions: the length differs from 1 by at most 0.5 %.")
        return lines

    @property
    def unit_tolerance(self) -> str:
        """How much the square of a quaternion's length may differ from 1."""
        return literal(UNIT_TOLERANCE, self.module[COptions].scalar)

    @property
    def outputs(self) -> list[Argument]:
        """All that a step computes."""
        return [a for a in self.function.arguments if a.direction == "out"]

    @property
    def results(self) -> list[Argument]:
        """The results of a step for the caller: all but the state that nobody else reads."""
        private = {out for name, out in self.row.state.items() if out.endswith("_next")}
        return [a for a in self.outputs if a.name not in private]

    @property
    def record(self) -> ControlRecord | None:
        """The closed loop, None where the robot's numbers come at run time, or where it says
        nothing: it runs away, or rounding takes it anywhere (robots that nothing can hold)."""
        recorded, departures = self._recorded or (None, {})
        max_rounding = MAX_ROUNDING_RATIO
        is_informative = all(
            departures[k] <= max_rounding * max(top, MIN_OUTPUT_SCALE)
            for k, top in self._largest_values.items()
        )
        return recorded if is_informative else None

    @cached_property
    def _recorded(self) -> tuple[ControlRecord, dict[str, float]] | None:
        """The loop in many digits, and by output how far the module's precision departs from it."""
        traced = next(f for f in self.module.functions if f.name == self.function.description.name)
        if not recordable(self.row, traced):
            return None
        robot = self.module.robot
        bare = ParametricModel(
            robot.model, allow_unphysical=robot.allow_unphysical, estimated=robot.estimated
        )
        plants = dict.fromkeys((with_known_forces(robot), bare))
        return next(
            filter(None, (self._record_with_plant(plant, traced) for plant in plants)), None
        )

    def _record_with_plant(
        self, plant: ParametricModel, traced: Function
    ) -> tuple[ControlRecord, dict[str, float]] | None:
        """The loop with a simulated robot; None where it runs away, as it does where friction is
        too stiff for the steps of the simulation."""
        robot, scalar = self.module.robot, self.module[COptions].scalar
        number = TYPES[scalar]
        with np.errstate(all="ignore"):
            try:
                recorded = record(
                    robot, controller_of(robot, self.row, traced), scalar, plant=plant
                )
            except (ArithmeticError, OptionError):  # OptionError: M has no inverse to simulate with
                return None
            if recorded.largest > float(np.finfo(number).max) ** 0.5:
                return None
            loop = controller_of(robot, self.row, traced, number)
            return recorded, rounding_departures(loop, recorded, number)

    @cached_property
    def _largest_values(self) -> dict[str, float]:
        """The largest number of each output."""
        wanted = self._recorded[0].wanted if self._recorded else {}
        return {name: max(abs(x) for row in wanted[name] for x in row) for name in wanted}

    def allowed(self, name: str) -> float:
        """The largest difference of an output from its record."""
        assert self._recorded is not None
        min_error = MIN_TOLERANCE[self.module[COptions].scalar] * max(
            self._largest_values[name], MIN_OUTPUT_SCALE
        )
        return max(min_error, ROUNDING_MARGIN * self._recorded[1][name])


def controllers(module: Module, functions: Sequence[CFunction]) -> list[CController]:
    """The controllers of a module: its functions that have gains and a state."""
    names = {
        f.name: f.quantities[0].name.partition(":")[0]
        for f in module.functions
        if len(f.quantities) == 1
    }
    rows = [
        (function, CONTROLLERS.get(names.get(function.description.name, "")))
        for function in functions
    ]
    return [CController(module, function, row) for function, row in rows if row is not None]


def _call(controller: CController) -> list[str]:
    """The arguments of the function in the body of a step."""
    stored = {a.name: f"state->{a.name}" for a in controller.state}
    stored |= {a.name: f"gains->{a.name}" for a in controller.gains}
    stored |= {a.name: f"state->new_{a.name}" for a in controller.outputs}
    stored |= {"h": "&h", "w": "state->work"}
    return [stored.get(a.name, a.name) for a in controller.function.arguments]


def controller_files(module: Module, shared: Mapping[str, Any]) -> dict[str, str]:
    """A header and a source for each controller."""
    scalar = module[COptions].scalar
    texts = {}
    for controller in shared["controllers"]:
        context = {
            **shared,
            "one": controller,
            "time": SAMPLE_TIME,
            "call": _call(controller),
            "sizes_of": {a.name: a.size for a in controller.outputs},
            "unwritten": {a.name for a in controller.function.caller_zeroed},
            "side": lambda size: len(diagonal_indices(size)),
            "literal": lambda x: literal(x, scalar),
        }
        for end in ("h", "c"):
            name = f"{controller.function.full_name}_controller.{end}"
            texts[name] = render(f"c/controller.{end}.jinja", **context)
    return texts
