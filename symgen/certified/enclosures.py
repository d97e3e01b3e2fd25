"""Enclosures of all nodes of a program on boxes of its inputs: interval arithmetic with a running
bound of the rounding errors.

The range of a node contains its exact value for all exact inputs of the box: each bound is computed
in double precision and moved outward by one number (Moore, Kearfott & Cloud, Introduction to
Interval Analysis, 2009). The error of a node bounds the distance between the exact value and the
value that code in a scalar type computes (Higham, Accuracy and Stability of Numerical Algorithms,
2nd ed. 2002, section 3.3), terms of second order included. The computed value lies within the range
widened by the error."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from symgen.certified.program_structures import Clamp, Rotations, clamps, rotations, vectors
from symgen.certified.vector_norms import NORM_MARGIN, ErrorNorms, VectorNorms
from symgen.compiler.evaluate import Rows, levels
from symgen.compiler.program import Node, Program
from symgen.errors import OptionError
from symgen.numbers.operations import OPS
from symgen.numbers.scalar import Numbers
from symgen.numbers.trig import SINES, sincos
from symgen.proof.bounds import (
    ROUNDOFF,
    SINE_ULP,
    SMALLEST_NORMAL,
    binade,
    representation_error,
)

MARGIN: Final = 1.0 + 2.0**-10
"""Each new rounding error is multiplied by this. It covers the rounding of the bounds themselves,
which are sums of products of positive numbers in double precision, and results that the hardware
rounds twice (FLT_EVAL_METHOD 1 and 2)."""

DOUBLE_EPSILON: Final = 2.0**-52
UNDERFLOW_MARGIN: Final = 2.0**-1000
"""More than products lose that are rounded to numbers near zero."""

NUMPY_ULP: Final = 4.0
"""Units in the last place by which the functions of NumPy may be off."""

BELOW_ONE: Final = float(np.nextafter(1.0, 0.0))
"""The exact value of a sine is at most 1, so the unit in the last place is that of numbers below
1, except where the result is exactly 1."""


class UnboundedError(OptionError):
    """An operation that has no bound on a box, such as a division by a number that may be zero."""


@dataclass(frozen=True, slots=True)
class Enclosure:
    """Ranges of exact values and bounds of the errors of computed values: arrays of one shape,
    entries first, boxes last."""

    lower: Numbers
    upper: Numbers
    error: Numbers

    @property
    def magnitude(self) -> Numbers:
        """The largest exact absolute values."""
        return np.maximum(np.abs(self.lower), np.abs(self.upper))

    def __getitem__(self, rows: Any) -> "Enclosure":
        return Enclosure(self.lower[rows], self.upper[rows], self.error[rows])

    def assign(self, rows: Any, other: "Enclosure") -> None:
        """Write other enclosures into some rows."""
        self.lower[rows] = other.lower
        self.upper[rows] = other.upper
        self.error[rows] = other.error

    def intersect(self, rows: Any, other: "Enclosure") -> None:
        """Intersect some rows with other enclosures of the same nodes."""
        self.lower[rows] = np.maximum(self.lower[rows], other.lower)
        self.upper[rows] = np.minimum(self.upper[rows], other.upper)
        self.error[rows] = np.minimum(self.error[rows], other.error)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """The arithmetic of generated code: its scalar type, and whose sines it has."""

    scalar: str
    trig: str

    @property
    def exact(self) -> bool:
        """Whether nothing is rounded, so that there are ranges alone."""
        return self.scalar == EXACT.scalar

    @property
    def product_rounding(self) -> tuple[float, float]:
        """The largest error of rounding a product: the part of it, and what is added to that."""
        if self.exact:
            return 0.0, 0.0
        return MARGIN * ROUNDOFF[self.scalar], MARGIN * SMALLEST_NORMAL[self.scalar]

    def rounding(self, op: str, magnitude: Numbers) -> Numbers:
        """The largest error of rounding a result, from the largest absolute value that it has
        before it is rounded."""
        ulp = SINE_ULP[self.trig] if op in ("sin", "cos") else OPS[op].ulp
        if self.exact or not ulp:
            return np.zeros_like(magnitude)
        rounded: Numbers = 2.0 * ulp * ROUNDOFF[self.scalar] * binade(magnitude)
        return MARGIN * (rounded + SMALLEST_NORMAL[self.scalar])  # numbers flushed to zero


EXACT: Final = Arithmetic("exact", "libm")
"""Exact arithmetic."""


def _outward(lower: Numbers, upper: Numbers) -> tuple[Numbers, Numbers]:
    """Ends moved by one number or two, which is ten times faster than `numpy.nextafter`."""
    return lower - (np.abs(lower) * DOUBLE_EPSILON + UNDERFLOW_MARGIN), upper + (
        np.abs(upper) * DOUBLE_EPSILON + UNDERFLOW_MARGIN
    )


def _hull(candidates: Sequence[Numbers]) -> tuple[Numbers, Numbers]:
    lower = upper = candidates[0]
    for x in candidates[1:]:
        lower, upper = np.minimum(lower, x), np.maximum(upper, x)
    return _outward(lower, upper)


Rule = Callable[..., Enclosure]
"""The enclosure of an exact operation on computed operands, without the rounding of its result."""

RULES: Final[dict[str, Rule]] = {}
"""The rules by operation; a product of a node with itself has the rule ``square`` instead."""


def _rule(op: str) -> Callable[[Rule], Rule]:
    """Register the rule of an operation."""
    return lambda rule: RULES.setdefault(op, rule)


@_rule("add")
def _add(a: Enclosure, b: Enclosure) -> Enclosure:
    return Enclosure(*_outward(a.lower + b.lower, a.upper + b.upper), a.error + b.error)


@_rule("sub")
def _sub(a: Enclosure, b: Enclosure) -> Enclosure:
    return Enclosure(*_outward(a.lower - b.upper, a.upper - b.lower), a.error + b.error)


@_rule("mul")
def _mul(a: Enclosure, b: Enclosure) -> Enclosure:
    ends = [x * y for x in (a.lower, a.upper) for y in (b.lower, b.upper)]
    error = a.error
    if a.error.any() or b.error.any():
        error = a.magnitude * b.error + b.magnitude * a.error + a.error * b.error
    return Enclosure(*_hull(ends), error)


@_rule("square")
def _square(a: Enclosure) -> Enclosure:
    lower, upper = _hull([a.lower * a.lower, a.upper * a.upper])
    lower = np.where((a.lower <= 0.0) & (a.upper >= 0.0), 0.0, np.maximum(lower, 0.0))
    return Enclosure(lower, upper, (2.0 * a.magnitude + a.error) * a.error)


@_rule("div")
def _div(a: Enclosure, b: Enclosure) -> Enclosure:
    nearest = np.where(b.lower > 0.0, b.lower, -b.upper) - b.error
    if not (nearest > 0.0).all():
        raise UnboundedError("a divisor may be zero")
    ends = [x / y for x in (a.lower, a.upper) for y in (b.lower, b.upper)]
    lower, upper = _hull(ends)
    largest = np.maximum(np.abs(lower), np.abs(upper))
    return Enclosure(lower, upper, (a.error + largest * b.error) / nearest)


@_rule("neg")
def _neg(a: Enclosure) -> Enclosure:
    return Enclosure(-a.upper, -a.lower, a.error)


@_rule("sqrt")
def _sqrt(a: Enclosure) -> Enclosure:
    if ((a.lower < 0.0) | ((a.lower <= a.error) & (a.error > 0.0))).any():
        raise UnboundedError("the operand of a square root may be negative or zero")
    lower, upper = _outward(np.sqrt(np.maximum(a.lower, 0.0)), np.sqrt(np.maximum(a.upper, 0.0)))
    lower = np.maximum(lower, 0.0)
    smallest = lower + np.sqrt(np.maximum(a.lower - a.error, 0.0))
    return Enclosure(lower, upper, np.where(a.error > 0.0, a.error / smallest, 0.0))


def _sine(shift: float) -> Rule:
    """The sine of an angle that is increased by `shift`, 0 or half of pi; the cosine."""
    component = 0 if shift == 0.0 else 1

    def contains_extremum(a: Enclosure, at: float) -> Any:
        """Whether an angle at `at` modulo a turn may be in the range."""
        slack = 1e-9
        first = np.ceil((a.lower - at - slack) / (2.0 * np.pi)) * (2.0 * np.pi) + at
        return first <= a.upper + slack

    def rule(a: Enclosure) -> Enclosure:
        ends = [sincos(x, "double")[component] for x in (a.lower, a.upper)]
        lower = np.minimum(*ends) - 2.0**-50
        upper = np.maximum(*ends) + 2.0**-50
        unreduced = ~(a.magnitude <= SINES["double"].bound)
        upper = np.where(
            contains_extremum(a, np.pi / 2 - shift) | unreduced, 1.0, np.minimum(upper, 1.0)
        )
        lower = np.where(
            contains_extremum(a, -np.pi / 2 - shift) | unreduced, -1.0, np.maximum(lower, -1.0)
        )
        return Enclosure(lower, upper, np.minimum(a.error, 2.0))

    return rule


def _monotone(op: str, slope: Callable[[Enclosure], Numbers | float]) -> Rule:
    """A function that never decreases, from its largest slope on what an operand may be."""

    def rule(a: Enclosure) -> Enclosure:
        ends: Any = [OPS[op].evaluate(x) for x in (a.lower, a.upper)]
        lower, upper = ends
        relative_error = NUMPY_ULP * 2.0**-52
        return Enclosure(
            lower - np.abs(lower) * relative_error,
            upper + np.abs(upper) * relative_error,
            slope(a) * a.error,
        )

    return rule


@_rule("sign")
def _sign(a: Enclosure) -> Enclosure:
    uncertain = (a.error > 0.0) & (a.lower <= a.error) & (a.upper >= -a.error)
    return Enclosure(np.sign(a.lower), np.sign(a.upper), np.where(uncertain, 2.0, 0.0))


RULES.update(
    {
        "sin": _sine(0.0),
        "cos": _sine(np.pi / 2),
        "tanh": _monotone("tanh", lambda a: 1.0),
        "atan": _monotone("atan", lambda a: 1.0),
        "exp": _monotone("exp", lambda a: MARGIN * np.exp(a.upper + a.error)),
    }
)


def enclosures(
    program: Program,
    boxes: Mapping[str, tuple[Numbers, Numbers]],
    arithmetic: Arithmetic,
    prior: Enclosure | None = None,
) -> Enclosure:
    """The enclosures of all live nodes, in the order of `symgen.compiler.evaluate.levels`, boxes
    along the second axis.

    `boxes` has the lower and upper bounds of each input array (entries x boxes). Inputs are exact:
    they are numbers of the scalar type. `prior` are enclosures of the nodes that hold for all of
    the boxes. Raises UnboundedError."""
    ordered = levels(program)
    width = max((low.shape[1] for low, _ in boxes.values()), default=1)
    widths = (width, width, 1 if arithmetic.exact else width)
    out = Enclosure(*(np.zeros((len(ordered.nodes), columns)) for columns in widths))
    with np.errstate(all="ignore"):
        for group in ordered.groups:
            rows = group.rows
            if group.operands:
                out.assign(rows, _exact_operation(out, group.op, group.operands, arithmetic))
                if not arithmetic.exact:
                    out.error[rows] += _rounding(out[rows], group.op, arithmetic)
            else:
                out.assign(rows, _enclosures_of_leaves(ordered.nodes[rows], boxes, arithmetic))
            if group.op in ("add", "sub"):
                _intersect_rotations(out, rotations(program), rows, arithmetic)
                _intersect_clamps(out, clamps(program), rows, arithmetic)
            if prior is not None:
                out.intersect(rows, prior[rows])
    return out


def enclosures_by_norms(
    program: Program, boxes: Mapping[str, tuple[Numbers, Numbers]], arithmetic: Arithmetic
) -> Enclosure:
    """`enclosures` that are narrowed by the lengths of vectors. On large boxes they are much
    narrower; they take more time for each node, but hardly more for several boxes than for one."""
    ordered = levels(program)
    width = max((low.shape[1] for low, _ in boxes.values()), default=1)
    out = Enclosure(*(np.full((len(ordered.nodes), width), np.inf) for _ in range(3)))
    magnitudes, roundings = (np.full(out.error.shape, np.inf) for _ in range(2))
    norms = VectorNorms(vectors(program), magnitudes)
    error_norms = ErrorNorms(norms, out.error, roundings, arithmetic.product_rounding)
    with np.errstate(all="ignore"):
        for group in ordered.groups:
            rows = group.rows
            if not group.operands:
                out.assign(rows, _enclosures_of_leaves(ordered.nodes[rows], boxes, arithmetic))
                magnitudes[rows], roundings[rows] = out[rows].magnitude, out.error[rows]
                continue
            out.assign(rows, _exact_operation(out, group.op, group.operands, arithmetic))
            for row in range(rows.start, rows.stop):
                bound = norms.bound_of_node(row)
                out.lower[row] = np.fmax(out.lower[row], -bound)
                out.upper[row] = np.fmin(out.upper[row], bound)
            magnitudes[rows] = out[rows].magnitude
            roundings[rows] = _rounding(out[rows], group.op, arithmetic)
            out.error[rows] += roundings[rows]
            for row in range(rows.start, rows.stop):
                out.error[row] = np.fmin(out.error[row], error_norms.bound_of_node(row))
            _intersect_clamps(out, clamps(program), rows, arithmetic)
    return out


def _enclosures_of_leaves(
    nodes: Sequence[Node], boxes: Mapping[str, tuple[Numbers, Numbers]], arithmetic: Arithmetic
) -> Enclosure:
    """The enclosures of constants, which lose digits, or of inputs."""
    if nodes[0].op == "const":
        numbers = np.array([[node.a] for node in nodes], float)
        kind = "double" if arithmetic.exact else arithmetic.scalar
        rounding = MARGIN * representation_error(numbers, kind)
        return Enclosure(numbers, numbers, rounding)
    low, high = (np.stack([boxes[node.a][end][node.b] for node in nodes]) for end in (0, 1))
    return Enclosure(low, high, np.zeros((1, 1)))


def _exact_operation(
    known: Enclosure, op: str, operands: Sequence[Rows], arithmetic: Arithmetic
) -> Enclosure:
    """The enclosures of nodes with one operation, without the rounding of their results."""
    values = [known[rows] for rows in operands]
    out = RULES[op](*values)
    if op == "mul" and (equal := operands[0] == operands[1]).any():
        out.assign(equal, RULES["square"](values[0][equal]))
    elif op in ("sin", "cos"):
        angle, inline = values[0].magnitude + values[0].error, arithmetic.trig == "inline"
        if inline and not (angle <= (limit := SINES[arithmetic.scalar].bound)).all():
            raise UnboundedError(f"the sines of --trig inline have a bound up to {limit:g} rad")
    return out


def _rounding(exact: Enclosure, op: str, arithmetic: Arithmetic) -> Numbers:
    """The errors of rounding results of an operation."""
    largest = exact.magnitude + exact.error
    if op in ("sin", "cos"):
        largest = np.minimum(largest, BELOW_ONE)
    return arithmetic.rounding(op, largest)


def _intersect_clamps(
    out: Enclosure, clamps_found: Sequence[Clamp], rows: slice, arithmetic: Arithmetic
) -> None:
    """Bound clamps with a limit that is not negative. Their operations are exact, but for numbers
    that are flushed to zero, and pass on no more than the error of the number or of the limit."""
    for row, number, limit in clamps_found:
        x, bound = out[number], out[limit]
        if rows.start <= row < rows.stop and (bound.lower >= bound.error).all():
            lower = np.where(
                x.lower >= 0.0, np.minimum(x.lower, bound.lower), np.maximum(x.lower, -bound.upper)
            )
            upper = np.where(
                x.upper <= 0.0, np.maximum(x.upper, -bound.lower), np.minimum(x.upper, bound.upper)
            )
            flushed = 4.0 * SMALLEST_NORMAL.get(arithmetic.scalar, 0.0)
            error = np.maximum(x.error, bound.error) + flushed
            out.intersect(row, Enclosure(lower, upper, error))


def _intersect_rotations(
    out: Enclosure, rotations_found: Rotations, rows: slice, arithmetic: Arithmetic
) -> None:
    """Bound the rotations among some rows by the length of the vector that is rotated, and their
    errors by the length of the errors of its components (Cauchy and Schwarz)."""
    chosen = slice(*np.searchsorted(rotations_found.rows, (rows.start, rows.stop)))
    rotated = rotations_found.rows[chosen]
    if not rotated.size:
        return
    c, x, s, y = (out[rows[chosen]] for rows in rotations_found.parts)
    norm = _hypotenuse(x.magnitude, y.magnitude)
    lower, upper = np.maximum(out.lower[rotated], -norm), np.minimum(out.upper[rotated], norm)
    error = out.error[rotated]
    if not arithmetic.exact:
        (unit, tiny), sines = arithmetic.product_rounding, _hypotenuse(c.error, s.error)
        propagated = _hypotenuse(x.error, y.error)
        propagated += (sines + unit * (1.0 + sines)) * (norm + propagated) + 2.0 * tiny
        propagated += arithmetic.rounding("add", np.maximum(-lower, upper) + propagated)
        error = np.minimum(error, propagated)
    out.assign(rotated, Enclosure(lower, upper, error))


def _hypotenuse(x: Numbers, y: Numbers) -> Numbers:
    """The length of (x, y), rounded up."""
    norm: Numbers = NORM_MARGIN * np.sqrt(x * x + y * y) + UNDERFLOW_MARGIN
    return norm
