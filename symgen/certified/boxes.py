"""Boxes: the inputs of a program on parts of a domain, and best-first branch and bound on them
(Moore, Kearfott & Cloud, Introduction to Interval Analysis, 2009).

Interval arithmetic takes equal inputs of an operation for independent ones, so that its bounds are
too large by an amount that shrinks with the box."""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from symgen.certified.domain import Domain
from symgen.certified.enclosures import (
    Arithmetic,
    Enclosure,
    enclosures,
    enclosures_by_norms,
)
from symgen.compiler.evaluate import levels
from symgen.compiler.passes import live_nodes
from symgen.compiler.program import Output, Program, Ref
from symgen.numbers.scalar import Numbers

MAX_BISECTIONS: Final = 512
"""Boxes that are halved at once at most, before their bounds are compared again."""

BISECT_ALL_UP_TO: Final = 64
"""Boxes up to which all are halved."""

POINTS_PER_RANGE: Final = 3
"""Values of an input that are tried in place of its range, to see what the range contributes."""

FULL_TURN: Final = 2.0 * math.pi

TRIGONOMETRIC: Final = ({"sin"}, {"cos"}, {"sin", "cos"})
"""The operations that read an angle whose whole turns have no effect."""

Ranges = Mapping[tuple[str, int], tuple[float, float]]
"""The ranges of the entries of inputs."""

Evaluate = Callable[[Numbers, Numbers], Numbers]
"""Bounds from the lower and upper ends of boxes (inputs x boxes): rows -lower, upper and any others
(rows x boxes)."""


def ranges_of_inputs(program: Program, domain: Domain) -> Ranges:
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
            if upper - lower > FULL_TURN and readers.get(i) in TRIGONOMETRIC:
                lower, upper = -math.nextafter(math.pi, 4.0), math.nextafter(math.pi, 4.0)
            ranges[node.a, node.b] = lower, upper
    return ranges


def boxes_of_arrays(
    program: Program, keys: Sequence[tuple[str, int]], lower: Numbers, upper: Numbers
) -> dict[str, tuple[Numbers, Numbers]]:
    """The bounds of each input array, from those of the entries that are read (entries x boxes)."""
    boxes = {
        name: np.zeros((2, math.prod(shape), lower.shape[1])) for name, shape in program.inputs
    }
    for (name, k), low, high in zip(keys, lower, upper, strict=True):
        boxes[name][:, k] = low, high
    return {name: (ends[0], ends[1]) for name, ends in boxes.items()}


def _as_one_box(ranges: Ranges) -> tuple[Numbers, Numbers]:
    """The lower and upper ends of ranges as one box."""
    both = np.array([*ranges.values()], float).reshape(-1, 2)
    return both[:, :1], both[:, 1:]


def enclose_on_domain(program: Program, domain: Domain, arithmetic: Arithmetic) -> Enclosure:
    """The enclosures of all nodes on the whole domain, by lengths of vectors."""
    ranges = ranges_of_inputs(program, domain)
    return enclosures_by_norms(
        program, boxes_of_arrays(program, [*ranges], *_as_one_box(ranges)), arithmetic
    )


class EnclosedSubprogram:
    """The enclosures of the nodes that some nodes of a program need, which themselves have the
    `rows`. `whole` are those of the program `enclose_on_domain`."""

    def __init__(
        self,
        program: Program,
        nodes: Sequence[int],
        domain: Domain,
        arithmetic: Arithmetic,
        on_domain: Enclosure,
    ) -> None:
        self.program, self.arithmetic = copy.copy(program), arithmetic
        self.program.analysis_cache = {}
        refs = tuple(Ref(node, False) for node in nodes)
        self.program.outputs = [Output("entries", (len(refs),), refs)]
        ordered = levels(self.program)
        self.rows = ordered.row[[*nodes]]
        self.ranges = ranges_of_inputs(self.program, domain)
        self.domain_enclosure = on_domain[levels(program).row[ordered.indices]]

    def enclose(self, lower: Numbers, upper: Numbers) -> Enclosure:
        """The enclosures in some boxes (inputs x boxes)."""
        boxes = boxes_of_arrays(self.program, [*self.ranges], lower, upper)
        return enclosures(self.program, boxes, self.arithmetic, self.domain_enclosure)


def branch_and_bound(evaluate: Evaluate, ranges: Ranges, boxes: int, objectives: int) -> Numbers:
    """The largest of each bound over at most so many boxes, which together cover the ranges.

    Again and again the boxes are halved in which the bounds are largest, each along the input whose
    range contributes most to the bound. The first two rows of bounds are those of one range; rows
    after the `objectives` are not compared."""
    lower, upper = _as_one_box(ranges)
    bounds = evaluate(lower, upper)
    while bounds.shape[1] < boxes and (upper > lower).any():
        gaps = _gaps_to_largest(bounds[:objectives])
        size = bounds.shape[1]
        count = min(max(size // 2, BISECT_ALL_UP_TO), MAX_BISECTIONS, size, boxes - size)
        chosen = np.argsort(-gaps.max(axis=0), kind="stable")[:count]
        objective = gaps.argmax(axis=1)
        slopes_of_boxes = _bound_slopes(
            evaluate, lower[:, objective], upper[:, objective], bounds[:, objective]
        )
        contributions = (
            slopes_of_boxes[:, gaps[:, chosen].argmax(axis=0)] * (upper - lower)[:, chosen]
        )
        bisected, at = contributions.argmax(axis=0), np.arange(count)
        low, high = (np.tile(x[:, chosen], (1, 2)) for x in (lower, upper))
        middle = 0.5 * (lower[bisected, chosen] + upper[bisected, chosen])
        high[bisected, at] = low[bisected, count + at] = middle
        half_bounds = np.minimum(evaluate(low, high), np.tile(bounds[:, chosen], (1, 2)))
        kept = np.ones(size, bool)
        kept[chosen] = False
        lower, upper, bounds = (
            np.concatenate([old[:, kept], new], axis=1)
            for old, new in ((lower, low), (upper, high), (bounds, half_bounds))
        )
    largest: Numbers = bounds.max(axis=1)
    return largest


def _gaps_to_largest(bounds: Numbers) -> Numbers:
    """How far the bounds of each box are from the largest one, as parts of it: 0 or less."""
    largest = bounds.max(axis=1, keepdims=True)
    sizes = np.abs(largest)
    sizes[:2] = sizes[:2].max()
    gaps: Numbers = (bounds - largest) / np.maximum(sizes, math.ulp(0.0))
    return gaps


def _bound_slopes(evaluate: Evaluate, lower: Numbers, upper: Numbers, bounds: Numbers) -> Numbers:
    """How much the bound with the number of a box falls where the range of an input becomes a
    point, for each length of it (inputs x boxes)."""
    inputs, boxes = lower.shape
    # Columns: for each input, for each of its values that is tried, the boxes.
    low, high = (np.tile(x, (1, POINTS_PER_RANGE * inputs)) for x in (lower, upper))
    for k in range(inputs):
        where = slice(k * POINTS_PER_RANGE * boxes, (k + 1) * POINTS_PER_RANGE * boxes)
        low[k, where] = high[k, where] = np.linspace(lower[k], upper[k], POINTS_PER_RANGE).ravel()
    at_points = evaluate(low, high).reshape(-1, inputs, POINTS_PER_RANGE, boxes).max(axis=2)
    each = np.arange(boxes)
    bound = bounds[each, each]
    gain = np.maximum(bound - at_points[each, :, each].T, np.abs(bound) * 1e-9)
    slopes: Numbers = gain / np.where(upper > lower, upper - lower, np.inf)
    return slopes
