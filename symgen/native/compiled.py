"""Generated C as Python functions: the system's compiler and cffi."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
from cffi import FFI
from numpy.typing import ArrayLike, NDArray

from symgen.errors import SymgenError
from symgen.languages.c.files import functions
from symgen.languages.describe import Description, descriptions
from symgen.languages.module import Module
from symgen.languages.render import render

STRICT: Final = (
    "-std=c99",
    "-O2",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wdouble-promotion",
    "-Wshadow",
    "-Werror",
)
"""What all generated C passes."""

EXACT: Final = ("-ffp-contract=off",)
"""No fused multiply-add, so that results are those of the operations as written."""


class CompilerError(SymgenError):
    """The system's C compiler is missing or refuses the code."""


def compiler() -> str:
    """The C compiler: $CC, cc or gcc. Raises CompilerError."""
    found = next(
        (c for c in (os.environ.get("CC"), "cc", "gcc", "clang") if c and shutil.which(c)), None
    )
    if found is None:
        raise CompilerError("error: no C compiler found; install gcc or set CC")
    return found


def run_compiler(arguments: Sequence[str], folder: Path) -> None:
    """Run the C compiler in `folder`. Raises CompilerError with what it said."""
    done = subprocess.run(
        [compiler(), *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CompilerError(
            f"error: the C compiler refused the generated code:\n{done.stderr.strip()}"
        )


def sources(module: Module) -> list[str]:
    """The C files of a module without its self-test."""
    return [f"{module.name}.c", *(f"{module.name}_{d.name}.c" for d in descriptions(module))]


class Compiled:
    """A compiled module: each generated function as an attribute that takes and gives NumPy arrays.

    Arguments broadcast over leading axes like those of the generated Python module. A function that
    needs the inverse of the mass matrix raises numpy.linalg.LinAlgError where that is not positive
    definite."""

    def __init__(self, module: Module, library: Path) -> None:
        self._ffi = FFI()
        self._dtype: Any = np.float64 if module.scalar == "double" else np.float32
        described = descriptions(module)
        for d in described:
            self._ffi.cdef(_batch_prototype(module, d))
        self._library = self._ffi.dlopen(str(library))
        self.functions = {d.name: self._function(module, d) for d in described}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        known = self.__dict__.get("functions", {})
        if name not in known:
            raise AttributeError(f"this module has no function {name!r}; it has {', '.join(known)}")
        return known[name]  # type: ignore[no-any-return]

    def _function(self, module: Module, d: Description) -> Callable[..., Any]:
        run = getattr(self._library, f"Batch_{module.name}_{d.name}")
        ins = [a for a in d.arguments if a.direction == "in"]
        outs = [a for a in d.arguments if a.direction == "out"]

        fresh = np.zeros if module.zeros == "once" else np.empty

        def call(*inputs: ArrayLike) -> Any:
            if len(inputs) != len(ins):
                raise TypeError(f"{d.name} takes {', '.join(a.name for a in ins)}")
            batch, arrays = self._broadcast(inputs, [(a.name, a.size) for a in ins])
            results = [fresh((*batch, *a.sizes), self._dtype) for a in outs]
            bad = run(
                int(np.prod(batch, dtype=int)), *(self._pointer(a) for a in (*arrays, *results))
            )
            if bad:
                raise np.linalg.LinAlgError(
                    f"{d.name}: the mass matrix is not positive definite in {bad} states"
                )
            return results[0] if len(results) == 1 else tuple(results)

        call.__name__, call.__doc__ = d.name, "; ".join(d.formulas)
        return call

    def _broadcast(
        self, inputs: Sequence[ArrayLike], wanted: Sequence[tuple[str, int]]
    ) -> tuple[tuple[int, ...], list[NDArray[Any]]]:
        arrays = [np.asarray(x, self._dtype) for x in inputs]
        for array, (name, size) in zip(arrays, wanted, strict=True):
            if array.shape[-1:] != (size,):
                raise ValueError(
                    f"{name} must have {size} entries along its last axis, not shape {array.shape}"
                )
        batch = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
        return batch, [
            np.ascontiguousarray(np.broadcast_to(a, (*batch, a.shape[-1]))) for a in arrays
        ]

    def _pointer(self, array: NDArray[Any]) -> Any:
        return self._ffi.cast("void *", array.ctypes.data)


def _batch_prototype(module: Module, d: Description) -> str:
    pointers = ", ".join("void *" for _ in d.arguments)
    return f"size_t Batch_{module.name}_{d.name}(size_t, {pointers});"


def build(module: Module, folder: Path, flags: Sequence[str] = EXACT) -> Compiled:
    """Compile the C files of `module` that lie in `folder` and load them. Raises CompilerError."""
    with workspace() as work:
        text = render("c/batch.c.jinja", module=module, functions=functions(module))
        (work / "batch.c").write_text(text, encoding="utf-8")
        paths = [str((folder / name).resolve()) for name in sources(module)]
        include = f"-I{folder.resolve()}"
        library = work / "module.so"
        run_compiler(
            [
                "-O2",
                "-fPIC",
                "-shared",
                *flags,
                include,
                "batch.c",
                *paths,
                "-lm",
                "-o",
                str(library),
            ],
            work,
        )
        return Compiled(module, library)


@contextmanager
def workspace() -> Iterator[Path]:
    """A scratch folder; a library loaded from it stays usable after it is gone."""
    with tempfile.TemporaryDirectory(prefix="symgen-") as name:
        yield Path(name)
