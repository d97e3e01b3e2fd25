"""Passive forces of a joint for each of its coordinates, on any scalars: friction (viscous, Coulomb
and a constant offset) and a linear spring."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from symgen.numbers.operations import sign, tanh
from symgen.numbers.scalar import ZERO, Scalar

if TYPE_CHECKING:
    from symgen.mechanics.model import Body


@dataclass(frozen=True, slots=True)
class Passive:
    """The passive force of a coordinate, which its drive needs beyond the dynamics: viscous q̇ +
    coulomb sign(q̇) + offset + stiffness (q - reference) (N m or N).

    With a `width` (rad/s or m/s) the step of Coulomb friction is smooth, tanh(q̇ / width) in place
    of the sign."""

    viscous: Scalar = ZERO
    coulomb: Scalar = ZERO
    offset: Scalar = ZERO
    width: float = 0.0
    stiffness: Scalar = ZERO
    reference: Scalar = ZERO

    def force(self, place: Scalar, rate: Scalar) -> Scalar:
        """The whole at joint position `place` and joint rate `rate`; sign(0) = 0."""
        return self.moving(rate) + self.offset + self.spring(place)

    def moving(self, rate: Scalar) -> Scalar:
        """The part that vanishes at rest."""
        rubbing = ZERO if self.coulomb is ZERO else self.coulomb * direction(rate, self.width)
        return self.viscous * rate + rubbing

    def friction(self, rate: Scalar) -> Scalar:
        """The friction force at joint rate `rate`, the offset included."""
        return (ZERO if rate is ZERO else self.moving(rate)) + self.offset

    @property
    def without_friction(self) -> "Passive":
        """The spring alone."""
        return replace(self, viscous=ZERO, coulomb=ZERO, offset=ZERO)

    def spring(self, place: Scalar) -> Scalar:
        """The force that the spring takes."""
        return ZERO if self.stiffness is ZERO else self.stiffness * (place - self.reference)

    def energy(self, place: Scalar) -> Scalar:
        """The energy that the spring stores (J), 0 at its reference."""
        if self.stiffness is ZERO:
            return ZERO
        strain = place - self.reference
        return self.stiffness * (0.5 * (strain * strain))

    def slope(self, rate: Scalar) -> Scalar:
        """The derivative of the force in the joint rate; a sign has none, wherever it has a
        derivative. That in the joint's position is the stiffness."""
        if self.coulomb is ZERO or not self.width:
            return self.viscous
        step = direction(rate, self.width)
        return self.viscous + self.coulomb * (1.0 / self.width) * (1.0 - step * step)


def direction(rate: Scalar, width: float) -> Scalar:
    """The sign of a joint rate, 0 at rest; with a width (rad/s or m/s) its smooth stand-in
    tanh(rate / width)."""
    return tanh(rate * (1.0 / width)) if width else sign(rate)


NO_PASSIVE: Final = Passive()

Column = Callable[[Scalar, Scalar, float], Scalar]
"""What a coefficient is multiplied by, from a joint's position, its rate and the width of the step
of Coulomb friction."""


@dataclass(frozen=True, slots=True)
class PassiveCoefficient:
    """A coefficient that the passive force of a coordinate is linear in: its column in regressors
    of joint forces, the value that the coordinate of a body has by the files, and what multiplies
    it in the energy."""

    column: Column
    of_body: "Callable[[Body], float]"
    energy: Callable[[Scalar], Scalar] | None = None


KINDS: Final[dict[str, PassiveCoefficient]] = {
    "viscous": PassiveCoefficient(
        lambda place, rate, width: rate, lambda body: body.constant("damping")
    ),
    "coulomb": PassiveCoefficient(
        lambda place, rate, width: direction(rate, width), lambda body: body.constant("friction")
    ),
    "offset": PassiveCoefficient(
        lambda place, rate, width: 1.0, lambda body: body.constant("offset")
    ),
    "stiffness": PassiveCoefficient(
        lambda place, rate, width: place,
        lambda body: body.constant("stiffness"),
        lambda place: 0.5 * (place * place),
    ),
    "preload": PassiveCoefficient(
        lambda place, rate, width: -1.0,
        lambda body: body.constant("stiffness") * body.constant("reference"),
        lambda place: -place,
    ),
}
"""All of them. A preload is stiffness times reference; the energy of a spring is that of its two
columns and ½ stiffness reference², which no state changes."""

FRICTION: Final = ("viscous", "coulomb", "offset")
"""The kinds of friction."""

COMPENSATION: Final = ("reference", "measured", "none")
"""The velocities at which a controller can compensate friction."""

SPRINGS: Final = ("stiffness", "preload")
"""The kinds that make a spring."""
