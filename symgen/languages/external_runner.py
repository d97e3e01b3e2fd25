"""Verification of languages that another program runs: results are compared with the float run, and
with the reference of each quantity if the folder has no C or Python that was compared with it.

The program reads the inputs of a function from the file ``NAME.in`` (the number of states as a
64-bit integer, then the inputs of each state as doubles) and writes its outputs as doubles to
``NAME.out``, or a message to ``NAME.error``."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np

from symgen.compiler.evaluate import evaluate
from symgen.compiler.program import LoopProgram
from symgen.languages.c.options import COptions, library_functions
from symgen.languages.describe import FunctionDescription, descriptions
from symgen.languages.verification import (
    Arrays,
    Check,
    VerificationTarget,
    compare_with_references,
    error_ratio,
    error_ratio_to_runs,
    format_error_ratio,
    inputs,
    not_run,
    relative_error,
)
from symgen.native.compiler import workspace
from symgen.numbers.trig import TYPES
from symgen.proof.controller_simulation import machine_numbers
from symgen.text import shown
from symgen.tracing.function import Function

VERIFIED_FILES: Final = ("{name}.h", "{name}.py")
"""Files of languages that `verify` compares with the references."""


class RunnerError(Exception):
    """An error that the program that runs the code has reported."""


STEP_TIME_LIMIT: Final = 1800
"""Time limit of a step. All functions of a large robot may take some minutes to compile on a shared
machine."""

RunFunctions = Callable[[VerificationTarget, Path, Sequence[FunctionDescription]], None]
"""Runs functions in a scratch folder with their files of inputs. Raises RunnerError."""

FunctionOutputs = list[Arrays]
"""The outputs of a function by name, flat, in each of its compared states."""

Comparison = Callable[[VerificationTarget, Function, Sequence[Arrays], str], Check]
"""Compares the outputs of a function in each of its compared states with the float run."""


def allclose_check(
    target: VerificationTarget, function: Function, outputs: Sequence[Arrays], label: str
) -> Check:
    """Compare results in double precision, whose operations may be in another order, with the float
    run."""
    columns = [np.array([row[name] for row in outputs]) for name in outputs[0]]
    ratio = error_ratio_to_runs(target, function, columns)
    claim = f"{function.name}: {label} equals the float run"
    return Check(claim, ratio <= 2.0, format_error_ratio(ratio))  # both have errors


def compare_with_run(
    target: VerificationTarget, function: Function, outputs: Sequence[Arrays], label: str
) -> Check:
    """The check of a compiled function in the module's scalar against the algorithms run on floats:
    bit for bit unless functions are those of another precision's library."""
    states = target.run_states(function)
    scalar, runs = target.module[COptions].scalar, _float_runs(target, function)
    expected = {name: [np.array(run[name], float) for run in runs] for name in runs[0]}
    outputs = outputs[: len(states)]
    looped = isinstance(function.program, LoopProgram)
    if not looped and (scalar == "double" or _needs_no_library(target, function)):
        worst = max(
            relative_error(g[name], row[k].astype(TYPES[scalar]))
            for name, row in expected.items()
            for k, g in enumerate(outputs)
        )
        claim = f"{function.name}: {label} equals the float run bit for bit"
        return Check(claim, not worst, f"largest error {worst:.1e}, {len(states)} states")
    allowed = target.accuracy(states).allowed(function.program, expected)
    ratio = max(
        error_ratio([g[name] for g in outputs], expected[name], allowed[name]) for name in expected
    )
    straight = " of straight-line code" if looped else ""
    claim = f"{function.name}: {label} equals the float run{straight}"
    return Check(claim, ratio <= 1.0, f"{format_error_ratio(ratio)}, {len(states)} states")


def _float_runs(
    target: VerificationTarget, function: Function
) -> Sequence[Mapping[str, Sequence[Any]]]:
    """The algorithms on Python floats, with the sines of the module.

    In single precision that of the tape, whose constants are made in double precision from
    constants as in C. Loops over bodies have no tape, and are not compared bit for bit."""
    options = target.module[COptions]
    if isinstance(function.program, LoopProgram) or options.trig == "libm":
        return target.runs(function)
    if options.scalar == "float" and not _needs_no_library(target, function):
        return target.runs(function)
    states = [
        {name: machine_numbers(state[name].tolist(), options.scalar) for name in function.inputs}
        for state in target.run_states(function)
    ]
    if options.scalar == "double":
        return [function.run(**row) for row in states]
    return [evaluate(function.program, row) for row in states]


def _needs_no_library(target: VerificationTarget, function: Function) -> bool:
    """Whether C needs nothing of its math library, whose bits are the machine's."""
    return target.module[COptions].trig == "inline" and not library_functions(function)


