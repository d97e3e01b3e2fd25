"""Derivatives of scalar-generic code: numbers that carry their rate of change along.

An algorithm run on `Dual` inputs returns its value and its derivative in the direction of their
tangents; on tape values that is forward differentiation with everything shared. For derivatives of
higher order duals of a higher level hold duals of a lower one; the level keeps the directions
apart."""

from collections.abc import Callable, Sequence

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
