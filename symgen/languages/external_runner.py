"""Verification of languages that another program runs: results are compared with the float run, and
with the reference of each quantity if the folder has no C or Python that was compared with it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from symgen.languages.describe import FunctionDescription, descriptions
from symgen.languages.verification import (
    Arrays,
    Check,
    VerificationTarget,
    against_laws,
    described,
    error_ratio_to_runs,
    format_error_ratio,
    inputs,
    not_run,
    results,
)
from symgen.native.compiler import workspace
from symgen.numbers.types import AnyArray
from symgen.text import shown
from symgen.tracing.function import Function

JUDGED: Final = ("{name}.h", "{name}.py")
"""Files of languages that `verify` compares with the references."""


class RunnerError(Exception):
    """An error that the program that runs the code has reported."""


NOTHING: Final[Mapping[str, str]] = MappingProxyType({})

SECONDS: Final = 1800
"""Time limit of a step. All functions of a large robot may take some minutes to compile on a shared
machine."""

Call = Callable[[FunctionDescription, Sequence[Arrays]], list[list[AnyArray]]]
"""Runs a function in all states and returns the outputs of each state. Raises RunnerError."""

Compared = Callable[[VerificationTarget, Function, Callable[..., Any], str], Check]
"""Compares the results of a function, called with arrays of one state, with the float run."""


def allclose_check(
    target: VerificationTarget, function: Function, call: Callable[..., Any], label: str
) -> Check:
    """Compare results in double precision, whose operations may be in another order, with the float
    run."""
    d = described(target, function.name)
    rows = [list(results(d, call, state).values()) for state in target.states]
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    share = error_ratio_to_runs(target, function, columns)
    claim = f"{function.name}: {label} equals the float run"
    return Check(claim, share <= 2.0, format_error_ratio(share))  # both have errors


@dataclass(frozen=True)
class ExternalRunner:
    """The programs that run the files of a language."""

    label: str
    tools: tuple[str, ...]
    """Required programs of the system."""
    started: Callable[[VerificationTarget], AbstractContextManager[Call]]
    """Prepares a module to run within the context. Raises RunnerError."""
    compared: Compared = allclose_check
    packages: tuple[str, ...] = ()
    """Required Python packages."""

    @property
    def missing(self) -> list[str]:
        """The required programs and packages that are not installed."""
        tools = [tool for tool in self.tools if shutil.which(tool) is None]
        return tools + [name for name in self.packages if find_spec(name) is None]

    def checks(
        self, target: VerificationTarget, progress: Callable[[str], None]
    ) -> Iterator[Check]:
        """The checks of the language's files in a folder, one by one."""
        progress(f"{self.label} module")
        if self.missing:
            needed = f"{' and '.join(self.missing)} must be installed"
            yield not_run(f"{self.label} runs", needed)
            return
        judged = {file.format(name=target.module.name) for file in JUDGED}
        alone = judged.isdisjoint(target.hashes)
        try:
            with self.started(target) as call:
                for function in target.module.functions:
                    yield from self._function(target, function, alone, call)
        except RunnerError as error:
            yield Check(f"{self.label} compiles", False, str(error))

    def _function(
        self, target: VerificationTarget, function: Function, alone: bool, call: Call
    ) -> Iterator[Check]:
        d, states = described(target, function.name), target.states
        try:
            rows = call(d, states)
        except RunnerError as error:
            yield Check(f"{function.name}: {self.label} runs", False, str(error))
            return
        replayed = _replay(d, states, rows)
        yield self.compared(target, function, replayed, self.label)
        if alone:
            yield from against_laws(target, function, replayed)


def _replay(
    d: FunctionDescription, states: Sequence[Arrays], rows: Sequence[Sequence[AnyArray]]
) -> Callable[..., Any]:
    """A function that returns the stored outputs for the inputs of a state."""
    results = {_key(inputs(d, state)): tuple(row) for state, row in zip(states, rows, strict=True)}
    return lambda *arrays: results[_key(arrays)]


def _key(arrays: Sequence[AnyArray]) -> bytes:
    return b"".join(np.asarray(x, float).tobytes() for x in arrays)


def run_program(
    command: Sequence[str],
    folder: Path,
    stdin: bytes = b"",
    seconds: int = SECONDS,
    environment: Mapping[str, str] = NOTHING,
) -> bytes:
    """The output of a program that gets `stdin` and additional environment variables.

    Raises RunnerError with the line of the program's output that describes the error."""
    return run_process(command, folder, stdin, seconds, environment).stdout


