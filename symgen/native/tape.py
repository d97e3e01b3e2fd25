"""A tape run on many states without C of its own: one small compiled loop reads it, whatever its
length.

For tapes that a compiler would take longer for than they are run, such as gradients of robots with
many joints."""

from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.compiler.passes import live_nodes, operands
from symgen.compiler.program import Program, Value
from symgen.compiler.transforms import pullback
from symgen.native.compiler import EXACT
from symgen.native.library import Library, pointers
from symgen.numbers.operations import OPS, Op
from symgen.numbers.types import Numbers
from symgen.render import render

LANES: Final = 16
"""States in a block: as many as keep the values of a long tape in a processor's second cache."""


def _c_expression(op: Op) -> str:
    """An operation in C on the k-th state of its operands."""
    if op.symbol:
        return f"a[k] {op.symbol} b[k]" if op.arity == 2 else f"{op.symbol}a[k]"
    return op.c.format(name=op.name, a="a[k]", f="", real="double", zero="0.0")


C_EXPRESSIONS: Final = {name: _c_expression(op) for name, op in OPS.items()}
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
