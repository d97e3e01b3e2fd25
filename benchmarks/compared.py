"""``python -m benchmarks.compared [--robot ROBOT]... [--way WAY]...``: every quantity of three robots
in every language, beside the C.

Each language runs its functions at the same random states as the C, which is compiled with the
sines of the C library. Packages for PyTorch are made without derivatives, which are not compared and
take most of the time to compile. A run may do a part: the table in docs/languages/index.md keeps the other
cells. Modules, and what the C gives, are kept in build/compared, which is to be emptied when the
compiler has changed.

A language of another distribution is a way of its own name if its module `backend` has `RUNNER`,
the `ExternalRunner` of its functions; its rows are printed only."""

import os
import pickle
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import click
import numpy as np

from benchmarks.compared_fmu import FMU_RUNNER
from symgen.errors import OptionError
from symgen.jobs.job import Job
from symgen.languages import LANGUAGES
from symgen.languages.backends.casadi import external_runner, graph_runner
from symgen.languages.backends.cpp import CPP_RUNNER
from symgen.languages.backends.cuda import HOST_RUNNER
from symgen.languages.backends.javascript import JAVASCRIPT_RUNNER
from symgen.languages.backends.jax import native_runner, pure_runner
from symgen.languages.backends.matlab import FUNCTION_RUNNER, GATEWAY_RUNNER
from symgen.languages.backends.rust import RUST_RUNNER
from symgen.languages.backends.torch import files as torch_files
from symgen.languages.backends.torch import operator_runner
from symgen.languages.c.backend import code_files
from symgen.languages.c.checks import build
from symgen.languages.c.glue import FMU_FUNCTION
from symgen.languages.describe import FunctionDescription, descriptions
from symgen.languages.external_runner import (
    ExternalRunner,
    FunctionOutputs,
    RunnerError,
    package_runner,
)
from symgen.languages.module import Module
from symgen.languages.verification import Arrays, VerificationTarget, error_ratio, inputs
from symgen.native.compiler import workspace
from symgen.numbers.scalar import AnyArray

PAGE: Final = Path("docs/languages/index.md")
PLACE: Final = re.compile(r"(?<=<!-- compared -->\n).*?(?=<!-- end compared -->)", re.DOTALL)
KEPT: Final = Path("build/compared")
ROBOTS: Final[dict[str, dict[str, Any]]] = {
    "ur5": {},
    "panda": {},
    "quadruped": {"base": "floating"},
}
STATES: Final = 5
LAST: Final = dict.fromkeys(("cc", "c++", "gcc", "g++"), "-O0") | {"rustc": "-C opt-level=0"}
"""The last word to compilers that are to be quick."""
NOT_RUN: Final = "not run"
REFUSED: Final = "refused"
BOTH: Final = 2.0
"""Times its bound, what two results may be apart that both have errors."""


def _module(module: Module) -> ExternalRunner:
    """The Python module of a folder."""
    return package_runner("Python", PYTHON.format(name=module.name))


PYTHON: Final = """
import runpy
robot = runpy.run_path(sys.argv[1] + "/{name}.py")

def results(name, arrays):
    made = robot[name](*arrays)
    return made if isinstance(made, tuple) else (made,)
"""


@dataclass(frozen=True)
class Way:
    """A row of the table: how a language runs its files, and in which scalar."""

    label: str
    language: str
    outside: Callable[[Module], ExternalRunner]
    scalar: str = "double"
    with_c: bool = False
    """Whether it calls the C beside its files."""
    only: str = ""
    """The function that it has, if it has only one; it then writes its files itself."""
    files: Callable[[Module], dict[str, str]] | None = None
    """What writes its files, if it is not the language's own function."""


def fixed(outside: ExternalRunner) -> Callable[[Module], ExternalRunner]:
    """What is the same for all modules."""
    return lambda module: outside


