"""JavaScript proven: Node.js runs the module."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import numpy as np

from symgen.languages.describe import FunctionDescription
from symgen.languages.outside import Call, Outside, ran
from symgen.languages.subject import Array, Arrays, Subject, inputs
from symgen.native.compiler import workspace

DRIVER: Final = """
import { readFileSync } from "node:fs";
const { name, calls } = JSON.parse(readFileSync(0));
const module = await import("./module.mjs");
const numbers = (result) =>
  (ArrayBuffer.isView(result) ? [result] : Object.values(result)).map((array) => [...array]);
process.stdout.write(JSON.stringify(calls.map((call) => numbers(module[name](...call)))));
"""


@contextmanager
def _started(subject: Subject) -> Iterator[Call]:
    text = (subject.folder / f"{subject.module.name}.mjs").read_text(encoding="utf-8")
    with workspace() as folder:
        (folder / "module.mjs").write_text(text, encoding="utf-8")
        (folder / "driver.mjs").write_text(DRIVER, encoding="utf-8")

        def call(d: FunctionDescription, states: Sequence[Arrays]) -> list[list[Array]]:
            calls = [[x.tolist() for x in inputs(d, state)] for state in states]
            request = json.dumps({"name": d.name, "calls": calls}).encode()
            rows = json.loads(ran(["node", "driver.mjs"], folder, request))
            return [[np.array(x, float) for x in outputs] for outputs in rows]

        yield call


JAVASCRIPT: Final = Outside("JavaScript", ("node",), _started)

checks: Final = JAVASCRIPT.checks
"""The checks of the JavaScript module of a folder."""
