"""The verification of a generated folder: its module, test states and checks that languages share.

Each language checks its own files (`Language.checks`). This module compares results with a run of
the same algorithms on floats, and with the reference of each quantity."""

import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from symgen.compiler.evaluate import evaluate
from symgen.languages.accuracy import Accuracy
from symgen.languages.describe import FunctionDescription, descriptions
from symgen.languages.module import Module
from symgen.native.compiler import time_limit
from symgen.numbers.scalar import AnyArray
from symgen.proof.reference_values import MAX_STATES, EvaluatorsByCount, reference_results
from symgen.tracing.function import Function

STATE_COUNT: Final = 50
MIN_STATE_COUNT: Final = 4
LARGE_ANGLE_STATE: Final = 1
"""The number of the state whose angles are of many turns: laws that take much time are tried at the
first states only."""
MAX_RUN_OPERATIONS: Final = 20_000
"""Operations of the float runs of a function at all states together, unless `MIN_STATE_COUNT`
states need more."""
RUN_OPERATIONS_VARIABLE: Final = "SYMGEN_VERIFY_OPERATIONS"
"""The environment variable that overrides `MAX_RUN_OPERATIONS`."""

Arrays = dict[str, AnyArray]


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its claim, whether the claim holds, and the figure or the reason."""

    what: str
    passed: bool
    detail: str
    ran: bool = True
    """False if a tool that the check needs is not installed; then it has not passed either."""


def not_run(what: str, reason: str) -> Check:
    """A check that could not be run, and the reason."""
    return Check(what, passed=False, detail=reason, ran=False)


@dataclass(frozen=True)
class VerificationTarget:
    """A generated folder with its module, its compiled C and the states that it is tried at."""

    folder: Path
    module: Module
    hashes: Mapping[str, str]
    count: int = STATE_COUNT
    max_run_operations: int = field(
        default_factory=lambda: int(os.environ.get(RUN_OPERATIONS_VARIABLE, MAX_RUN_OPERATIONS))
    )
    """Operations of the float runs of one function; longer functions run at fewer states."""

    @cached_property
    def states(self) -> list[Arrays]:
        """Random inputs of all functions, the same at every run; the angles of one are large."""
        drawn = self.module.random_states(random.Random(0), self.count, LARGE_ANGLE_STATE)
        regroup, states = self.module.regroup, list[Arrays]()
        for inputs, tens in drawn:
            state = {name: np.array(values) for name, values in inputs.items()}
            state["pi"] = np.array([x for ten in tens.values() for x in ten])
            if regroup is not None:
                row = evaluate(regroup.program, {"pi": state["pi"].tolist()})
                state["par"] = np.array(row["par"], float)
            states.append(state)
        return states

    def run_states(self, function: Function) -> list[Arrays]:
        """The states that a function is run at on Python's numbers: fewer of a long one."""
        affordable = self.max_run_operations // max(function.counts.total, 1)
        return self.states[: min(self.count, max(MIN_STATE_COUNT, affordable))]

    def compared_states(self, function: Function) -> list[Arrays]:
        """The states at which results of a function are compared with its float run and with the
        laws."""
        return self.states[: max(len(self.run_states(function)), MAX_STATES)]

    @cached_property
    def _runs(self) -> dict[str, list[dict[str, list[Any]]]]:
        return {}

    def runs(self, function: Function) -> list[dict[str, list[Any]]]:
        """The algorithms of a function on Python floats at `run_states` states, outputs by name;
        run once for all languages."""
        if function.name not in self._runs:
            self._runs[function.name] = [
                function.run(**{name: state[name].tolist() for name in function.inputs})
                for state in self.run_states(function)
            ]
        return self._runs[function.name]

    @cached_property
    def reference_evaluators(self) -> EvaluatorsByCount:
        """The laws at the states, the same for all functions."""
        return EvaluatorsByCount(self.module.robot, self.states)

    def accuracy(self, states: Sequence[Arrays], scalar: str | None = None) -> Accuracy:
        """How far results at some states may be off, in the module's scalar or another."""
        rows = {name: [state[name] for state in states] for name in states[0]}
        module, (of_module, trig) = self.module, self.module.arithmetic
        return Accuracy(
            module.robot,
            module.regroup,
            scalar or of_module,
            "inline" if scalar else trig,
            rows,
        )


