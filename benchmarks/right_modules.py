"""Right modules must never fail: the self-tests of random robots, run on their tapes, and a share of
them compiled (part of ``python -m benchmarks.mutants``)."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.faults import Trial
from symgen.jobs.job import Job
from symgen.languages import module_files
from symgen.languages.module import Module
from symgen.mechanics.model import RigidBodyModel
from symgen.native.compiler import STRICT, run_compiler, workspace
from symgen.reading.assemble import LoadedRobot
from tests.support.random_trees import AS_WRITTEN, FAMILIES

SCALARS: Final = ("double", "float")
KINDS: Final = {**FAMILIES, **AS_WRITTEN}


@dataclass(frozen=True, slots=True)
class Verdict:
    """How many values the self-test of a right module calls wrong: on its tapes, and compiled with
    two sets of flags (None where it was not)."""

    name: str
    scalar: str
    on_tapes: int
    compiled: tuple[bool, ...] | None

    @property
    def failed(self) -> bool:
        """Whether any of them refuses the module."""
        return bool(self.on_tapes) or not all(self.compiled or ())


FLAGS: Final = (
    (),
    ("-O3", "-march=native", "-ffp-contract=fast"),
)
"""Beside the strict ones: as they are, and with fused products."""


def modules(model: RigidBodyModel) -> Iterator[Module]:
    """The module of a robot in default options, in each scalar."""
    loaded = LoadedRobot(model, (), model.name, f"{model.name}.urdf")
    for scalar in SCALARS:
        yield Job.of(loaded.file, scalar=scalar).module(loaded)


def verdicts(seeds: range, compile_every: int = 0) -> Iterator[Verdict]:
    """Of every kind of random robot, a robot a seed; every so many modules one is compiled."""
    count = 0
    for seed in seeds:
        for kind, draw in KINDS.items():
            for module in modules(draw(seed)):
                count += 1
                share = compile_every and count % compile_every == 0
                yield Verdict(
                    f"{kind} {seed}",
                    module.arithmetic[0],
                    sum(Trial(module, function).wrong() for function in module.functions),
                    compiled(module) if share else None,
                )


def compiled(module: Module) -> tuple[bool, ...]:
    """Whether its self-test passes, by set of flags."""
    with workspace() as folder:
        for name, text in module_files(module, ("c",)).items():
            (folder / name).write_text(text, encoding="utf-8")
        return tuple(_passes(folder, flags) for flags in FLAGS)


def _passes(folder: Path, flags: tuple[str, ...]) -> bool:
    names = sorted(path.name for path in folder.glob("*.c"))
    run_compiler([*STRICT, *flags, *names, "-lm", "-o", "selftest"], folder)
    return subprocess.run([folder / "selftest"], check=False).returncode == 0
