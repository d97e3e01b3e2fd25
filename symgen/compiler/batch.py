"""A tape run on arrays of states in C's ``double`` or ``float``: the same bits on every machine.

Only + - * / and square roots of NumPy are used, which IEEE 754 rounds the same everywhere, and sine
and cosine made of them."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from symgen.compiler.levels import levels
from symgen.compiler.program import Index, Node, Program
from symgen.numbers.operations import OPS, Op
from symgen.numbers.scalar import ZERO, Scalar
from symgen.numbers.trig import TYPES
from symgen.numbers.types import AnyArray

Compute = Callable[[Op, str, tuple[AnyArray, ...]], AnyArray]
"""An operation in a scalar type on arrays of its operands."""


def evaluate_batch(
    program: Program, inputs: Mapping[str, AnyArray], scalar: str
) -> dict[str, AnyArray]:
    """Every output that is not always zero, entries along the first axis, from inputs of the same
    layout."""
    values = values_of(program, inputs, scalar)
    outputs = {}
    for out in program.outputs:
        refs = [ref for ref in out.refs if ref is not None]
        _, rows = levels(program).of(tuple(refs))
        signs = np.array([[-1 if ref.negative else 1] for ref in refs], values.dtype)
        outputs[out.name] = values[rows] * signs.reshape(-1, 1)
    return outputs


def computed(op: Op, scalar: str, operands: tuple[AnyArray, ...]) -> AnyArray:
    """An operation, sines and cosines by `sincos`."""
    result: Any = op.evaluate(*operands) if op.fixed is None else op.fixed(operands[0], scalar)
    return result  # type: ignore[no-any-return]


def values_of(
    program: Program, inputs: Mapping[str, AnyArray], scalar: str, compute: Compute = computed
) -> AnyArray:
    """The values of all live nodes, a row each (see `symgen.compiler.levels`), states along the
    second axis."""
    return _in_levels(
        program, inputs, TYPES[scalar], float, lambda op, operands: compute(op, scalar, operands)
    )


def evaluate_exactly(
    program: Program, inputs: Mapping[str, AnyArray], number: Callable[[float], Scalar]
) -> dict[str, AnyArray]:
    """The outputs of `symgen.compiler.evaluate.evaluate` for many states at once: entries along the
    first axis of inputs and outputs, which are arrays of objects."""
    values = _in_levels(program, inputs, object, number, lambda op, args: op.evaluate(*args))
    outputs = {}
    for out in program.outputs:
        places, rows = levels(program).of(out.refs)
        entries = np.full((len(out.refs), values.shape[1]), ZERO, object)
        entries[places] = values[rows]
        negative = [k for k, ref in enumerate(out.refs) if ref and ref.negative]
        entries[negative] = -entries[negative]
        outputs[out.name] = entries
    return outputs


def _in_levels(
    program: Program,
    inputs: Mapping[str, AnyArray],
    kind: Any,
    number: Callable[[float], Any],
    compute: Callable[[Op, tuple[AnyArray, ...]], Any],
) -> AnyArray:
    """The values of all live nodes in an array of some kind, its numbers made from those of the
    tape."""
    at = levels(program)
    width = max((np.shape(x)[1] for x in inputs.values()), default=1)
    values = np.empty((len(at.nodes), width), kind)
    for group in at.groups:
        if group.operands:
            operands = tuple(values[rows] for rows in group.operands)
            values[group.rows] = compute(OPS[group.op], operands)
            continue
        for row, (op, a, b) in enumerate(at.nodes[group.rows], group.rows.start):
            values[row] = inputs[a][b] if op == "input" else number(a)
    return values


def value_of(
    node: Node, inputs: Mapping[str, AnyArray], values: Mapping[Index, Any], scalar: str
) -> Any:
    """The value of a node, from those of its operands."""
    if node.op == "input":
        return inputs[node.a][node.b]
    if node.op == "const":
        return TYPES[scalar](node.a)
    operands = (values[node.a],) if node.b is None else (values[node.a], values[node.b])
    return computed(OPS[node.op], scalar, operands)
