"""Programs made from programs: copies, on which equal subexpressions meet, and differentiation in
reverse mode.

Derivatives are exact, operation by operation from the column `partials` of `OPS`, and share what is
already on the tape (the derivative of a sine is a cosine that is there). What an output cannot
depend on stays a structural zero, and what no output needs in the end is dead code like any other.

A sweep per output is for gradients. Derivatives of the dynamics are recursions of their own, which
mostly have fewer operations (∂τ/∂q of a Panda: 2,084 against 4,376)."""

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import groupby, islice
from math import prod
from typing import Final

from symgen.compiler.passes import live_nodes, operands, upstream
from symgen.compiler.program import LEAVES, Index, Program, Ref, Value
from symgen.numbers.operations import OPS
from symgen.numbers.scalar import PRIME, ZERO, Scalar, positive

PAIRS: Final = frozenset({"mul", "add", "sub"})
"""Operations of two operands whose signs the tape takes apart from their nodes."""


def copied(
    source: Program, target: Program, inputs: Mapping[str, Sequence[Value]]
) -> dict[str, list[Scalar]]:
    """The outputs of `source` by name, row-major, as values on `target`, from its `inputs` there;
    names and steps of the algorithm come along, and what it asks to be positive; structural zeros
    stay `ZERO`."""
    return Copy(source, target, inputs).outputs()


class Copy:
    """A tape that is written again, node by node; a pass writes some of them otherwise."""

    def __init__(
        self, source: Program, target: Program, inputs: Mapping[str, Sequence[Value]]
    ) -> None:
        self.source, self.target, self.inputs = source, target, inputs
        self.value_map: dict[Index, Value] = {}

    def outputs(self) -> dict[str, list[Scalar]]:
        """The outputs of the source by name, on the target."""
        source = self.source
        noted = source.names.keys() | source.fallback_names.keys() | source.positive.keys()
        for title, indices in groupby(self.nodes_to_copy(), source.sections.__getitem__):
            with self.target.section(title):
                for index in indices:
                    self.value_map[index] = self.node(index)
                    if index in noted:
                        self.copy_metadata(index)
        return {
            out.name: [ZERO if ref is None else self.signed(*ref) for ref in out.refs]
            for out in self.source.outputs
        }

    @property
    def restart(self) -> tuple[frozenset[Index], frozenset[Index]] | None:
        """Where the algorithm starts again, on the target."""
        if self.source.restart is None:
            return None
        solved, kept = (
            frozenset(self.value_map[k].node for k in part if k in self.value_map)
            for part in self.source.restart
        )
        return solved, kept

    def nodes_to_copy(self) -> Iterable[Index]:
        """The nodes that are written, in order."""
        return live_nodes(self.source)

    def node(self, index: Index) -> Value:
        """One of them on the target."""
        op, a, b = node = self.source.nodes[index]
        if op in PAIRS:  # nearly all
            x, y = self.value_map[a], self.value_map[b]
            if op == "mul":
                return self.target.mul(x.node, y.node, x.negative != y.negative)
            return self.target.sum(x.node, y.node, x.negative, y.negative != (op == "sub"))
        if op == "input":
            entry: Value = self.inputs[a][b]
            return entry
        if op == "const":
            return self.target.value(a)
        if op == "div":
            sign = self.source.divisors[index].negative  # the divisor as the algorithm has it
            return self.target.value(self.signed(a, sign) / self.signed(b, sign))
        return self.target.value(OPS[op](*(self.value_map[k] for k in operands(node))))

    def signed(self, index: Index, negative: bool) -> Value:
        """The copy of a node that is written already, or its negative."""
        value = self.value_map[index]
        return -value if negative else value

    def copy_metadata(self, index: Index) -> None:
        """Notes what is known of a node beside its value: names, and whether it must be
        positive."""
        for known, prime in ((self.source.names, ""), (self.source.fallback_names, PRIME)):
            if index in known:
                name, negative = known[index]
                self.signed(index, negative).named(name + prime)
        if index in self.source.positive:
            positive(self.signed(index, self.source.positive[index]))


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
