"""symgen from Python: load a robot, trace a quantity, generate files, compile functions."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from symgen.errors import OptionError
from symgen.jobs.compiling import compile
from symgen.jobs.generating import generated_files
from symgen.jobs.job import Job
from symgen.languages.c.backend import code_files
from symgen.languages.module import Module
from symgen.reading.assemble import LoadedRobot
from symgen.reading.sources import RobotSource
from symgen.tracing.function import Function
from symgen.tracing.trace import trace_all

__all__ = ["compile", "generate", "trace"]


def trace(robot: RobotSource, quantity: str, **options: Any) -> Function:
    """Trace a quantity of a robot and return the cheapest program for it.

    Parameters
    ----------
    robot
        The path of a robot file, its content or an object, as for `symgen.Robot`.
    quantity
        A quantity of ``symgen list``, or ``NAME=A+B`` for one function that computes A and B.
    **options
        Options of `symgen.jobs.job.Job.of`, such as ``gravity="runtime"``.

    Returns
    -------
    Function
        The program, its operation counts and, in the attribute `code`, the generated C.

    Raises
    ------
    SymgenError
        If the robot cannot be read, or an option does not fit it.
    """
    if quantity == "all":
        raise OptionError(
            "a function computes certain quantities; name one, or several as in "
            "terms=bias+mass_matrix"
        )
    job = Job.of(robot, quantities=(quantity,), **options)
    function = trace_all(job.robot(job.load()), job.wanted(), job.choice(), job.aim)[0]
    return replace(function, written=partial(_code, job, function.name))


def _code(job: Job, name: str) -> str:
    """The C of the function of a job. Raises SymgenError."""
    module = job.module(job.load())
    return code_files(module)[f"{module.name}_{name}.c"]


def generate(
    robot: RobotSource,
    out: str | os.PathLike[str],
    languages: Sequence[str] | None = None,
    progress: Callable[[str], None] | None = None,
    **options: Any,
) -> tuple[Module, LoadedRobot, list[Path]]:
    """Generate a module for a robot in a folder. Either all files are written or none.

    Parameters
    ----------
    robot
        The path of a robot file, its content or an object, as for `symgen.Robot`.
    out
        The folder. Files of an earlier run for the same robot are replaced.
    languages
        Names of languages (see ``symgen list``), C and Python by default, and C
        alone in fixed point.
    progress
        A function that is called with a description of each step.
    **options
        Options of `symgen.jobs.job.Job.of`.

    Returns
    -------
    tuple of Module, LoadedRobot and list of Path
        The module, the robot with its notices, and the paths of the files.

    Raises
    ------
    SymgenError
        If the robot cannot be read, an option does not fit it, or a file cannot be written.
    """
    tell = progress or (lambda step: None)
    return generated_files(Job.of(robot, **options), Path(out), languages, tell)
