"""Room in a work array for what the loops of rolled code read and make."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from symgen.compiler.passes import operands, uses
from symgen.compiler.rolled import Loop, Rolled
from symgen.compiler.value import Index

RowOf = tuple[str, int, int]
"""A row of a loop: what the loop does with it, the number of its step, its own number."""


@dataclass(slots=True)
class Stretch:
    """Neighbours in the work array, from the step that first writes one to the last that reads
    one; None stands for an entry that nobody else reads."""

    nodes: list[Index | None]
    first: int
    last: int
    rows: tuple[tuple[RowOf, int], ...] = ()
    """Rows that lie there, each with its first entry."""

    def before(self, other: "Stretch") -> "Stretch":
        """Both as one."""
        moved = tuple((of, k + len(self.nodes)) for of, k in other.rows)
        return Stretch(
            self.nodes + other.nodes,
            min(self.first, other.first),
            max(self.last, other.last),
            self.rows + moved,
        )


def neighbours(
    rolled: Rolled,
    rows: Sequence[Stretch],
    read: Sequence[Sequence[Index]],
    by_loops: Container[Index],
) -> list[Stretch]:
    """The stretches of a program: those of `rows`, values that loops read one by one, and wherever
    a row that is `read` is made of whole ones, these as one. `by_loops` are the nodes that
    loops make."""
    born = _born(rolled, by_loops)
    of = {node: s for s in rows for node in s.nodes if node is not None}
    for nodes in read:
        for node in nodes:
            if node not in of:
                of[node] = Stretch([node], born[node], born[node])
        parts = list({id(of[k]): of[k] for k in nodes}.values())
        if len(parts) > 1 and [k for s in parts for k in s.nodes] == [*nodes]:
            joined = parts[0]
            for part in parts[1:]:
                joined = joined.before(part)
            of.update(dict.fromkeys(nodes, joined))
    for node, last in _last(rolled, of).items():
        if node in of:
            of[node].last = max(of[node].last, last)
    alone = [s for s in rows if not any(node is not None for node in s.nodes)]
    return [*{id(s): s for s in of.values()}.values(), *alone]


def allocated(stretches: Sequence[Stretch]) -> tuple[list[tuple[Stretch, int]], int]:
    """The first place of each, and how long the array is."""
    held: list[tuple[int, int, int]] = []
    places, size = list[tuple[Stretch, int]](), 0
    for stretch in sorted(stretches, key=lambda s: (s.first, -len(s.nodes), s.last)):
        held = sorted(x for x in held if x[2] >= stretch.first)
        start = _room(held, len(stretch.nodes))
        end = start + len(stretch.nodes)
        held.append((start, end, stretch.last))
        places.append((stretch, start))
        size = max(size, end)
    return places, size


def _room(held: Sequence[tuple[int, int, int]], size: int) -> int:
    """The first free place of some size."""
    start = 0
    for a, b, _ in held:
        if a - start >= size:
            break
        start = max(start, b)
    return start


def _born(rolled: Rolled, by_loops: Container[Index]) -> dict[Index, int]:
    """The step that makes each node of its own; sines, and what they are taken of, may be made
    before all others."""
    nodes = rolled.program.nodes
    steps = {s: n for n, s in enumerate(rolled.steps) if not isinstance(s, Loop)}
    early = {k for k in steps if nodes[k].op in ("sin", "cos")}
    for k in sorted(steps, reverse=True):
        if k in early:
            early.update(operands(nodes[k]))
    return steps | {k: -1 for k in early if k not in by_loops}


def _last(rolled: Rolled, kept: Mapping[Index, Stretch]) -> dict[Index, int]:
    """The last step that reads each node; what is read once is written where that is read."""
    program, late = rolled.program, dict[Index, int]()
    times = uses(program)
    for number, step in enumerate(rolled.steps):
        if isinstance(step, Loop):
            late.update(dict.fromkeys((ref.node for row in step.reads for ref in row), number))
    when = {s: n for n, s in enumerate(rolled.steps) if not isinstance(s, Loop)}
    for index in sorted(when, reverse=True):
        alone = times[index] == 1 and index not in kept
        at = max(when[index], late.get(index, 0) if alone else 0)
        for k in operands(program.nodes[index]):
            late[k] = max(late.get(k, 0), at)
    return late
