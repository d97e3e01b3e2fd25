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

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from symgen.compiler.evaluate import (
    Consumers,
    LevelGroup,
    Rows,
    compute_op,
    evaluate_batch,
    levels,
    node_values,
    unique_values,
)
from symgen.compiler.program import LEAVES, Program, Ref
from symgen.numbers.decimals import correctly_rounded
from symgen.numbers.operations import OPS, Op
from symgen.numbers.scalar import ZERO, Numbers
from symgen.numbers.trig import TYPES

MAX_HELD_DERIVATIVES: Final = 2_000_000
"""Derivatives held at once."""


@dataclass(frozen=True, eq=False)
class ProgramRun:
    """A program run in double precision; all arrays have a row for each node of its `levels`, and
    the states last."""

    program: Program
    inputs: Mapping[str, Numbers]

    @cached_property
    def values(self) -> Numbers:
        """The value of every node at every state, to the same bits on every machine."""
        with np.errstate(all="ignore"):
            return node_values(self.program, self.inputs, "double", _portable_operation)

    @property
    def width(self) -> int:
        """How many states there are."""
        return int(self.values.shape[1])

    @cached_property
    def slopes(self) -> Numbers:
        """The derivatives of each node in its operands, the first of them first."""
        partials = np.zeros((2, *self.values.shape))
        with np.errstate(all="ignore"):
            for alike in levels(self.program).op_groups:
                read = (self.values[rows] for rows in alike.operands)
                slopes = OPS[alike.op].partials(*read, self.values[alike.rows])
                for k, slope in enumerate(slopes):
                    partials[k, alike.rows] = 0.0 if slope is ZERO else slope
        return partials

    @cached_property
    def _slopes_of_readings(self) -> list[tuple[Consumers, Numbers]]:
        """The slopes of all readings."""
        inward = levels(self.program).reverse_order
        places, rows = inward.uses
        slopes = self.slopes[places, rows][:, None]
        return [
            (r, slopes[r.uses].reshape(*r.consumers.T.shape, 1, self.width).swapaxes(0, 1))
            for r in inward.consumers
        ]

    def derivatives(self, rows: Rows) -> Iterator[tuple[Rows, Numbers]]:
        """Blocks of the nodes in `rows`, one after the other, each with its derivatives in every
        node: (nodes, block, states). They may be overwritten, and are when the next ones come."""
        place, size = (
            levels(self.program).reverse_order.place,
            max(1, MAX_HELD_DERIVATIVES // max(self.values.size, 1)),
        )
        space = np.empty((2, len(place) * min(size, len(rows)) * self.width))
        inward = self._inward if np.isfinite(self.slopes).all() else self._where_reached
        for first in range(0, len(rows), size):
            block = rows[first : first + size]
            shape = len(place), len(block), self.width
            slopes, by_row = (x[: prod(shape)].reshape(shape) for x in space)
            slopes[:], slopes[place[block], np.arange(len(block))] = 0.0, 1.0
            with np.errstate(all="ignore"):
                inward(slopes, int(place[block].min()))
            yield block, slopes.take(place, axis=0, out=by_row, mode="clip")

    def _inward(self, slopes: Numbers, first: int) -> None:
        """Nodes from place `first` on; nothing before it is reached."""
        for r, steep in self._slopes_of_readings:
            if r.read.stop > first:
                arriving = slopes.take(r.consumers, axis=0)
                arriving *= steep
                slopes[r.read] += np.add.reduce(arriving, axis=0)

    def _where_reached(self, slopes: Numbers, first: int) -> None:
        """Where some slopes are infinite: zero times infinity is zero where an entry does not
        depend on what is infinite."""
        reached = slopes[:, :, :1] != 0
        for r, steep in self._slopes_of_readings:
            if r.read.stop > first:
                via = reached[r.consumers]
                slopes[r.read] += np.where(via, slopes[r.consumers] * steep, 0.0).sum(axis=0)
                reached[r.read] |= via.any(axis=0)


def _portable_operation(op: Op, scalar: str, operands: tuple[Numbers, ...]) -> Numbers:
    """An operation; functions that are not arithmetic are rounded correctly. Sines are so, too: an
    error in the numbers of `symgen.numbers.trig` must not count as one of the tape."""
    if op.portable and op.counts_as != "trig":
        return compute_op(op, scalar, operands)
    each: Any = np.frompyfunc(partial(correctly_rounded, op.name), 1, 1)
    values: Numbers = each(operands[0]).astype(float)
    return values


ROUNDOFF: Final = {"double": 2.0**-53, "float": 2.0**-24}
"""Unit roundoff: half a unit in the last place of 1."""

SMALLEST_NORMAL: Final = {name: float(np.finfo(real).tiny) for name, real in TYPES.items()}
"""Below this products and quotients lose digits or become zero."""

SINE_ULP: Final = {"libm": 1.0, "inline": 2.0}
"""Units in the last place that sines and cosines are off: of the C library (glibc's manual says so,
and fdlibm, newlib and musl keep it), and what ``--trig inline`` promises."""

MAX_DERIVATIVE_WORK: Final = 5e6
"""Operations times output entries up to which all derivatives are taken."""


def representation_error(values: Numbers, scalar: str) -> Numbers:
    """The error of rounding numbers to a scalar type."""
    with np.errstate(over="ignore"):
        return np.abs(values.astype(TYPES[scalar]).astype(np.float64) - values)


BINADE_MARGIN: Final = 1.0 + 2.0**-7
"""A result that is this near to the next power of two may round as that does."""


def binade(magnitudes: Numbers) -> Numbers:
    """The power of two at or below each magnitude: what its unit in the last place is a part of.
    Of 0 it is 0, as a result that is exactly 0 was not rounded."""
    powers: Numbers = np.ldexp(1.0, np.frexp(magnitudes)[1] - 1)
    return np.where(magnitudes == 0.0, 0.0, powers)


@dataclass(frozen=True, slots=True)
class BoundedArray:
    """Numbers, and bounds of their absolute errors; entries first, states last."""

    values: Numbers
    bounds: Numbers


def error_bounds(
    program: Program,
    inputs: Mapping[str, BoundedArray],
    scalar: str,
    trig: str = "inline",
    slack: float = 0.0,
    sharp: bool = True,
) -> dict[str, BoundedArray]:
    """Every output by name with the bounds of its errors in C's ``double`` or ``float``, structural
    zeros included; sines are those of the C library (``libm``) or ``inline`` ones.

    Errors are relative to the exact result of the tape from the exact `inputs`; numbers of the tape
    are off by what their literals lose, and by `slack` besides. Bounds that are not `sharp` are
    those of running error analysis."""
    run = ProgramRun(program, {name: x.values for name, x in inputs.items()})
    return RoundingErrors(run, inputs, scalar, trig, slack).outputs(sharp)


MAX_COUPLED_ERROR: Final = 64.0
"""How many units of rounding one operand may be off where its error meets that of another."""


@dataclass(frozen=True, eq=False)
class RoundingErrors:
    """The rounding errors of a program at some states, one row for each node of its `levels`."""

    run: ProgramRun
    inputs: Mapping[str, BoundedArray]
    scalar: str
    trig: str
    slack: float = 0.0

    def outputs(self, sharp: bool = True) -> dict[str, BoundedArray]:
        """The values and bounds of each output; a bound that is not a number becomes infinite, so
        that no comparison holds by accident."""
        at, outputs = levels(self.run.program), self.run.program.outputs
        few = [
            out for out in outputs if sharp and len(out.refs) * len(at.nodes) <= MAX_DERIVATIVE_WORK
        ]
        rows = {out.name: at.of(out.refs)[1] for out in outputs}
        ends = np.cumsum([len(rows[out.name]) for out in few])
        rows_of_few = np.concatenate([np.empty(0, np.intp), *(rows[out.name] for out in few)])
        bounds = np.split(self._by_derivatives(rows_of_few), ends) if few else []
        known = {out.name: bound for out, bound in zip(few, bounds, strict=False)}
        return {
            out.name: self._entries(out.refs, known.get(out.name, self._errors[1][rows[out.name]]))
            for out in outputs
        }

    @cached_property
    def _errors(self) -> tuple[Numbers, Numbers]:
        """The error that each node adds to those that arrive at it, and the bound of what has
        gathered in each node."""
        with np.errstate(all="ignore"):
            errors, slopes = self._rounded(), np.abs(self.run.slopes)
            at = levels(self.run.program)
            accumulated = np.zeros((len(errors) + 1, self.run.width))  # the last: no operand
            ends = {level.stop: level for level in at.level_rows}
            for group in at.groups:
                rows = group.rows
                if group.op == "sign":
                    before = accumulated[
                        group.operands[0]
                    ]  # 2 where the other side of zero is near
                    near = (np.abs(self.run.values[group.operands[0]]) <= before) & (before > 0)
                    errors[rows] = np.where(near, 2.0, 0.0)
                elif group.op in ("add", "sub"):
                    errors[rows] *= ~self._exact_sums(group, accumulated)
                elif group.op in ("mul", "div"):
                    slope_rows = slopes[:, rows]
                    errors[rows] += self._products(
                        group.op, slope_rows, group.operands, accumulated
                    )
                if level := ends.get(rows.stop):
                    accumulated[level] = errors[level]
                    for slope_rows, operands in zip(slopes, at.operands, strict=True):
                        accumulated[level] += slope_rows[level] * accumulated[operands[level]]
            return errors, accumulated[:-1]

    def _rounded(self) -> Numbers:
        """The roundings of nodes whose errors do not depend on those of others."""
        values, at = self.run.values, levels(self.run.program)
        binades = binade(BINADE_MARGIN * np.abs(values))
        errors = np.empty_like(values)
        for group in at.groups[: len(LEAVES)]:
            if group.op == "const":
                errors[group.rows] = (
                    representation_error(values[group.rows], self.scalar) + self.slack
                )
            elif group.op == "input":
                for row, (_, name, place) in enumerate(at.nodes[group.rows], group.rows.start):
                    errors[row] = self.inputs[name].bounds[place]
        for alike in at.op_groups:
            lost = SMALLEST_NORMAL[self.scalar] if alike.op in ("mul", "div") else 0.0
            ulp = SINE_ULP[self.trig] if alike.op in ("sin", "cos") else OPS[alike.op].ulp
            rounded = 2.0 * ulp * ROUNDOFF[self.scalar] * binades[alike.rows]
            errors[alike.rows] = rounded + lost
        return errors

    def _products(
        self, op: str, slopes: Numbers, operands: Sequence[Rows], accumulated: Numbers
    ) -> Numbers:
        """The product of both operands' errors, of second order: all there is where those of
        first order cancel (1 - x² / x² times what may be zero).

        What has gathered may be far more than there is, so a small part of what it makes of first
        order is the most."""
        first, second = (accumulated[rows] for rows in operands)
        alone = slopes[0] * first + slopes[1] * second
        second_order = first * second if op == "mul" else second * slopes[0] * alone
        least: Numbers = np.fmin(second_order, MAX_COUPLED_ERROR * ROUNDOFF[self.scalar] * alone)
        return least

    def _exact_sums(self, sums: LevelGroup, accumulated: Numbers) -> NDArray[np.bool_]:
        """Where a sum of two exact numbers is exact (Knuth's TwoSum): of angles of many turns, that
        rounding would hide the errors of sines."""
        known: NDArray[np.bool_] = (accumulated[sums.operands[0]] == 0) & (
            accumulated[sums.operands[1]] == 0
        )
        if not known.any():
            return known
        first, second = (self.run.values[rows] for rows in sums.operands)
        total, second = self.run.values[sums.rows], -second if sums.op == "sub" else second
        added = total - first
        lost = (first - (total - added)) + (second - added)
        known &= (lost == 0) & (representation_error(total, self.scalar) == 0)
        return known

    def _entries(self, refs: tuple[Ref | None, ...], bounds: Numbers) -> BoundedArray:
        """Entries by states, from the bounds of those that do not vanish."""
        places, rows = levels(self.run.program).of(refs)
        values, errors = np.zeros((2, len(refs), self.run.width))
        signs = np.array([-1.0 if refs[k].negative else 1.0 for k in places]).reshape(-1, 1)
        values[places] = signs * self.run.values[rows]
        errors[places] = bounds
        return BoundedArray(values, np.where(np.isnan(errors), np.inf, errors))

    def _by_derivatives(self, rows: Rows) -> Numbers:
        """The error bounds of some nodes by their derivatives in all nodes before."""
        known, bounds = self._known_bounds
        for block, slopes in self.run.derivatives(unique_values(rows[~known[rows]])):
            self.bounds_from_derivatives(block, slopes)
        return bounds[rows]

    @cached_property
    def _known_bounds(self) -> tuple[NDArray[np.bool_], Numbers]:
        """Of which nodes the bounds by derivatives are known, and these."""
        return np.zeros(len(self.run.values), bool), np.empty_like(self.run.values)

    def bounds_from_derivatives(self, rows: Rows, slopes: Numbers) -> Numbers:
        """The bounds of the nodes in `rows`, which have these derivatives in all nodes (nodes,
        rows, states). The derivatives are lost: their place is used; the bounds are kept."""
        known, bounds = self._known_bounds
        with np.errstate(all="ignore"):
            np.abs(slopes, out=slopes)
            slopes *= self._errors[0][:, None, :]
            known[rows], bounds[rows] = True, slopes.sum(axis=0)
        return bounds[rows]


@dataclass(frozen=True, slots=True)
class Rounding:
    """The rounding errors of one output: bound of the error of any entry, largest error seen and
    largest entry, over all states."""

    output: str
    bound: float
    seen: float
    entry: float

    @property
    def text(self) -> str:
        """The figures in words, rounded up."""
        if not self.bound:
            return f"{self.output}: exact"
        bound, observed = (
            f"{_rounded_up(x)} ({_rounded_up(x / self.entry)})" for x in (self.bound, self.seen)
        )
        if not math.isfinite(self.bound):
            return f"{self.output}: no bound, observed {observed}"
        return f"{self.output}: at most {bound}, observed {observed}"


def _rounded_up(x: float) -> str:
    """`x` rounded up to two digits."""
    if not math.isfinite(x):
        return "inf"
    digits, exponent = f"{x:.15e}".split("e")
    return f"{math.ceil(float(digits) * 10) / 10 * 10.0 ** int(exponent):.1e}"


def roundings(
    program: Program,
    inputs: Mapping[str, BoundedArray],
    exact: Mapping[str, BoundedArray],
    scalar: str,
) -> tuple[Rounding, ...]:
    """Errors of a program: the bound is that of `exact`, what is seen is the difference from it
    where the program runs in the scalar type."""
    with np.errstate(all="ignore"):
        rounded = {name: x.values.astype(TYPES[scalar]) for name, x in inputs.items()}
        run = evaluate_batch(program, rounded, scalar)
    return tuple(
        Rounding(
            out.name,
            float(x.bounds.max(initial=0.0)),
            _largest(run[out.name], x.values[[ref is not None for ref in out.refs]]),
            float(np.abs(x.values).max(initial=0.0)) or 1.0,
        )
        for out in program.outputs
        for x in (exact[out.name],)
    )


def _largest(run: NDArray[Any], exact: NDArray[Any]) -> float:
    if not exact.size:
        return 0.0
    largest = float(np.abs(run.astype(np.float64).reshape(len(exact), -1) - exact).max())
    return largest if math.isfinite(largest) else math.inf
