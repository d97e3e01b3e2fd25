"""Fixed-point programs: a tape whose values are integers times powers of two.

The certified range of each node gives its scale, so that no operation overflows. The scales are
chosen from both ends. A sum has no finer scale than its terms, so that terms are only ever shifted
to the right; a product is rounded once, to the scale that its readers need.

A factor has as many bits as a number of the type, so that a product of q15 has 32 bits and one of
q31 has 64. Sums have 32 bits in both."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from symgen.certified.enclosures import MARGIN, RULES, Enclosure, UnboundedError
from symgen.certified.fixed_types import (
    AFTER,
    ANGLE_UNIT,
    COARSEST,
    HALF,
    LARGEST,
    LONGEST,
    SHORTEST,
    TURN_BITS,
    FixedType,
    IntegerStep,
    angle_integer,
    angle_rows,
    finest_shift,
)
from symgen.compiler.evaluate import Levels, levels
from symgen.compiler.passes import live_nodes, use_counts
from symgen.compiler.program import Program
from symgen.numbers.types import AnyArray, Numbers


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
    down: Mapping[int, frozenset[int]] = field(default_factory=dict)
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
            own = finest_shift(float(self.magnitudes[row]), LARGEST)
            if node.op == "input":
                own = self.inputs.get(node.a, 0)
            elif node.op in ("sin", "cos"):
                own = self.kind.sine_shift
            elif node.op == "mul":
                parts = [self._factor_shift(k, found[k]) for k in self.operands[row]]
                own = min(own, sum(parts) - self._shortest)
            elif node.op in ("add", "sub", "neg"):
                own = min(own, *(found[k] for k in self.operands[row]))
            elif node.op != "const":
                raise UnboundedError(f"it has the operation '{node.op}'")
            found.append(own)
        return found

    @property
    def _shortest(self) -> int:
        """The least shift of a product."""
        return SHORTEST if self.kind.bits == TURN_BITS else 0

    def _factor_shift(self, row: int, shift: int) -> int:
        """The scale of a row as a factor."""
        return min(shift, finest_shift(float(self.magnitudes[row]), self.kind.largest))

    @cached_property
    def shifts(self) -> list[int]:
        """The scale of each row: the finest, or the one that its readers need."""
        needed = [COARSEST] * len(self.at.nodes)
        for out in self.program.outputs:
            for row in self.at.of(out.refs)[1].tolist():
                spare = self.kind.bits % TURN_BITS
                needed[row] = max(needed[row], self.outputs[out.name] + spare)
        found = [*self.finest]
        for row in range(len(found) - 1, -1, -1):
            op = self.at.nodes[row].op
            if op not in ("input", "sin", "cos"):
                found[row] = min(found[row], needed[row])
            for k in self.operands[row]:
                sums = self.at.nodes[k].op in ("add", "sub", "neg")
                reader = self.finest[k] if sums else self._factor_shift(k, self.finest[k])
                needed[k] = max(needed[k], reader if op == "mul" else found[row])
            if op == "mul":
                most = sum(self._factors(row)) - LONGEST
                found[row] = max(found[row], most)
        return found

    def _factors(self, row: int) -> list[int]:
        """The scales of the factors of a product."""
        return [self._factor_shift(k, self.finest[k]) for k in self.operands[row]]

    @cached_property
    def steps(self) -> list[IntegerStep]:
        """The operations in the order of the tape."""
        rows = [int(self.at.row[i]) for i in live_nodes(self.program)]
        return [self._step(row) for row in rows if row not in self._parts]

    @cached_property
    def _parts(self) -> frozenset[int]:
        """The products that are added without being rounded before."""
        sums = [row for row in range(len(self.operands)) if self._has_two_products(row)]
        return frozenset(k for row in sums for k in self.operands[row])

    def _has_two_products(self, row: int) -> bool:
        """Whether a node is a sum of two products of 64 bits that nothing else reads, with equal
        scales."""
        if self.at.nodes[row].op not in ("add", "sub") or self.kind.bits < TURN_BITS:
            return False
        pair, uses = self.operands[row], use_counts(self.program)
        return len({self._product_shift(k) for k in pair}) == 1 and all(
            self.at.nodes[k].op == "mul"
            and uses[int(self.at.indices[k])] == 1
            and self.shifts[k] == self.shifts[row]
            for k in pair
        )

    def _product_shift(self, row: int) -> int:
        """By how much a product is shifted to the right; 0 of another node."""
        product = self.at.nodes[row].op == "mul"
        return sum(self._factors(row)) - self.shifts[row] if product else 0

    def _step(self, row: int) -> IntegerStep:
        node, shifts, operands = self.at.nodes[row], self.shifts, self.operands[row]
        if row in self.angle_rows:
            number = angle_integer(node.a, self.kind) if node.op == "const" else 0
            return IntegerStep(
                row, f"angle {node.op}", operands, (0,) * len(operands), number=number
            )
        if node.op == "const":
            return IntegerStep(row, "const", (), (), number=round(math.ldexp(node.a, shifts[row])))
        after, down = self._product_shift(row), self.down.get(row, frozenset())
        if node.op == "mul":
            scales = zip(operands, self._factors(row), strict=True)
            before = tuple(shifts[k] - f for k, f in scales)
            down = down | {AFTER} if self._fine(row) else down
            return IntegerStep(row, "mul", operands, before, after, down)
        if operands and operands[0] in self._parts:
            factors = tuple(f for k in operands for f in self.operands[k])
            after = self._product_shift(operands[0])
            return IntegerStep(row, f"{node.op} mul", factors, (0,) * 4, after, down)
        terms = node.op in EXACT
        before = tuple(terms * min(shifts[k] - shifts[row], 31) for k in operands)
        return IntegerStep(
            row, node.op, operands, before, 0, down | {0, 1} if self._fine(row) else down
        )

    def _fine(self, row: int) -> bool:
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
            return HALF * ANGLE_UNIT * 2.0 ** (TURN_BITS - self.kind.bits)
        if step.op in ("sin", "cos"):
            return self.sine_error + found.error[step.operands[0]]
        if not step.operands:
            return 0.0
        values = [
            replace(found[row], error=found[row].error + self._lost(shift, down, row))
            for row, shift, down in step.before_of()
        ]
        lost = self._lost(step.after, AFTER in step.down, step.row, step.after)
        if "mul" in step.op:
            pairs = zip(values[::2], values[1::2], strict=True)
            unit = math.ldexp(1.0, -step.after - self.shifts[step.row])
            low = 0.0 if self.kind.low else LOW * unit * MARGIN
            return sum(RULES["mul"](a, b).error + low for a, b in pairs) + lost
        return RULES[step.op.removeprefix("angle ")](*values).error

    def _lost(self, shift: int, down: bool, row: int, done: int = 0) -> float:
        """The largest error of rounding a row that is shifted to the right."""
        part = (MARGIN if down else HALF) * bool(shift)
        return part * math.ldexp(1.0, shift - done - self.shifts[row])

    def output_errors(self, errors: Numbers) -> dict[str, list[float]]:
        """The error of each entry of each output, from the largest errors of all rows."""
        stated = dict[str, list[float]]()
        for out in self.program.outputs:
            stated[out.name] = [0.0] * len(out.refs)
            for k, row in zip(*(x.tolist() for x in self.at.of(out.refs)), strict=True):
                lost = self._lost(self.shifts[row] - self.outputs[out.name], False, row)
                stated[out.name][k] = float(errors[row] + lost) * MARGIN
        return stated

    def rounded_down(self, errors: Numbers, share: float) -> dict[int, frozenset[int]]:
        """The shifts of each row that may round down, which saves two operations each, so that the
        errors of all outputs become larger by a part `share` at most: those that matter least."""
        stated, columns = self.output_errors(errors), list[tuple[int, float]]()
        for out in self.program.outputs:
            rows = [None if ref is None else int(self.at.row[ref.node]) for ref in out.refs]
            pairs = zip(rows, stated[out.name], strict=True)
            columns += [(row, error) for row, error in pairs if row is not None and error]
        passed = np.zeros((len(self.at.nodes), len(columns)))
        for k, (row, error) in enumerate(columns):
            passed[row, k] = 1.0 / error
        for row in range(len(passed) - 1, -1, -1):
            operands = self.operands[row]
            for k, other in zip(operands, reversed(operands), strict=True):
                factor = self.magnitudes[other] if self.at.nodes[row].op == "mul" else 1.0
                passed[k] += factor * passed[row]
        costs = {
            (step.row, k): passed[step.row] * (self._lost(shift, False, row, done) * factor)
            for step in self.steps
            for k, row, shift, done, factor in self._roundings(step)
        }
        found, spent = dict[int, frozenset[int]](), np.zeros(len(columns))
        for key in sorted(costs, key=lambda key: (float(costs[key].max(initial=0.0)), key)):
            if not (spent + costs[key] <= share).all():
                break
            spent = spent + costs[key]
            found[key[0]] = found.get(key[0], frozenset()) | {key[1]}
        return found

    def _roundings(self, step: IntegerStep) -> Iterator[tuple[int, int, int, int, float]]:
        """The shifts to nearest of a step: their numbers, what is shifted, by how much, by how much
        it was shifted before, and what its error is multiplied by on the way to the result."""
        if step.after and AFTER not in step.down:
            yield AFTER, step.row, step.after, step.after, 1.0
        for k, (row, shift, down) in enumerate(step.before_of()):
            if shift and not down:
                product = "mul" in step.op
                yield k, row, shift, 0, self.magnitudes[step.operands[k ^ 1]] if product else 1.0

    # -- a run on integers -------------------------------------------------------------------------

    def run(
        self, inputs: Mapping[str, AnyArray], sines: "Sines | None" = None
    ) -> dict[str, AnyArray]:
        """The integers of the outputs (entries x states) from those of the inputs: what generated
        code computes, bit for bit. Inputs are within their limits."""
        values: list[Any] = [0] * len(self.at.nodes)
        for step in self.steps:
            values[step.row] = self._value(step, values, inputs, sines)
        width = max(x.shape[1] for x in inputs.values())
        results = {}
        for out in self.program.outputs:
            rows = [self._output(out.name, ref, values) for ref in out.refs]
            results[out.name] = np.stack([np.broadcast_to(x, (width,)) for x in rows])
        return results

    def _output(self, name: str, ref: Any, values: Sequence[Any]) -> Any:
        if ref is None:
            return np.int64(0)
        row = int(self.at.row[ref.node])
        value = _shifted(values[row], self.shifts[row] - self.outputs[name])
        return -value if ref.negative else value

    def _value(
        self,
        step: IntegerStep,
        values: Sequence[Any],
        inputs: Mapping[str, AnyArray],
        sines: "Sines | None",
    ) -> Any:
        node = self.at.nodes[step.row]
        operands = [values[k] for k in step.operands]
        if step.op in ("const", "angle const"):
            return np.int64(step.number)
        if step.op == "angle input":
            return inputs[node.a][node.b] << (TURN_BITS - self.kind.bits)
        if step.op == "input":
            return inputs[node.a][node.b]
        if step.op in ("sin", "cos"):
            assert sines is not None
            return sines(operands[0])[step.op == "cos"]
        terms = [
            _shifted(x, shift, down)
            for x, (_, shift, down) in zip(operands, step.before_of(), strict=True)
        ]
        if "mul" in step.op:
            pairs = zip(terms[::2], terms[1::2], strict=True)
            terms = [a * b - (0 if self.kind.low else _half(a) * _half(b)) for a, b in pairs]
        total = EXACT[step.op.removeprefix("angle ").split()[0]](*terms)
        return _shifted(total, step.after, AFTER in step.down)


Sines = Callable[[Any], tuple[Any, Any]]
"""Sine and cosine of an angle in 32 bits, as integers."""

EXACT: Final[dict[str, Callable[..., Any]]] = {
    "mul": lambda a: a,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "neg": lambda a: -a,
}


LOW: Final = 2.0**30
"""The largest product of the lower halves of two factors."""


def _half(x: Any) -> Any:
    """The lower half of integers, with a sign."""
    return (x + 2**15) % 2**16 - 2**15


def _shifted(x: Any, shift: int, down: bool = False) -> Any:
    """Integers divided by a power of two and rounded, down or to nearest with halves up."""
    return x >> shift if down or not shift else (x + (1 << (shift - 1))) >> shift
