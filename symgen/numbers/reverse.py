"""Gradients of scalar-generic code: numbers that are recorded with what they were computed from.

An algorithm that runs on inputs of `record_inputs` leaves a record, along which `gradient` goes
back from one result to all inputs at once: what `symgen.numbers.dual` does forward for one
direction at a time. Equal operations are recorded once, as on a tape, so that what comes back is
added up before it is multiplied. Duals may hold such numbers: the gradient of a tangent is a row of
second derivatives.

A turn, c a + s b with the cosine and the sine of one angle, counts as one operation: its derivative
in the angle is c b - s a, the other component of what is turned, which mostly is there already. (By
the product rule c and s would get a derivative each, from four products in place of one.)"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from symgen.numbers import scalar
from symgen.numbers.dual import Dual
from symgen.numbers.operations import OPS
from symgen.numbers.scalar import ZERO, Scalar

NOT_RECORDED: Final = -1
SIGNS: Final = {"add": (1.0, 1.0), "sub": (1.0, -1.0)}


class Step(NamedTuple):
    """An operation: on which steps before it (`NOT_RECORDED` for other numbers) and on what
    values."""

    op: str
    at: tuple[int, ...] = ()
    of: tuple[Scalar, ...] = ()


class TrigProduct(NamedTuple):
    """A product with the cosine or sine of an angle: the angle's step, the step of the other
    factor, the cosine or sine, and the product's derivative in the angle."""

    angle: int
    other: int
    trig_value: Scalar
    slope: Scalar


