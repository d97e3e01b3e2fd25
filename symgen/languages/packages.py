"""Languages that Python runs with a package that symgen itself does not need: what verifies their
files runs in a process of its own, so that nothing of them is imported here."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from symgen.languages.describe import FunctionDescription, descriptions
from symgen.languages.outside import Call, Failed, ran
from symgen.languages.subject import Array, Arrays, Subject, inputs
from symgen.native.compiler import workspace

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
class Runner:
    """How Python runs a folder's files: `setup` defines a function ``results(name, arrays)`` of a
    function's name and its inputs, states first, that gives its outputs."""

    setup: str

    @contextmanager
    def started(self, subject: Subject, names: Sequence[str] | None = None) -> Iterator[Call]:
        """Runs every function (or those of some names) in all states, once. Raises Failed."""
        wanted = [f.name for f in subject.module.functions] if names is None else names
        functions = [d for d in descriptions(subject.module) if d.name in wanted]
        with workspace() as folder:
            columns_of: dict[str, Any] = {
                f"{d.name}/{k}": np.stack(column)
                for d in functions
                for k, column in enumerate(
                    zip(*(inputs(d, s) for s in subject.states), strict=True)
                )
            }
            np.savez(folder / "told.npz", **columns_of)
            (folder / "driver.py").write_text(DRIVER.format(setup=self.setup), encoding="utf-8")
            command = [sys.executable, "driver.py", str(subject.folder)]
            ran([*command, *(d.name for d in functions)], folder)
            with np.load(folder / "found.npz") as archive:
                results_of = dict(archive)

        def call(d: FunctionDescription, states: Sequence[Arrays]) -> list[list[Array]]:
            if f"{d.name}/error" in results_of:
                raise Failed(str(results_of[f"{d.name}/error"]))
            columns = [results_of[f"{d.name}/{k}"] for k in range(len(d.outs))]
            return [list(row) for row in zip(*columns, strict=True)]

        yield call
