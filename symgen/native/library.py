"""Compiled C called from Python: shared libraries whose functions take NumPy arrays, extension
modules of CPython, and one small loop that runs a tape of any length on many states."""

import os
import sysconfig
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from cffi import FFI
from numpy.typing import ArrayLike, NDArray

from symgen.compiler.passes import live_nodes, operands
from symgen.compiler.program import Program, Value
from symgen.compiler.transforms import pullback
from symgen.native.compiler import (
    EXACT,
    CompilerError,
    platform,
    run_tuned,
    time_limit,
    workspace,
)
from symgen.native.store import SUFFIX
from symgen.numbers.operations import OPS
from symgen.numbers.scalar import AnyArray, Numbers
from symgen.render import render


@dataclass(frozen=True, eq=False)
class Library:
    """C functions by name. They take numbers as they are and arrays as pointers to their first
    entry; arrays must lie side by side (C order) and have the entries that the C expects."""

    ffi: Any
    handle: Any

    @classmethod
    def build(
        cls, declarations: str, files: Mapping[str, str], flags: Sequence[str] = EXACT
    ) -> "Library":
        """Compile the ``.c`` files among `files` (name to text, headers too) and load the result.

        `declarations` are those of the functions to be called, with ``void *`` for arrays. The
        library outlives its file. `-march=native` among `flags` is left away where the compiler
        does not know it. Raises CompilerError.
        """
        ffi = FFI()
        ffi.cdef(declarations)
        units = [name for name in files if name.endswith(".c")]
        with workspace() as folder:
            for name, text in files.items():
                (folder / name).write_text(text, encoding="utf-8")
            system = platform()
            name = f"library{system.library_suffix}"
            common = ["-O2", *system.position_independent, "-shared", *flags]
            common += no_start_files(flags)
            run_tuned([*common, *units, *system.math_library, "-o", name], folder)
            with time_limit():  # it may have code that runs when it is loaded
                return cls(ffi, ffi.dlopen(str(folder / name)))

    def call(self, name: str, *arguments: int | AnyArray) -> Any:
        """Calls the function and gives what it returns."""
        passed = [
            self.ffi.cast("void *", x.ctypes.data) if isinstance(x, np.ndarray) else int(x)
            for x in arguments
        ]
        with time_limit():
            return getattr(self.handle, name)(*passed)


def no_start_files(flags: Sequence[str]) -> tuple[str, ...]:
    """The flags that keep gcc from linking its start file for fast arithmetic into a library: that
    file makes the whole process that loads it flush subnormal numbers to zero."""
    fast = any(flag in ("-Ofast", "-ffast-math", "-funsafe-math-optimizations") for flag in flags)
    return ("-nostartfiles",) if fast else ()


def pointers(count: int) -> str:
    """The declaration of that many array parameters."""
    return ", ".join(["void *"] * count)


MASKED: Final = "has masked entries, which have no value; fill them or remove their states"


MAX_DEPTH: Final = 64
"""The most axes of an array in NumPy, so that lists in deeper lists are not arrays."""


def is_masked(value: Any, depth: int = MAX_DEPTH) -> bool:
    """Whether a masked array has masked entries, or a list or tuple of at most `depth` levels
    contains such an array: NumPy would drop the masks."""
    if isinstance(value, list | tuple):
        plain = (float, int)
        return depth > 0 and any(is_masked(x, depth - 1) for x in value if type(x) not in plain)
    return bool(np.ma.is_masked(value))


def broadcast(
    inputs: Sequence[ArrayLike], wanted: Sequence[tuple[str, int]], dtype: Any
) -> tuple[tuple[int, ...], list[AnyArray]]:
    """The common leading axes of some arrays, and the arrays with these, side by side in memory.

    `wanted` has each one's name and the size of its last axis. Raises ValueError where that differs
    or the leading axes do not fit each other, TypeError for complex numbers and masked entries.
    """
    for x, (name, _) in zip(inputs, wanted, strict=True):
        if is_masked(x):
            raise TypeError(f"{name} {MASKED}")
        if np.iscomplexobj(x):  # NumPy would drop the imaginary part: a complex step would give 0
            raise TypeError(
                f"{name} is complex, but compiled C computes with real numbers; the generated "
                "Python module (--lang python) takes complex ones"
            )
    arrays = [np.asarray(x, dtype) for x in inputs]
    for array, (name, size) in zip(arrays, wanted, strict=True):
        if array.shape[-1:] != (size,):
            raise ValueError(
                f"{name} must have {size} entries along its last axis, not shape {array.shape}"
            )
    batch = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
    return batch, [np.ascontiguousarray(np.broadcast_to(a, (*batch, a.shape[-1]))) for a in arrays]


def missing_headers() -> str:
    """The message for a Python without its headers."""
    return f"Python.h is missing; {platform().headers_advice}"


def python_headers() -> Path:
    """The folder of Python's headers. Raises CompilerError where they are not installed."""
    folder = Path(sysconfig.get_path("include"))
    if not (folder / "Python.h").is_file():
        raise CompilerError(f"error: {missing_headers()}")
    return folder


