"""The steps of ``symgen generate``: read the robot, trace its dynamics, write files."""

from collections.abc import Callable, Iterable, Sequence
from math import prod
from pathlib import Path
from typing import Final

from symgen.algorithms import LINK_QUANTITIES, QUANTITIES
from symgen.certified.fixed_types import FIXED
from symgen.errors import OptionError
from symgen.jobs.job import Job
from symgen.jobs.manifest import NAME, manifest
from symgen.jobs.publish import publish
from symgen.languages import DEFAULT_LANGUAGES, LANGUAGES, C, known_languages, module_files
from symgen.languages.c.options import PRODUCTS, COptions
from symgen.languages.module import Module
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.model import RigidBodyModel
from symgen.reading.assemble import LoadedRobot
from symgen.tracing.request import FunctionRequest

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
