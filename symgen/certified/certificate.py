"""Certificates: for each output entry of a function its range and a bound of its rounding error.

Interval arithmetic takes equal inputs of an operation for independent ones, so that its ranges are
too large by an amount that shrinks with the box. For each output entry the domain is therefore
divided into a grid of boxes. Step by step the input is halved that lowers the bounds most at the
boxes that attain them."""

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_UP, Context
from typing import Any, Final

import numpy as np

from symgen.certified.domain import Domain
from symgen.certified.enclosures import (
    Arithmetic,
    Enclosure,
    UnboundedError,
    enclosures,
    enclosures_by_lengths,
)
from symgen.compiler.evaluate import Rows, levels
from symgen.compiler.passes import live_nodes
from symgen.compiler.program import Output, Program, Ref
from symgen.errors import OptionError
from symgen.numbers.trig import TYPES
from symgen.numbers.types import Numbers
from symgen.tracing.function import Function

CHUNK: Final = 2**19
"""Nodes times boxes that are held in memory at once."""

LEAST_BOXES: Final = 16
"""Boxes of a function with many output entries, for each of them."""

POINTS: Final = 9
"""Values of an input that are tried in place of its range, to see what the range contributes."""

WHOLE_TURN: Final = 2.0 * math.pi

ANGLES: Final = ({"sin"}, {"cos"}, {"sin", "cos"})
"""The operations that read an angle whose whole turns have no effect."""