class Record:
    """The record of a computation, in order: steps, their values, and whether an input that a
    gradient is wanted in has part in them."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.values: list[Scalar] = []
        self.active: list[bool] = []
        self._known: dict[tuple[str, tuple[int, ...], tuple[int, ...]], int] = {}

    def input(self, x: Scalar, wanted: bool = True) -> "RecordedNumber":
        """A new input."""
        return RecordedNumber(self, self._add(Step("input"), x, wanted))

    def step(self, op: str, *operands: "RecordedNumber | Scalar") -> int:
        """The number of an operation on operands without their signs, carried out where it is new.

        Numbers that are not recorded are compared by identity, which the record keeps."""
        at = tuple(x.at if isinstance(x, RecordedNumber) else NOT_RECORDED for x in operands)
        of = tuple(self.values[x.at] if isinstance(x, RecordedNumber) else x for x in operands)
        key = op, at, tuple(id(x) for x, k in zip(of, at, strict=True) if k == NOT_RECORDED)
        if key not in self._known:
            active = any(k != NOT_RECORDED and self.active[k] for k in at)
            self._known[key] = self._add(Step(op, at, of), OPS[op](*of), active)
        return self._known[key]

    def _add(self, step: Step, value: Scalar, active: bool) -> int:
        self.steps.append(step)
        self.values.append(value)
        self.active.append(active)
        return len(self.steps) - 1

    def factor(self, k: int) -> TrigProduct | None:
        """The parts of a product with one cosine or sine."""
        step = self.steps[k] if k != NOT_RECORDED else Step("input")
        product = step.at if step.op == "mul" else ()
        known = [(i, a) for i, a in enumerate(product) if a != NOT_RECORDED]
        trig_operands = [i for i, a in known if self.steps[a].op in ("cos", "sin")]
        if len(trig_operands) != 1:
            return None
        trig_step = self.steps[step.at[trig_operands[0]]]
        by, x = step.of[trig_operands[0]], step.of[1 - trig_operands[0]]
        (slope,) = OPS[trig_step.op].partials(*trig_step.of, by)
        return TrigProduct(trig_step.at[0], step.at[1 - trig_operands[0]], by, slope * x)


class RecordedNumber:
    """A number with its place in a record; its sign is no step. Never changed once made.

    Duals are above it: they hold such numbers, not the other way round."""

    __slots__ = ("at", "negative", "record")
    __array_ufunc__ = None  # NumPy's numbers leave it to the methods below

    def __init__(self, record: Record, at: int, negative: bool = False) -> None:
        self.record = record
        self.at = at
        self.negative = negative

    @property
    def x(self) -> Scalar:
        """The number itself."""
        value = self.record.values[self.at]
        return -value if self.negative else value

    def __repr__(self) -> str:
        return f"RecordedNumber({self.x!r})"

    def _recorded(self, negative: bool, op: str, *operands: Scalar) -> "RecordedNumber":
        return RecordedNumber(self.record, self.record.step(op, *operands), negative)

    def __neg__(self) -> "RecordedNumber":
        return RecordedNumber(self.record, self.at, not self.negative)

    def __add__(self, other: Scalar) -> Scalar:
        if other is ZERO:
            return self
        if not isinstance(other, RecordedNumber):
            op = "sub" if self.negative else "add"
            above = isinstance(other, Dual)
            return NotImplemented if above else self._recorded(self.negative, op, self, other)
        a, b = (self, other) if self.at <= other.at else (other, self)
        return self._recorded(a.negative, "add" if a.negative == b.negative else "sub", a, b)

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Scalar:
        return self + -other

    def __rsub__(self, other: Scalar) -> Scalar:
        return -self + other

    def __mul__(self, other: Scalar) -> Scalar:
        if other is ZERO or isinstance(other, Dual):
            return ZERO if other is ZERO else NotImplemented
        if not isinstance(other, RecordedNumber):
            if isinstance(other, (int, float)) and abs(other) == 1:
                return self if other == 1 else -self
            return self._recorded(self.negative, "mul", self, other)
        a, b = (self, other) if self.at <= other.at else (other, self)
        return self._recorded(a.negative != b.negative, "mul", a, b)

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        if isinstance(other, Dual):
            return NotImplemented
        negative = isinstance(other, RecordedNumber) and other.negative
        return self._recorded(self.negative != negative, "div", self, other)

    def __rtruediv__(self, other: Scalar) -> Scalar:
        return self._recorded(self.negative, "div", other, self)

    def applied(self, op: str) -> Scalar:
        """A function of one operand: the sign of an odd or even one pulled out."""
        if self.negative and not OPS[op].parity:
            return RecordedNumber(self.record, self.record.step("neg", self)).applied(op)
        return self._recorded(self.negative and OPS[op].parity == "odd", op, self)

    def named(self, name: str) -> "RecordedNumber":
        """Names the value in generated code."""
        scalar.named(self.x, name)
        return self


def record_inputs(
    record: Record, values: Sequence[Scalar]
) -> tuple[list[Scalar], list[RecordedNumber]]:
    """The values as inputs of a record, and in what their gradients are asked for.

    What is not a number but can be ``displaced_by`` gets all the small changes from its place on,
    as in `symgen.numbers.dual.along`."""
    changes = [record.input(ZERO if hasattr(x, "displaced_by") else x) for x in values]
    return [
        x.displaced_by(changes[k:]) if hasattr(x, "displaced_by") else changes[k]
        for k, x in enumerate(values)
    ], changes


def gradient(result: Scalar, inputs: Sequence[RecordedNumber]) -> list[Scalar]:
    """The derivatives of a result in each of the inputs of its record; a structural zero where it
    has none."""
    if not isinstance(result, RecordedNumber):
        return [ZERO] * len(inputs)
    sweep = _Sweep(result.record)
    sweep.adjoints[result.at] = -1.0 if result.negative else 1.0
    for k in range(result.at, -1, -1):
        sweep.propagate(k)
    return [sweep.adjoints[x.at] for x in inputs]


class _Sweep:
    """The sensitivity of the result to each step: by itself, and of a product as a part of a turn,
    where what it feels of the angle is known already."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.adjoints: list[Scalar] = [ZERO] * len(record.steps)
        self.rotation_adjoints: list[Scalar] = [ZERO] * len(record.steps)

    def propagate(self, k: int) -> None:
        """Passes the sensitivity to step `k` on to those that it was computed from."""
        step, factor = self.record.steps[k], self.record.factor(k)
        if not self.record.active[k] or not step.at:
            return
        if factor is not None:
            self._add(factor.angle, factor.slope * self.adjoints[k])
            self._add(
                factor.other, factor.trig_value * (self.adjoints[k] + self.rotation_adjoints[k])
            )
        elif self.adjoints[k] is not ZERO and not self._propagate_rotation(step, self.adjoints[k]):
            partials = OPS[step.op].partials(*step.of, self.record.values[k])
            for i, partial in zip(step.at, partials, strict=True):
                self._add(i, partial * self.adjoints[k])

    def _propagate_rotation(self, step: Step, adjoint: Scalar) -> bool:
        """The same for a sum that is a turn; whether it is."""
        factors = [self.record.factor(i) for i in step.at] if step.op in SIGNS else [None]
        first, second = factors[0], factors[-1]
        if (
            first is None
            or second is None
            or first.angle != second.angle
            or step.at[0] == step.at[1]
        ):
            return False
        plus, minus = SIGNS[step.op]
        self._add(first.angle, (plus * first.slope + minus * second.slope) * adjoint)
        for i, sign in zip(step.at, (plus, minus), strict=True):
            self.rotation_adjoints[i] = self.rotation_adjoints[i] + sign * adjoint
        return True

    def _add(self, k: int, adjoint: Scalar) -> None:
        if k != NOT_RECORDED and self.record.active[k]:
            self.adjoints[k] = self.adjoints[k] + adjoint
