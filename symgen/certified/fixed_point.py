"""Fixed-point programs: a tape whose values are integers times powers of two.

The certified range of each node gives its scale, so that no operation overflows. The scales are
chosen from both ends. A sum has no finer scale than its terms, so that terms are only ever shifted
to the right; a product is rounded once, to the scale that its readers need.

A factor has as many bits as a number of the type, so that a product of q15 has 32 bits and one of
q31 has 64. Sums have 32 bits in both."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from symgen.certified.enclosures import MARGIN, RULES, Enclosure, UnboundedError
from symgen.certified.fixed_types import (
    ANGLE_UNIT,
    HALF_ULP,
    MAX_INTEGER,
    MAX_PRODUCT_SHIFT,
    MIN_PRODUCT_SHIFT,
    MIN_SHIFT,
    SUM_SHIFT,
    TURN_BITS,
    FixedType,
    IntegerStep,
    Signed,
    angle_integer,
    angle_rows,
    finest_shift,
)
from symgen.compiler.evaluate import Levels, levels
from symgen.compiler.passes import live_nodes, use_counts
from symgen.compiler.program import Program
from symgen.numbers.scalar import Numbers

SignedRows = list[Signed[int]]


class FixedSum(NamedTuple):
    """What a row adds up: products, whose sum is shifted to the right by `sum_shift`, and terms."""

    products: SignedRows
    terms: SignedRows
    sum_shift: int


@dataclass(frozen=True, eq=False)
class FixedProgram:
    """A tape in fixed point.

    `magnitudes` are bounds of the absolute values of all rows, errors included. Inputs and outputs
    have scales by the names of their arrays; angles have none."""

    program: Program
    kind: FixedType
    magnitudes: Numbers
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    angles: Collection[tuple[str, int]] = ()
    sine_error: float = 0.0
    """The largest error of a computed sine or cosine of an exact angle."""
    floored: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """The shifts of each row that round down."""
    at: Levels = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", levels(self.program))

    @cached_property
    def angle_rows(self) -> frozenset[int]:
        """The rows of the angles."""
        return angle_rows(self.program, self.angles)

    @cached_property
    def operands(self) -> list[tuple[int, ...]]:
        """The operands of each row."""
        pairs = zip(*(x.tolist() for x in self.at.operands), strict=True)
        return [tuple(k for k in pair if k >= 0) for pair in pairs]

    @cached_property
    def finest(self) -> list[int]:
        """The finest scale of each row that its range and the operands allow."""
        found = list[int]()
        for row, node in enumerate(self.at.nodes):
            own = finest_shift(float(self.magnitudes[row]), MAX_INTEGER)
            if node.op == "input":
                own = self.inputs.get(node.a, 0)
            elif node.op in ("sin", "cos"):
                own = self.kind.sine_shift
            elif node.op == "mul":
                parts = [self._factor_shift(k, found[k]) for k in self.operands[row]]
                own = min(own, sum(parts) - self._min_product_shift)
            elif node.op in SIGNS:
                own = min(own, *(found[k] for k in self.operands[row]))
            elif node.op != "const":
                raise UnboundedError(f"it has the operation '{node.op}'")
            found.append(own)
        return found

    @property
    def _min_product_shift(self) -> int:
        """The least shift of a product."""
        return MIN_PRODUCT_SHIFT if self.kind.bits == TURN_BITS else 0

    def _factor_shift(self, row: int, shift: int) -> int:
        """The scale of a row as a factor."""
        return min(shift, finest_shift(float(self.magnitudes[row]), self.kind.largest))

    @property
    def shifts(self) -> list[int]:
        """The scale of each row: the finest, or the one that its readers need."""
        return self._layout[0]

    @cached_property
    def steps(self) -> list[IntegerStep]:
        """The operations in the order of the tape."""
        _, sums, parts = self._layout
        rows = [int(self.at.row[i]) for i in live_nodes(self.program)]
        return [
            self._sum(row, sums[row]) if row in sums else self._leaf(row)
            for row in rows
            if row not in parts
        ]

    @cached_property
    def _layout(self) -> tuple[list[int], dict[int, FixedSum], set[int]]:
        """The scales of the rows, what each of them adds up, and the rows that are part of the sum
        of another row: sums and products that nothing else reads."""
        needed, scales = [MIN_SHIFT] * len(self.operands), [*self.finest]
        for out in self.program.outputs:
            for row in self.at.of(out.refs)[1].tolist():
                spare_bits = self.kind.bits % TURN_BITS
                needed[row] = max(needed[row], self.outputs[out.name] + spare_bits)
        sums, parts = dict[int, FixedSum](), set[int]()
        for row in range(len(scales) - 1, -1, -1):
            op = self.at.nodes[row].op
            if op not in FIXED_SCALES:
                scales[row] = min(scales[row], needed[row])
            if row in parts or op not in ("mul", *SIGNS):
                continue
            sums[row], inner = self._flattened_sum(row, scales)
            parts |= inner
            for _, k in sums[row].terms:
                needed[k] = max(needed[k], scales[row])
            for _, product in sums[row].products:
                surplus = (
                    self._scale_of_product(product, scales) - scales[row] - sums[row].sum_shift
                )
                pair = self.operands[product]
                reduced = min(pair, key=lambda k: self._cost_of_shift(k, product, scales))
                for k in pair:
                    scale = (
                        scales[k]
                        if self.at.nodes[k].op in SIGNS
                        else self._factor_shift(k, scales[k])
                    )
                    needed_scale = scale - surplus * (k == reduced)
                    needed[k] = max(needed[k], needed_scale)
        return scales, sums, parts

    def _cost_of_shift(self, k: int, product: int, scales: Sequence[int]) -> tuple[int, float]:
        """What is preferred as the factor of a product that has a coarser scale: one whose scale
        may be chosen, and then the one whose error matters less."""
        pair = self.operands[product]
        other = pair[pair[0] == k]
        fixed = self.at.nodes[k].op in (*FIXED_SCALES, "const")
        return fixed, math.ldexp(float(self.magnitudes[other]), -scales[k])

    def _flattened_sum(self, row: int, scales: Sequence[int]) -> tuple[FixedSum, set[int]]:
        """What a row adds up, and the rows that are part of it."""
        added, parts, visited = (
            self._products_and_terms(row, self._signed_addends(row), scales),
            set[int](),
            set[int](),
        )
        while candidates := [
            x for x in added.terms if self._can_be_inlined(x[1]) and x[1] not in visited
        ]:
            sign, other = candidates[0]
            visited.add(other)
            addends = [(sign * s, k) for s, k in self._signed_addends(other)]
            kept = [x for x in added.terms if x[1] != other]
            merged = self._products_and_terms(row, [*added.products, *kept, *addends], scales)
            if self._cannot_overflow(row, merged, scales):
                added = merged
                parts.add(other)
        return added, parts | {k for _, k in added.products if k != row}

    def _signed_addends(self, row: int) -> SignedRows:
        """What a row adds up; a product itself."""
        op = self.at.nodes[row].op
        return [*zip(SIGNS[op], self.operands[row], strict=True)] if op in SIGNS else [(1, row)]

    def _can_be_inlined(self, row: int) -> bool:
        """Whether a sum or product of q31 is read once, so that it need not be rounded."""
        op, once = self.at.nodes[row].op, use_counts(self.program)[int(self.at.indices[row])] == 1
        wide = self.kind.bits == TURN_BITS and row not in self.angle_rows
        return wide and once and op in ("mul", *SIGNS)

    def _products_and_terms(self, row: int, added: SignedRows, scales: Sequence[int]) -> FixedSum:
        """The products among what a row adds up, positive ones first, and the terms."""
        products = [
            (sign, k)
            for sign, k in added
            if self.at.nodes[k].op == "mul" and (k == row or self._can_be_inlined(k))
        ]
        shifts = [self._scale_of_product(k, scales) - scales[row] for _, k in products]
        size = math.fsum(float(self.magnitudes[k]) for _, k in products)
        max_shift = (
            math.floor(LOG2_OF_LARGEST_SUM - math.log2(size)) - scales[row]
            if size
            else MAX_PRODUCT_SHIFT
        )
        sum_shift = min(MAX_PRODUCT_SHIFT, max_shift, *shifts) if shifts else 0
        scaled = all(
            any(self.at.nodes[k].op == "const" for k in self.operands[product])
            for _, product in products
        )
        if self.kind.bits == TURN_BITS and scaled:
            sum_shift = min(sum_shift, UPPER_HALF_SHIFT)
        terms = [x for x in added if x not in products]
        return FixedSum(sorted(products, reverse=True), terms, sum_shift)

    def _scale_of_product(self, product: int, scales: Sequence[int]) -> int:
        """The scale of a product before it is rounded."""
        return sum(self._factor_shift(k, scales[k]) for k in self.operands[product])

    def _cannot_overflow(self, row: int, added: FixedSum, scales: Sequence[int]) -> bool:
        """Whether products and terms may be added in any order."""
        sizes = math.fsum(float(self.magnitudes[k]) for _, k in (*added.products, *added.terms))
        return math.ldexp(sizes, scales[row]) <= MAX_INTEGER

    def _sum(self, row: int, added: FixedSum) -> IntegerStep:
        """A row as a sum. What is shifted by more than the others has a factor that is shifted
        before."""
        shifts, factors, shifts_of_operands = self.shifts, list[int](), list[int]()
        for _, product in added.products:
            pair = self.operands[product]
            excess = [shifts[k] - self._factor_shift(k, shifts[k]) for k in pair]
            constants = [self.at.nodes[k].op == "const" for k in pair]
            costs = [self._cost_of_shift(k, product, shifts) for k in pair]
            coarser = constants.index(True) if any(constants) else costs.index(min(costs))
            excess[coarser] += (
                self._scale_of_product(product, shifts) - shifts[row] - added.sum_shift
            )
            order = slice(None, None, -1 if constants[1] else 1)  # a constant is first
            factors += pair[order]
            shifts_of_operands += excess[order]
        terms = [k for _, k in added.terms]
        signs = tuple(sign for sign, _ in (*added.products, *added.terms))
        shifts_of_operands += [
            0 if row in self.angle_rows else min(shifts[k] - shifts[row], 31) for k in terms
        ]
        floored = self.floored.get(row, frozenset())
        if self._has_spare_bits(row):
            floored |= {SUM_SHIFT, *range(len(factors), len(shifts_of_operands))}
        op = "angle sum" if row in self.angle_rows else "sum"
        operands = (*factors, *terms)
        return IntegerStep(
            row, op, operands, tuple(shifts_of_operands), signs, added.sum_shift, floored
        )

    def _leaf(self, row: int) -> IntegerStep:
        """A row that is no sum."""
        node, angle, number = self.at.nodes[row], row in self.angle_rows, 0
        if node.op == "const":
            exact = math.ldexp(node.a, self.shifts[row])
            number = angle_integer(node.a, self.kind) if angle else round(exact)
        operands = self.operands[row]
        op = f"angle {node.op}" if angle else node.op
        return IntegerStep(row, op, operands, (0,) * len(operands), number=number)

    def _has_spare_bits(self, row: int) -> bool:
        """Whether a row has more bits than a factor, so that how it is rounded hardly matters."""
        return self.shifts[row] > self._factor_shift(row, self.shifts[row])

    # -- errors ------------------------------------------------------------------------------------

    def errors(self, exact: Enclosure) -> Numbers:
        """Bounds of the errors of all rows on boxes, from enclosures of the exact values (Higham,
        Accuracy and Stability of Numerical Algorithms, 2nd ed. 2002, section 3.3)."""
        found = Enclosure(exact.lower, exact.upper, np.zeros(exact.lower.shape))
        for step in sorted(self.steps, key=lambda step: step.row):
            found.error[step.row] = self._error(step, found)
        return found.error

    def _error(self, step: IntegerStep, found: Enclosure) -> Any:
        if step.op == "const":
            number: float = self.at.nodes[step.row].a
            return abs(number - math.ldexp(step.number, -self.shifts[step.row]))
        if step.op == "angle const":
            return HALF_ULP * ANGLE_UNIT * 2.0 ** (TURN_BITS - self.kind.bits)
        if step.op in ("sin", "cos"):
            return self.sine_error + found.error[step.operands[0]]
        if not step.operands:
            return 0.0
        values = [
            replace(found[row], error=found[row].error + self._rounding_bound(shift, floored, row))
            for row, shift, floored in step.shifted_operands()
        ]
        products, terms = step.addends(values)
        total: Any = self._rounding_bound(
            step.sum_shift, SUM_SHIFT in step.floored, step.row, step.sum_shift
        )
        low = (
            0.0
            if self.kind.low
            else LARGEST_LOW_PRODUCT * math.ldexp(MARGIN, -step.sum_shift - self.shifts[step.row])
        )
        for (_, pair), (_, row) in zip(products, self._layout[1][step.row].products, strict=True):
            found.error[row] = RULES["mul"](*pair).error + low
            total = total + found.error[row]
        return total + sum(x.error for _, x in terms)

    def _rounding_bound(self, shift: int, floored: bool, row: int, done: int = 0) -> float:
        """The largest error of rounding a row that is shifted to the right."""
        part = (MARGIN if floored else HALF_ULP) * bool(shift)
        return part * math.ldexp(1.0, shift - done - self.shifts[row])

    def output_errors(self, errors: Numbers) -> dict[str, list[float]]:
        """The error of each entry of each output, from the largest errors of all rows."""
        bounds = dict[str, list[float]]()
        for out in self.program.outputs:
            bounds[out.name] = [0.0] * len(out.refs)
            for k, row in zip(*(x.tolist() for x in self.at.of(out.refs)), strict=True):
                rounding = self._rounding_bound(
                    self.shifts[row] - self.outputs[out.name], False, row
                )
                bounds[out.name][k] = float(errors[row] + rounding) * MARGIN
        return bounds

    def choose_floored(self, errors: Numbers, max_growth: float) -> dict[int, frozenset[int]]:
        """The shifts of each row that may round down, which saves two operations each, so that the
        errors of all outputs become larger by a part `max_growth` at most: those that matter
        least."""
        output_errors, columns = self.output_errors(errors), list[tuple[int, float]]()
        for out in self.program.outputs:
            rows = [None if ref is None else int(self.at.row[ref.node]) for ref in out.refs]
            pairs = zip(rows, output_errors[out.name], strict=True)
            columns += [(row, error) for row, error in pairs if row is not None and error]
        sensitivities = np.zeros((len(self.at.nodes), len(columns)))
        for k, (row, error) in enumerate(columns):
            sensitivities[row, k] = 1.0 / error
        for row in range(len(sensitivities) - 1, -1, -1):
            operands = self.operands[row]
            for k, other in zip(operands, reversed(operands), strict=True):
                factor = self.magnitudes[other] if self.at.nodes[row].op == "mul" else 1.0
                sensitivities[k] += factor * sensitivities[row]
        costs = {
            (step.row, k): sensitivities[step.row]
            * (self._rounding_bound(shift, False, row, done) * factor)
            for step in self.steps
            for k, row, shift, done, factor in self._roundings(step)
        }
        found, used = dict[int, frozenset[int]](), np.zeros(len(columns))
        for key in sorted(costs, key=lambda key: (float(costs[key].max(initial=0.0)), key)):
            if not (used + costs[key] <= max_growth).all():
                break
            used = used + costs[key]
            found[key[0]] = found.get(key[0], frozenset()) | {key[1]}
        return found

    def _roundings(self, step: IntegerStep) -> Iterator[tuple[int, int, int, int, float]]:
        """The shifts to nearest of a step: their numbers, what is shifted, by how much, by how much
        it was shifted before, and what its error is multiplied by on the way to the result."""
        if step.sum_shift and SUM_SHIFT not in step.floored:
            yield SUM_SHIFT, step.row, step.sum_shift, step.sum_shift, 1.0
        for k, (row, shift, floored) in enumerate(step.shifted_operands()):
            if shift and not floored and self.at.nodes[row].op != "const":
                factor = k < step.factors
                yield k, row, shift, 0, self.magnitudes[step.operands[k ^ 1]] if factor else 1.0


SIGNS: Final = {"add": (1, 1), "sub": (1, -1), "neg": (-1,)}
"""The signs of the operands in a sum."""

FIXED_SCALES: Final = ("input", "sin", "cos")
"""Operations whose results have a scale that does not depend on their readers."""

UPPER_HALF_SHIFT: Final = 32
"""The shift of a product that costs nothing: its upper half."""

LOG2_OF_LARGEST_SUM: Final = 62.9
"""The binary logarithm of the largest sum of products."""

LARGEST_LOW_PRODUCT: Final = 2.0**30
"""The largest product of the lower halves of two factors."""
