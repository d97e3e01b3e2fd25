"""A generated C function that travels: its sources go to any process, which compiles them once for
itself."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from symgen.jobs.job import Job
from symgen.languages.c.backend import code_files
from symgen.languages.c.calls import LOOPS, loop_declaration, loop_name, loops
from symgen.native.library import Library
from symgen.numbers.types import Numbers
from symgen.reading.assemble import LoadedRobot


@dataclass(frozen=True)
class Kernel:
    """A function of arrays with one state a row: `inputs` entries of each, an output of `shape`.

    `nonzero` tells which entries of the output are not zero in every state. Nothing is rounded
    otherwise than in the generated code, so results are the same bits in every process."""

    loop: str
    """The C name of its loop over states."""
    inputs: tuple[int, ...]
    shape: tuple[int, ...]
    nonzero: NDArray[np.bool_]
    files: tuple[tuple[str, str], ...]

    def __call__(self, *states: Numbers) -> Numbers:
        """The output of every state (N x shape) from inputs (N x entries). Raises CompilerError."""
        arrays = [np.ascontiguousarray(x, np.float64) for x in states]
        result = np.empty((len(arrays[0]), *self.shape))
        _built(self.loop, len(self.inputs) + 1, self.files).call(
            self.loop, len(result), *arrays, result
        )
        return result


@cache
def _built(loop: str, arguments: int, texts: tuple[tuple[str, str], ...]) -> Library:
    """The function's loop over states, compiled for this process."""
    return Library.build(loop_declaration(loop, arguments), dict(texts))


def kernel(job: Job, loaded: LoadedRobot) -> Kernel:
    """The kernel of a job that wants one function with one output. Raises OptionError."""
    module = job.module(loaded)
    (function,) = module.functions
    (out,) = function.program.outputs
    texts = {**code_files(module), LOOPS: loops(module)}
    nonzero = np.array([ref is not None for ref in out.refs]).reshape(out.shape)
    inputs = tuple(int(np.prod(shape)) for _, shape in function.program.inputs)
    return Kernel(
        loop_name(module, function.name),
        inputs,
        out.shape,
        nonzero,
        tuple(texts.items()),
    )
