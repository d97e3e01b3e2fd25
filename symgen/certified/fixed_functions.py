"""The functions of a module in fixed point: scales that all functions share, and the bound of the
error of every output entry.

An array has one scale in all functions. Angles are turns: all of them are allowed, and they have no
scale."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from symgen.certified.certificate import CertifiedOutput
from symgen.certified.domain import LIMIT_OF_INPUT, POSITION, Domain, Limits, domain
from symgen.certified.enclosures import (
    Arithmetic,
    Enclosure,
    UnboundedError,
    enclosures,
    enclosures_by_norms,
)
from symgen.certified.fixed_evaluation import fixed_sines
from symgen.certified.fixed_point import FixedProgram
from symgen.certified.fixed_types import FixedType, angle_rows, finest_shift, input_entries
from symgen.compiler.evaluate import levels
from symgen.errors import OptionError
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.joint_listing import position_coordinates
from symgen.mechanics.model import RigidBodyModel
from symgen.numbers.scalar import Numbers
from symgen.tracing.function import Function

Entry = tuple[str, int]
Range = tuple[float, float]

MAX_ROWS_TIMES_BOXES: Final = 4_000_000
"""Rows times boxes at most."""

SCREENING_PARTS: Final = 8
"""Parts of an angle that are tried, to see whether its division lowers the bounds."""

MAX_ERROR_GROWTH: Final = {"q31": 0.2, "q15": 1.0}
"""By what part the errors may become larger so that numbers can be rounded down. In q15 every
factor is rounded, and bounds are far above the errors."""

DOUBLE_ARITHMETIC: Final = Arithmetic("double", "inline")
HALF_TURN: Final = math.nextafter(math.pi, 4.0)


@dataclass(frozen=True, eq=False)
class FixedFunction:
    """A function in fixed point, the ranges of its inputs and the bounds of its outputs."""

    function: str
    fixed: FixedProgram
    domain: Domain
    boxes: int
    outputs: tuple[CertifiedOutput, ...]
    bounds: Mapping[Entry, tuple[int, int]]
    """The least and largest integer of each entry of an input that is not an angle."""

    @property
    def largest_value(self) -> float:
        """The largest absolute value that any intermediate result can have."""
        rows = [k for k in range(len(self.fixed.magnitudes)) if k not in self.fixed.angle_rows]
        return float(self.fixed.magnitudes[rows].max(initial=0.0))

    def integers(self, name: str, k: int) -> tuple[int, int]:
        """The least and largest integer of an entry of an input."""
        most = 2 ** (self.fixed.kind.bits - 1)
        return self.bounds.get((name, k), (-most, most - 1))


def is_angle(model: RigidBodyModel, name: str, k: int) -> bool:
    """Whether an entry of an input is an angle."""
    return LIMIT_OF_INPUT.get(name) == POSITION and position_coordinates(model)[k].unit == "rad"


def fixed_functions(
    model: RigidBodyModel,
    functions: Sequence[Function],
    limits: Limits,
    fixed_type: FixedType,
    boxes: int,
) -> dict[str, FixedFunction]:
    """The functions in fixed point by name. `boxes` is the number of boxes of each, about. Raises
    OptionError for a function that has no fixed-point form, and for a missing limit."""
    kind, analyses = fixed_type.name, list[_RangeAnalysis]()
    if coupling_of(model).quaternions:
        raise OptionError(
            f"--scalar {kind}: the robot has a joint with a quaternion, which fixed point does not "
            "support; use float"
        )
    for f in functions:
        with _naming_function(f.name, kind):
            analyses.append(
                _RangeAnalysis(
                    model, f, domain(model, f.program, limits, f.name), fixed_type, boxes
                )
            )
    inputs: dict[str, int] = {}
    outputs: dict[str, int] = {}
    for analysis in analyses:
        for name, size in analysis.input_sizes.items():
            inputs[name] = min(inputs.get(name, 99), finest_shift(size, fixed_type.largest))
    for analysis in analyses:
        with _naming_function(analysis.function.name, kind):
            for name, shift in analysis.output_shifts(inputs).items():
                outputs[name] = min(outputs.get(name, 99), shift)
    out = dict[str, FixedFunction]()
    for analysis in analyses:
        with _naming_function(analysis.function.name, kind):
            out[analysis.function.name] = analysis.with_scales(inputs, outputs)
    return out


@contextmanager
def _naming_function(name: str, kind: str) -> Iterator[None]:
    """Refuse a function in a sentence that names it and the type. Raises OptionError."""
    try:
        yield
    except OptionError as error:
        text = str(error).removeprefix("error: ").replace("--certify", f"--scalar {kind}")
        if isinstance(error, UnboundedError):
            text = (
                f"--scalar {kind}: {name} has no fixed-point form: {text}; remove {name} or use "
                "float"
            )
        raise OptionError(text) from None


class _RangeAnalysis:
    """A function before its scales are known: the ranges of its nodes on a grid of boxes."""

    def __init__(
        self,
        model: RigidBodyModel,
        function: Function,
        domain_of_inputs: Domain,
        kind: FixedType,
        boxes: int,
    ) -> None:
        if function.quantities[0].loops:
            raise UnboundedError("it has loops")
        self.function, self.program, self.kind = function, function.program, kind
        self.angles = frozenset(x for x in input_entries(self.program) if is_angle(model, *x))
        self.rows = angle_rows(self.program, self.angles)
        self.domain = Domain(
            {
                name: tuple(
                    (-HALF_TURN, HALF_TURN) if is_angle(model, name, k) else row
                    for k, row in enumerate(rows)
                )
                for name, rows in domain_of_inputs.ranges.items()
            }
        )
        self.sizes = {name: len(rows) for name, rows in domain_of_inputs.ranges.items()}
        full_ranges = {key: self._range(key) for key in input_entries(self.program)}
        self.prior = enclosures_by_norms(
            self.program, self._boxes(full_ranges, {}), DOUBLE_ARITHMETIC
        )
        max_boxes = min(boxes, MAX_ROWS_TIMES_BOXES // max(len(levels(self.program).nodes), 1))
        self.parts = self._subdivision(full_ranges, max_boxes)
        self.exact = self._enclosure(full_ranges, self.parts)

    def _range(self, key: Entry) -> Range:
        return self.domain.ranges[key[0]][key[1]]

    def _enclosure(self, ranges: Mapping[Entry, Range], parts: Mapping[Entry, int]) -> Enclosure:
        return enclosures(self.program, self._boxes(ranges, parts), DOUBLE_ARITHMETIC, self.prior)

    def _boxes(
        self, ranges: Mapping[Entry, Range], parts: Mapping[Entry, int]
    ) -> dict[str, tuple[Numbers, Numbers]]:
        """The grid of boxes in which some inputs are divided into equal parts."""
        shape = tuple(parts.values())
        numbers = np.arange(math.prod(shape))
        part_indices = dict(
            zip(parts, np.unravel_index(numbers, shape) if shape else (), strict=True)
        )
        out = {name: np.zeros((2, size, math.prod(shape))) for name, size in self.sizes.items()}
        for key, (lower, upper) in ranges.items():
            count = parts.get(key, 1)
            steps = [lower + (upper - lower) * (k / count) for k in range(count)]
            edges = np.array([*steps, upper])
            part: Any = part_indices.get(key, 0)
            out[key[0]][0, key[1]] = edges[part]
            out[key[0]][1, key[1]] = edges[part + 1]
        return {name: (ends[0], ends[1]) for name, ends in out.items()}

    def _subdivision(self, ranges: Mapping[Entry, Range], max_boxes: int) -> dict[Entry, int]:
        """Into how many parts each angle is divided: those whose division makes the largest
        values of the program smaller."""
        undivided = self._enclosure(ranges, {}).magnitude.max(axis=1)
        gains = dict[Entry, float]()
        for key in sorted(self.angles):
            sizes = self._enclosure(ranges, {key: SCREENING_PARTS}).magnitude.max(axis=1)
            gains[key] = math.fsum(
                ((undivided - sizes) / np.maximum(undivided, 2.0**-100)).tolist()
            )
        min_gain = 0.05 * max(gains.values(), default=0.0) + 0.1
        useful = sorted(
            (key for key in gains if gains[key] > min_gain), key=lambda k: (-gains[k], k)
        )
        parts = dict.fromkeys(useful, 1)
        while useful and 2 * math.prod(parts.values()) <= max_boxes:
            key = min(parts, key=lambda key: parts[key])
            parts[key] *= 2
        return parts

    @property
    def input_sizes(self) -> dict[str, float]:
        """The largest absolute value of each input array without its angles."""
        sizes: dict[str, float] = {}
        for name, k in input_entries(self.program):
            if (name, k) not in self.angles:
                size = max(map(abs, self._range((name, k))))
                sizes[name] = max(sizes.get(name, 0.0), size)
        return sizes

    def output_shifts(self, inputs: Mapping[str, int]) -> dict[str, int]:
        """The finest scale of each output array."""
        fixed = self._fixed(inputs, {out.name: 0 for out in self.program.outputs}, 0.0)
        shifts = {}
        for out in self.program.outputs:
            rows = fixed.at.of(out.refs)[1].tolist()
            sizes = [fixed.magnitudes[row] * (1.0 + 2.0**-9) for row in rows]
            own = finest_shift(max(sizes, default=0.0), self.kind.largest)
            shifts[out.name] = min([own, *(fixed.finest[row] for row in rows)])
        return shifts

    def _fixed(
        self, inputs: Mapping[str, int], outputs: Mapping[str, int], errors: Numbers | float
    ) -> FixedProgram:
        magnitudes = (self.exact.magnitude + errors).max(axis=1) * (1.0 + 2.0**-30)
        sines = fixed_sines(self.kind)
        return FixedProgram(
            self.program, self.kind, magnitudes, inputs, outputs, self.angles, sines.error
        )

    def with_scales(self, inputs: Mapping[str, int], outputs: Mapping[str, int]) -> FixedFunction:
        """The function with the scales of the module."""
        fixed, errors = self._consistent_scales(inputs, outputs)
        bounds = {
            key: (math.ceil(math.ldexp(low, shift)), math.floor(math.ldexp(high, shift)))
            for key in input_entries(self.program)
            if key not in self.angles
            for (low, high), shift in [(self._range(key), inputs[key[0]])]
        }
        stated = fixed.output_errors(errors.max(axis=1))
        certified = tuple(
            self._certified_output(out, stated[out.name]) for out in self.program.outputs
        )
        boxes = math.prod(self.parts.values())
        return FixedFunction(self.function.name, fixed, self.domain, boxes, certified, bounds)

    def _consistent_scales(
        self, inputs: Mapping[str, int], outputs: Mapping[str, int]
    ) -> tuple[FixedProgram, Numbers]:
        """The program whose scales hold its values with their errors, and the errors on all
        boxes."""
        errors, floored = np.zeros(self.exact.lower.shape), None
        for _ in range(8):
            fixed = replace(self._fixed(inputs, outputs, errors), floored=floored or {})
            bounds = fixed.errors(self.exact)
            if floored is not None and (bounds <= errors).all():
                return fixed, bounds
            if floored is None:
                floored = fixed.choose_floored(bounds.max(axis=1), MAX_ERROR_GROWTH[self.kind.name])
            errors = np.maximum(errors, bounds * (1.0 + 2.0**-6))
        raise UnboundedError("its errors are as large as its values")

    def _certified_output(self, out: Any, errors: Sequence[float]) -> CertifiedOutput:
        ordered, lower, upper = levels(self.program), list[float](), list[float]()
        for ref in out.refs:
            low = high = 0.0
            if ref is not None:
                row = ordered.row[ref.node]
                low, high = float(self.exact.lower[row].min()), float(self.exact.upper[row].max())
                low, high = (-high, -low) if ref.negative else (low, high)
            lower.append(low)
            upper.append(high)
        return CertifiedOutput(out.name, out.shape, tuple(lower), tuple(upper), tuple(errors))
