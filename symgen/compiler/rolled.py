"""A program as rolled code: single operations, and loops over lanes that do the same.

A `Rolled` is a value: which operations run one by one, which in loops, and in what order. The
operations are those of the tape, so that results are the same bits; a language may print loops
or, as if there were none, the tape."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from symgen.compiler.evaluate import evaluate
from symgen.compiler.program import LEAVES, Program
from symgen.compiler.rows import NOTHING, Refs
from symgen.compiler.value import Index, Ref
from symgen.numbers.operations import OPS
from symgen.numbers.scalar import ZERO, Scalar

READ, MADE = "x", "y"
"""The arrays that a body reads and makes: what belongs to one lane."""


@dataclass(frozen=True, slots=True)
class Loop:
    """`count` times the same: `body` makes of a lane's values (input ``x``) its results (output
    ``y``); `reads` and `makes` tell which they are, a row of values for each entry of these, with
    one value where it is the same in all lanes."""

    count: int
    body: Program
    reads: tuple[Refs, ...]
    makes: tuple[Refs, ...]

    def lane(self, row: Refs, k: int) -> Ref:
        """The value of a row in lane k."""
        return row[k if len(row) > 1 else 0]


@dataclass(frozen=True, slots=True)
class Rolled:
    """A program rolled, one after the other: nodes of the tape, and loops."""

    program: Program
    steps: tuple[Index | Loop, ...]
    cut: bool = False
    """Whether the search for loops ended by its limits: there may be more."""

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The loops, in order."""
        return tuple(step for step in self.steps if isinstance(step, Loop))


def run(rolled: Rolled, inputs: Mapping[str, Sequence[Scalar]]) -> dict[str, list[Scalar]]:
    """Every output array by name, as `symgen.compiler.evaluate.evaluate` gives them, by running the
    loops."""
    program, values = rolled.program, dict[Index, Scalar]()

    def value(ref: Ref) -> Scalar:
        if ref == NOTHING:
            return 0.0
        node = program.nodes[ref.node]
        if node.op in LEAVES:
            number: Scalar = inputs[node.a][node.b] if node.op == "input" else node.a
        else:
            number = values[ref.node]
        return -number if ref.negative else number

    def single(index: Index) -> None:
        op, *of = program.nodes[index]
        values[index] = OPS[op].evaluate(*(value(Ref(k, False)) for k in of if k is not None))

    def loop(step: Loop) -> None:
        for k in range(step.count):
            given = [value(step.lane(row, k)) for row in step.reads]
            for row, result in zip(
                step.makes, evaluate(step.body, {READ: given})[MADE], strict=True
            ):
                node, negative = step.lane(row, k)
                if node >= 0:
                    values.setdefault(node, -result if negative else result)

    for step in rolled.steps:
        loop(step) if isinstance(step, Loop) else single(step)
    return {
        out.name: [ZERO if ref is None else value(ref) for ref in out.refs]
        for out in program.outputs
    }
