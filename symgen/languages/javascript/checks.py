"""JavaScript proven: Node.js runs the module."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np

from symgen.languages.describe import FunctionDescription, descriptions
from symgen.languages.outside import Call, Failed, Outside, ran
from symgen.languages.subject import Arrays, Subject, inputs
from symgen.native.compiler import workspace
from symgen.numbers.types import AnyArray
from symgen.text import shown

DRIVER: Final = """
import { readFileSync } from "node:fs";
const requests = JSON.parse(readFileSync(0));
const module = await import("./module.mjs");
const numbers = (result) =>
  (ArrayBuffer.isView(result) ? [result] : Object.values(result)).map((array) => [...array]);
const answer = ({ name, calls }) => {
  try {
    return { rows: calls.map((call) => numbers(module[name](...call))) };
  } catch (error) {
    return { error: `${error.name}: ${error.message}` };
  }
};
requests.forEach((request) => process.stdout.write(`${JSON.stringify(answer(request))}\\n`));
"""
"""A line for each function: what it gives in every state, or what it throws."""


def _answers(subject: Subject, folder: Path) -> dict[str, bytes]:
    """The lines of the driver, by function: one process runs all in all states, once, for each
    takes long to start. Raises Failed."""
    functions = descriptions(subject.module)
    requests = [
        {"name": d.name, "calls": [[x.tolist() for x in inputs(d, s)] for s in subject.states]}
        for d in functions
    ]
    lines = ran(["node", "driver.mjs"], folder, json.dumps(requests).encode()).splitlines()
    if len(lines) != len(functions):
        raise Failed(f"node: {len(lines)} lines instead of {len(functions)}")
    return {d.name: line for d, line in zip(functions, lines, strict=True)}


@contextmanager
def _started(subject: Subject) -> Iterator[Call]:
    text = (subject.folder / f"{subject.module.name}.mjs").read_text(encoding="utf-8")
    with workspace() as folder:
        (folder / "module.mjs").write_text(text, encoding="utf-8")
        (folder / "driver.mjs").write_text(DRIVER, encoding="utf-8")
        answers = _answers(subject, folder)

    def call(d: FunctionDescription, states: Sequence[Arrays]) -> list[list[AnyArray]]:
        answer = json.loads(answers[d.name])
        if "error" in answer:
            raise Failed(f"node: {shown(answer['error'])}")
        return [[np.array(x, float) for x in outputs] for outputs in answer["rows"]]

    yield call


JAVASCRIPT: Final = Outside("JavaScript", ("node",), _started)

checks: Final = JAVASCRIPT.checks
"""The checks of the JavaScript module of a folder."""
