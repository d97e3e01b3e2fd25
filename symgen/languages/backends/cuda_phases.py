"""The pieces of a function that has more values than a thread has registers.

In two parts that are computed one after the other, a thread holds fewer values at once. Derivatives
of forward dynamics solve for accelerations and start again with them (`Program.restart`). The first
part computes the accelerations, the results that do not depend on them, and what the second part
reads of the solution. The second part computes all else again, which takes more operations, but
half the registers. In each part, a statement stands just before the first that reads it, those that
need most values first (Sethi & Ullman, J. ACM 17, 1970)."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from symgen.compiler.program import Index, Ref
from symgen.languages.c.printed_function import CFunction
from symgen.languages.c.work_array import Partition, live_counts, partition, spill_slots
from symgen.languages.sine_loops import SineLoop
from symgen.languages.writer import FunctionBody, Step

WORDS: Final = {"float": 1, "double": 2}
"""Registers of 32 bits that a number takes."""

REGISTERS: Final = 255
"""Registers of a thread."""

MAX_LIVE_REGISTERS: Final = 600
"""Registers of all values that are live at once, of functions in one piece. A thread has 255. Up to
580, nvcc 13.0 spills 4 kB; at 780 it kept everything in memory and used 32 registers."""

PIECE: Final = 240
"""Statements of a piece of longer functions; their pieces have no spills."""


@dataclass(frozen=True, eq=False)
class ThreadFunction(CFunction):
    """A function whose values are in the registers of a thread."""

    @cached_property
    def partition(self) -> Partition | None:
        """Pieces, also where nvcc would keep hardly any value in registers; two parts, where they
        hold few values."""
        steps = self.body.steps
        if (pieces := super().partition) is not None or self._fits(steps, REGISTERS):
            return pieces
        parts = phases(self.body, self.d.pivots)
        if parts and all(self._fits(part, MAX_LIVE_REGISTERS) for part in parts):
            return Partition(parts, *spill_slots(parts))
        return None if self._fits(steps, MAX_LIVE_REGISTERS) else partition(steps, PIECE)

    def _fits(self, steps: Sequence[Step], registers: int) -> bool:
        return max(live_counts(steps)) * WORDS[self.c.scalar] <= registers


def phases(body: FunctionBody, pivots: Iterable[Ref]) -> tuple[tuple[Step, ...], ...]:
    """The statements in two parts, some of them in both; none where the algorithm does not start
    again."""
    if body.program.restart is None:
        return ()
    solved, kept = body.program.restart
    late, solution = set(solved), set(kept)
    wanted = solved | kept | {ref.node for ref in pivots}
    for step in body.steps:
        for reached in (late, solution):
            if step.reads & reached:
                reached.update(step.makes)
        if step.reads & late:
            wanted |= step.reads & solution
    first, second = list[Step](), list[Step]()
    for step in body.steps:
        if step.stores or isinstance(step, SineLoop) or not wanted.isdisjoint(step.makes):
            (second if step.reads & late else first).append(step)
    known = {node for step in first for node in step.makes}
    return _by_depth(body.steps, first), _by_depth(body.steps, second, known)


def _by_depth(
    steps: Sequence[Step], results: Sequence[Step], known: Collection[Index] = ()
) -> tuple[Step, ...]:
    """The statements that some results need, each after all that it needs, the longest first; what
    makes `known` nodes is left out."""
    made = {node: step for step in steps for node in step.makes if node not in known}
    needs, order = dict[Step, int](), dict[Step, None]()
    for step in steps:
        below = sorted((needs[made[k]] for k in step.reads if k in made), reverse=True)
        needs[step] = max((k + need for k, need in enumerate(below)), default=1)
    waiting = [*reversed(results)]
    while waiting:
        step = waiting[-1]
        before = [made[k] for k in sorted(step.reads) if k in made and made[k] not in order]
        if before:
            waiting.extend(sorted(before, key=needs.__getitem__))
        else:
            order[waiting.pop()] = None
    return tuple(order)