@dataclass(frozen=True)
class CertifiedOutput:
    """An output array: for each entry, row-major, the range of its exact value and a bound of the
    error of the computed value."""

    name: str
    shape: tuple[int, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    error: tuple[float, ...]

    @property
    def magnitude(self) -> tuple[float, ...]:
        """The largest absolute exact value of each entry."""
        return tuple(max(0.0, -a, b) for a, b in zip(self.lower, self.upper, strict=True))


@dataclass(frozen=True)
class Certificate:
    """Bounds of a function that hold for all inputs of a domain that are numbers of the scalar
    type."""

    function: str
    arithmetic: Arithmetic
    boxes: int
    domain: Domain
    outputs: tuple[CertifiedOutput, ...]
    largest: float
    """The largest absolute value that any intermediate result can have, its error included."""

    def data(self) -> dict[str, Any]:
        """The certificate as plain data (docs/formats.md)."""
        return {
            "scalar": self.arithmetic.scalar,
            "trig": self.arithmetic.trig,
            "boxes": self.boxes,
            "domain": {name: [*map(list, rows)] for name, rows in self.domain.ranges.items()},
            "largest_intermediate": self.largest,
            "outputs": {
                out.name: {"lower": out.lower, "upper": out.upper, "error": out.error}
                for out in self.outputs
            },
        }


def rounded_up(x: float, digits: int) -> str:
    """`x`, which is not negative, rounded up to some digits."""
    rounded = Context(prec=digits, rounding=ROUND_UP).create_decimal_from_float(x)
    return f"{float(rounded):.{digits}g}"


def certify(function: Function, domain: Domain, arithmetic: Arithmetic, boxes: int) -> Certificate:
    """The certificate of a function on a domain. `boxes` is the number of boxes for all output
    entries together, about.

    Raises OptionError where there is no bound, such as that of a quotient whose divisor may be
    zero, and where an intermediate result may overflow."""
    if any(quantity.loops for quantity in function.quantities):
        raise OptionError(
            f"--certify: {function.name} has loops, whose bounds are not supported; remove it"
        )
    try:
        return _certificate(function, domain, arithmetic, boxes)
    except UnboundedError as error:
        inverts = any(quantity.needs_inverse for quantity in function.quantities)
        reason = "; intervals cannot bound an elimination" if inverts else ""
        raise OptionError(
            f"--certify: {function.name} has no bound on these ranges: {error}{reason}; remove "
            f"{function.name}"
        ) from None


def _certificate(
    function: Function, domain: Domain, arithmetic: Arithmetic, boxes: int
) -> Certificate:
    program = function.program
    entries = {ref.node for out in program.outputs for ref in out.refs if ref is not None}
    share = max(boxes // max(len(entries), 1), LEAST_BOXES)
    whole = _whole(program, domain, arithmetic)
    bounds = {
        node: _Grid(program, node, domain, arithmetic, whole).bound(share) for node in entries
    }
    limit = float(np.finfo(TYPES[arithmetic.scalar]).max)
    largest = max((bound.largest for bound in bounds.values()), default=0.0)
    if not largest < limit:
        raise UnboundedError(f"an intermediate result may overflow in {arithmetic.scalar}")
    outputs = tuple(
        CertifiedOutput(
            out.name,
            out.shape,
            *zip(*(_signed(ref, bounds) for ref in out.refs), strict=True),
        )
        for out in program.outputs
    )
    return Certificate(function.name, arithmetic, boxes, domain, outputs, largest)


def _signed(ref: Ref | None, bounds: "Mapping[int, EntryBound]") -> tuple[float, float, float]:
    if ref is None:
        return 0.0, 0.0, 0.0
    bound = bounds[ref.node]
    lower, upper = bound.lower, bound.upper
    return (-upper, -lower, bound.error) if ref.negative else (lower, upper, bound.error)


@dataclass(frozen=True, slots=True)
class EntryBound:
    """The range and error of one output entry, and the largest absolute intermediate result."""

    lower: float
    upper: float
    error: float
    largest: float


class _Grid:
    """The grid of one output entry."""

    def __init__(
        self,
        program: Program,
        node: int,
        domain: Domain,
        arithmetic: Arithmetic,
        whole: Enclosure,
    ) -> None:
        self.program = copy.copy(program)
        self.program.analysis_cache = {}
        self.program.outputs = [Output("entry", (1,), (Ref(node, False),))]
        self.row = int(levels(self.program).row[node])
        self.arithmetic = arithmetic
        self.ranges = _periodic(self.program, domain)
        self.sizes = {name: len(rows) for name, rows in domain.ranges.items()}
        self.known = whole[levels(program).row[levels(self.program).indices]]

    def bound(self, boxes: int) -> EntryBound:
        """The bounds with at most so many boxes."""
        parts = dict.fromkeys(self.ranges, 1)
        while True:
            found, worst = self._evaluated(parts)
            if 2 * math.prod(parts.values()) > boxes or not self.ranges:
                return found
            parts[self._best(parts, worst, found)] *= 2

    def _evaluated(self, parts: Mapping[Any, int]) -> tuple[EntryBound, list[int]]:
        """The bounds on a grid, and the boxes that attain them."""
        count, largest = math.prod(parts.values()), 0.0
        entry = np.empty((3, count))
        step = max(CHUNK // len(levels(self.program).nodes), 1)
        for start in range(0, count, step):
            chosen = np.arange(start, min(start + step, count))
            found = self._enclosed(_box_bounds(self.ranges, parts, chosen))
            entry[:, chosen] = found.lower[self.row], found.upper[self.row], found.error[self.row]
            largest = float(np.maximum(largest, (found.magnitude + found.error).max()))
        lower, upper, error = entry
        worst = [int(lower.argmin()), int(upper.argmax()), int(error.argmax())]
        return EntryBound(lower.min(), upper.max(), error.max(), largest), worst

    def _best(self, parts: Mapping[Any, int], worst: Sequence[int], found: EntryBound) -> Any:
        """The input whose halving lowers the bounds most at the boxes that attain them."""
        inputs = [*self.ranges]
        bounds = _box_bounds(self.ranges, parts, np.array(worst))
        lower, upper = (np.array([box[end] for box in bounds.values()]) for end in (0, 1))
        # Columns: for each input, for each of its values that is tried, the three boxes.
        low, high = (np.tile(x, (1, POINTS * len(inputs))) for x in (lower, upper))
        for k in range(len(inputs)):
            for point in range(POINTS):
                where = slice((k * POINTS + point) * 3, (k * POINTS + point + 1) * 3)
                step = (upper[k] - lower[k]) / (POINTS - 1)
                low[k, where] = high[k, where] = lower[k] + point * step
        boxes = {key: (low[k], high[k]) for k, key in enumerate(inputs)}
        made = self._enclosed(boxes)
        rows = [
            x[self.row].reshape(len(inputs), POINTS, 3)
            for x in (made.lower, made.upper, made.error)
        ]
        sizes = np.maximum(-rows[0][:, :, 0].min(axis=1), rows[1][:, :, 1].max(axis=1))
        errors = rows[2][:, :, 2].max(axis=1)
        size = max(-found.lower, found.upper, math.ulp(0.0))
        gain = np.log(np.maximum(sizes, size * 1e-9) / size) + np.log(
            np.maximum(errors, math.ulp(0.0)) / max(found.error, math.ulp(0.0))
        )
        return inputs[int(np.argmin(gain))]

    def _enclosed(self, ranges: Mapping[Any, tuple[Numbers, Numbers]]) -> Enclosure:
        boxes = _arrays(self.sizes, ranges)
        return enclosures(self.program, boxes, self.arithmetic, self.known)


def _whole(program: Program, domain: Domain, arithmetic: Arithmetic) -> Enclosure:
    """The enclosures of all nodes on the whole domain, by lengths of vectors."""
    ranges = {
        key: (np.array([lower]), np.array([upper]))
        for key, (lower, upper) in _periodic(program, domain).items()
    }
    sizes = {name: len(rows) for name, rows in domain.ranges.items()}
    return enclosures_by_lengths(program, _arrays(sizes, ranges), arithmetic)


def _arrays(
    sizes: Mapping[str, int], ranges: Mapping[Any, tuple[Numbers, Numbers]]
) -> dict[str, tuple[Numbers, Numbers]]:
    """The bounds of each input array, from those of the entries that are read."""
    width = max((low.shape[0] for low, _ in ranges.values()), default=1)
    boxes = {}
    for name, size in sizes.items():
        ends = np.zeros((2, size, width))
        for k in range(size):
            if (name, k) in ranges:
                ends[:, k] = ranges[name, k]
        boxes[name] = ends[0], ends[1]
    return boxes


def _box_bounds(
    ranges: Mapping[Any, tuple[float, float]], parts: Mapping[Any, int], chosen: Rows
) -> dict[Any, tuple[Numbers, Numbers]]:
    """The bounds of the boxes of a grid with the numbers `chosen`. Neighbours share a bound, so
    that together they cover the ranges."""
    places = np.unravel_index(chosen, tuple(parts.values())) if parts else ()
    boxes = {}
    for (key, (lower, upper)), place in zip(ranges.items(), places, strict=True):
        count = parts[key]
        edges = np.array([lower + (upper - lower) * (k / count) for k in range(count)] + [upper])
        boxes[key] = edges[place], edges[place + 1]
    return boxes


def _periodic(program: Program, domain: Domain) -> dict[Any, tuple[float, float]]:
    """The ranges of the inputs that a program reads. An angle that only sines and cosines read
    passes through one turn at most."""
    results = {ref.node for out in program.outputs for ref in out.refs if ref is not None}
    readers = {node: {"result"} for node in results}
    for i in live_nodes(program):
        op, a, b = program.nodes[i]
        for operand in (a, b) if op not in ("input", "const") else ():
            readers.setdefault(operand, set()).add(op)
    ranges = {}
    for i in live_nodes(program):
        node = program.nodes[i]
        if node.op == "input":
            lower, upper = domain.ranges[node.a][node.b]
            if upper - lower > WHOLE_TURN and readers.get(i) in ANGLES:
                lower, upper = -math.nextafter(math.pi, 4.0), math.nextafter(math.pi, 4.0)
            ranges[node.a, node.b] = lower, upper
    return ranges
