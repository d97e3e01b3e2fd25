"""The steps of ``symgen generate``: read the robot, measure formulations (``--tune``), trace its
dynamics, write files; and of ``symgen convert``."""

import os
import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np

from symgen.algorithms import LINK_QUANTITIES, QUANTITIES
from symgen.algorithms.registry import Quantity
from symgen.certified.fixed_types import FIXED
from symgen.compiler.objective import HOST, Cost, Objective
from symgen.errors import Notice, OptionError
from symgen.jobs.job import Job
from symgen.jobs.manifest import NAME, manifest
from symgen.jobs.publish import publish, write_new
from symgen.languages import DEFAULT_LANGUAGES, LANGUAGES, C, known_languages, module_files
from symgen.languages.c.backend import code_files
from symgen.languages.c.checks import batch_source, loop_declaration, loop_name
from symgen.languages.c.options import PRODUCTS, COptions
from symgen.languages.describe import descriptions
from symgen.languages.module import Module
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.model import RigidBodyModel
from symgen.native.compiler import platform
from symgen.native.library import Library
from symgen.numbers.trig import TYPES
from symgen.reading.assemble import LoadedRobot
from symgen.reading.description_changes import repair_inertias, rerooted, symbols
from symgen.reading.options import NO_SOURCE_OPTIONS, SourceOptions
from symgen.reading.sources import RobotSource, describe
from symgen.reading.subtree import extract_subtree
from symgen.reading.urdf.urdf_writer import urdf_bytes
from symgen.text import quoted
from symgen.tracing.function import Function
from symgen.tracing.options import FunctionOptions
from symgen.tracing.request import FunctionRequest
from symgen.tracing.trace import every_formulation

LARGE_OUTPUT: Final = 15_000
"""Output entries of a function from which on an estimate is printed."""

C_BYTES_PER_ENTRY: Final = 500
MEMORY_PER_ENTRY: Final = 65_000
SECONDS_PER_ENTRY: Final = 1.5e-3
"""Bytes of C, bytes of memory and seconds for each output entry: measured at the derivatives of
inverse dynamics of a chain of 100 joints (15 MB, 2.0 GB, 42 s for 30,000 entries). Entries of other
matrices take less: those of the mass matrix 290 B, 15 kB and 0.5 ms."""


def notes_on_large_functions(
    model: RigidBodyModel, functions: Sequence[FunctionRequest]
) -> list[str]:
    """A sentence for each function with many output entries, with its estimated size and time.
    Structural zeros are counted, so that trees with many branches need less."""
    n, ten = coupling_of(model).velocities, 10 * len(model.bodies)
    # Sizes of arrays before parameters are regrouped.
    sizes = {
        "n": n,
        "n2": n * (n + 1) // 2,
        "ten": ten,
        "y": ten,
        "b": ten,
        "y_b": ten,
        "thrust": 0,
    }
    counts = {
        wanted.name: sum(
            prod(axis if isinstance(axis, int) else sizes.get(axis, 1) for axis in out.shape)
            for quantity in wanted.quantities
            for out in quantity.outputs
        )
        for wanted in functions
    }
    return [
        f"{name} has {count:,} entries, which can take up to "
        f"{count * C_BYTES_PER_ENTRY / 1e6:.0f} MB of C, "
        f"{count * MEMORY_PER_ENTRY / 1e9:.1f} GB of memory and {count * SECONDS_PER_ENTRY:.0f} s"
        for name, count in counts.items()
        if count >= LARGE_OUTPUT
    ]


OPTION_TARGETS: Final = {name: (name,) for name in (*LANGUAGES, *PRODUCTS)}
"""What options of languages apply to, each with its name as its tag."""


def check_effects(job: Job, targets: Iterable[str]) -> None:
    """Refuse options that change neither a target (a language, or one of `PRODUCTS`) nor a function
    of the job. Raises OptionError."""
    targets, scalar = [*targets], job[COptions].scalar
    other = [name for name in targets if name != C.name]
    if scalar in FIXED and other:
        raise OptionError(
            f"--scalar {scalar}: only C has fixed point; remove '{other[0]}' or use float"
        )
    job.choices.check_effect({name: (name,) for name in targets}, OPTION_TARGETS)
    check_functions(job)