def run_process(
    command: Sequence[str],
    folder: Path,
    stdin: bytes = b"",
    seconds: int = SECONDS,
    environment: Mapping[str, str] = NOTHING,
) -> subprocess.CompletedProcess[bytes]:
    """The finished process of a program, as for `run_program`. Raises RunnerError."""
    try:
        return subprocess.run(
            command,
            cwd=folder,
            input=stdin,
            capture_output=True,
            timeout=seconds,
            check=True,
            env={**os.environ, **environment},
        )
    except subprocess.TimeoutExpired:
        raise RunnerError(f"{command[0]} did not end within {seconds} s") from None
    except subprocess.CalledProcessError as error:
        lines = error.stderr.decode(errors="replace").splitlines()
        telling = [line for line in lines if "rror" in line] or lines
        sentence = shown(telling[0]) if telling else f"exit status {error.returncode}"
        raise RunnerError(f"{command[0]}: {sentence}") from None


def run_driver(folder: Path) -> Call:
    """Calls functions by the program ``driver`` of a folder."""

    def call(d: FunctionDescription, states: Sequence[Arrays]) -> list[list[AnyArray]]:
        output = run_program([str(folder / "driver"), d.name], folder, pack_inputs(d, states))
        return split_outputs(d, output, len(states))

    return call


def pack_inputs(d: FunctionDescription, states: Sequence[Arrays]) -> bytes:
    """The number of states, then the inputs of each as doubles: what drivers read."""
    rows = [np.concatenate([np.ravel(x) for x in inputs(d, s)] or [np.empty(0)]) for s in states]
    return np.array([len(rows)], np.int64).tobytes() + np.array(rows, np.float64).tobytes()


def split_outputs(d: FunctionDescription, output: bytes, count: int) -> list[list[AnyArray]]:
    """The outputs of each state from the doubles that a driver has written. Raises RunnerError."""
    sizes = [a.size for a in d.arguments if a.direction == "out"]
    numbers = np.frombuffer(output, np.float64)
    if numbers.size != count * sum(sizes):
        raise RunnerError(f"{numbers.size} numbers instead of {count * sum(sizes)}")
    ends = np.cumsum(sizes)[:-1]
    return [np.split(row, ends) for row in numbers.reshape(count, -1)]


DRIVER: Final = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
{setup}
told = np.load("told.npz")
found = {{}}
for name in sys.argv[2:]:
    arrays = [told[f"{{name}}/{{k}}"] for k in range(sum(x.startswith(name + "/") for x in told))]
    try:
        for k, x in enumerate(results(name, arrays)):
            found[f"{{name}}/{{k}}"] = np.asarray(x, float).reshape(len(arrays[0]), -1)
    except Exception as error:
        found[f"{{name}}/error"] = np.array(f"{{type(error).__name__}}: {{error}}"[:300])
np.savez("found.npz", **found)
"""


@dataclass(frozen=True)
class PackageRunner:
    """How Python runs a folder's files: `setup` defines a function ``results(name, arrays)`` of a
    function's name and its inputs, states first, that gives its outputs."""

    setup: str

    @contextmanager
    def started(
        self, target: VerificationTarget, names: Sequence[str] | None = None
    ) -> Iterator[Call]:
        """Runs every function (or those of some names) in all states, once. Raises RunnerError."""
        wanted = [f.name for f in target.module.functions] if names is None else names
        functions = [d for d in descriptions(target.module) if d.name in wanted]
        with workspace() as folder:
            columns_of: dict[str, Any] = {
                f"{d.name}/{k}": np.stack(column)
                for d in functions
                for k, column in enumerate(zip(*(inputs(d, s) for s in target.states), strict=True))
            }
            np.savez(folder / "told.npz", **columns_of)
            (folder / "driver.py").write_text(DRIVER.format(setup=self.setup), encoding="utf-8")
            command = [sys.executable, "driver.py", str(target.folder)]
            run_program([*command, *(d.name for d in functions)], folder)
            with np.load(folder / "found.npz") as archive:
                results_of = dict(archive)

        def call(d: FunctionDescription, states: Sequence[Arrays]) -> list[list[AnyArray]]:
            if f"{d.name}/error" in results_of:
                raise RunnerError(str(results_of[f"{d.name}/error"]))
            columns = [results_of[f"{d.name}/{k}"] for k in range(len(d.outs))]
            return [list(row) for row in zip(*columns, strict=True)]

        yield call
