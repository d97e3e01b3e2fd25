"""C sources compiled and loaded: shared libraries whose functions are called with NumPy arrays, and
extension modules of CPython."""

import os
import sysconfig
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from cffi import FFI
from numpy.typing import ArrayLike

from symgen.native.compiler import EXACT, CompilerError, platform, run_tuned, workspace
from symgen.native.isolated import time_limit
from symgen.native.store import SUFFIX
from symgen.numbers.types import AnyArray


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
    _check_real(inputs, wanted)
    arrays = [np.asarray(x, dtype) for x in inputs]
    for array, (name, size) in zip(arrays, wanted, strict=True):
        if array.shape[-1:] != (size,):
            raise ValueError(
                f"{name} must have {size} entries along its last axis, not shape {array.shape}"
            )
    batch = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
    return batch, [np.ascontiguousarray(np.broadcast_to(a, (*batch, a.shape[-1]))) for a in arrays]


def _check_real(inputs: Sequence[ArrayLike], wanted: Sequence[tuple[str, int]]) -> None:
    """NumPy would drop masks and imaginary parts, and a complex step would give a derivative of
    0."""
    for x, (name, _) in zip(inputs, wanted, strict=True):
        if is_masked(x):
            raise TypeError(f"{name} {MASKED}")
    bad = next((n for x, (n, _) in zip(inputs, wanted, strict=True) if np.iscomplexobj(x)), None)
    if bad is not None:
        raise TypeError(
            f"{bad} is complex, but compiled C computes with real numbers; the generated Python "
            "module (--lang python) takes complex ones"
        )


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
