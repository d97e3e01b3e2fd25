"""Numbers that compute as generated C does with ``--trig inline``: in its scalar type, with its
sine and cosine."""

from collections.abc import Sequence
from typing import Any

from symgen.numbers.operations import OPS
from symgen.numbers.trig import TYPES


class MachineNumber:
    """A number of C's ``double`` or ``float``; every operation is rounded to that type."""

    __slots__ = ("scalar", "x")

    def __init__(self, x: Any, scalar: str) -> None:
        self.x, self.scalar = TYPES[scalar](x), scalar

    def _with(self, other: Any) -> Any:
        return other.x if isinstance(other, MachineNumber) else TYPES[self.scalar](other)

    def _takes(self, other: Any) -> bool:
        return isinstance(other, (MachineNumber, int, float))

    def _rounded(self, x: Any) -> "MachineNumber":
        return MachineNumber(x, self.scalar)

    def __add__(self, other: Any) -> Any:
        return self._rounded(self.x + self._with(other)) if self._takes(other) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._rounded(self.x - self._with(other)) if self._takes(other) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return self._rounded(self._with(other) - self.x) if self._takes(other) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        return self._rounded(self.x * self._with(other)) if self._takes(other) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._rounded(self.x / self._with(other)) if self._takes(other) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        return self._rounded(self._with(other) / self.x) if self._takes(other) else NotImplemented

    def __neg__(self) -> "MachineNumber":
        return self._rounded(-self.x)

    def __float__(self) -> float:
        return float(self.x)

    def applied(self, op: str) -> "MachineNumber":
        """A function of the table; one without arithmetic of its own is that of the machine's math
        library, which Python has for double alone. Raises TypeError elsewhere."""
        fixed = OPS[op].fixed
        if fixed is not None:
            return self._rounded(fixed(self.x, self.scalar))
        if self.scalar != "double":
            raise TypeError(f"{op} has no portable implementation: its bits depend on the machine")
        return self._rounded(OPS[op].evaluate(float(self.x)))


def machine(values: Sequence[float], scalar: str) -> list[MachineNumber]:
    """The values, rounded to the scalar type."""
    return [MachineNumber(x, scalar) for x in values]
