"""How far the numbers of a program can be from exact ones: a bound of the rounding errors in every
output entry.

Each operation adds an error of at most so many units in the last place of its result as its row in
`symgen.numbers.operations` says; how much of it arrives at an output is told by the derivative of
that entry in the operation's result. The sum over all operations of derivative times error is the
sharpest bound of first order (Linnainmaa, Taylor expansion of the accumulated rounding error, BIT
16, 1976). Where a tape has so many outputs that all derivatives are too much work, errors are
carried along with the values instead (running error analysis: Wilkinson; Higham, Accuracy and
Stability of Numerical Algorithms, 2nd ed. 2002, section 3.3), which bounds the same and is larger,
as errors that cancel on their way are added there.

The bounds hold for every order that C may compute the same operations in, for fused products (which
drop a rounding), for wider intermediate results (FLT_EVAL_METHOD 1 and 2) and for numbers that are
flushed to zero; not where sums are reordered or divisions become products (``-ffast-math``)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from symgen.compiler.batch import value_of
from symgen.compiler.passes import live, operands
from symgen.compiler.program import LEAVES, Index, Node, Program, Ref
from symgen.numbers.exact import number
from symgen.numbers.operations import OPS
from symgen.numbers.scalar import ZERO, plain
from symgen.numbers.trig import TYPES

Array = NDArray[np.float64]

ROUNDOFF: Final = {"double": 2.0**-53, "float": 2.0**-24}
"""Unit roundoff: half a unit in the last place of 1."""

SMALLEST: Final = {name: float(np.finfo(real).tiny) for name, real in TYPES.items()}
"""Below this products and quotients lose digits or become zero."""

SINES: Final = {"libm": 1.0, "inline": 2.0}
"""Units in the last place that sines and cosines are off: of the C library (glibc's manual says so,
and fdlibm, newlib and musl keep it), and what ``--trig inline`` promises."""

WORK: Final = 5e6
"""Operations times output entries up to which all derivatives are taken."""


def represented(values: Array, scalar: str) -> Array:
    """What is lost when numbers are rounded to a scalar type."""
    with np.errstate(over="ignore"):
        return np.abs(values.astype(TYPES[scalar]).astype(np.float64) - values)


MARGIN: Final = 1.0 + 2.0**-7
"""A result that is this near to the next power of two may round as that does."""

ENTRIES: Final = 64
"""Entries whose derivatives are taken together, so that memory does not grow with the outputs."""


@dataclass(frozen=True, slots=True)
class Bounded:
    """Numbers, and bounds of their absolute errors; entries first, states last."""

    values: Array
    bounds: Array


def bounded(
    program: Program,
    inputs: Mapping[str, Bounded],
    scalar: str,
    trig: str = "inline",
    slack: float = 0.0,
    sharp: bool = True,
) -> dict[str, Bounded]:
    """Every output by name with the bounds of its errors in C's ``double`` or ``float``, structural
    zeros included; sines are those of the C library (``libm``) or ``inline`` ones.

    Errors are relative to the exact result of the tape from the exact `inputs`; numbers of the tape
    are off by what their literals lose, and by `slack` besides. Bounds that are not `sharp` are
    those of running error analysis."""
    with np.errstate(all="ignore"):
        run = ErrorRun(program, inputs, scalar, trig, slack)
        return {out.name: run.output(out.refs, sharp) for out in program.outputs}


@dataclass(eq=False)
class ErrorRun:
    """A program run at some states, with the error that each node adds (`own`) and the bound of
    what has gathered there (`gathered`)."""

    program: Program
    inputs: Mapping[str, Bounded]
    scalar: str
    trig: str
    slack: float
    values: dict[Index, Any] = field(default_factory=dict)
    own: dict[Index, Any] = field(default_factory=dict)
    gathered: dict[Index, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        states = {name: x.values for name, x in self.inputs.items()}
        self.width = max((x.shape[1] for x in states.values()), default=1)
        for index in live(self.program):
            node = self.program.nodes[index]
            self.values[index] = self._value(node, states)
            pairs = zip(self.slopes(index), operands(node), strict=True)
            arriving = sum((abs(s) * self.gathered[k] for s, k in pairs), start=0.0)
            self.own[index] = self._own(index)
            self.gathered[index] = arriving + self.own[index]

    def _value(self, node: Node, states: Mapping[str, Array]) -> Any:
        """The same on every machine."""
        op = OPS.get(node.op)
        if op is None or op.portable:
            return value_of(node, states, self.values, "double")
        return np.vectorize(lambda x: plain(op(number(float(x)))))(self.values[node.a])

    def _own(self, index: Index) -> Any:
        """What a node adds to the errors that arrive at it."""
        node, value = self.program.nodes[index], self.values[index]
        if node.op == "input":
            return self.inputs[node.a].bounds[node.b]
        if node.op == "const":
            return represented(np.asarray(float(node.a)), self.scalar) + self.slack
        if node.op == "sign":
            before = self.gathered[node.a]
            return np.where((np.abs(self.values[node.a]) <= before) & (before > 0), 2.0, 0.0)
        lost = SMALLEST[self.scalar] if node.op in ("mul", "div") else 0.0
        ulp = SINES[self.trig] if node.op in ("sin", "cos") else OPS[node.op].ulp
        binade = np.ldexp(1.0, np.frexp(MARGIN * np.abs(value))[1] - 1)
        return 2.0 * ulp * ROUNDOFF[self.scalar] * binade + lost

    def slopes(self, index: Index) -> tuple[Any, ...]:
        """The derivatives of a node in its operands."""
        node = self.program.nodes[index]
        if node.op in LEAVES:
            return ()
        slopes = OPS[node.op].partials(
            *(self.values[k] for k in operands(node)), self.values[index]
        )
        return tuple(0.0 if slope is ZERO else slope for slope in slopes)

    def output(self, refs: tuple[Ref | None, ...], sharp: bool = True) -> Bounded:
        """Entries by states; a bound that is not a number becomes infinite, so that no comparison
        holds by accident."""
        values = np.zeros((len(refs), self.width))
        for row, ref in zip(values, refs, strict=True):
            if ref is not None:
                row[:] = -self.values[ref.node] if ref.negative else self.values[ref.node]
        few = sharp and len(refs) * len(self.values) <= WORK
        found = self._by_derivatives(refs) if few else self._gathered(refs)
        return Bounded(values, np.where(np.isnan(found), np.inf, found))

    def _gathered(self, refs: tuple[Ref | None, ...]) -> Array:
        found = np.zeros((len(refs), self.width))
        for row, ref in zip(found, refs, strict=True):
            row[:] = 0.0 if ref is None else self.gathered[ref.node]
        return found

    def _by_derivatives(self, refs: tuple[Ref | None, ...]) -> Array:
        """In reverse, from some entries at a time."""
        found = np.zeros((len(refs), self.width))
        for rows, index, slopes in self.reverse(refs):
            found[rows] += np.abs(slopes) * self.own[index]
        return found

    def reverse(self, refs: tuple[Ref | None, ...]) -> Iterator[tuple[slice, Index, Array]]:
        """For blocks of entries: their rows, a node, and their derivatives in it (by states)."""
        for first in range(0, len(refs), ENTRIES):
            block = refs[first : first + ENTRIES]
            rows = slice(first, first + len(block))
            reached: dict[Index, Array] = {}
            for place, ref in enumerate(block):
                if ref is not None:
                    start = np.zeros((len(block), self.width))
                    reached.setdefault(ref.node, start)[place] = 1.0
            for index in reversed(live(self.program)):
                if index in reached:
                    slopes = reached.pop(index)
                    yield rows, index, slopes
                    for k, part in zip(self.operands(index), self.slopes(index), strict=True):
                        reached[k] = reached[k] + slopes * part if k in reached else slopes * part

    def operands(self, index: Index) -> tuple[Index, ...]:
        """The nodes that a node reads."""
        return operands(self.program.nodes[index])
