"""Friction of joints: viscous, Coulomb and a constant offset, on any scalars."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from symgen.numbers.operations import sign, tanh
from symgen.numbers.scalar import ZERO, Scalar


@dataclass(frozen=True, slots=True)
class Friction:
    """What a joint's drive needs beyond the dynamics: viscous q̇ + coulomb sign(q̇) + offset (N m
    or N).

    With a `width` (rad/s or m/s) the step of Coulomb friction is smooth, tanh(q̇ / width) in place
    of the sign."""

    viscous: Scalar = ZERO
    coulomb: Scalar = ZERO
    offset: Scalar = ZERO
    width: float = 0.0

    def force(self, rate: Scalar) -> Scalar:
        """The whole at joint rate `rate`; sign(0) = 0."""
        return self.moving(rate) + self.offset

    def moving(self, rate: Scalar) -> Scalar:
        """The part that vanishes at rest."""
        rubbing = ZERO if self.coulomb is ZERO else self.coulomb * direction(rate, self.width)
        return self.viscous * rate + rubbing

    def slope(self, rate: Scalar) -> Scalar:
        """The derivative of the force in the joint rate; a sign has none, wherever it has a
        derivative."""
        if self.coulomb is ZERO or not self.width:
            return self.viscous
        step = direction(rate, self.width)
        return self.viscous + self.coulomb * (1.0 / self.width) * (1.0 - step * step)


def direction(rate: Scalar, width: float) -> Scalar:
    """The sign of a joint rate, 0 at rest; with a width (rad/s or m/s) its smooth stand-in
    tanh(rate / width)."""
    return tanh(rate * (1.0 / width)) if width else sign(rate)


NO_FRICTION = Friction()
FRICTION_COLUMNS: Final[dict[str, Callable[[Scalar, float], Scalar]]] = {
    "viscous": lambda rate, width: rate,
    "coulomb": direction,
    "offset": lambda rate, width: 1.0,
}
"""The kinds of friction, by the regressor column that each coefficient has at a joint rate, with
the width of the step of Coulomb friction."""
