"""Errors of single precision, a table in Markdown: ``python -m firmware.errors`` (part of
docs/firmware-figures.md)."""

from collections.abc import Iterator

from firmware.modules import ROBOTS, TRIG
from firmware.tools import ROOT
from symgen.jobs.job import Job
from symgen.languages.module import TEST_STATES, Module
from symgen.proof.bounds import Rounding

HEAD = """
## Single precision

The tables show the error of single precision relative to exact operations on the same numbers, at the {states} states of the
self-test. For each output they contain the bound of the error of any entry (see [self-test](firmware.md#self-test)) and the
largest observed error, in the unit of the output and, in parentheses, relative to the largest entry.
"""
COLUMNS = ("function", "output", "bound", "observed")


def module(robot: str) -> Module:
    """All quantities of a sample in single precision."""
    job = Job.of(
        str(ROOT / "robots" / f"{robot}.urdf"), scalar="float", quantities=("all",), **TRIG
    )
    return job.module(job.load())


def section() -> str:
    """The tables of all samples."""
    tables = (f"\n### {robot}\n\n" + "\n".join(_rows(module(robot))) + "\n" for robot in ROBOTS)
    return HEAD.format(states=TEST_STATES) + "".join(tables)


def _rows(made: Module) -> Iterator[str]:
    yield f"| {' | '.join(COLUMNS)} |"
    yield "|---|---|---:|---:|"
    for function in made.functions:
        for r in made.roundings[function.name]:
            yield f"| `{function.name}` | {r.output} | {_cell(r, r.bound)} | {_cell(r, r.seen)} |"


def _cell(r: Rounding, error: float) -> str:
    return f"{error:.1e} ({error / r.entry:.1e})" if error and r.entry else "0"


if __name__ == "__main__":
    print(section(), end="")
