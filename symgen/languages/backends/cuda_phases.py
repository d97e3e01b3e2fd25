"""The pieces of a function that has more values than a thread has registers.

In two parts that are computed one after the other, a thread holds fewer values at once. Derivatives
of forward dynamics solve for accelerations and start again with them (`Program.restart_point`). The
first part computes the accelerations, the results that do not depend on them, and what the second
part reads of the solution. The second part computes all else again, which takes more operations,
but half the registers. In each part, a statement stands just before the first that reads it, those
that need most values first (Sethi & Ullman, J. ACM 17, 1970)."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from symgen.compiler.program import Index, Ref
from symgen.languages.c.printed_function import CFunction
from symgen.languages.c.work_array import Partition, live_counts, partition, spill_slots
from symgen.languages.sine_loops import SineLoop
from symgen.languages.writer import FunctionBody, Step

REGISTERS_PER_NUMBER: Final = {"float": 1, "double": 2}
"""Registers of 32 bits that a number takes."""

REGISTERS_PER_THREAD: Final = 255
"""Registers of a thread."""

MAX_LIVE_REGISTERS: Final = 600
"""Registers of all values that are live at once, of functions in one piece. A thread has 255. Up to
580, nvcc 13.0 spills 4 kB; at 780 it kept everything in memory and used 32 registers."""

STATEMENTS_PER_PIECE: Final = 240
"""Statements of a piece of longer functions; their pieces have no spills."""


@dataclass(frozen=True, eq=False)
class ThreadFunction(CFunction):
    """A function whose values are in the registers of a thread."""

    @cached_property
    def partition(self) -> Partition | None:
        """Pieces, also where nvcc would keep hardly any value in registers; two parts, where they
        hold few values."""
        steps = self.body.steps
        if (pieces := super().partition) is not None or self._fits(steps, REGISTERS_PER_THREAD):
            return pieces
        parts = phases(self.body, self.description.pivots)
        if parts and all(self._fits(part, MAX_LIVE_REGISTERS) for part in parts):
            return Partition(parts, *spill_slots(parts))
        return (
            None
            if self._fits(steps, MAX_LIVE_REGISTERS)
            else partition(steps, STATEMENTS_PER_PIECE)
        )

    def _fits(self, steps: Sequence[Step], registers: int) -> bool:
        return max(live_counts(steps)) * REGISTERS_PER_NUMBER[self.c.scalar] <= registers


def phases(body: FunctionBody, pivots: Iterable[Ref]) -> tuple[tuple[Step, ...], ...]:
    """The statements in two parts, some of them in both; none where the algorithm does not start
    again."""
    if body.program.restart_point is None:
        return ()
    solved, kept = body.program.restart_point
    second_part, recomputed_inputs = set(solved), set(kept)
    stored_nodes = solved | kept | {ref.node for ref in pivots}
    for step in body.steps:
        for reached in (second_part, recomputed_inputs):
            if step.reads & reached:
                reached.update(step.defines)
        if step.reads & second_part:
            stored_nodes |= step.reads & recomputed_inputs
    first, second = list[Step](), list[Step]()
    for step in body.steps:
        if step.stores or isinstance(step, SineLoop) or not stored_nodes.isdisjoint(step.defines):
            (second if step.reads & second_part else first).append(step)
    known = {node for step in first for node in step.defines}
    return _ordered_by_register_need(body.steps, first), _ordered_by_register_need(
        body.steps, second, known
    )


def _ordered_by_register_need(
    steps: Sequence[Step], results: Sequence[Step], known: Collection[Index] = ()
) -> tuple[Step, ...]:
    """The statements that some results need, each after all that it needs, the longest first; what
    makes `known` nodes is left out."""
    step_of = {node: step for step in steps for node in step.defines if node not in known}
    needs, order = dict[Step, int](), dict[Step, None]()
    for step in steps:
        below = sorted((needs[step_of[k]] for k in step.reads if k in step_of), reverse=True)
        needs[step] = max((k + need for k, need in enumerate(below)), default=1)
    waiting = [*reversed(results)]
    while waiting:
        step = waiting[-1]
        before = [
            step_of[k] for k in sorted(step.reads) if k in step_of and step_of[k] not in order
        ]
        if before:
            waiting.extend(sorted(before, key=needs.__getitem__))
        else:
            order[waiting.pop()] = None
    return tuple(order)