def description_of(target: VerificationTarget, name: str) -> FunctionDescription:
    """The description of a function."""
    return next(d for d in descriptions(target.module) if d.name == name)


def inputs(d: FunctionDescription, state: Arrays) -> list[AnyArray]:
    """The inputs of a function among those of a state, in argument order."""
    return [state[a.name] for a in d.ins]


def as_tuple(result: Any) -> tuple[Any, ...]:
    """The outputs that a function has returned, one alone as a tuple too."""
    return result if isinstance(result, tuple) else (result,)


def results(d: FunctionDescription, call: Callable[..., Any], state: Arrays) -> Arrays:
    """The outputs of a compiled or Python function by name, flat."""
    with time_limit():
        arrays = as_tuple(call(*inputs(d, state)))
    return {a.name: np.ravel(array) for a, array in zip(d.outs, arrays, strict=True)}


def relative_error(result: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> float:
    """Largest difference relative to the largest entry; infinite where something is not a
    number."""
    difference = float(np.max(np.abs(result - expected), initial=0.0))
    size = float(np.max(np.abs(expected), initial=0.0)) or 1.0
    return difference / size if np.isfinite(difference) else float("inf")


def error_ratio(
    computed: Sequence[AnyArray], expected: Sequence[AnyArray], allowed: AnyArray
) -> float:
    """Largest error as a part of what is allowed of its entry; infinite where something is not a
    number."""
    shape = allowed.shape
    error = np.abs(
        np.reshape(computed, shape).astype(float) - np.reshape(expected, shape).astype(float)
    )
    with np.errstate(all="ignore"):
        parts = np.where(error == 0.0, 0.0, error / allowed)
    return float(np.where(np.isnan(parts), np.inf, parts).max(initial=0.0))


def error_ratio_to_runs(
    target: VerificationTarget, function: Function, arrays: Sequence[AnyArray]
) -> float:
    """Largest error of outputs in double precision (each states first) against the float run, as a
    part of what is allowed."""
    runs = target.runs(function)
    expected = {name: [np.array(run[name], float) for run in runs] for name in runs[0]}
    allowed = target.accuracy(target.run_states(function), "double").allowed(
        function.program, expected
    )
    pairs = zip(expected, arrays, strict=True)
    return max(
        error_ratio(list(result[: len(runs)]), expected[name], allowed[name])
        for name, result in pairs
    )


def format_error_ratio(ratio: float) -> str:
    """A share of what is allowed, in words."""
    return f"largest error {ratio:.1e} of its bound"


def compare_with_references(
    target: VerificationTarget, function: Function, outputs: Sequence[Arrays]
) -> Iterator[Check]:
    """The outputs of a function in each of its compared states against the law of each of its
    quantities."""
    for comparison in reference_results(target.reference_evaluators, function):
        name = comparison.quantity.name
        prefix = "" if name == function.name else f"{name} "
        claim = f"{function.name}: {prefix}{comparison.claim}"
        if comparison.problem:
            yield Check(claim, False, comparison.problem)
            continue
        states = target.states[: comparison.states]
        computed = outputs[: comparison.states]
        allowed = target.accuracy(states).allowed(function.program, comparison.wanted)
        ratio = max(
            error_ratio([g[name] for g in computed], list(rows), allowed[name])
            for name, rows in comparison.wanted.items()
        )
        figure = f"{format_error_ratio(ratio)}, {len(states)} states, {comparison.seconds:.1f} s"
        yield Check(claim, ratio <= 1.0, figure)
