"""A tape run on many states without C of its own: one small compiled loop reads it, whatever its
length.

For tapes that a compiler would take longer for than they are run, such as gradients of robots with
many joints."""

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import numpy as np
from cffi import FFI
from numpy.typing import NDArray

from symgen.compiler.derivative import pullback
from symgen.compiler.ops import OPS
from symgen.compiler.passes import live, operands
from symgen.compiler.program import Program, Value
from symgen.jobs.job import Job
from symgen.languages.render import render
from symgen.native.compiled import EXACT, run_compiler, workspace
from symgen.reading.assemble import Loaded
from symgen.tracing.trace import trace_all

Numbers = NDArray[np.float64]

LANES: Final = 16
"""States in a block: as many as keep the values of a long tape in a processor's second cache."""

TEXTS: Final = {
    "add": "a[k] + b[k]",
    "sub": "a[k] - b[k]",
    "mul": "a[k] * b[k]",
    "div": "a[k] / b[k]",
    "sin": "sin(a[k])",
    "cos": "cos(a[k])",
    "tanh": "tanh(a[k])",
    "sign": "(double)((a[k] > 0.0) - (a[k] < 0.0))",
}
"""Every operation in C on the k-th state of its operands."""
assert set(TEXTS) == set(OPS)

NUMBERS: Final = {name: k for k, name in enumerate(("input", "const", *TEXTS))}


@dataclass(frozen=True, eq=False)
class NativeTape:
    """What a program computes, for the compiled loop: `code` has a step's operation and operands in
    each row (indices of steps, inputs or `constants`), `wanted` the step and the sign of each entry
    of all outputs."""

    inputs: int
    code: NDArray[np.int32]
    constants: Numbers
    wanted: NDArray[np.int32]

    @classmethod
    def of(cls, program: Program) -> "NativeTape":
        """Of the live nodes of a program."""
        columns = {
            node: k for k, node in enumerate(node for node in program.nodes if node.op == "input")
        }
        steps, code, constants = {}, [], [0.0]
        for row, index in enumerate(live(program)):
            node, steps[index] = program.nodes[index], row
            if node.op == "const":
                constants.append(float(node.a))
            own = {"input": (columns.get(node, 0),), "const": (len(constants) - 1,)}.get(
                node.op, tuple(steps[k] for k in operands(node))
            )
            code.append((NUMBERS[node.op], *own, *[0] * (2 - len(own))))
        code.append((NUMBERS["const"], 0, 0))  # what entries refer to that are zero in every state
        refs = [ref for out in program.outputs for ref in out.refs]
        wanted = [
            (len(code) - 1, 1) if ref is None else (steps[ref.node], -1 if ref.negative else 1)
            for ref in refs
        ]
        return cls(
            len(columns),
            np.array(code, np.int32),
            np.array(constants),
            np.array(wanted, np.int32).reshape(-1, 2),
        )

    def __call__(self, *inputs: Numbers) -> Numbers:
        """All entries of the outputs (N x entries) from the program's inputs (N x entries each), in
        their order.

        Raises ValueError where these have other sizes, CompilerError.
        """
        x = np.hstack([np.asarray(each, np.float64) for each in inputs])
        if x.shape[1] != self.inputs:
            raise ValueError(f"the tape has {self.inputs} inputs, and {x.shape[1]} are given")
        run, ffi = _machine()
        work, y = np.empty(LANES * len(self.code)), np.empty((len(x), len(self.wanted)))
        arrays = [
            (kind, array)
            for kind, array in (
                ("int *", self.code),
                ("double *", self.constants),
                ("int *", self.wanted),
                ("double *", np.ascontiguousarray(x)),
                ("double *", work),
                ("double *", y),
            )
        ]
        run(
            len(x),
            self.inputs,
            len(self.code),
            len(self.wanted),
            *(ffi.cast(k, a.ctypes.data) for k, a in arrays),
        )
        return y


@cache
def _machine() -> Any:
    """The compiled loop and its foreign interface; the library outlives its file."""
    ffi = FFI()
    ffi.cdef(
        "void Run_tape(size_t, size_t, size_t, size_t, int *, double *, int *, double *, double "
        "*, double *);"
    )
    with workspace() as folder:
        text = render("c/tape.c.jinja", lanes=LANES, operations=list(TEXTS.values()))
        (folder / "tape.c").write_text(text, encoding="utf-8")
        run_compiler(
            ["-std=c99", "-O3", "-fPIC", "-shared", *EXACT, "tape.c", "-lm", "-o", "tape.so"],
            folder,
        )
        library = ffi.dlopen(str(folder / "tape.so"))
    return library.Run_tape, ffi


@dataclass(frozen=True, eq=False)
class Traced:
    """The program of a quantity with one output, and its tape."""

    program: Program
    tape: NativeTape

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the output."""
        return self.program.outputs[0].shape

    @property
    def nonzero(self) -> NDArray[np.bool_]:
        """Which entries of the output are not zero in every state."""
        (out,) = self.program.outputs
        return np.array([ref is not None for ref in out.refs]).reshape(out.shape)

    def slopes(self) -> NativeTape:
        """The gradient of Σ weight · entry in all inputs, in reverse; the weights of the entries
        that are not zero in every state are one more input."""
        program, (out,) = deepcopy(self.program), self.program.outputs
        states = [Value(program, k) for k, node in enumerate(program.nodes) if node.op == "input"]
        entries = [Value(program, *ref) for ref in out.refs if ref is not None]
        weights = program.input("weights", (len(entries),))
        found = pullback(list(zip(entries, weights, strict=True)), states)
        program.outputs.clear()
        program.output("gradient", (len(found),), found)
        return NativeTape.of(program)


def native_tape(job: Job, loaded: Loaded, quantity: str) -> Traced:
    """That of a quantity of a job's robot. Raises OptionError."""
    own = replace(job, quantities=(quantity,))
    program = trace_all(own.robot(loaded), own.wanted(), own.choice())[0].program
    return Traced(program, NativeTape.of(program))
