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

BINARY_OPS: Final = frozenset({"mul", "add", "sub"})
"""Binary operations whose operands the graph takes with signs."""


def copy_outputs(
    source: Program, target: Program, inputs: Mapping[str, Sequence[Value]]
) -> dict[str, list[Scalar]]:
    """The outputs of `source` by name, row-major, computed in `target` from `inputs` there. Names,
    sections and conditions on signs are copied; structural zeros stay `ZERO`."""
    return ProgramCopy(source, target, inputs).outputs()


class ProgramCopy:
    """Base class of rewriting passes: copies a program node by node; subclasses override `node`."""

    def __init__(
        self, source: Program, target: Program, inputs: Mapping[str, Sequence[Value]]
    ) -> None:
        self.source, self.target, self.inputs = source, target, inputs
        self.value_map: dict[Index, Value] = {}

    def outputs(self) -> dict[str, list[Scalar]]:
        """The outputs of the source by name, on the target."""
        source = self.source
        annotated = (
            source.names.keys() | source.fallback_names.keys() | source.positive_signs.keys()
        )
        for title, indices in groupby(self.nodes_to_copy(), source.sections.__getitem__):
            with self.target.section(title):
                for index in indices:
                    self.value_map[index] = self.node(index)
                    if index in annotated:
                        self.copy_metadata(index)
        return {
            out.name: [ZERO if ref is None else self.signed(*ref) for ref in out.refs]
            for out in self.source.outputs
        }

    @property
    def restart_point(self) -> tuple[frozenset[Index], frozenset[Index]] | None:
        """The restart point of the source (`Program.restart_point`), in nodes of the target."""
        if self.source.restart_point is None:
            return None
        solved, kept = (
            frozenset(self.value_map[k].node for k in part if k in self.value_map)
            for part in self.source.restart_point
        )
        return solved, kept

    def nodes_to_copy(self) -> Iterable[Index]:
        """The nodes that are copied, in order."""
        return live_nodes(self.source)

    def node(self, index: Index) -> Value:
        """The copy of a node in the target."""
        op, a, b = node = self.source.nodes[index]
        if op in BINARY_OPS:  # nearly all
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
        """The existing copy of a node, or its negative."""
        value = self.value_map[index]
        return -value if negative else value

    def copy_metadata(self, index: Index) -> None:
        """Copies the names of a node and the condition that it must be positive."""
        for known, suffix in ((self.source.names, ""), (self.source.fallback_names, PRIME)):
            if index in known:
                name, negative = known[index]
                self.signed(index, negative).named(name + suffix)
        if index in self.source.positive_signs:
            positive(self.signed(index, self.source.positive_signs[index]))


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
            adjoints[x.node] = adjoints[x.node] + with_sign(x.ref, weight)
    for index in reversed(order):
        for k, partial in local_derivatives(program, index, dependent):
            adjoints[k] = adjoints[k] + partial * adjoints[index]
    return [
        with_sign(x.ref, adjoints.get(x.node, ZERO)) if isinstance(x, Value) else ZERO
        for x in inputs
    ]


def vector_jacobian_program(source: Program, prefix: str) -> Program:
    """The program of the products of row vectors with the Jacobians of a program.

    Its inputs are those of `source`, then a weight w_y with the shape of each output y; its outputs
    are Σ_y w_y ∂y/∂x with the shape of each input x. Both are called as y and x, after `prefix`."""
    program = Program()
    inputs = {name: program.input(name, shape) for name, shape in source.inputs}
    values = copy_outputs(source, program, inputs)
    weighted = [
        pair
        for out in source.outputs
        for pair in zip(values[out.name], program.input(prefix + out.name, out.shape), strict=True)
    ]
    gradient = iter(pullback(weighted, [x for entries in inputs.values() for x in entries]))
    for name, shape in source.inputs:
        program.output(prefix + name, shape, list(islice(gradient, prod(shape))))
    return program


def local_derivatives(
    program: Program, index: Index, active: Container[Index]
) -> list[tuple[Index, Scalar]]:
    """The operands of a node that are in `active`, with the derivative with respect to each."""
    node = program.nodes[index]
    if node.op in LEAVES:
        return []
    values = [Value(program, k) for k in (*operands(node), index)]
    return [
        (k, p)
        for k, p in zip(operands(node), OPS[node.op].partials(*values), strict=True)
        if k in active
    ]


def with_sign(ref: Ref, x: Scalar) -> Scalar:
    """`x` with the sign of a reference."""
    return -x if ref.negative else x
