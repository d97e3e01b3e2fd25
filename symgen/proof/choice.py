"""Which states tell most: those where a wrong number of the code shows above rounding."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol

import numpy as np

from symgen.compiler.passes import live
from symgen.compiler.program import Index, Program
from symgen.proof.bounds import Array, Bounded, ErrorRun

CHANGES: Final = {"double": 1e-6, "float": 1e-2}
"""By scalar type, the relative change of any number of the code that a self-test is to see."""

CLEAR: Final = 1.5
"""Times its error bound, a change of an entry that is seen for certain."""

WORK: Final = 5e5
"""Operations times output entries above which a program has no say."""


class Computing(Protocol):
    """Some states, and how C computes there."""

    @property
    def inputs(self) -> Mapping[str, Bounded]:
        """What functions read, states last."""

    @property
    def scalar(self) -> str:
        """``double`` or ``float``."""

    @property
    def trig(self) -> str:
        """Whose sines there are."""


def telling(programs: Sequence[Program], at: Computing, count: int) -> tuple[int, ...]:
    """`count` of the states, chosen one after the other: each that in which most numbers of the
    programs show that do not show in those before."""
    few = [p for p in programs if len(live(p)) * sum(len(o.refs) for o in p.outputs) <= WORK]
    shown = [row for p in few for row in visible(p, at).values()]
    if not shown:
        return tuple(range(count))
    parts = np.minimum(np.array(shown), CLEAR)
    best, found = np.zeros(len(parts)), list[int]()
    for _ in range(count):
        gains = np.maximum(parts, best[:, None]).sum(axis=0)
        gains[found] = -1.0
        found.append(int(np.argmax(np.round(gains, 6))))
        best = np.maximum(best, parts[:, found[-1]])
    return tuple(found)


def visible(program: Program, at: Computing) -> dict[tuple[Index, int], Array]:
    """By operand that is a number (node and place): the largest change of any output entry beside
    its error bound, in each state, when the number changes by `CHANGES`."""
    with np.errstate(all="ignore"):
        run = ErrorRun(program, at.inputs, at.scalar, at.trig, 0.0)
        found: dict[tuple[Index, int], Array] = {}
        for out in program.outputs:
            bounds = run.output(out.refs).bounds
            for rows, index, slopes in run.reverse(out.refs):
                for place, part in _numbers(run, index):
                    change = np.abs(slopes * part) * CHANGES[at.scalar] / bounds[rows]
                    change = np.where(np.isfinite(change), change, 0.0).max(axis=0)
                    known = found.get((index, place), np.zeros(run.width))
                    found[index, place] = np.maximum(known, change)
        return found


def _numbers(run: ErrorRun, index: Index) -> Iterator[tuple[int, Array]]:
    """The operands of a node that are numbers: place, and the derivative in the number times it."""
    for place, k in enumerate(run.operands(index)):
        if run.program.nodes[k].op == "const":
            yield place, run.slopes(index)[place] * run.program.nodes[k].a
