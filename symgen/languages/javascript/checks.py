"""JavaScript proven: Node.js runs the module, and its results are those of the same algorithms on
Python's numbers; where it comes alone, those of the law of each quantity too."""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from symgen.languages.describe import Description
from symgen.languages.subject import (
    Array,
    Arrays,
    Check,
    Subject,
    against_laws,
    described,
    inputs,
    of_bound,
    share_of_runs,
)
from symgen.native.compiler import workspace
from symgen.tracing.function import Function

SECONDS: Final = 120
"""Longer than this no module of ours takes."""

DRIVER: Final = """
import { readFileSync } from "node:fs";
const { name, calls } = JSON.parse(readFileSync("calls.json"));
const module = await import("./module.mjs");
const numbers = (result) =>
  (ArrayBuffer.isView(result) ? [result] : Object.values(result)).map((array) => [...array]);
process.stdout.write(JSON.stringify(calls.map((call) => numbers(module[name](...call)))));
"""


class Failed(Exception):
    """Node.js said that something went wrong."""


def checks(subject: Subject, progress: Callable[[str], None]) -> Iterator[Check]:
    """The checks of the JavaScript module of a folder, one by one."""
    progress("JavaScript module")
    if shutil.which("node") is None:
        yield Check("JavaScript runs", False, "node is not installed; install Node.js")
        return
    states = subject.states
    alone = len([name for name in subject.hashes if name.endswith((".h", ".py"))]) == 0
    for function in subject.module.functions:
        d = described(subject, function.name)
        try:
            rows = _run(subject, d, states)
        except Failed as error:
            yield Check(f"{function.name}: JavaScript runs", False, str(error))
            continue
        yield _against_run(subject, function, rows)
        if alone:
            yield from against_laws(subject, function, _replay(d, states, rows))


def _run(subject: Subject, d: Description, states: Sequence[Arrays]) -> list[list[Array]]:
    """The outputs of a function in every state. Raises Failed."""
    calls = [[x.tolist() for x in inputs(d, state)] for state in states]
    with workspace() as folder:
        text = (subject.folder / f"{subject.module.name}.mjs").read_text(encoding="utf-8")
        (folder / "module.mjs").write_text(text, encoding="utf-8")
        (folder / "driver.mjs").write_text(DRIVER, encoding="utf-8")
        (folder / "calls.json").write_text(json.dumps({"name": d.name, "calls": calls}))
        try:
            done = subprocess.run(
                ["node", "driver.mjs"],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=True,
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"node takes more than {SECONDS} s") from None
        except subprocess.CalledProcessError as error:
            lines = [line for line in error.stderr.splitlines() if "Error" in line]
            raise Failed(lines[0] if lines else f"node: exit status {error.returncode}") from None
        return [[np.array(x, float) for x in outputs] for outputs in json.loads(done.stdout)]


def _against_run(subject: Subject, function: Function, rows: Sequence[Sequence[Array]]) -> Check:
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    share = share_of_runs(subject, function, columns)
    what = f"{function.name}: JavaScript equals the float run"
    return Check(what, share <= 2.0, of_bound(share))  # both have errors


def _replay(
    d: Description, states: Sequence[Arrays], rows: Sequence[Sequence[Array]]
) -> Callable[..., Any]:
    """A function that gives what JavaScript gave for the inputs of a state."""
    given = {_key(inputs(d, state)): tuple(row) for state, row in zip(states, rows, strict=True)}
    return lambda *arrays: given[_key(arrays)]


def _key(arrays: Sequence[Array]) -> bytes:
    return b"".join(np.asarray(x, float).tobytes() for x in arrays)
