"""The functions of a C module as Python functions."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from symgen.languages.c.backend import functions
from symgen.languages.c.options import COptions
from symgen.languages.c.simd import BatchFunction, batch_functions
from symgen.languages.describe import FunctionDescription, descriptions
from symgen.languages.module import Module
from symgen.native.compiler import EXACT
from symgen.native.library import Library, broadcast, pointers
from symgen.native.store import Compiled
from symgen.numbers.trig import TYPES
from symgen.numbers.types import AnyArray
from symgen.render import render

BATCH_FILE = "batch.c"
"""The file with a loop over states for each function."""


def sources(module: Module) -> list[str]:
    """The C files of a module without its self-test."""
    return [f"{module.name}.c", *(f"{module.name}_{d.name}.c" for d in descriptions(module))]


def loop_name(module: Module, function: str) -> str:
    """The C name of a function's loop over states."""
    return f"Batch_{module.name}_{function}"


def loop_declaration(name: str, arguments: int) -> str:
    """The declaration of a loop over states, which returns how many of them failed."""
    return f"size_t {name}(size_t, {pointers(arguments)});"


def batch_source(module: Module) -> str:
    """The text of `BATCH_FILE`."""
    return render("c/batch.c.jinja", module=module, functions=functions(module))


def _python_function(
    module: Module, library: Library, d: FunctionDescription
) -> Callable[..., Any]:
    """A function of a library as one of Python."""
    ins = [(a.name, a.size) for a in d.arguments if a.direction == "in"]
    outs = [a for a in d.arguments if a.direction == "out"]
    dtype = TYPES[module[COptions].scalar]
    fresh = np.zeros if module[COptions].zeros == "once" else np.empty
    name = loop_name(module, d.name)

    def call(*inputs: ArrayLike) -> Any:
        if len(inputs) != len(ins):
            raise TypeError(f"{d.name} takes {', '.join(name for name, _ in ins)}")
        batch, arrays = broadcast(inputs, ins, dtype)
        results: list[Any] = [fresh((*batch, *a.sizes), dtype) for a in outs]
        bad = library.call(name, int(np.prod(batch, dtype=int)), *arrays, *results)
        if bad:
            raise np.linalg.LinAlgError(
                f"{d.name}: {module.cause_of_failure} or a result not finite, in {bad} states"
            )
        return results[0] if len(results) == 1 else tuple(results)

    call.__name__, call.__doc__ = d.name, "; ".join(d.formulas)
    return call


def build(module: Module, folder: Path, flags: Sequence[str] = EXACT) -> Compiled:
    """Compile the C files of `module` that lie in `folder` and load them, by cffi. Raises
    CompilerError."""
    declarations = [
        loop_declaration(loop_name(module, d.name), len(d.arguments)) for d in descriptions(module)
    ]
    files = {**read_sources(folder, sources(module)), BATCH_FILE: batch_source(module)}
    library = Library.build("\n".join(declarations), files, flags)
    functions = {d.name: _python_function(module, library, d) for d in descriptions(module)}
    names = tuple(module.robot.model.joint_names)
    constants = {"JOINT_NAMES": names, "NQ": module.dimensions["nq"], "NV": module.dof}
    constants |= {"PARAMETERS": module.robot.blocks} if module.regroup is not None else {}
    return Compiled(module.name, functions, constants)


def read_sources(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """The texts of some C files in a folder, with all headers beside them."""
    paths = [*(folder / name for name in names), *sorted(folder.glob("*.h"))]
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


class CompiledBatch:
    """The batch functions of a module; `width` is the number of states in a block."""

    def __init__(self, module: Module, library: Library) -> None:
        self._library, self._module = library, module
        self._dtype: Any = TYPES[module[COptions].scalar]
        self.functions = {f.description.name: f for f in batch_functions(module)}
        self.width: int = self._run("batch_width")

    def rows(self, name: str, inputs: Sequence[AnyArray]) -> list[AnyArray]:
        """The outputs of NAME_rows, a row each state, from inputs with a row each state."""
        f, n = self.functions[name], len(inputs[0])
        arrays = [np.ascontiguousarray(x, self._dtype) for x in inputs]
        outputs = [np.full((n, a.size), np.nan, self._dtype) for a in _output_arguments(f)]
        words = [word for x in (*arrays, *outputs) for word in (x, x.shape[1])]
        self._run(f"{name}_rows", n, *words)
        return outputs

    def blocks(self, name: str, inputs: Sequence[AnyArray]) -> list[AnyArray]:
        """The outputs of NAME_batch, a row each state, where inputs that are one for all states are
        those of the first state."""
        f, n = self.functions[name], len(inputs[0])
        ins = [a for a in f.description.arguments if a.direction == "in"]
        arrays = [
            np.ascontiguousarray(x[0], self._dtype) if a in f.shared else self._packed(x)
            for a, x in zip(ins, inputs, strict=True)
        ]
        outputs = [self._packed(np.full((n, a.size), np.nan)) for a in _output_arguments(f)]
        self._run(f"{name}_batch", n, *arrays, *outputs)
        return [x.transpose(0, 2, 1).reshape(-1, x.shape[1])[:n] for x in outputs]

    def _packed(self, rows: AnyArray) -> AnyArray:
        """Rows in blocks: block, entry, state in the block; NaN in the places beyond the last
        state."""
        blocks = -(-len(rows) // self.width)
        padded = np.full((blocks * self.width, rows.shape[1]), np.nan, self._dtype)
        padded[: len(rows)] = rows
        return np.ascontiguousarray(padded.reshape(blocks, self.width, -1).transpose(0, 2, 1))

    def _run(self, name: str, *arguments: int | AnyArray) -> Any:
        return self._library.call(f"{self._module.name}_{name}", *arguments)


def _output_arguments(f: BatchFunction) -> list[Any]:
    return [a for a in f.description.arguments if a.direction == "out"]


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
    library = Library.build(
        "; ".join(declarations), read_sources(folder, files) | {**more}, [*flags]
    )
    return CompiledBatch(module, library)
