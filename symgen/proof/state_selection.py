"""Selection of test states: those in which a wrong constant of the code changes a result by more
than rounding."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Final, Protocol, TypeVar

import numpy as np

from symgen.compiler.levels import Rows, distinct, levels
from symgen.compiler.program import Index, Program
from symgen.numbers.types import Numbers
from symgen.proof.bounds import RoundingErrors

SELF_TEST_CHANGES: Final = {"double": 1e-6, "float": 1e-2}
"""The relative change of any number of the code that a self-test is to see, by scalar type."""

MIN_VISIBLE_CHANGE: Final = 1.5
"""Times its error bound, a change of an entry that is seen for certain."""

MAX_SELECTION_WORK: Final = 2e5
"""Operations times distinct output entries, the least first, up to which programs have a say."""


class Computing(Protocol):
    """Some states, and how C computes there."""

    @property
    def scalar(self) -> str:
        """``double`` or ``float``."""

    def errors(self, program: Program) -> RoundingErrors:
        """The rounding errors of a program's outputs there."""


Changes = Mapping[tuple[Index, int], Numbers]
"""What shows of each operand that is a number, in each state."""

Drawn = TypeVar("Drawn")
State = TypeVar("State")


def choose_states(
    programs: Sequence[Program],
    first_drawn: Sequence[Drawn],
    draw: Callable[[int], list[Drawn]],
    finished: Callable[[Sequence[Drawn], Sequence[Program]], list[State]],
    at: Callable[[Sequence[State]], Computing],
    candidates: int,
) -> list[State]:
    """As many states as `first_drawn`, in which wrong constants of the programs are visible: these,
    unless others among the `candidates` show more. The last of them is always in the result. States
    are `finished` for the programs that run there. In double precision nearly every change is
    visible in nearly every state, so that further states are rarely drawn."""
    drawn, affordable, count = [*first_drawn], _affordable(programs), len(first_drawn)
    first = finished(drawn, programs)
    shown = [(p, sensitivity(p, at(first))) for p in affordable]
    unclear = [
        p for p, changes in shown if any(x.max() < MIN_VISIBLE_CHANGE for x in changes.values())
    ]
    if not unclear:
        return first
    drawn += draw(candidates - count)
    computing = at(finished(drawn, unclear))
    known = {p: sensitivity(p, computing) for p in unclear}
    parts = _parts(known.values())
    most = parts.max(axis=1)
    if not ((most >= 1.0) & (most > MIN_IMPROVEMENT * parts[:, :count].max(axis=1))).any():
        return first
    every = finished(drawn, programs)
    changes = [known[p] if p in known else sensitivity(p, at(every)) for p in affordable]
    return [every[k] for k in sorted(select_test_states(changes, count, fixed=(count - 1,)))]


MIN_IMPROVEMENT: Final = 1.01
"""Times what shows in the first states: what others must show to be looked at."""


def select_test_states(
    shown: Sequence[Changes], count: int, fixed: tuple[int, ...] = ()
) -> tuple[int, ...]:
    """`count` of the states: those that are `fixed`, then one after the other that in which most
    numbers of some programs show, by what is `visible` of each, that do not show in those
    before."""
    if not any(shown):
        return tuple(range(count))
    parts = _parts(shown)
    best, states = parts[:, list(fixed)].max(axis=1, initial=0.0), [*fixed]
    for _ in range(count - len(fixed)):
        gains = np.maximum(parts, best[:, None]).sum(axis=0)
        gains[states] = -1.0
        states.append(int(np.argmax(np.round(gains, 6))))
        best = np.maximum(best, parts[:, states[-1]])
    return tuple(states)


def _parts(shown: Iterable[Changes]) -> Numbers:
    """How much each number shows in each state, as far as more tells more."""
    rows: Numbers = np.array([row for changes in shown for row in changes.values()])
    return np.minimum(rows, MIN_VISIBLE_CHANGE)


def _affordable(programs: Sequence[Program]) -> list[Program]:
    """The programs that have a say, those of least work first."""
    ranked = sorted(programs, key=_work)
    return [
        p
        for p, w in zip(ranked, accumulate(map(_work, ranked)), strict=True)
        if w <= MAX_SELECTION_WORK
    ]


def _work(program: Program) -> int:
    entries = sum(len({ref.node for ref in out.refs if ref}) for out in program.outputs)
    return entries * len(levels(program).nodes)


def sensitivity(program: Program, at: Computing) -> Changes:
    """For each operand that is a number (node and place) the largest change of any output entry
    beside its error bound, in each state, when the number changes by `CHANGES`."""
    errors, ordered = at.errors(program), levels(program)
    run = errors.run
    rows, places, numbers = _numbers(program)
    with np.errstate(all="ignore"):
        parts = run.slopes[places, rows] * run.values[numbers] * SELF_TEST_CHANGES[at.scalar]
        most = np.zeros_like(parts)
        _, rows_of = ordered.of(tuple(ref for out in program.outputs for ref in out.refs))
        for block, slopes in run.derivatives(distinct(rows_of)):
            changes = np.abs(slopes[rows] * parts[:, None, :])
            changes /= errors.of_entries(block, slopes)
            largest = np.where(np.isfinite(changes), changes, 0.0).max(axis=1)
            np.maximum(most, largest, out=most)
    keys = zip(ordered.indices[rows].tolist(), places.tolist(), strict=True)
    return dict(zip(keys, most, strict=True))


def _numbers(program: Program) -> tuple[Rows, Rows, Rows]:
    """The operands that are numbers: rows of the nodes, places, and rows of the numbers."""
    at = levels(program)
    const = np.zeros(len(at.nodes) + 1, bool)
    for group in at.groups:
        const[group.rows] = group.op == "const"
    places, rows = np.nonzero(const[at.operands])
    return rows, places, at.operands[places, rows]
