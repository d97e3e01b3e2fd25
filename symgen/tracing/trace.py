"""From a robot and a choice of quantities to programs: every algorithm runs once, on tape values.

Each function is traced in every formulation of its quantities; the best for an aim
(`symgen.compiler.objective`), most often the cheapest, is kept.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Final

from symgen.algorithms.fluids import (
    ALGORITHMS_WITH_FLUIDS,
    INDEPENDENT_OF_FORCES,
    QUANTITIES_WITH_FLUIDS,
)
from symgen.algorithms.registry import INPUTS, Formulation, Quantity
from symgen.compiler.objective import Objective
from symgen.compiler.parallel import parallel_map, with_progress
from symgen.compiler.passes import dump
from symgen.errors import OptionError
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.parameters import REGROUPINGS, WHOLE
from symgen.text import quoted
from symgen.tracing.function import Function, Part, trace_parts
from symgen.tracing.physical_inertia import check_physical_inertia
from symgen.tracing.request import FunctionRequest, quantities_of_robot
from symgen.tracing.robot import ParametricModel, RegroupedModel
from symgen.tracing.singular import check_defined

Choice = Mapping[str, str]
"""The formulation to use, by quantity; the cheapest where a quantity is not named."""


FEWEST_OPERATIONS: Final = Objective()
"""Operations are counted."""


def trace(
    robot: ParametricModel,
    request: FunctionRequest,
    choice: Choice | None = None,
    objective: Objective = FEWEST_OPERATIONS,
) -> Function:
    """The best program for one function. Raises OptionError for a formulation that it does not
    have."""
    return trace_all(robot, [request], choice, objective)[0]


def trace_all(
    robot: ParametricModel,
    functions: Sequence[FunctionRequest],
    choice: Choice | None = None,
    objective: Objective = FEWEST_OPERATIONS,
    progress: Callable[[str], None] = lambda step: None,
) -> list[Function]:
    """The best program for each function; `progress` is called with each function's number.

    Runtime parameters are regrouped once for all functions, so there one regrouping serves them
    all. Raises OptionError for a formulation that a quantity does not have, and for a quantity that
    this robot does not have (see `symgen.tracing.singular.check_defined`)."""
    functions = [_with_distinct_names(robot, request) for request in functions]
    quantities = [q for request in functions for q in request.quantities]
    check_defined(robot, quantities)  # first: the next one traces
    check_physical_inertia(robot, quantities, lambda q, other: differs(q, robot, other))
    regroups = robot.regroups
    names = [request.name for request in functions]
    begins = lambda k: progress(f"function {k + 1} of {len(names)}, {names[k]}")  # noqa: E731
    if not robot.runtime:
        best_of = lambda w: _best(regroups, w, choice or {}, objective).rebalanced(objective)  # noqa: E731
        return parallel_map(best_of, functions, begins)
    pairs = [{name: regroups[name], WHOLE: regroups[WHOLE]} for name in REGROUPINGS]
    complete = [
        pair for pair in pairs if all(_combinations(w, pair, choice or {}) for w in functions)
    ]
    if not complete:
        raise OptionError(
            "with runtime parameters, all formulations must use the same regrouping of parameters"
        )
    by_regrouping = [
        [
            _best(pairs, request, choice or {}, objective)
            for request in with_progress(functions, begins)
        ]
        for pairs in complete
    ]
    best = objective.best(by_regrouping, lambda functions: [f.program for f in functions])
    return [f.rebalanced(objective) for f in best]


def is_supported(robot: ParametricModel, request: FunctionRequest) -> bool:
    """Whether each quantity of a function has a formulation for the robot."""
    try:
        return bool(_combinations(request, robot.regroups, {}))
    except OptionError:
        return False


def differs(quantity: Quantity, robot: ParametricModel, other: ParametricModel) -> bool:
    """Whether a quantity is not computed by the same operations for two robots."""
    request = FunctionRequest(quantity.name, (quantity,))
    regroups, other_regroups = robot.regroups, other.regroups
    parts = _combinations(request, regroups, {})[0]
    one, two = (
        _canonical_dump(trace_parts(each, request, parts)) for each in (regroups, other_regroups)
    )
    return one != two


def _canonical_dump(function: Function) -> str:
    """The operations of a function, those without names numbered as they come."""
    numbers: dict[str, str] = {}
    return re.sub(
        r"%\d+", lambda n: numbers.setdefault(n[0], f"%{len(numbers)}"), dump(function.program)
    )


def _with_distinct_names(robot: ParametricModel, request: FunctionRequest) -> FunctionRequest:
    """The function wanted, with outputs of links whose names are those of no others of the
    robot."""
    return replace(request, quantities=quantities_of_robot(robot, request.quantities))


def every_formulation(
    robot: ParametricModel,
    request: FunctionRequest,
    choice: Choice | None = None,
    objective: Objective = FEWEST_OPERATIONS,
) -> list[Function]:
    """The program of a function in each of its formulations, as far as `choice` leaves them
    open."""
    request, regroups = _with_distinct_names(robot, request), robot.regroups
    return [
        trace_parts(regroups, request, parts).rebalanced(objective)
        for parts in _combinations(request, regroups, choice or {})
    ]


def _best(
    regroups: Mapping[str, RegroupedModel],
    request: FunctionRequest,
    choice: Choice,
    objective: Objective,
) -> Function:
    combinations = [
        _competitive(_combinations(replace(request, quantities=(q,)), regroups, choice), regroups)
        for q in request.quantities
    ]
    if prod(map(len, combinations)) > MAX_COMBINATIONS:
        return _greedy_search(regroups, request, combinations, objective)
    tried = (trace_parts(regroups, request, sum(parts, ())) for parts in product(*combinations))
    return _best_candidate(tried, objective)


def _competitive(
    combinations: list[tuple[Part, ...]], regroups: Mapping[str, RegroupedModel]
) -> list[tuple[Part, ...]]:
    """Without those that are never the cheapest for this robot, unless they are all there is. Where
    one regrouping serves all functions, that leaves out none for its regrouping."""
    any_regrouping = sum(name != WHOLE for name in regroups) > 1
    layout = next(iter(regroups.values())).layout
    return [
        parts
        for parts in combinations
        if all(f.competitive(layout) and (f.auto_selected or not any_regrouping) for _, f in parts)
    ] or combinations


MAX_COMBINATIONS: Final = 24
"""More combinations of formulations than this are not all tried."""


def _best_candidate(candidates: Iterable[Function], objective: Objective) -> Function:
    return objective.best(candidates, lambda f: [f.program])


def _greedy_search(
    regroups: Mapping[str, RegroupedModel],
    request: FunctionRequest,
    combinations: Sequence[Sequence[tuple[Part, ...]]],
    objective: Objective,
) -> Function:
    """A greedy search, for functions with too many combinations to try them all.

    It starts from the cheapest formulation of each quantity by itself; then, one quantity after the
    other, it takes whatever is cheapest beside the rest, with which it shares expressions."""
    best_alone = (
        _best_candidate(
            (trace_parts(regroups, replace(request, quantities=(w[0][0],)), w) for w in candidates),
            objective,
        )
        for candidates in combinations
    )
    best = trace_parts(regroups, request, tuple(f.parts[0] for f in best_alone))
    for k, candidates in enumerate(combinations):
        changed = [(*best.parts[:k], *w, *best.parts[k + 1 :]) for w in candidates]
        best = _best_candidate(
            [
                best,
                *(
                    trace_parts(regroups, request, parts)
                    for parts in changed
                    if parts != best.parts
                ),
            ],
            objective,
        )
    return best


def _combinations(
    request: FunctionRequest, regroups: Mapping[str, RegroupedModel], choice: Choice
) -> list[tuple[Part, ...]]:
    """The combinations of formulations on the given regroupings."""
    layout = next(iter(regroups.values())).layout
    allowed = [
        [
            (q, formulation)
            for formulation in _applicable_formulations(q, choice.get(q.name), layout)
            if formulation.regrouping in regroups
        ]
        for q in request.quantities
    ]
    return list(product(*allowed))


def _applicable_formulations(
    q: Quantity, name: str | None, layout: CanonicalModel
) -> Sequence[Formulation]:
    named = [f for f in q.formulations if name in (None, f.name)]
    if not named:
        names = ", ".join(f.name for f in q.formulations)
        raise OptionError(f"{q.name} has no formulation {quoted([str(name)])}; there are {names}")
    named = with_fluid_forces(q, named, layout)
    applicable = [f for f in named if f.applicable(layout)]
    if not applicable:
        requested_name = f"{q.name}={name}" if name else q.name
        raise OptionError(
            f"{requested_name} does not apply to this robot: {named[0].applicable.text}"
        )
    if layout.coupling.loops and not any(f.closed_loops for f in applicable):
        raise OptionError(
            f"{q.name}: not supported for robots with closed loops; remove it, or cut the loops"
        )
    if layout.coupling.newton_positions and not _supports_held_positions(q):
        raise OptionError(
            f"{q.name}: not supported for closed loops whose positions have no closed form; remove "
            "it, or choose dependent joints that have one"
        )
    return [f for f in applicable if f.closed_loops or not layout.coupling.loops]


def with_fluid_forces(
    q: Quantity, named: Sequence[Formulation], layout: CanonicalModel
) -> list[Formulation]:
    """The formulations that contain the forces of the fluids of a robot. Raises OptionError."""
    if layout.fluids and layout.coupling.loops:
        raise OptionError("--fluid: robots with closed loops are not supported; cut the loops")
    titles = ((f, f.name.partition("/")[0]) for f in named)
    known = ALGORITHMS_WITH_FLUIDS | INDEPENDENT_OF_FORCES | QUANTITIES_WITH_FLUIDS
    supporting = [
        f for f, title in titles if {title, f"{title}:{q.name.partition(':')[0]}"} & known
    ]
    if layout.fluids and not supporting:
        raise OptionError(
            f"--fluid: {q.name} does not support the forces of fluids; remove it or --fluid"
        )
    return supporting if layout.fluids else [*named]


def _supports_held_positions(q: Quantity) -> bool:
    """Whether a quantity is right where positions of the user belong to joints that loops
    determine: it takes no derivative in positions and has no other positions."""
    names = [name for name in q.inputs if INPUTS[name].shape == ("nq",)]
    return q.name == "loop_closure" or (
        names in ([], ["q"]) and all("nq" not in out.shape for out in q.outputs)
    )
