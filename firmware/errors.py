"""Errors of single precision, a table in Markdown: ``python -m firmware.errors`` (part of
docs/firmware-figures.md)."""

from collections.abc import Iterator

from firmware.modules import ROBOTS, TRIG
from firmware.tools import ROOT
from symgen.jobs.job import Job
from symgen.languages.module import Module
from symgen.proof.rounding import STATES, Rounding

HEAD = """
## Single precision

What float computes beside double from the same numbers, at {states} random states within the limits of the joints:
largest and root-mean-square error of an output's entries, in its units, and in brackets the same as parts of the
largest entry over all states.
"""
COLUMNS = ("function", "output", "largest error", "rms error")


def module(robot: str) -> Module:
    """All quantities of a sample in single precision."""
    job = Job(str(ROOT / "robots" / f"{robot}.urdf"), scalar="float", quantities=("all",), **TRIG)
    return job.module(job.load())


def section() -> str:
    """The tables of all samples."""
    tables = (f"\n### {robot}\n\n" + "\n".join(_rows(module(robot))) + "\n" for robot in ROBOTS)
    return HEAD.format(states=f"{STATES:,}") + "".join(tables)


def _rows(made: Module) -> Iterator[str]:
    yield f"| {' | '.join(COLUMNS)} |"
    yield "|---|---|---:|---:|"
    for function in made.functions:
        for r in made.roundings[function.name]:
            yield f"| `{function.name}` | {r.output} | {_cell(r, r.largest)} | {_cell(r, r.rms)} |"


def _cell(r: Rounding, error: float) -> str:
    return f"{error:.1e} ({error / r.entry:.1e})" if error and r.entry else "0"


if __name__ == "__main__":
    print(section(), end="")
