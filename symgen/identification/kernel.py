"""A generated C function that travels: its sources go to any process, which compiles them once for
itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from cffi import FFI
from numpy.typing import NDArray

from symgen.api import files
from symgen.jobs.job import Job
from symgen.languages.c.files import functions
from symgen.languages.render import render
from symgen.native.compiled import EXACT, run_compiler, sources, workspace
from symgen.reading.assemble import Loaded

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Kernel:
    """A function of arrays with one state a row: `inputs` entries of each, an output of `shape`.

    `nonzero` tells which entries of the output are not zero in every state. Nothing is rounded
    otherwise than in the generated code, so results are the same bits in every process."""

    prefix: str
    function: str
    inputs: tuple[int, ...]
    shape: tuple[int, ...]
    nonzero: NDArray[np.bool_]
    files: tuple[tuple[str, str], ...]
    compiled: tuple[str, ...]

    def __call__(self, *states: Numbers) -> Numbers:
        """The output of every state (N x shape) from inputs (N x entries). Raises CompilerError."""
        run, ffi = _built(self.prefix, self.function, len(self.inputs), self.files, self.compiled)
        arrays = [np.ascontiguousarray(x, np.float64) for x in states]
        result = np.empty((len(arrays[0]), *self.shape))
        run(len(result), *(ffi.cast("void *", a.ctypes.data) for a in (*arrays, result)))
        return result


@cache
def _built(
    prefix: str,
    function: str,
    inputs: int,
    texts: tuple[tuple[str, str], ...],
    compiled: Sequence[str],
) -> Any:
    """The function and its foreign interface, compiled for this process; the library outlives its
    file."""
    ffi = FFI()
    name = f"Batch_{prefix}_{function}"
    ffi.cdef(f"size_t {name}(size_t, {', '.join(['void *'] * (inputs + 1))});")
    with workspace() as folder:
        for file, text in texts:
            (folder / file).write_text(text, encoding="utf-8")
        flags = ["-O2", "-fPIC", "-shared", *EXACT]
        run_compiler([*flags, "batch.c", *compiled, "-lm", "-o", "kernel.so"], folder)
        library = ffi.dlopen(str(folder / "kernel.so"))
    # the library must live as long as its function
    return getattr(library, name), ffi


def kernel(job: Job, loaded: Loaded) -> Kernel:
    """The kernel of a job that wants one function with one output. Raises OptionError."""
    module = job.module(loaded)
    (function,) = module.functions
    (out,) = function.program.outputs
    texts = {
        name: text for name, text in files(module, ["c"]).items() if name.endswith((".c", ".h"))
    }
    texts = {name: text for name, text in texts.items() if "selftest" not in name}
    texts["batch.c"] = render("c/batch.c.jinja", module=module, functions=functions(module))
    nonzero = np.array([ref is not None for ref in out.refs]).reshape(out.shape)
    inputs = tuple(int(np.prod(shape)) for _, shape in function.program.inputs)
    return Kernel(
        module.name,
        function.name,
        inputs,
        out.shape,
        nonzero,
        tuple(texts.items()),
        tuple(sources(module)),
    )
