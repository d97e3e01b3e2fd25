"""JavaScript: how it is written, and the one file of a module."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from symgen.languages.describe import FunctionDescription
from symgen.languages.dialect import Dialect, call, functions
from symgen.languages.external_runner import ExternalRunner, run_program
from symgen.languages.module import Module
from symgen.languages.text_backend import TextBackend, signature
from symgen.languages.verification import VerificationTarget
from symgen.render import render
from symgen.text import in_ascii

DIALECT = Dialect(
    operations=functions(lambda op: call(f"Math.{op.name}")),
    literal=repr,
    declare="const {name}",
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
import { readFileSync, writeFileSync } from "node:fs";
const functions = JSON.parse(readFileSync(0));
const module = await import("./module.mjs");
const outputs = (result) => (ArrayBuffer.isView(result) ? [result] : Object.values(result));
for (const { name, sizes } of functions) {
  try {
    const file = readFileSync(`${name}.in`);
    const bytes = file.buffer.slice(file.byteOffset, file.byteOffset + file.length);
    const states = Number(new BigInt64Array(bytes.slice(0, 8))[0]);
    let at = 8;
    const take = (size) => new Float64Array(bytes.slice(at, (at += 8 * size)));
    const made = [];
    for (let k = 0; k < states; ++k) {
      made.push(...outputs(module[name](...sizes.map(take))));
    }
    writeFileSync(`${name}.out`, Float64Array.from(made.flatMap((x) => [...x])));
  } catch (error) {
    writeFileSync(`${name}.error`, `node: ${error.name}: ${error.message}`);
  }
}
"""
"""Runs all functions in all states in one process, which takes long to start."""


def run(target: VerificationTarget, folder: Path, functions: Sequence[FunctionDescription]) -> None:
    """Runs functions of the module of a folder. Raises RunnerError."""
    shutil.copyfile(target.folder / f"{target.module.name}.mjs", folder / "module.mjs")
    (folder / "driver.mjs").write_text(DRIVER, encoding="utf-8")
    sizes = [{"name": d.name, "sizes": [a.size for a in d.ins]} for d in functions]
    run_program(["node", "driver.mjs"], folder, json.dumps(sizes).encode())


JAVASCRIPT_RUNNER: Final = ExternalRunner("JavaScript", ("node",), run)

checks: Final = JAVASCRIPT_RUNNER.checks
"""The checks of the JavaScript module of a folder."""
