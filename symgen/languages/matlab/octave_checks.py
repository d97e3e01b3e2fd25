"""Verification of the MATLAB files: Octave runs the functions and the MEX gateway."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from symgen.languages.c.calls import lying, sources
from symgen.languages.c.checks import against_run
from symgen.languages.describe import FunctionDescription, descriptions
from symgen.languages.external_runner import (
    Call,
    ExternalRunner,
    RunnerError,
    pack_inputs,
    run_program,
    split_outputs,
)
from symgen.languages.matlab.backend import package_name, renamed, word
from symgen.languages.module import Module
from symgen.languages.verification import Arrays, Check, VerificationTarget
from symgen.native.compiler import platform, workspace
from symgen.numbers.types import AnyArray
from symgen.render import render
from symgen.text import shown

OCTAVE: Final = ("octave-cli", "--norc", "--no-history", "--quiet")
OPERATIONS: Final = 1_000_000
"""Operations of functions in all states that one process of Octave runs before the next is started;
it needs some 10 s for them."""

CFLAGS: Final = ("-std=c99", "-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror")


def _runs(target: VerificationTarget, folder: Path, how: Callable[[str], str]) -> Call:
    """A call of functions in Octave, several in one process, which takes long to start: `how` gives
    the text before the arguments of a function."""
    described = descriptions(target.module)
    drivers: dict[str, str] = {}
    for group in _groups(target.module, len(target.states)):
        calls = [(renamed(d), how(d.name)) for d in described if d.name in group]
        drivers |= dict.fromkeys(group, render("matlab/driver.m.jinja", calls=calls))
    for d in descriptions(target.module):
        (folder / f"{d.name}.states").write_bytes(pack_inputs(d, target.states))
    finished: set[str] = set()

    def run(d: FunctionDescription, states: Sequence[Arrays]) -> list[list[AnyArray]]:
        if drivers[d.name] not in finished:
            (folder / "driver.m").write_text(drivers[d.name], encoding="ascii")
            run_program([*OCTAVE, "driver.m"], folder)
            finished.add(drivers[d.name])
        results = folder / f"{d.name}.told"
        if not results.is_file():
            raise RunnerError(
                shown((folder / f"{d.name}.error").read_text(encoding="utf-8", errors="replace"))
            )
        return split_outputs(d, results.read_bytes(), len(states))

    return run


def _groups(module: Module, states: int) -> Iterator[list[str]]:
    """The functions, by name, that run in one process."""
    group: list[str] = []
    size = 0
    for function in module.functions:
        size += states * function.counts.total
        group.append(function.name)
        if size > OPERATIONS:
            yield group
            group, size = [], 0
    yield group


@contextmanager
def _functions(target: VerificationTarget) -> Iterator[Call]:
    name = target.module.name
    with workspace() as folder:
        _copied(target, folder, ".m")
        yield _runs(target, folder, lambda function: f"{package_name(name)}.{word(function)}(")


@contextmanager
def _gateway(target: VerificationTarget) -> Iterator[Call]:
    name = target.module.name
    files = lying(target.folder, sources(target.module))
    with workspace() as folder:
        _copied(target, folder, ".c", ".h")
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
        units = [*sources(target.module), f"{name}_mex.c"]
        flags = [*platform().position_independent, *CFLAGS]
        command = ["mkoctfile", "--mex", *units, "--output", f"{name}_mex.mex"]
        run_program(command, folder, environment={"CFLAGS": " ".join(flags)})
        yield _runs(target, folder, lambda function: f"{name}_mex('{function}', ")


def _copied(target: VerificationTarget, folder: Path, *ends: str) -> None:
    """The files of the language with these ends, without the folder that they are in."""
    for name in target.hashes:
        top, _, path = name.partition("/")
        if top == f"{target.module.name}_matlab" and path.endswith(ends):
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_bytes((target.folder / name).read_bytes())


FUNCTIONS: Final = ExternalRunner("Octave", OCTAVE[:1], _functions)
GATEWAY: Final = ExternalRunner("MEX", ("mkoctfile", *OCTAVE[:1]), _gateway, against_run)


def checks(target: VerificationTarget, progress: Callable[[str], None]) -> Iterator[Check]:
    """The checks of the functions of a folder and, where the C is beside it, of the gateway."""
    yield from FUNCTIONS.checks(target, progress)
    if f"{target.module.name}.h" in target.hashes:
        yield from GATEWAY.checks(target, progress)