def check_functions(job: Job) -> None:
    """Refuse options that change no function of the job. Raises OptionError."""
    functions = job.wanted()
    quantities = [quantity for function in functions for quantity in function.quantities]
    unused = job.choice().keys() - {quantity.name for quantity in quantities}
    if unused and "formulations" in job.choices.given:
        raise OptionError(f"--formulation {min(unused)}: no function computes that quantity")
    known = {q.name: q.tags for q in (*QUANTITIES.values(), *LINK_QUANTITIES.values())}
    job.choices.check_effect({q.name: q.tags for q in quantities}, known)


def generated_files(
    job: Job,
    out: Path,
    languages: Sequence[str] | None,
    progress: Callable[[str], None],
    remark: Callable[[str], None] = lambda sentence: None,
) -> tuple[Module, LoadedRobot, list[Path]]:
    """Write the files of a job into the folder `out`, all of them or none. No languages are C and
    Python, and C alone in fixed point. `progress` is called with each step, and `remark` with a
    sentence for each function that takes long, before it is traced.

    Returns the module, the loaded robot with its notices, and the paths. Raises SymgenError."""
    default = (C.name,) if job[COptions].scalar in FIXED else DEFAULT_LANGUAGES
    chosen = known_languages(languages or default)
    check_effects(job, chosen)
    progress("reading the robot")
    loaded, in_c = job.load(), not languages or chosen == [C.name]
    robot = job.robot(loaded)
    looped = job.looped(robot) if in_c else set()
    for sentence in notes_on_large_functions(loaded.model, job.functions(robot)):
        avoided = sentence.partition(" ")[0] in looped
        remark(f"as straight-line code, {sentence}" if avoided else sentence)
    module = job.module(loaded, progress, in_c)
    if module.is_looped and not languages:
        chosen = [C.name]
    texts = module_files(module, chosen, progress)
    return module, loaded, publish({**texts, NAME: manifest(module, texts)}, out)


def convert(
    source: RobotSource,
    out: str,
    options: SourceOptions = NO_SOURCE_OPTIONS,
    repair: str | None = None,
    root: str | None = None,
    tip: str | None = None,
    reroot: str | None = None,
) -> tuple[Notice, ...]:
    """Write the robot of a `source` to a new URDF file `out`. With `root` and `tip`, only the part
    from link `root` out to link `tip` is written; `reroot` is the link that becomes the root of
    that part, `repair` repairs impossible inertias (`symgen.reading.description_changes`). Returns
    the notices of reading and of properties that URDF cannot represent. Raises SymgenError; then
    nothing is written."""
    if Path(out).suffix.lower() != ".urdf":
        raise OptionError(f"--out {out!r}: the name of a URDF file must end in .urdf")
    robot = repair_inertias(describe(source, options), repair)
    if reroot is not None:
        robot, root = rerooted(extract_subtree(robot, root, None), reroot), reroot
    robot = extract_subtree(robot, root, tip)
    names = symbols(robot)
    if names:
        raise OptionError(
            f"a URDF file contains numbers only, and the robot has the symbols {quoted(names)}; "
            "replace them by values with robot.subs({...})"
        )
    data, unsaid = urdf_bytes(robot)
    write_new(Path(out), data)
    return (*(n for n in robot.notices if "fluid" not in n.unless), *unsaid)


# -- tuning ----------------------------------------------------------------------------------------


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
    """The job with the fastest formulation for each of its quantities (``--tune``), and what was
    measured. Raises SymgenError.

    A model of a processor cannot know what a compiler makes of a function, nor the caches. So what
    the model ranks first is measured; the choice becomes an option like any other
    (``--formulation``), and with it the same bytes come out everywhere."""
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
