"""A tape run on arrays of states in C's ``double`` or ``float``: the same bits on every machine.

Only + - * / of NumPy are used, which IEEE 754 rounds the same everywhere, and sine and cosine made
of them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.compiler.ops import OPS
from symgen.compiler.passes import live, operands
from symgen.compiler.program import Index, Node, Program
from symgen.compiler.trig import TYPES, sincos

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
        values[index] = _value(node, inputs, values, scalar)
        for k in operands(node):
            if last[k] == index and k not in wanted:
                values.pop(k, None)
    return {
        out.name: _stacked([ref for ref in out.refs if ref is not None], values)
        for out in program.outputs
    }


def _value(
    node: Node, inputs: Mapping[str, Array], values: Mapping[Index, Any], scalar: str
) -> Any:
    if node.op == "input":
        return inputs[node.a][node.b]
    if node.op == "const":
        return TYPES[scalar](node.a)
    if node.op in ("sin", "cos"):
        return sincos(values[node.a], scalar)[node.op == "cos"]
    if OPS[node.op].arity == 1:
        return getattr(np, node.op)(values[node.a])
    return OPS[node.op].evaluate(*(values[k] for k in operands(node)))


def _stacked(refs: list[Any], values: Mapping[Index, Any]) -> Array:
    entries = [-values[ref.node] if ref.negative else values[ref.node] for ref in refs]
    return np.stack(np.broadcast_arrays(*entries)) if entries else np.zeros((0, 1))
