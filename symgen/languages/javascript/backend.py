"""JavaScript: how it is written, and the one file of a module."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np

from symgen.languages.describe import FunctionDescription, descriptions
from symgen.languages.dialect import Dialect, call, functions
from symgen.languages.external_runner import Call, ExternalRunner, RunnerError, run_program
from symgen.languages.module import Module
from symgen.languages.text_backend import TextBackend, signature
from symgen.languages.verification import Arrays, VerificationTarget, inputs
from symgen.native.compiler import workspace
from symgen.numbers.types import AnyArray
from symgen.render import render
from symgen.text import in_ascii, shown

DIALECT = Dialect(
    operations=functions(lambda op: call(f"Math.{op.name}")),
    literal=repr,
    input=lambda array, k: f"{array}[{k}]",
    declare="const {name}",
    entry=lambda array, shape, k: f"{array}[{k}]",
)


LINE: Final = 80
"""The longest line that most formatters write."""


def files(module: Module) -> dict[str, str]:
    """The ES module, which needs nothing."""
    module_text = render("javascript/module.mjs.jinja", **STYLE.context(module), head=_head)
    return {f"{module.name}.mjs": module_text}


def _head(d: FunctionDescription) -> str:
    """The first lines of a function."""
    outs = [f"{a.name} = new Float64Array({a.size})" for a in d.outs]
    names = [*(a.name for a in d.ins), *outs]
    return signature(f"export function {d.name}", names, " {", LINE, indent=2)


def comment(text: str) -> str:
    """`text` for a comment: printable ASCII that cannot end it; the rest is escaped."""
    return in_ascii(text, "<{:x}>", "*@\\")


def text(name: str) -> str:
    """`name` as a string literal in plain ASCII."""
    return json.dumps(name).replace("</", "<\\/")


MAX_LOCALS: Final = 10_000
"""Variables of a function: each takes 8 bytes of V8's stack, which has less than a megabyte."""

STYLE: Final = TextBackend(DIALECT, comment, text, max_locals=MAX_LOCALS)


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


def _answers(target: VerificationTarget, folder: Path) -> dict[str, bytes]:
    """The lines of the driver, by function: one process runs all in all states, once, for each
    takes long to start. Raises RunnerError."""
    functions = descriptions(target.module)
    requests = [
        {"name": d.name, "calls": [[x.tolist() for x in inputs(d, s)] for s in target.states]}
        for d in functions
    ]
    lines = run_program(["node", "driver.mjs"], folder, json.dumps(requests).encode()).splitlines()
    if len(lines) != len(functions):
        raise RunnerError(f"node: {len(lines)} lines instead of {len(functions)}")
    return {d.name: line for d, line in zip(functions, lines, strict=True)}


@contextmanager
def _started(target: VerificationTarget) -> Iterator[Call]:
    text = (target.folder / f"{target.module.name}.mjs").read_text(encoding="utf-8")
    with workspace() as folder:
        (folder / "module.mjs").write_text(text, encoding="utf-8")
        (folder / "driver.mjs").write_text(DRIVER, encoding="utf-8")
        answers = _answers(target, folder)

    def call(d: FunctionDescription, states: Sequence[Arrays]) -> list[list[AnyArray]]:
        answer = json.loads(answers[d.name])
        if "error" in answer:
            raise RunnerError(f"node: {shown(answer['error'])}")
        return [[np.array(x, float) for x in outputs] for outputs in answer["rows"]]

    yield call


JAVASCRIPT_RUNNER: Final = ExternalRunner("JavaScript", ("node",), _started)

checks: Final = JAVASCRIPT_RUNNER.checks
"""The checks of the JavaScript module of a folder."""
