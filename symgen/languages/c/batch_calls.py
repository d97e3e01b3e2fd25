"""The C functions for many states at once (``--batch``) as Python functions, to be compared with
those for one."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.languages.c.calls import lying, sources
from symgen.languages.c.lanes import BatchFunction, batch_functions
from symgen.languages.c.options import COptions
from symgen.languages.module import Module
from symgen.native.compiler import EXACT
from symgen.native.library import Library
from symgen.numbers.trig import TYPES

Array = NDArray[Any]


class CompiledBatch:
    """The batch functions of a module; `width` is the number of states in a block."""

    def __init__(self, module: Module, library: Library) -> None:
        self._library, self._module = library, module
        self._dtype: Any = TYPES[module[COptions].scalar]
        self.functions = {f.d.name: f for f in batch_functions(module)}
        self.width: int = self._run("batch_width")

    def rows(self, name: str, inputs: Sequence[Array]) -> list[Array]:
        """The outputs of NAME_rows, a row each state, from inputs with a row each state."""
        f, n = self.functions[name], len(inputs[0])
        arrays = [np.ascontiguousarray(x, self._dtype) for x in inputs]
        outputs = [np.full((n, a.size), np.nan, self._dtype) for a in _outputs(f)]
        words = [word for x in (*arrays, *outputs) for word in (x, x.shape[1])]
        self._run(f"{name}_rows", n, *words)
        return outputs

    def blocks(self, name: str, inputs: Sequence[Array]) -> list[Array]:
        """The outputs of NAME_batch, a row each state, where inputs that are one for all states are
        those of the first state."""
        f, n = self.functions[name], len(inputs[0])
        ins = [a for a in f.d.arguments if a.direction == "in"]
        arrays = [
            np.ascontiguousarray(x[0], self._dtype) if a in f.shared else self._packed(x)
            for a, x in zip(ins, inputs, strict=True)
        ]
        outputs = [self._packed(np.full((n, a.size), np.nan)) for a in _outputs(f)]
        self._run(f"{name}_batch", n, *arrays, *outputs)
        return [x.transpose(0, 2, 1).reshape(-1, x.shape[1])[:n] for x in outputs]

    def _packed(self, rows: Array) -> Array:
        """Rows in blocks: block, entry, state in the block; NaN in the places beyond the last
        state."""
        blocks = -(-len(rows) // self.width)
        padded = np.full((blocks * self.width, rows.shape[1]), np.nan, self._dtype)
        padded[: len(rows)] = rows
        return np.ascontiguousarray(padded.reshape(blocks, self.width, -1).transpose(0, 2, 1))

    def _run(self, name: str, *arguments: int | Array) -> Any:
        return self._library.call(f"{self._module.name}_{name}", *arguments)


def _outputs(f: BatchFunction) -> list[Any]:
    return [a for a in f.d.arguments if a.direction == "out"]


def build_batch(
    module: Module,
    folder: Path,
    flags: Sequence[str] = EXACT,
    more: Mapping[str, str] = MappingProxyType({}),
) -> CompiledBatch:
    """Compile the C files of `module` that lie in `folder` and load them; `more` are further
    sources, name to text. Raises CompilerError."""
    name, batches = module.name, batch_functions(module)
    signatures = [s for f in batches for s in (f.batch_signature, f.rows_signature)]
    declarations = [
        f"typedef {module[COptions].scalar} {name}_real",
        f"int {name}_batch_width(void)",
        f"int {name}_batch_lanes(void)",
        *signatures,
        "",
    ]
    files = [*sources(module), f"{name}_batch.c", *(f"{f.full_name}_batch.c" for f in batches)]
    library = Library.build("; ".join(declarations), lying(folder, files) | {**more}, [*flags])
    return CompiledBatch(module, library)
