"""``symgen generate --tune``: the best few formulations of each quantity, compiled and timed here.

A model of a processor cannot know what a compiler makes of a function, nor the caches. So what the
model ranks first is measured; the choice becomes an option like any other (``--formulation``), and
with it the same bytes come out everywhere."""

import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from symgen.algorithms import QUANTITIES
from symgen.algorithms.registry import Quantity
from symgen.certified.fixed_types import FIXED
from symgen.compiler.objective import HOST, Cost, Objective
from symgen.errors import OptionError
from symgen.jobs.job import Job
from symgen.languages.c.backend import code_files
from symgen.languages.c.checks import batch_source, loop_declaration, loop_name
from symgen.languages.c.options import COptions
from symgen.languages.describe import descriptions
from symgen.languages.module import Module
from symgen.native.compiler import platform
from symgen.native.library import Library
from symgen.numbers.trig import TYPES
from symgen.reading.assemble import LoadedRobot
from symgen.tracing.function import Function
from symgen.tracing.options import FunctionOptions
from symgen.tracing.request import FunctionRequest
from symgen.tracing.trace import every_formulation

MAX_CANDIDATES: Final = 3
"""Formulations that are timed."""

MAX_RELATIVE_TIME: Final = 0.98
"""What takes at most this part of the time of what the model has first is chosen in its place."""

ROUNDS: Final = 40
OPERATIONS_PER_CALL: Final = 400_000
"""Operations of a call that is timed, about."""


@dataclass(frozen=True)
class TimedFormulation:
    """A formulation of a quantity, and what a call took (ns)."""

    quantity: str
    formulation: str
    operations: int
    cost: Cost
    time: float
    chosen: bool


def tuned(
    job: Job, loaded: LoadedRobot, tell: Callable[[str], None]
) -> tuple[Job, list[TimedFormulation]]:
    """The job with a formulation for each of its quantities, and what was measured. Raises
    SymgenError."""
    if job[COptions].machine is not HOST:
        raise OptionError(
            "--tune and --target: times are measured on this machine; remove one of them"
        )
    if job[COptions].scalar in FIXED:
        raise OptionError(
            f"--tune and --scalar {job[COptions].scalar}: fixed-point code is not timed; remove "
            "one of them"
        )
    module = job.module(loaded)
    timed: list[TimedFormulation] = []
    for quantity in _untuned_quantities(job, module):
        tell(f"timing {quantity.name}")
        timed += _timed_formulations(module, quantity)
    pairs = tuple((row.quantity, row.formulation) for row in timed if row.chosen)
    earlier = job[FunctionOptions].formulations
    return job.changed(formulations=(*earlier, *pairs)), timed


def _untuned_quantities(job: Job, module: Module) -> list[Quantity]:
    """The quantities that have several formulations and none that is asked for."""
    quantities = {q.name: q for f in module.functions for q in f.quantities}
    return [
        q
        for name, q in quantities.items()
        if name in QUANTITIES and name not in job.choice() and len(q.formulations) > 1
    ]


def _timed_formulations(module: Module, quantity: Quantity) -> list[TimedFormulation]:
    candidates = _candidates(module, quantity)
    if len(candidates) < 2:
        return []
    times = _times(module, candidates)
    best = min(range(len(candidates)), key=lambda k: times[k])
    chosen = best if times[best] <= MAX_RELATIVE_TIME * times[0] else 0
    return [
        TimedFormulation(
            quantity.name, f.formulation, f.counts.total, f.cost(HOST), times[k], k == chosen
        )
        for k, f in enumerate(candidates)
    ]


def _candidates(module: Module, quantity: Quantity) -> list[Function]:
    """The formulations that the model has first, each with another program; with runtime
    parameters those on the regrouping that the module has."""
    objective, shared = Objective("latency", HOST), module.regroup
    wanted = FunctionRequest(quantity.name, (quantity,))
    candidates = [
        f
        for f in every_formulation(module.robot, wanted, {}, objective)
        if shared is None or f.parts[0][1].regrouping in (shared.regrouping, "whole")
    ]
    ranked = sorted(candidates, key=lambda f: objective.price(f.program))
    distinct = {(f.counts, f.cost(HOST)): f for f in reversed(ranked)}
    return [f for f in ranked if distinct[f.counts, f.cost(HOST)] is f][:MAX_CANDIDATES]


def _times(module: Module, candidates: Sequence[Function]) -> list[float]:
    """Nanoseconds of a call of each, the least of many rounds in which all take turns. Raises
    CompilerError."""
    modules = [
        replace(module, name=f"{module.name}_{k}", functions=(f,)) for k, f in enumerate(candidates)
    ]
    files: dict[str, str] = {}
    for k, each in enumerate(modules):
        files |= {**code_files(each), f"batch_{k}.c": batch_source(each)}
    names = [loop_name(each, f.name) for each, f in zip(modules, candidates, strict=True)]
    described = [descriptions(each) for each in modules]
    declarations = "\n".join(
        loop_declaration(loop_name(each, d.name), len(d.arguments))
        for each, ds in zip(modules, described, strict=True)
        for d in ds
    )
    library = Library.build(declarations, files, platform().split(os.environ.get("CFLAGS", "")))
    count = max(32, OPERATIONS_PER_CALL // max(f.counts.total + 1 for f in candidates))
    calls = [(name, _arrays(each, count)) for name, each in zip(names, modules, strict=True)]
    least = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for k, (name, arrays) in enumerate(calls):
            start = time.perf_counter()
            library.call(name, count, *arrays)
            least[k] = min(least[k], (time.perf_counter() - start) / count * 1e9)
    return least


def _arrays(module: Module, count: int) -> list[Any]:
    """Inputs at that many states, and room for the outputs."""
    real = TYPES[module[COptions].scalar]
    states = module.random_states(random.Random(0), min(count, 64))
    arrays = []
    for a in next(d for d in descriptions(module) if d.name == module.functions[0].name).arguments:
        array = np.zeros((count, a.size), real)
        if a.direction == "in":
            if a.name in states[0][0]:
                values = np.array([inputs[a.name] for inputs, _ in states])
            else:  # inertial parameters, which need not be those of a body to be timed
                values = np.linspace(0.5, 1.5, 61)
            array[:] = np.resize(values, array.shape)
        arrays.append(array)
    return arrays