WAYS: Final = {
    "python": Way("Python, the module", "python", _module),
    "cpp": Way("C++", "cpp", fixed(CPP_RUNNER)),
    "rust": Way("Rust", "rust", fixed(RUST_RUNNER)),
    "javascript": Way("JavaScript", "javascript", fixed(JAVASCRIPT_RUNNER)),
    "cuda": Way("CUDA, host build", "cuda", fixed(HOST_RUNNER)),
    "cuda-float": Way("CUDA, host build, float", "cuda", fixed(HOST_RUNNER), "float"),
    "octave": Way("Octave, the functions", "matlab", fixed(FUNCTION_RUNNER)),
    "mex": Way("Octave, MEX file", "matlab", fixed(GATEWAY_RUNNER), with_c=True),
    "casadi": Way("CasADi, the graphs", "casadi", graph_runner),
    "casadi-c": Way("CasADi, the external functions", "casadi", external_runner),
    "jax": Way("JAX", "jax", pure_runner),
    "jax-c": Way("JAX, through C", "jax", native_runner),
    "torch": Way("Torch", "torch", operator_runner, files=partial(torch_files, orders=0)),
    "fmu": Way("FMU", "c", fixed(FMU_RUNNER), only=FMU_FUNCTION),
}

OF_PLUGINS: Final = {
    language.name: Way(language.name, language.name, fixed(backend.RUNNER))
    for language in LANGUAGES.values()
    if language.backend and hasattr(backend := import_module(language.backend), "RUNNER")
}
"""The languages of other distributions."""


@dataclass(frozen=True)
class Row:
    """What a language gave for a robot beside the C."""

    functions: int
    same: int
    """Functions with the bits of the C."""
    worst: float
    """The largest difference as a part of the bound of the error of a result."""
    function: str
    """The function where that is."""
    seconds: float
    """Of processors, for compiling and running."""

    @property
    def cell(self) -> str:
        """In a table."""
        if self.same == self.functions:
            said = f"{self.functions}, bit for bit"
        else:
            said = f"{self.functions}, {self.same} bit for bit; {self.worst:.2f} in {self.function}"
        return f"{said}; {self.seconds:.0f} s"


class Robot:
    """A robot with all its functions, traced once and kept."""

    def __init__(self, name: str) -> None:
        self.name = name

    @cached_property
    def module(self) -> Module:
        """In double precision, with the sines of the C library."""
        place = KEPT / f"{self.name}.pickle"
        if not place.is_file():
            job = Job.of(
                f"robots/{self.name}.urdf", quantities=("all",), trig="libm", **ROBOTS[self.name]
            )
            place.write_bytes(pickle.dumps(job.module(job.load())))
        module: Module = pickle.loads(place.read_bytes())
        return module

    def of(self, scalar: str) -> Module:
        """The module with numbers of that type."""
        return replace(self.module, choices=self.module.choices.changed(scalar=scalar))

    def beside_c(self, way: Way) -> Row:
        """A language beside the C."""
        module = self.of(way.scalar)
        with workspace() as folder:
            made = {} if way.only else (way.files or LANGUAGES[way.language].files)(module)
            made |= code_files(module) if way.with_c else {}
            _write(made, folder)
            target = VerificationTarget(folder, module, dict.fromkeys(made, ""), STATES)
            wanted = self._of_c(target, way.scalar)
            begin = _worked()
            names = [way.only] if way.only else [d.name for d in descriptions(module)]
            got = _told(way.outside(module).outputs(target, names))
            return _row(target, got, wanted, way.scalar, _worked() - begin)

    def _of_c(self, target: VerificationTarget, scalar: str) -> dict[str, list[list[AnyArray]]]:
        """What the C gives at the states, by function; run once."""
        place = KEPT / f"{self.name}-{scalar}.pickle"
        if not place.is_file():
            with workspace() as folder:
                _write(code_files(target.module), folder)
                compiled = build(target.module, folder)
            found = {
                d.name: [_results(getattr(compiled, d.name), d, s) for s in target.states]
                for d in descriptions(target.module)
            }
            place.write_bytes(pickle.dumps(found))
        kept: dict[str, list[list[AnyArray]]] = pickle.loads(place.read_bytes())
        return kept


def _write(files: Mapping[str, str], folder: Path) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


@contextmanager
def unoptimised() -> Iterator[None]:
    """Compilers do as they are told but optimise nothing, which takes a fraction of the time."""
    with workspace() as folder:
        for name, last in LAST.items():
            if (called := shutil.which(name)) is not None:
                (folder / name).write_text(f'#!/bin/sh\nexec {called} "$@" {last}\n', "utf-8")
                (folder / name).chmod(0o755)
        os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"
        yield


def _worked() -> float:
    """Seconds that this process and those it has waited for have worked."""
    return sum(os.times()[:4])


def _told(outputs: Mapping[str, FunctionOutputs | RunnerError]) -> dict[str, list[list[AnyArray]]]:
    """What a language gives, nothing where it fails."""
    for name, x in outputs.items():
        if isinstance(x, RunnerError):
            click.echo(f"{name}: {x}")
    return {
        name: [] if isinstance(x, RunnerError) else [[*row.values()] for row in x]
        for name, x in outputs.items()
    }


