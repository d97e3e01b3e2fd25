"""Certificates: for each output entry of a function its range and a bound of its rounding error;
and the options that ask for them.

The domain is divided into boxes for each entry (`symgen.certified.boxes`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_UP, Context
from typing import Any, ClassVar, Final

import numpy as np

from symgen.certified.boxes import EnclosedSubprogram, branch_and_bound, enclose_on_domain
from symgen.certified.domain import LIMIT_KINDS, POSITION, Domain, domain, validated_limits
from symgen.certified.enclosures import Arithmetic, UnboundedError
from symgen.certified.fixed_types import FIXED
from symgen.certified.forces import force_ranges
from symgen.compiler.program import Ref
from symgen.errors import OptionError
from symgen.mechanics.model import RigidBodyModel
from symgen.numbers.scalar import Numbers
from symgen.numbers.trig import TYPES
from symgen.options import group, option
from symgen.options.kinds import FLAG, NUMBER_PAIRS, WHOLE
from symgen.tracing.function import Function

FORCE_BOX_FACTORS: Final = 2.5, 0.125
"""Boxes of the coefficients of joint forces, and then of the function itself, for each box that is
asked for. The coefficients depend on the positions alone, so that their boxes cost less and tighten
the ranges more."""

MIN_BOXES_PER_ENTRY: Final = 16
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
    forces = force_ranges(function, domain, round(boxes * FORCE_BOX_FACTORS[0]))
    function_boxes = round(boxes * FORCE_BOX_FACTORS[1]) if forces else boxes
    boxes_per_entry = max(function_boxes // max(len(entries), 1), MIN_BOXES_PER_ENTRY)
    on_domain = enclose_on_domain(program, domain, arithmetic)
    bounds = {
        node: _bounds_of_entry(
            EnclosedSubprogram(program, [node], domain, arithmetic, on_domain), boxes_per_entry
        )
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


def _bounds_of_entry(entry: EnclosedSubprogram, boxes: int) -> EntryBound:
    """The bounds of one output entry with so many boxes."""

    def evaluate(lower: Numbers, upper: Numbers) -> Numbers:
        enclosure, (row,) = entry.enclose(lower, upper), entry.rows
        largest = (enclosure.magnitude + enclosure.error).max(axis=0)
        return np.stack(
            [-enclosure.lower[row], enclosure.upper[row], enclosure.error[row], largest]
        )

    lower, *others = branch_and_bound(evaluate, entry.ranges, boxes, objectives=3).tolist()
    return EntryBound(-lower, *others)


DEFAULT_BOXES: Final = 16384
"""Boxes of a function: some seconds for the inverse dynamics of a robot with six joints."""

FORWARD_DYNAMICS: Final = "forward_dynamics"
RESIDUAL: Final = f"{FORWARD_DYNAMICS}_residual"
"""The quantity whose bounds stand for those of forward dynamics, which intervals cannot bound."""

MAX_BOXES: Final = 10**9


@group
class CertifyOptions:
    """The options of certified bounds: whether there are any, for which ranges of the inputs, and
    with how much effort."""

    SECTION: ClassVar[str] = "Certified bounds"

    certify: bool = option(
        "--certify",
        None,
        "State for each C function the range of its results and a bound of its rounding errors "
        "that hold for all inputs within the limits of the robot's file and of --limit.",
        FLAG,
        default=False,
        applies_to=("c", "jax", "torch"),
    )
    certify_limits: tuple[tuple[str, float], ...] = option(
        "--limit",
        "NAME=VALUE",
        f"Range of an input for --certify. NAME is JOINT.KIND (KIND is {', '.join(LIMIT_KINDS)} or "
        f"{POSITION}) and has priority over the file; KIND alone, for all joints to which the file "
        "gives no such limit; or another input of a function, such as g.",
        NUMBER_PAIRS.with_example('{ acceleration = 10.0, "elbow.velocity" = 1.5 }'),
        default=(),
        give="give NAME=VALUE, as in acceleration=10 or elbow.velocity=1.5",
        names=(*LIMIT_KINDS, POSITION),
        applies_to=("c", "jax", "torch"),
    )
    certify_boxes: int = option(
        "--certify-boxes",
        "N",
        "Effort of --certify: the number of boxes into which the inputs of a function are divided, "
        "for all its results together. More boxes give tighter bounds and take longer. It is not a "
        "time, so that the same input gives the same bounds on every machine.",
        WHOLE,
        rare=True,
        default=DEFAULT_BOXES,
        applies_to=("c", "jax", "torch"),
    )

    def validate(self) -> None:
        """Raises OptionError for an impossible effort."""
        if not 1 <= self.certify_boxes <= MAX_BOXES:
            raise OptionError(
                f"--certify-boxes {self.certify_boxes}: give a number from 1 to {MAX_BOXES}"
            )

    def check_requested(self, scalar: str) -> None:
        """Raises OptionError for an option that has no effect without ``--certify``; fixed point
        always has bounds."""
        if (
            scalar not in FIXED
            and not self.certify
            and (self.certify_limits or self.certify_boxes != DEFAULT_BOXES)
        ):
            flag = "--limit" if self.certify_limits else "--certify-boxes"
            raise OptionError(f"{flag}: has an effect only with --certify; add it")

    def certificates(
        self, model: RigidBodyModel, functions: Sequence[Function], arithmetic: Arithmetic
    ) -> dict[str, Certificate]:
        """The certificates of functions by name. Raises OptionError for a missing limit, and where
        there is no bound. Forward dynamics has none beside a function that has its residual."""
        limits, names = validated_limits(model, self.certify_limits), [*map(_quantities, functions)]
        has_residual = any(RESIDUAL in x for x in names)
        bounded = [
            f
            for f, x in zip(functions, names, strict=True)
            if x != [FORWARD_DYNAMICS] or not has_residual
        ]
        domains = {f.name: domain(model, f.program, limits, f.name) for f in bounded}
        return {
            f.name: certify(f, domains[f.name], arithmetic, self.certify_boxes) for f in bounded
        }


def _quantities(function: Function) -> list[str]:
    return [q.name for q in function.quantities]
