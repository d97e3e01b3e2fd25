"""Derivatives of scalar-generic code: numbers that carry their rate of change along.

An algorithm run on `Dual` inputs returns its value and its derivative in the direction of their tangents; on
tape values that is forward differentiation with everything shared. Duals nest, for derivatives of higher order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from symgen import scalar
from symgen.scalar import ZERO, Scalar


@dataclass(frozen=True, slots=True, eq=False)
class Dual:
    """A value and its tangent."""

    x: Scalar
    d: Scalar

    def __add__(self, other: Scalar) -> Scalar:
        return Dual(self.x + value(other), self.d + tangent(other))

    __radd__ = __add__

    def __neg__(self) -> "Dual":
        return Dual(-self.x, -self.d)

    def __sub__(self, other: Scalar) -> Scalar:
        return self + -other

    def __rsub__(self, other: Scalar) -> Scalar:
        return -self + other

    def __mul__(self, other: Scalar) -> Scalar:
        if other is ZERO:
            return ZERO
        x, d = value(other), tangent(other)
        return Dual(self.x * x, self.d * x + self.x * d)

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        x = value(other)
        quotient = self.x / x
        return Dual(quotient, (self.d - quotient * tangent(other)) / x)

    def __rtruediv__(self, other: Scalar) -> Scalar:
        quotient = other / self.x
        return Dual(quotient, -(quotient * self.d) / self.x)

    def sin(self) -> "Dual":
        return Dual(scalar.sin(self.x), scalar.cos(self.x) * self.d)

    def cos(self) -> "Dual":
        return Dual(scalar.cos(self.x), -(scalar.sin(self.x) * self.d))

    def named(self, name: str) -> "Dual":
        """Names the value and, with a ``D`` in front, the tangent in generated code."""
        scalar.named(self.x, name)
        scalar.named(self.d, f"D{name}")
        return self


def value(x: Scalar) -> Scalar:
    """`x` without its tangent."""
    return x.x if isinstance(x, Dual) else x


def tangent(x: Scalar) -> Scalar:
    """The tangent of `x`; a structural zero where it has none."""
    return x.d if isinstance(x, Dual) else ZERO


def along(values: Sequence[Scalar], tangents: Sequence[Scalar]) -> list[Scalar]:
    """The values with tangents; a structural zero leaves a value as it is."""
    return [x if d is ZERO else Dual(x, d) for x, d in zip(values, tangents, strict=True)]


def unit(size: int, k: int) -> list[Scalar]:
    """The direction of entry `k`."""
    return [1.0 if i == k else ZERO for i in range(size)]


def tangents(values: Sequence[Scalar]) -> list[Scalar]:
    """The tangent of each value."""
    return [tangent(x) for x in values]
