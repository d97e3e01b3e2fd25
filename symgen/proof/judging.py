"""Judgements of laws on a function at some states, for whoever has its results to compare."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import process_time
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from symgen.algorithms.registry import Quantity
from symgen.proof.laws import Judge, LawError, law_of
from symgen.tracing.function import Function
from symgen.tracing.robot import RuntimeModel

Array = NDArray[np.float64]
State = Mapping[str, Any]
"""Inputs by name, and ``pi`` where parameters come at run time."""

MOST_STATES: Final = 10
STEPS: Final = 20_000
"""Steps of derivatives, times velocities, that a law takes for all states together, as far as it
needs no more for one."""

NO_JUDGE: Final = "no independent reference"


@dataclass(frozen=True)
class Judgement:
    """The values that a quantity must have at the first `states` states, by output a row for each.

    Without a law there is no `judge`; a `problem` tells why a law has no values."""

    quantity: Quantity
    judge: str | None
    wanted: Mapping[str, Array]
    states: int
    seconds: float
    problem: str = ""

    @property
    def claim(self) -> str:
        """The statement about the quantity that is checked, with its reference."""
        return f"matches the reference ({self.judge})" if self.judge else f"has {NO_JUDGE}"


def steps(robot: RuntimeModel, order: int) -> int:
    """Steps of derivatives, times velocities, that a law takes at a state whose derivatives are
    nested `order` deep."""
    n = max(robot.model.dof, 1)
    return int(n * (2 * n) ** order)


@dataclass(frozen=True, eq=False)
class Judges:
    """The laws at states of a robot: one judge for each number of states that is asked for."""

    robot: RuntimeModel
    states: Sequence[State]

    @cached_property
    def _known(self) -> dict[int, Judge]:
        return {}

    def at_first(self, count: int) -> Judge:
        """At so many of the states."""
        if count not in self._known:
            rows = self.states[:count]
            inputs = {name: [row[name] for row in rows] for name in rows[0] if name != "par"}
            self._known[count] = Judge(self.robot, inputs)
        return self._known[count]


def judgements(judges: Judges, function: Function) -> Iterator[Judgement]:
    """One for each quantity of a function."""
    robot = judges.robot
    for quantity in function.quantities:
        law = law_of(quantity)
        if law is None:
            yield Judgement(quantity, None, {}, 0, 0.0, NO_JUDGE)
            continue
        most = min(MOST_STATES, max(1, STEPS // steps(robot, law.order)))
        count, start = min(most, len(judges.states)), process_time()
        try:
            outputs, problem = judges.at_first(count).of(quantity), ""
        except (LawError, ArithmeticError) as error:
            outputs, problem = {}, str(error) or type(error).__name__
        wanted = {name: values.astype(float) for name, values in outputs.items()}
        seconds = process_time() - start
        yield Judgement(quantity, law.judge, wanted, count, seconds, problem)
