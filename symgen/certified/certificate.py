"""Certificates: for each output entry of a function its range and a bound of its rounding error.

The domain is divided into boxes for each entry (`symgen.certified.boxes`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_UP, Context
from typing import Any, Final

import numpy as np

from symgen.certified.boxes import EnclosedPart, branch_and_bound, on_whole_domain
from symgen.certified.domain import Domain
from symgen.certified.enclosures import Arithmetic, UnboundedError
from symgen.certified.forces import force_ranges
from symgen.compiler.program import Ref
from symgen.errors import OptionError
from symgen.numbers.trig import TYPES
from symgen.numbers.types import Numbers
from symgen.tracing.function import Function

BOXES_OF_FORCES: Final = 2.5, 0.125
"""Boxes of the coefficients of joint forces, and then of the function itself, for each box that is
asked for. The coefficients depend on the positions alone, so that their boxes cost less and tighten
the ranges more."""

LEAST_BOXES: Final = 16
"""Boxes of a function with many output entries, for each of them."""


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
        advice = f"remove {function.name}"
        if [q.name for q in function.quantities] == ["forward_dynamics"]:
            advice = "add --quantity forward_dynamics_residual, whose bound takes its place"
        raise OptionError(
            f"--certify: {function.name} has no bound on these ranges: {error}{reason}; {advice}"
        ) from None


def _certificate(
    function: Function, domain: Domain, arithmetic: Arithmetic, boxes: int
) -> Certificate:
    program = function.program
    entries = {ref.node for out in program.outputs for ref in out.refs if ref is not None}
    forces = force_ranges(function, domain, round(boxes * BOXES_OF_FORCES[0]))
    own = round(boxes * BOXES_OF_FORCES[1]) if forces else boxes
    share = max(own // max(len(entries), 1), LEAST_BOXES)
    whole = on_whole_domain(program, domain, arithmetic)
    bounds = {
        node: _bounds(EnclosedPart(program, [node], domain, arithmetic, whole), share)
        for node in entries
    }
    largest = max((bound.largest for bound in bounds.values()), default=0.0)
    if not largest < float(np.finfo(TYPES[arithmetic.scalar]).max):
        raise UnboundedError(f"an intermediate result may overflow in {arithmetic.scalar}")
    outputs = []
    for out in program.outputs:
        rows = [_signed(ref, bounds) for ref in out.refs]
        for k, (lower, upper) in enumerate(forces):
            rows[k] = max(rows[k][0], lower), min(rows[k][1], upper), rows[k][2]
        outputs.append(CertifiedOutput(out.name, out.shape, *zip(*rows, strict=True)))
    return Certificate(function.name, arithmetic, boxes, domain, tuple(outputs), largest)


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


def _bounds(entry: EnclosedPart, boxes: int) -> EntryBound:
    """The bounds of one output entry with so many boxes."""

    def evaluate(lower: Numbers, upper: Numbers) -> Numbers:
        found, (row,) = entry.on(lower, upper), entry.rows
        largest = (found.magnitude + found.error).max(axis=0)
        return np.stack([-found.lower[row], found.upper[row], found.error[row], largest])

    lower, *others = branch_and_bound(evaluate, entry.ranges, boxes, objectives=3).tolist()
    return EntryBound(-lower, *others)
