"""A tape run on numbers, in its own order: what the generated code computes, without generating
it."""

import math
from collections.abc import Callable, Mapping, Sequence

from symgen.compiler.passes import live
from symgen.compiler.program import Index, Node, Program, Ref
from symgen.numbers.operations import OPS
from symgen.numbers.scalar import ZERO, Scalar

Inputs = Mapping[str, Sequence[Scalar]]


def evaluate(
    program: Program, inputs: Inputs, constant: Callable[[float], Scalar] = float
) -> dict[str, list[Scalar]]:
    """Every output array by name, row-major, from input arrays of floats or any other scalars.

    `constant` makes a scalar of a number of the tape, where floats do not mix with the inputs. Runs
    on whatever `symgen.numbers.scalar` computes with: floats (bit for bit what the algorithm gives
    without a tape), complex and decimal numbers, SymPy expressions, mpmath numbers, another tape's
    values. Structural zeros of the outputs stay `ZERO`. Raises ValueError for an input array that
    is missing or of the wrong length."""
    _check(program, inputs)
    values: dict[Index, Scalar] = {}
    for index in live(program):
        values[index] = _value(program.nodes[index], inputs, values, constant)
    return {out.name: [_signed(ref, values) for ref in out.refs] for out in program.outputs}


def _value(
    node: Node, inputs: Inputs, values: Mapping[Index, Scalar], constant: Callable[[float], Scalar]
) -> Scalar:
    if node.op == "input":
        entry: Scalar = inputs[node.a][node.b]
        return entry
    if node.op == "const":
        return constant(node.a)
    if node.b is None:
        return OPS[node.op].evaluate(values[node.a])
    return OPS[node.op].evaluate(values[node.a], values[node.b])


def _signed(ref: Ref | None, values: Mapping[Index, Scalar]) -> Scalar:
    if ref is None:
        return ZERO
    return -values[ref.node] if ref.negative else values[ref.node]


def _check(program: Program, inputs: Inputs) -> None:
    for name, shape in program.inputs:
        size = math.prod(shape)
        if name not in inputs:
            raise ValueError(f"the program needs the input '{name}' ({size} numbers)")
        if len(inputs[name]) != size:
            raise ValueError(
                f"input '{name}' has {len(inputs[name])} numbers, the program needs {size}"
            )