def extension_module(
    name: str, files: Mapping[str, str], units: Sequence[str], flags: Sequence[str]
) -> bytes:
    """An extension module of that name (its last part) made of C files.

    `files` are name to text, headers too, `units` those that are compiled, several at a time, with
    `flags`; one of them defines ``PyInit_`` and the macro EXTENSION, which is the name. Raises
    CompilerError."""
    system = platform()
    headers = [f"-I{python_headers()}", f"-I{np.get_include()}", "-I."]
    with workspace() as folder:
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")

        def one(unit: str) -> str:
            named = [f"-DEXTENSION={name}"] if "EXTENSION" in files[unit] else []
            common = [*flags, *system.position_independent, *headers, *named]
            run_tuned([*common, "-c", unit, "-o", f"{unit}.o"], folder)
            return f"{unit}.o"

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = [*pool.map(one, units)]
        library = f"{name}{SUFFIX}"
        link = [*flags, "-shared", *no_start_files(flags), *objects]
        link += [*system.extension_links(), *system.math_library]
        run_tuned([*link, "-o", library], folder)
        return (folder / library).read_bytes()


# -- a tape run by a compiled loop -----------------------------------------------------------------


LANES: Final = 16
"""States in a block: as many as keep the values of a long tape in a processor's second cache."""


C_EXPRESSIONS: Final = {
    name: ("a[k] {} b[k]" if op.arity == 2 else "{}a[k]").format(op.symbol)
    if op.symbol
    else op.c.format(name=name, a="a[k]", f="", real="double", zero="0.0")
    for name, op in OPS.items()
}
"""Operations in C on the k-th state of their operands."""
OPCODES: Final = {name: k for k, name in enumerate(("input", "const", *C_EXPRESSIONS))}


@dataclass(frozen=True, eq=False)
class NativeTape:
    """A program for the compiled loop: `instructions` has a step's operation and operands in each
    row (indices of steps, inputs or `constants`), `entries` the step and the sign of each entry of
    all outputs."""

    inputs: int
    instructions: NDArray[np.int32]
    constants: Numbers
    entries: NDArray[np.int32]

    @classmethod
    def of(cls, program: Program) -> "NativeTape":
        """The tape of the live nodes of a program."""
        columns = {
            node: k for k, node in enumerate(node for node in program.nodes if node.op == "input")
        }
        steps, instructions, constants = {}, [], [0.0]
        for row, index in enumerate(live_nodes(program)):
            node, steps[index] = program.nodes[index], row
            if node.op == "const":
                constants.append(float(node.a))
            at = {"input": (columns.get(node, 0),), "const": (len(constants) - 1,)}.get(
                node.op, tuple(steps[k] for k in operands(node))
            )
            instructions.append((OPCODES[node.op], *at, *[0] * (2 - len(at))))
        instructions.append((OPCODES["const"], 0, 0))  # for entries that are zero in every state
        refs = [ref for out in program.outputs for ref in out.refs]
        entries = [
            (len(instructions) - 1, 1)
            if ref is None
            else (steps[ref.node], -1 if ref.negative else 1)
            for ref in refs
        ]
        return cls(
            len(columns),
            np.array(instructions, np.int32),
            np.array(constants),
            np.array(entries, np.int32).reshape(-1, 2),
        )

    def __call__(self, *inputs: Numbers) -> Numbers:
        """All entries of the outputs (N x entries) from the program's inputs (N x entries each), in
        their order.

        Raises ValueError where these have other sizes, CompilerError.
        """
        x = np.hstack([np.asarray(array, np.float64) for array in inputs])
        if x.shape[1] != self.inputs:
            raise ValueError(f"the tape has {self.inputs} inputs, and {x.shape[1]} are given")
        work, y = np.empty(LANES * len(self.instructions)), np.empty((len(x), len(self.entries)))
        sizes = (len(x), self.inputs, len(self.instructions), len(self.entries))
        arrays = (self.instructions, self.constants, self.entries, np.ascontiguousarray(x), work, y)
        _interpreter().call(RUN_FUNCTION, *sizes, *arrays)
        return y


RUN_FUNCTION: Final = "Run_tape"


@cache
def _interpreter() -> Library:
    """The compiled loop."""
    text = render("c/tape.c.jinja", lanes=LANES, operations=list(C_EXPRESSIONS.values()))
    declaration = f"void {RUN_FUNCTION}(size_t, size_t, size_t, size_t, {pointers(6)});"
    return Library.build(declaration, {"tape.c": text}, ["-std=c99", "-O3", *EXACT])


@dataclass(frozen=True, eq=False)
class NativeProgram:
    """A program with one output, and its tape."""

    program: Program
    tape: NativeTape

    @classmethod
    def of(cls, program: Program) -> "NativeProgram":
        """The program with its tape."""
        return cls(program, NativeTape.of(program))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the output."""
        return self.program.outputs[0].shape

    @property
    def nonzero(self) -> NDArray[np.bool_]:
        """Which entries of the output are not zero in every state."""
        (out,) = self.program.outputs
        return np.array([ref is not None for ref in out.refs]).reshape(out.shape)

    def gradient_tape(self) -> NativeTape:
        """The gradient of Σ weight · entry in all inputs, in reverse; the weights of the entries
        that are not zero in every state are one more input."""
        program, (out,) = deepcopy(self.program), self.program.outputs
        states = [Value(program, k) for k, node in enumerate(program.nodes) if node.op == "input"]
        entries = [Value(program, *ref) for ref in out.refs if ref is not None]
        weights = program.input("weights", (len(entries),))
        gradient = pullback(list(zip(entries, weights, strict=True)), states)
        program.outputs.clear()
        program.output("gradient", (len(gradient),), gradient)
        return NativeTape.of(program)


def read_sources(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """The texts of some C files in a folder, with all headers beside them."""
    paths = [*(folder / name for name in names), *sorted(folder.glob("*.h"))]
    return {path.name: path.read_text(encoding="utf-8") for path in paths}
