"""An angle: joint coordinates and a constant, of which whole right angles cost nothing."""

from dataclasses import dataclass, field
from typing import Any

from symgen.numbers.exact import atan2
from symgen.numbers.operations import cos, sin
from symgen.numbers.scalar import ZERO, Scalar, plain, structural


@dataclass(frozen=True, slots=True)
class Angle:
    """The sum of joint coordinates (`variable`, rad) and a constant angle kept as its cosine and
    sine."""

    variable: Scalar = ZERO
    c0: Scalar = 1.0
    s0: Scalar = ZERO
    _known: Any = field(default=None, init=False, compare=False, repr=False)

    @property
    def is_zero(self) -> bool:
        return self.variable is ZERO and self.s0 is ZERO and self.c0 == 1.0

    def __add__(self, other: "Angle") -> "Angle":
        c = self.c0 * other.c0 - self.s0 * other.s0
        s = self.s0 * other.c0 + self.c0 * other.s0
        return Angle(self.variable + other.variable, structural(c), structural(s))

    @property
    def cos_sin(self) -> tuple[Scalar, Scalar]:
        """Cosine and sine; a constant part of whole right angles only swaps or negates them."""
        if self._known is None:
            object.__setattr__(self, "_known", self._cos_sin())  # asked for by all that turns
        return self._known  # type: ignore[no-any-return]

    def _cos_sin(self) -> tuple[Scalar, Scalar]:
        if self.variable is ZERO:
            return self.c0, self.s0
        if self.c0 is not ZERO and self.s0 is not ZERO:
            angle = self.variable + atan2(plain(self.s0), plain(self.c0))
            return cos(angle), sin(angle)
        c, s = cos(self.variable), sin(self.variable)
        return self.c0 * c - self.s0 * s, self.s0 * c + self.c0 * s
