"""Derivatives of scalar-generic code: numbers that carry their rate of change along, and numbers
that are recorded with what they were computed from.

Forward: an algorithm run on `Dual` inputs returns its value and its derivative in the direction of
their tangents; on tape values that is forward differentiation with everything shared. For
derivatives of higher order duals of a higher level hold duals of a lower one; the level keeps the
directions apart.

Reverse: an algorithm that runs on inputs of `record_inputs` leaves a record, along which `gradient`
goes back from one result to all inputs at once. Equal operations are recorded once, as on a tape,
so that what comes back is added up before it is multiplied. Duals may hold such numbers: the
gradient of a tangent is a row of second derivatives.

A turn, c a + s b with the cosine and the sine of one angle, counts there as one operation: its
derivative in the angle is c b - s a, the other component of what is turned, which mostly is there
already. (By the product rule c and s would get a derivative each, from four products in place of
one.)"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from symgen.numbers import scalar
from symgen.numbers.operations import OPS
from symgen.numbers.scalar import ZERO, Scalar


class Dual:
    """A value and its tangent, both of a lower level. Never changed once made; as frequent as
    `Value`, so as plain."""

    __slots__ = ("d", "level", "x")

    def __init__(self, x: Scalar, d: Scalar, level: int = 1) -> None:
        self.x = x
        self.d = d
        self.level = level

    def __repr__(self) -> str:
        return f"Dual(x={self.x!r}, d={self.d!r}, level={self.level})"

    def _dual(self, x: Scalar, d: Scalar) -> "Dual":
        return Dual(x, d, self.level)

    def __add__(self, other: Scalar) -> Scalar:
        if type(other) is not Dual or other.level < self.level:
            return self if other is ZERO else Dual(self.x + other, self.d, self.level)
        if other.level > self.level:
            return other + self
        return Dual(self.x + other.x, self.d + other.d, self.level)

    __radd__ = __add__

    def __neg__(self) -> "Dual":
        return Dual(-self.x, -self.d, self.level)

    def __sub__(self, other: Scalar) -> Scalar:
        if type(other) is not Dual or other.level < self.level:
            return self if other is ZERO else Dual(self.x - other, self.d, self.level)
        if other.level > self.level:
            return -other + self
        return Dual(self.x - other.x, self.d - other.d, self.level)

    def __rsub__(self, other: Scalar) -> Scalar:
        return -self + other

    def __mul__(self, other: Scalar) -> Scalar:
        if other is ZERO:
            return ZERO
        if type(other) is not Dual or other.level < self.level:
            return Dual(self.x * other, self.d * other, self.level)
        if other.level > self.level:
            return other * self
        return Dual(self.x * other.x, self.d * other.x + self.x * other.d, self.level)

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        if type(other) is Dual and other.level > self.level:
            return other.__rtruediv__(self)
        x, d = value(other, self.level), tangent(other, self.level)
        quotient = self.x / x
        return self._dual(quotient, (self.d - quotient * d) / x)

    def __rtruediv__(self, other: Scalar) -> Scalar:
        quotient = other / self.x
        return self._dual(quotient, -(quotient * self.d) / self.x)

    def applied(self, op: str) -> Scalar:
        """A function of one operand, with its tangent; a constant where its derivative vanishes
        everywhere."""
        y = OPS[op](self.x)
        (slope,) = OPS[op].partials(self.x, y)
        return y if slope is ZERO else self._dual(y, slope * self.d)

    def named(self, name: str) -> "Dual":
        """Names the value and, with a ``D`` in front, the tangent in generated code."""
        scalar.named(self.x, name)
        scalar.named(self.d, f"D{name}")
        return self


def value(x: Scalar, level: int = 1) -> Scalar:
    """`x` without its tangent of that level."""
    return x.x if isinstance(x, Dual) and x.level == level else x


def tangent(x: Scalar, level: int = 1) -> Scalar:
    """The tangent of `x` at that level; a structural zero where it has none."""
    if not isinstance(x, Dual) or x.level < level:
        return ZERO
    if x.level == level:
        return x.d
    slope, mixed = tangent(x.x, level), tangent(x.d, level)
    return slope if mixed is ZERO else Dual(slope, mixed, x.level)


def derivative(function: Callable[[Scalar], Scalar], x: Scalar, direction: Scalar) -> Scalar:
    """The derivative of a function at `x` along `direction`, both of which may be duals."""
    level = 1 + max(number.level if isinstance(number, Dual) else 0 for number in (x, direction))
    return tangent(function(Dual(x, direction, level)), level)


def along(values: Sequence[Scalar], tangents: Sequence[Scalar], level: int = 1) -> list[Scalar]:
    """The values with tangents; a structural zero leaves a value as it is.

    What is not a number but can be ``displaced_by`` gets all the small changes from its place on.
    """
    if len(values) != len(tangents):
        raise ValueError(f"{len(values)} values, but {len(tangents)} tangents")
    changes = [d if d is ZERO else Dual(ZERO, d, level) for d in tangents]
    return [
        x.displaced_by(changes[k:])
        if hasattr(x, "displaced_by")
        else x
        if d is ZERO
        else Dual(x, d, level)
        for k, (x, d) in enumerate(zip(values, tangents, strict=True))
    ]


def unit(size: int, k: int) -> list[Scalar]:
    """The direction of entry `k`."""
    return [1.0 if i == k else ZERO for i in range(size)]


def tangents(values: Sequence[Scalar], level: int = 1) -> list[Scalar]:
    """The tangent of each value."""
    return [tangent(x, level) for x in values]


def jacobian(
    function: Callable[[Sequence[Scalar]], Sequence[Scalar]], at: Sequence[Scalar]
) -> list[Scalar]:
    """The derivative of each value of a function in each entry of `at`, which is the last index."""
    columns = [tangents(function(along(at, unit(len(at), k)))) for k in range(len(at))]
    return [x for row in zip(*columns, strict=True) for x in row]


# -- reverse ---------------------------------------------------------------------------------------


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
    as in `symgen.numbers.autodiff.along`."""
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
