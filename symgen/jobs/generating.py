"""The steps of ``symgen generate``: read the robot, trace its dynamics, write files."""

from collections.abc import Callable, Sequence
from pathlib import Path

from symgen.jobs.effects import check_effects
from symgen.jobs.expected_size import remarks
from symgen.jobs.job import Job
from symgen.jobs.manifest import NAME, manifest
from symgen.jobs.publish import publish
from symgen.languages import known_languages, module_files
from symgen.languages.module import Module
from symgen.reading.assemble import LoadedRobot


def generated_files(
    job: Job,
    out: Path,
    languages: Sequence[str],
    progress: Callable[[str], None],
    remark: Callable[[str], None] = lambda sentence: None,
) -> tuple[Module, LoadedRobot, list[Path]]:
    """Write the files of a job into the folder `out`, all of them or none. `progress` is called
    with each step, and `remark` with a sentence for each function that takes long, before it is
    traced.

    Returns the module, the loaded robot with its notices, and the paths. Raises SymgenError."""
    check_effects(job, known_languages(languages))
    progress("reading the robot")
    loaded = job.load()
    for sentence in remarks(loaded.model, job.wanted()):
        remark(sentence)
    module = job.module(loaded, progress)
    texts = module_files(module, languages, progress)
    return module, loaded, publish({**texts, NAME: manifest(module, texts)}, out)
