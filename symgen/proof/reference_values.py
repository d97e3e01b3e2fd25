"""Reference values of a module's functions: from the laws, or, where a law costs too much, from the
function's own algorithm in many digits; and which of the two it was."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from time import process_time
from typing import Any, Final

import numpy as np

from symgen.algorithms.registry import Quantity
from symgen.compiler.evaluate import evaluate_exactly
from symgen.compiler.parallel import parallel_map
from symgen.compiler.program import LoopProgram
from symgen.numbers.caching import cached_method
from symgen.numbers.decimals import REFERENCE_DIGITS, decimal_precision
from symgen.numbers.scalar import Numbers, Scalar
from symgen.proof.laws import LawError, LawEvaluator, law_of
from symgen.proof.states import decimals
from symgen.tracing.function import Function
from symgen.tracing.robot import ParametricModel, RegroupedModel

State = Mapping[str, Any]
"""Inputs by name, and ``pi`` where parameters come at run time."""

MAX_STATES: Final = 10
MAX_DERIVATIVE_STEPS: Final = 20_000
"""Steps of derivatives, times velocities, that a law takes for all states together, as far as it
needs no more for one."""

NO_REFERENCE: Final = "no independent reference"


@dataclass(frozen=True)
class ReferenceResult:
    """The values that a quantity must have at the first `states` states, by output a row for each.

    Without a law there is no `reference`; a `problem` tells why a law has no values."""

    quantity: Quantity
    reference: str | None
    wanted: Mapping[str, Numbers]
    states: int
    seconds: float
    problem: str = ""

    @property
    def claim(self) -> str:
        """The statement about the quantity that is checked, with its reference."""
        return (
            f"matches the reference ({self.reference})" if self.reference else f"has {NO_REFERENCE}"
        )


def derivative_steps(robot: ParametricModel, order: int) -> int:
    """Steps of derivatives, times velocities, that a law takes at a state whose derivatives are
    nested `order` deep."""
    n = max(robot.model.dof, 1)
    return int(n * (2 * n) ** order)


@dataclass(frozen=True, eq=False)
class EvaluatorsByCount:
    """The laws at states of a robot, with one evaluator for each number of states."""

    robot: ParametricModel
    states: Sequence[State]

    @cached_method
    def at_first(self, count: int) -> LawEvaluator:
        """The evaluator for the first `count` states."""
        rows = self.states[:count]
        inputs = {name: [row[name] for row in rows] for name in rows[0] if name != "par"}
        return LawEvaluator(self.robot, inputs)


def reference_results(
    evaluators: EvaluatorsByCount, function: Function
) -> Iterator[ReferenceResult]:
    """One for each quantity of a function."""
    robot = evaluators.robot
    for quantity in function.quantities:
        law = law_of(quantity)
        if law is None:
            yield ReferenceResult(quantity, None, {}, 0, 0.0, NO_REFERENCE)
            continue
        most = min(MAX_STATES, max(1, MAX_DERIVATIVE_STEPS // derivative_steps(robot, law.order)))
        count, start = min(most, len(evaluators.states)), process_time()
        try:
            outputs, problem = evaluators.at_first(count).of(quantity), ""
        except (LawError, ArithmeticError) as error:
            outputs, problem = {}, str(error) or type(error).__name__
        wanted = {name: values.astype(float) for name, values in outputs.items()}
        seconds = process_time() - start
        yield ReferenceResult(quantity, law.reference, wanted, count, seconds, problem)


Floats = tuple[float, ...]
Inputs = Mapping[str, Sequence[Sequence[float]]]
"""The rows of each input array, one for each state; those of ``pi`` are the user's inertial
parameters."""

SAME_ALGORITHM: Final = f"the same algorithm in {REFERENCE_DIGITS} digits"
MAX_SELF_TEST_STEPS: Final = 2_500
"""Steps of derivatives, times velocities, that a law may take at each state of a self-test: first
derivatives of up to 35 velocities, second ones of up to 8. The laws of all 99 quantities of a UR5
then take 2 s for five states, those of first order of the 25-joint humanoid 3 s."""
MAX_SELF_TEST_BODIES: Final = 300
"""Most bodies of a robot for which laws give the values of a self-test."""
RELATIVE_ZERO: Final = 1e-32
"""Less than two errors of doubles make together, as a part of the largest entry of an output."""


@dataclass(frozen=True)
class References:
    """The values of each output at each state, and in words where those of each function come
    from."""

    values: Mapping[str, Sequence[Floats]]
    sources: Mapping[str, tuple[str, ...]]


def source(robot: ParametricModel, quantity: Quantity) -> str:
    """In words, what the reference values of a quantity in a self-test are computed by."""
    law = law_of(quantity)
    return law.reference if law is not None and affordable(robot, law.order) else SAME_ALGORITHM


def affordable(robot: ParametricModel, order: int) -> bool:
    """Whether a law with so many nested derivatives may give the values of a self-test: it takes
    all pairs of bodies, more than there are velocities where joints mimic others."""
    return (
        derivative_steps(robot, order) <= MAX_SELF_TEST_STEPS
        and len(robot.model.bodies) <= MAX_SELF_TEST_BODIES
    )


def references(
    robot: ParametricModel,
    functions: Sequence[Function],
    regroup: RegroupedModel | None,
    inputs: Inputs,
) -> References:
    """The values of all outputs of the functions."""
    evaluator, values = LawEvaluator(robot, inputs), dict[str, Sequence[Floats]]()
    named, pending = set[str](), list[tuple[Quantity, Function]]()
    for function in functions:
        for quantity in function.quantities:
            if not named.issuperset(out.name for out in quantity.outputs):
                named.update(out.name for out in quantity.outputs)
                pending.append((quantity, function))
    for arrays in parallel_map(lambda row: _of(evaluator, *row, regroup), pending):
        values |= {name: rows for name, rows in arrays.items() if name not in values}
    sources = {
        f.name: tuple(dict.fromkeys(source(robot, q) for q in f.quantities)) for f in functions
    }
    return References(values, sources)


def _of(
    evaluator: LawEvaluator, quantity: Quantity, function: Function, regroup: RegroupedModel | None
) -> dict[str, Sequence[Floats]]:
    if source(evaluator.robot, quantity) != SAME_ALGORITHM:
        outputs: Mapping[str, Any] = evaluator.of(quantity)
    else:
        results = _run(function, regroup, evaluator.inputs)
        outputs = {out.name: results[out.name] for out in quantity.outputs}
    return {name: [_floats(row) for row in rows] for name, rows in outputs.items()}


def _floats(row: Sequence[Scalar]) -> Floats:
    """The entries of an output. What is `DUST` beside the largest is a zero but for the last digits
    of the law, which depend on the order that it computes in, as do the last digits of all
    others: a value half-way between two doubles is rounded without them."""
    rounded = Context(prec=REFERENCE_DIGITS)
    entries: list[Any] = [rounded.plus(x) if isinstance(x, Decimal) else x for x in row]
    values = np.array(entries, object).astype(float)
    sizes = np.abs(values)
    values[sizes < RELATIVE_ZERO * sizes.max(initial=0.0, where=np.isfinite(sizes))] = 0.0
    return tuple(values.tolist())


def _run(function: Function, regroup: RegroupedModel | None, inputs: Inputs) -> dict[str, Any]:
    """The tape of a function in decimal numbers; the states first, as in its inputs. Where there is
    no tape, its algorithm on floats."""
    if isinstance(function.program, LoopProgram):
        runs = [
            function.run(**{name: list(map(float, inputs[name][k])) for name in function.inputs})
            for k in range(len(inputs["q"]))
        ]
        return {name: [run[name] for run in runs] for name in runs[0]}
    entries = {name: decimals(rows).T for name, rows in inputs.items()}
    with decimal_precision():
        if regroup is not None:
            entries |= evaluate_exactly(regroup.program, {"pi": entries["pi"]}, Decimal)
        given = {name: entries[name] for name in function.inputs}
        outputs = evaluate_exactly(function.program, given, Decimal)
    return {name: rows.T for name, rows in outputs.items()}