def _results(call: Callable[..., Any], d: FunctionDescription, state: Arrays) -> list[AnyArray]:
    made = call(*inputs(d, state))
    return [np.ravel(x) for x in (made if isinstance(made, tuple) else (made,))]


def _row(
    target: VerificationTarget,
    got: dict[str, list[list[AnyArray]]],
    wanted: dict[str, list[list[AnyArray]]],
    scalar: str,
    seconds: float,
) -> Row:
    shares = {
        d.name: _share(target, d, got[d.name], wanted[d.name], scalar)
        for d in descriptions(target.module)
        if d.name in got
    }
    worst = max(shares, key=lambda name: shares[name])
    return Row(
        len(shares),
        sum(not share for share in shares.values()),
        shares[worst],
        worst,
        seconds,
    )


def _share(
    target: VerificationTarget,
    d: FunctionDescription,
    got: list[list[AnyArray]],
    wanted: list[list[AnyArray]],
    scalar: str,
) -> float:
    """The largest difference of a function by its bound, 0 where there is none."""
    if not got:
        return float("inf")
    same = [
        np.array_equal(np.ravel(x), y, equal_nan=True)
        for row, rows in zip(got, wanted, strict=True)
        for x, y in zip(row, rows, strict=True)
    ]
    if all(same):
        return 0.0
    names = [a.name for a in d.outs]
    columns = {n: [rows[k] for rows in wanted] for k, n in enumerate(names)}
    program = next(f for f in target.module.functions if f.name == d.name).program
    allowed = target.accuracy(target.states, scalar).allowed(program, columns)
    return max(
        error_ratio([row[k] for row in got], columns[n], allowed[n]) for k, n in enumerate(names)
    )


def cells(page: str) -> dict[str, str]:
    """The cells of the table on a page, by robot and way; those that were run."""
    (table,) = PLACE.findall(page)
    found: dict[str, str] = {}
    for key, way in WAYS.items():
        for line in table.splitlines():
            if line.startswith(f"| {way.label} |"):
                found |= zip(
                    (f"{robot}/{key}" for robot in ROBOTS), line.split(" | ")[1:], strict=True
                )
    return {cell: text.removesuffix(" |") for cell, text in found.items() if NOT_RUN not in text}


def with_cells(page: str, found: dict[str, str]) -> str:
    """The page with these cells in its table."""
    lines = [f"| | {' | '.join(ROBOTS)} |", "|---|" + "---|" * len(ROBOTS)]
    for key, way in WAYS.items():
        told = [found.get(f"{robot}/{key}", NOT_RUN) for robot in ROBOTS]
        lines.append(f"| {way.label} | {' | '.join(told)} |")
    table = "\n".join(["", *lines, "", ""])
    return PLACE.sub(lambda _: table, page)


@click.command()
@click.option("--robot", "robots", multiple=True, type=click.Choice([*ROBOTS]))
@click.option("--way", "ways", multiple=True, type=click.Choice([*WAYS, *OF_PLUGINS]))
@click.option("--quick", is_flag=True, help="Compile without optimisation.")
def main(robots: Sequence[str], ways: Sequence[str], quick: bool) -> None:
    """Compare, and write the table."""
    with unoptimised() if quick else nullcontext():
        _compared(robots, ways)


def _compared(robots: Sequence[str], ways: Sequence[str]) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    for name in robots or ROBOTS:
        robot = Robot(name)
        for key in ways or WAYS:
            way = {**WAYS, **OF_PLUGINS}[key]
            missing = way.outside(robot.module).missing
            if missing:
                click.echo(f"{name}, {key}: {' and '.join(missing)} must be installed")
                continue
            try:
                row = robot.beside_c(way)
                cell, far = row.cell, " TOO FAR" if row.worst > BOTH else ""
            except OptionError as error:
                cell, far = REFUSED, f": {error}"
            except RunnerError as error:
                click.echo(f"{name}, {key}: {error}")
                continue
            click.echo(f"{name}, {key}: {cell}{far}")
            if key in OF_PLUGINS:
                continue
            page = PAGE.read_text(encoding="utf-8")
            found = cells(page) | {f"{name}/{key}": cell}
            PAGE.write_text(with_cells(page, found), encoding="utf-8")


if __name__ == "__main__":
    main()
