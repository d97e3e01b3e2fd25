"""A program written again on another one, where equal subexpressions meet."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final

from symgen.compiler.passes import live_nodes, operands
from symgen.compiler.program import Index, Program, Value
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
