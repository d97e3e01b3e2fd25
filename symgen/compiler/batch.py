"""A tape run on arrays of states in C's ``double`` or ``float``: the same bits on every machine.

Only + - * / and square roots of NumPy are used, which IEEE 754 rounds the same everywhere, and sine
and cosine made of them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.compiler.passes import live, operands
from symgen.compiler.program import Index, Node, Program
from symgen.numbers.operations import OPS
from symgen.numbers.trig import TYPES

Array = NDArray[Any]


def evaluate_batch(program: Program, inputs: Mapping[str, Array], scalar: str) -> dict[str, Array]:
    """Every output that is not always zero, entries along the first axis, from inputs of the same
    layout.

    A value is dropped after its last reader, so that memory does not grow with the length of the
    tape."""
    order = live(program)
    last = {k: i for i in order for k in operands(program.nodes[i])}
    wanted = {ref.node for out in program.outputs for ref in out.refs if ref is not None}
    values: dict[Index, Any] = {}
    for index in order:
        node = program.nodes[index]
        values[index] = value_of(node, inputs, values, scalar)
        for k in operands(node):
            if last[k] == index and k not in wanted:
                values.pop(k, None)
    return {
        out.name: _stacked([ref for ref in out.refs if ref is not None], values)
        for out in program.outputs
    }


def value_of(
    node: Node, inputs: Mapping[str, Array], values: Mapping[Index, Any], scalar: str
) -> Any:
    """What a node computes from the values of its operands, sines and cosines by `sincos`."""
    if node.op == "input":
        return inputs[node.a][node.b]
    if node.op == "const":
        return TYPES[scalar](node.a)
    op, read = OPS[node.op], [values[k] for k in operands(node)]
    return op.evaluate(*read) if op.fixed is None else op.fixed(read[0], scalar)


def _stacked(refs: list[Any], values: Mapping[Index, Any]) -> Array:
    entries = [-values[ref.node] if ref.negative else values[ref.node] for ref in refs]
    return np.stack(np.broadcast_arrays(*entries)) if entries else np.zeros((0, 1))
