"""MATLAB proven: Octave runs the functions, and compiles and runs the MEX gateway beside its C."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from symgen.languages.c.calls import lying, sources
from symgen.languages.c.checks import against_run
from symgen.languages.describe import FunctionDescription, descriptions
from symgen.languages.matlab.files import package, renamed, word
from symgen.languages.module import Module
from symgen.languages.outside import Call, Failed, Outside, binary, parted, ran
from symgen.languages.subject import Arrays, Check, Subject
from symgen.native.compiler import workspace
from symgen.native.platforms import platform
from symgen.numbers.types import AnyArray
from symgen.render import render
from symgen.text import shown

OCTAVE: Final = ("octave-cli", "--norc", "--no-history", "--quiet")
OPERATIONS: Final = 1_000_000
"""Operations of functions in all states that one process of Octave runs before the next is started;
it needs some 10 s for them."""

CFLAGS: Final = ("-std=c99", "-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror")


def _runs(subject: Subject, folder: Path, how: Callable[[str], str]) -> Call:
    """A call of functions in Octave, several in one process, which takes long to start: `how` gives
    the text before the arguments of a function."""
    drivers: dict[str, str] = {}
    for group in _groups(subject.module, len(subject.states)):
        drivers |= dict.fromkeys(group, _driver(subject.module, group, how))
    for d in descriptions(subject.module):
        (folder / f"{d.name}.states").write_bytes(binary(d, subject.states))
    finished: set[str] = set()

    def run(d: FunctionDescription, states: Sequence[Arrays]) -> list[list[AnyArray]]:
        if drivers[d.name] not in finished:
            (folder / "driver.m").write_text(drivers[d.name], encoding="ascii")
            ran([*OCTAVE, "driver.m"], folder)
            finished.add(drivers[d.name])
        results = folder / f"{d.name}.told"
        if not results.is_file():
            raise Failed(
                shown((folder / f"{d.name}.error").read_text(encoding="utf-8", errors="replace"))
            )
        return parted(d, results.read_bytes(), len(states))

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


def _driver(module: Module, names: Sequence[str], how: Callable[[str], str]) -> str:
    calls = [(renamed(d), how(d.name)) for d in descriptions(module) if d.name in names]
    return render("matlab/driver.m.jinja", calls=calls)


@contextmanager
def _functions(subject: Subject) -> Iterator[Call]:
    name = subject.module.name
    with workspace() as folder:
        _copied(subject, folder, ".m")
        yield _runs(subject, folder, lambda function: f"{package(name)}.{word(function)}(")


@contextmanager
def _gateway(subject: Subject) -> Iterator[Call]:
    name = subject.module.name
    files = lying(subject.folder, sources(subject.module))
    with workspace() as folder:
        _copied(subject, folder, ".c", ".h")
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
        units = [*sources(subject.module), f"{name}_mex.c"]
        flags = [*platform().position_independent, *CFLAGS]
        command = ["mkoctfile", "--mex", *units, "--output", f"{name}_mex.mex"]
        ran(command, folder, environment={"CFLAGS": " ".join(flags)})
        yield _runs(subject, folder, lambda function: f"{name}_mex('{function}', ")


def _copied(subject: Subject, folder: Path, *ends: str) -> None:
    """The files of the language with these ends, without the folder that they are in."""
    for name in subject.hashes:
        top, _, path = name.partition("/")
        if top == f"{subject.module.name}_matlab" and path.endswith(ends):
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_bytes((subject.folder / name).read_bytes())


FUNCTIONS: Final = Outside("Octave", OCTAVE[:1], _functions)
GATEWAY: Final = Outside("MEX", ("mkoctfile", *OCTAVE[:1]), _gateway, against_run)


def checks(subject: Subject, progress: Callable[[str], None]) -> Iterator[Check]:
    """The checks of the functions of a folder and, where the C is beside it, of the gateway."""
    yield from FUNCTIONS.checks(subject, progress)
    if f"{subject.module.name}.h" in subject.hashes:
        yield from GATEWAY.checks(subject, progress)