@dataclass(frozen=True)
class ExternalRunner:
    """The programs that run the files of a language."""

    label: str
    tools: tuple[str, ...]
    """Required programs of the system."""
    run: RunFunctions
    compare: Comparison = allclose_check
    packages: tuple[str, ...] = ()
    """Required Python packages."""

    @property
    def missing(self) -> list[str]:
        """The required programs and packages that are not installed."""
        tools = [tool for tool in self.tools if shutil.which(tool) is None]
        return tools + [name for name in self.packages if find_spec(name) is None]

    def outputs(
        self, target: VerificationTarget, names: Collection[str]
    ) -> dict[str, FunctionOutputs | RunnerError]:
        """The outputs of some functions of a target by name, or the error of a function. Raises
        RunnerError if none could be run."""
        states = {
            f.name: target.compared_states(f) for f in target.module.functions if f.name in names
        }
        functions = [d for d in descriptions(target.module) if d.name in states]
        with workspace() as folder:
            for d in functions:
                rows = [
                    [x for array in inputs(d, s) for x in np.ravel(array)] for s in states[d.name]
                ]
                data = np.array([len(rows)], np.int64).tobytes() + np.array(rows, float).tobytes()
                (folder / f"{d.name}.in").write_bytes(data)
            self.run(target, folder, functions)
            return {d.name: _read_outputs(folder, d, len(states[d.name])) for d in functions}

    def checks(
        self, target: VerificationTarget, progress: Callable[[str], None]
    ) -> Iterator[Check]:
        """The checks of the language's files in a folder, one by one."""
        progress(f"{self.label} module")
        if self.missing:
            needed = f"{' and '.join(self.missing)} must be installed"
            yield not_run(f"{self.label} runs", needed)
            return
        verified = {file.format(name=target.module.name) for file in VERIFIED_FILES}
        is_only_language = verified.isdisjoint(target.hashes)
        functions = {f.name: f for f in target.module.functions}
        try:
            outputs = self.outputs(target, functions)
        except RunnerError as error:
            yield Check(f"{self.label} compiles", False, str(error))
            return
        for name, rows in outputs.items():
            if isinstance(rows, RunnerError):
                yield Check(f"{name}: {self.label} runs", False, str(rows))
                continue
            yield self.compare(target, functions[name], rows, self.label)
            if is_only_language:
                yield from compare_with_references(target, functions[name], rows)


def _read_outputs(
    folder: Path, d: FunctionDescription, count: int
) -> FunctionOutputs | RunnerError:
    """The outputs of a function in `count` states from its file, or its error."""
    message = folder / f"{d.name}.error"
    if message.is_file():
        return RunnerError(shown(message.read_text(encoding="utf-8", errors="replace"), 300))
    if not (folder / f"{d.name}.out").is_file():
        return RunnerError("no outputs")
    sizes = [a.size for a in d.outs]
    numbers = np.fromfile(folder / f"{d.name}.out", np.float64)
    if numbers.size != count * sum(sizes):
        return RunnerError(f"{numbers.size} numbers instead of {count * sum(sizes)}")
    ends, names = np.cumsum(sizes)[:-1], [a.name for a in d.outs]
    rows = numbers.reshape(count, -1)
    return [dict(zip(names, np.split(row, ends), strict=True)) for row in rows]


def run_program(
    command: Sequence[str],
    folder: Path,
    stdin: bytes = b"",
    seconds: int = STEP_TIME_LIMIT,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """The finished process of a program that gets `stdin` and additional environment variables.

    Raises RunnerError with the line of the program's output that describes the error."""
    try:
        return subprocess.run(
            command,
            cwd=folder,
            input=stdin,
            capture_output=True,
            timeout=seconds,
            check=True,
            env={**os.environ, **(environment or {})},
        )
    except subprocess.TimeoutExpired:
        raise RunnerError(f"{command[0]} did not end within {seconds} s") from None
    except subprocess.CalledProcessError as error:
        lines = error.stderr.decode(errors="replace").splitlines()
        error_lines = [line for line in lines if "rror" in line] or lines
        sentence = shown(error_lines[0]) if error_lines else f"exit status {error.returncode}"
        raise RunnerError(f"{command[0]}: {sentence}") from None


def run_driver(folder: Path, functions: Sequence[FunctionDescription]) -> None:
    """Runs functions by the program ``driver`` of a folder, which is compiled for them: it gets the
    name of a function, reads its inputs from stdin and writes its outputs to stdout."""
    for d in functions:
        try:
            given = (folder / f"{d.name}.in").read_bytes()
            output = run_program([str(folder / "driver"), d.name], folder, given).stdout
            (folder / f"{d.name}.out").write_bytes(output)
        except RunnerError as error:
            (folder / f"{d.name}.error").write_text(str(error), encoding="utf-8")


DRIVER: Final = """
import json
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
{setup}
for name, sizes in json.loads(sys.argv[2]).items():
    try:
        count = int(np.fromfile(name + ".in", np.int64, 1)[0])
        numbers = np.fromfile(name + ".in", float, offset=8).reshape(count, -1)
        arrays = np.split(numbers, np.cumsum(sizes)[:-1], axis=1)
        made = [np.asarray(x, float).reshape(count, -1) for x in results(name, arrays)]
        np.concatenate(made, axis=1).tofile(name + ".out")
    except Exception as error:
        with open(name + ".error", "w", encoding="utf-8") as file:
            file.write(f"{{type(error).__name__}}: {{error}}")
"""


def package_runner(label: str, setup: str, *packages: str) -> ExternalRunner:
    """The runner of a Python package of a folder, in a process of its own, which needs `packages`:
    `setup` defines a function ``results(name, arrays)`` of a function's name and its inputs, states
    first, that returns its outputs."""

    def run(
        target: VerificationTarget, folder: Path, functions: Sequence[FunctionDescription]
    ) -> None:
        (folder / "driver.py").write_text(DRIVER.format(setup=setup), encoding="utf-8")
        sizes = json.dumps({d.name: [a.size for a in d.ins] for d in functions})
        run_program([sys.executable, "driver.py", str(target.folder), sizes], folder)

    return ExternalRunner(label, (), run, packages=packages)
