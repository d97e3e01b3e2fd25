"""Differentiation of a tape in reverse; the derivatives are new values on the same tape.

Exact, node by node from the column `partials` of `OPS`, and sharing whatever is on the tape already
(the derivative of a sine is the cosine that is there). What an output cannot depend on stays a
structural zero, and what no output needs in the end is dead code like any other.

A sweep per output: for gradients. Derivatives of the dynamics are recursions of their own, which
mostly have fewer operations (∂τ/∂q of a Panda: 2,084 against 4,376)."""

from collections.abc import Mapping, Sequence

from symgen.compiler.passes import operands
from symgen.compiler.program import LEAVES, Index, Program, Ref, Value
from symgen.numbers.operations import OPS
from symgen.numbers.scalar import ZERO, Scalar


def pullback(outputs: Sequence[tuple[Scalar, Scalar]], inputs: Sequence[Value]) -> list[Scalar]:
    """The gradient in `inputs` of the sum of `outputs`, each with its weight (vector times
    Jacobian)."""
    program = _program([x for x, _ in outputs], inputs)
    order = _upstream(program, _roots([x for x, _ in outputs]))
    active = _downstream(program, order, {x.node for x in inputs})
    adjoints: dict[Index, Scalar] = dict.fromkeys(order, ZERO)
    for x, weight in outputs:
        if isinstance(x, Value):
            adjoints[x.node] = adjoints[x.node] + _signed(x.ref, weight)
    for index in reversed(order):
        for k, partial in _partials(program, index, active):
            adjoints[k] = adjoints[k] + partial * adjoints[index]
    return [
        _signed(x.ref, adjoints.get(x.node, ZERO)) if isinstance(x, Value) else ZERO for x in inputs
    ]


def _program(outputs: Sequence[Scalar], inputs: Sequence[Value]) -> Program:
    return next(x.program for x in (*inputs, *outputs) if isinstance(x, Value))


def _roots(outputs: Sequence[Scalar]) -> list[Index]:
    return [x.node for x in outputs if isinstance(x, Value)]


def _upstream(program: Program, roots: Sequence[Index]) -> list[Index]:
    """The nodes that `roots` are computed from, in the order of computation."""
    visited: set[Index] = set()
    stack = list(roots)
    while stack:
        index = stack.pop()
        if index not in visited:
            visited.add(index)
            stack += operands(program.nodes[index])
    return sorted(visited)


def _downstream(program: Program, order: Sequence[Index], inputs: set[Index]) -> set[Index]:
    """The nodes of `order` that depend on `inputs`."""
    dependent = set(inputs)
    for index in order:
        if any(k in dependent for k in operands(program.nodes[index])):
            dependent.add(index)
    return dependent


def _partials(
    program: Program, index: Index, of_interest: Mapping[Index, Scalar] | set[Index]
) -> list[tuple[Index, Scalar]]:
    """The operands of a node that matter, with the derivative in each."""
    node = program.nodes[index]
    if node.op in LEAVES:
        return []
    values = [Value(program, k) for k in (*operands(node), index)]
    return [
        (k, p)
        for k, p in zip(operands(node), OPS[node.op].partials(*values), strict=True)
        if k in of_interest
    ]


def _signed(ref: Ref, x: Scalar) -> Scalar:
    return -x if ref.negative else x
