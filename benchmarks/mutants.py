"""What self-tests see and what they let pass: ``python -m benchmarks.mutants``, `make mutants`.

Every literal in the functions of ten modules is changed, one at a time, by 1e-6 of it in double and
1e-2 in float, and the self-test run on the tapes; a sample is compiled and run, to show that both
are the same. Then right modules of random robots, none of which may fail. The exit status is 1 if a
share or a sample is not what docs/proof.md says."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Final

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.faults import Site, Trial, changed, sites
from benchmarks.right_modules import SCALARS, verdicts
from symgen.jobs.job import Job
from symgen.languages import module_files
from symgen.languages.accuracy import SAFETY_FACTOR
from symgen.languages.c.backend import files as c_files
from symgen.languages.module import Module
from symgen.native.compiler import run_compiler, workspace
from symgen.proof.state_generation import SELF_TEST_CHANGES, sensitivity
from symgen.tracing.function import Function

ROBOTS: Final = Path(__file__).resolve().parents[1] / "robots"
MODULES: Final = (
    "pendulum",
    "scara",
    "rx90",
    "puma560",
    "ur5",
    "iiwa7",
    "panda_arm",
    "panda",
    "snake16",
    "quadruped",
)
QUANTITIES: Final = ("inverse_dynamics", "gravity", "bias", "mass_matrix", "forward_dynamics")
STATES: Final = 200
"""Plausible states in which a change that the self-test misses is looked for."""

SAMPLE: Final = 1
"""Changes compiled of each function, of those seen and of those missed each."""

SEEDS: Final = 94
"""Robots of each kind: 3008 modules."""

LEAST: Final = 0.99
"""Part of the visible changes that the self-test must see."""


@dataclass(frozen=True, slots=True)
class Share:
    """Of the literals of a module: how many there are, how many changes the self-test sees, how
    many show above rounding in no state, and how many of these have no say at all."""

    literals: int
    seen: int
    hidden: int
    idle: int

    def __add__(self, other: "Share") -> "Share":
        return Share(
            self.literals + other.literals,
            self.seen + other.seen,
            self.hidden + other.hidden,
            self.idle + other.idle,
        )

    @property
    def part(self) -> float:
        """Seen of what shows in some state."""
        return self.seen / (self.literals - self.hidden)


NONE: Final = Share(0, 0, 0, 0)


def module(robot: str, scalar: str, trig: str = "libm") -> Module:
    """A robot's module with `QUANTITIES`."""
    file = ROBOTS / f"{robot}.urdf"
    base = "floating" if robot == "quadruped" else "fixed"
    job = Job.of(str(file), quantities=QUANTITIES, scalar=scalar, trig=trig, base=base)
    return job.module(job.load())


def share(made: Module, function: Function, states: int = STATES) -> Share:
    """Of one function."""
    every = sites(function.program)
    seen = Trial(made, function).caught(SELF_TEST_CHANGES[made.arithmetic[0]])
    missed = [site for site, found in zip(every, seen, strict=True) if not found]
    most = largest(made, function, states) if missed else {}
    parts = [most.get((site.node, site.place), np.inf) for site in missed]
    return Share(
        len(every), sum(seen), sum(x < SAFETY_FACTOR for x in parts), sum(x < IDLE for x in parts)
    )


IDLE: Final = 1e-6
"""A change that is less than this of the error bound of every entry in every state: zero but for
rounding."""


def largest(made: Module, function: Function, states: int) -> dict[tuple[int | str, int], float]:
    """By literal: its change at its clearest, beside the error bound, in other states."""
    rng = Random(0)
    found = sensitivity(function.program, made.accuracy_at(made.draw(rng, states)))
    return {key: float(x.max()) for key, x in found.items()}


# -- the same in C ---------------------------------------------------------------------------------


def disagreements(made: Module, most: int = SAMPLE) -> Iterator[tuple[str, Site, bool]]:
    """Changes on which the compiled self-test says something else than the one on tapes; every one
    that is tried is yielded, with whether both agree."""
    with workspace() as folder:
        for name, text in module_files(made, ("c",)).items():
            (folder / name).write_text(text, encoding="utf-8")
        sources = sorted(path.name for path in folder.glob("*.c"))
        run_compiler(["-std=c99", "-O1", "-ffp-contract=off", "-c", *sources], folder)
        for function in made.functions:
            seen = Trial(made, function).caught(SELF_TEST_CHANGES[made.arithmetic[0]])
            for site, found in _sample(function, seen, most):
                yield function.name, site, _fails(made, function, site, folder) == found


def _sample(function: Function, seen: Sequence[bool], most: int) -> Iterator[tuple[Site, bool]]:
    rng = Random(function.name)
    pairs = list(zip(sites(function.program), seen, strict=True))
    for kind in (True, False):
        some = [pair for pair in pairs if pair[1] == kind]
        yield from rng.sample(some, min(most, len(some)))


def _fails(made: Module, function: Function, site: Site, folder: Path) -> bool:
    """Whether the compiled self-test calls a changed function wrong."""
    number = site.number * (1 + SELF_TEST_CHANGES[made.arithmetic[0]])
    other = replace(function, program=changed(function.program, site, number))
    wrong = replace(made, functions=(other,))
    wrong.__dict__["test_states"] = made.test_states
    stem = f"{made.name}_{function.name}"
    right = folder / f"{stem}.o"
    kept = right.read_bytes()
    (folder / f"{stem}.c").write_text(c_files(wrong)[f"{stem}.c"], encoding="utf-8")
    run_compiler(["-std=c99", "-O1", "-ffp-contract=off", "-c", f"{stem}.c"], folder)
    objects = sorted(path.name for path in folder.glob("*.o"))
    run_compiler([*objects, "-lm", "-o", "selftest"], folder)
    right.write_bytes(kept)
    return subprocess.run([folder / "selftest"], check=False).returncode != 0


# -- tables ----------------------------------------------------------------------------------------


def _mutants(console: Console) -> bool:
    table = Table("module", "scalar", "literals", "seen", "hidden", "idle", "seen of the others")
    good = True
    for scalar in SCALARS:
        total = NONE
        for robot in MODULES:
            made = module(robot, scalar)
            own = sum((share(made, function) for function in made.functions), start=NONE)
            total += own
            table.add_row(robot, scalar, *_cells(own))
        table.add_row("all", scalar, *_cells(total), end_section=True)
        good = good and total.part >= LEAST
    console.print(table)
    return good


def _cells(x: Share) -> list[str]:
    return [*map(str, (x.literals, x.seen, x.hidden, x.idle)), f"{x.part:.2%}"]


def _compiled(console: Console) -> bool:
    tried = [
        (robot, scalar, *row)
        for scalar in SCALARS
        for robot in MODULES
        for row in disagreements(module(robot, scalar, "inline"))
    ]
    bad = [row for row in tried if not row[-1]]
    console.print(f"{len(tried)} changes compiled, {len(bad)} on which C and tapes disagree: {bad}")
    return not bad


def _right(console: Console, seeds: int) -> bool:
    found = list(verdicts(range(seeds), 25))
    failed = [v for v in found if v.failed]
    compiled = sum(v.compiled is not None for v in found)
    console.print(f"{len(found)} right modules ({compiled} compiled), {len(failed)} fail: {failed}")
    return not failed


def main() -> None:
    """Print all tables."""
    console = Console()
    results = [_mutants(console), _compiled(console), _right(console, SEEDS)]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
