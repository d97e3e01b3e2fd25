"""Differentiation of a tape in reverse; the derivatives are new values on the same tape.

Exact, node by node from the column `partials` of `OPS`, and sharing whatever is on the tape already
(the derivative of a sine is the cosine that is there). What an output cannot depend on stays a
structural zero, and what no output needs in the end is dead code like any other.

A sweep per output: for gradients. Derivatives of the dynamics are recursions of their own, which
mostly have fewer operations (∂τ/∂q of a Panda: 2,084 against 4,376)."""

from collections.abc import Container, Sequence
from itertools import islice
from math import prod

from symgen.compiler.copying import copied
from symgen.compiler.passes import operands, upstream
from symgen.compiler.program import LEAVES, Index, Program, Ref, Value
from symgen.numbers.operations import OPS
from symgen.numbers.scalar import ZERO, Scalar


def pullback(outputs: Sequence[tuple[Scalar, Scalar]], inputs: Sequence[Value]) -> list[Scalar]:
    """The gradient in `inputs` of the sum of `outputs`, each with its weight (vector times
    Jacobian)."""
    values = [x for x, _ in outputs if isinstance(x, Value)]
    program = next(x.program for x in (*inputs, *values) if isinstance(x, Value))
    order = upstream(program, [x.node for x in values])
    dependent = {x.node for x in inputs if isinstance(x, Value)}
    for index in order:
        if not dependent.isdisjoint(operands(program.nodes[index])):
            dependent.add(index)
    adjoints: dict[Index, Scalar] = dict.fromkeys(order, ZERO)
    for x, weight in outputs:
        if isinstance(x, Value):
            adjoints[x.node] = adjoints[x.node] + signed(x.ref, weight)
    for index in reversed(order):
        for k, partial in partials(program, index, dependent):
            adjoints[k] = adjoints[k] + partial * adjoints[index]
    return [
        signed(x.ref, adjoints.get(x.node, ZERO)) if isinstance(x, Value) else ZERO for x in inputs
    ]


def vector_jacobian_program(source: Program, prefix: str) -> Program:
    """The program of the products of row vectors with the Jacobians of a program.

    Its inputs are those of `source`, then a weight w_y with the shape of each output y; its outputs
    are Σ_y w_y ∂y/∂x with the shape of each input x. Both are called as y and x, after `prefix`."""
    program = Program()
    inputs = {name: program.input(name, shape) for name, shape in source.inputs}
    values = copied(source, program, inputs)
    weighted = [
        pair
        for out in source.outputs
        for pair in zip(values[out.name], program.input(prefix + out.name, out.shape), strict=True)
    ]
    gradient = iter(pullback(weighted, [x for entries in inputs.values() for x in entries]))
    for name, shape in source.inputs:
        program.output(prefix + name, shape, list(islice(gradient, prod(shape))))
    return program


def partials(
    program: Program, index: Index, of_interest: Container[Index]
) -> list[tuple[Index, Scalar]]:
    """The operands of a node that are `of_interest`, with the derivative in each."""
    node = program.nodes[index]
    if node.op in LEAVES:
        return []
    values = [Value(program, k) for k in (*operands(node), index)]
    return [
        (k, p)
        for k, p in zip(operands(node), OPS[node.op].partials(*values), strict=True)
        if k in of_interest
    ]


def signed(ref: Ref, x: Scalar) -> Scalar:
    """`x` with the sign of a reference."""
    return -x if ref.negative else x
