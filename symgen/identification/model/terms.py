"""Terms that the drive of a joint adds to its force: each row of TERMS is a term.

Every term is one unknown coefficient times a known column, which depends on the motion of the joint
alone. Some columns have a speed in them, such as the width of the step of Coulomb friction, that
the force is not linear in; `speeds` are the candidates for it, which variable projection (Golub &
Pereyra, SIAM J. Numer. Anal. 1973) chooses from."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from symgen.numbers.types import Numbers


@dataclass(frozen=True)
class JointSamples:
    """The motion of one joint at N samples: position (rad or m), rate and acceleration.

    `load` is the force (N m or N) that the joint transmits to the links, without what its drive
    adds: what the gear carries. `bending` (N x 2) are moments (N m) that it carries across its
    axis, about two directions that stay with the link before it.
    """

    position: Numbers
    rate: Numbers
    acceleration: Numbers
    load: Numbers
    bending: Numbers


@dataclass(frozen=True)
class DriveTerm:
    """A term: its column at a motion, with the speed (rad/s or m/s) where it has one.

    `signed` terms jump with the sign of the rate, which nobody knows near standstill. `speeds` are
    the candidates of the speed, relative to the largest rate of the joint; a speed of 0 takes the
    sign itself. `loaded` terms need the load, `bent` ones the moments across the axis,
    `accelerated` ones the acceleration. `unit` is that of the coefficient of a revolute joint,
    `least` its physical bound."""

    column: Callable[[JointSamples, float], Numbers]
    words: str
    unit: str
    signed: bool = False
    speeds: tuple[float, ...] = ()
    loaded: bool = False
    bent: bool = False
    accelerated: bool = False
    least: float | None = 0.0

    @property
    def instant(self) -> bool:
        """Whether it needs accelerations, or the force at every instant."""
        return self.accelerated or self.loaded or self.bent


def step(rate: Numbers, width: float) -> Numbers:
    """The sign of a rate, 0 at rest; with a width its smooth stand-in tanh(rate / width)."""
    return np.asarray(np.tanh(rate / width) if width else np.sign(rate))


def _stribeck(motion: JointSamples, speed: float) -> Numbers:
    """Friction that is larger at breaking away and falls within a speed (Stribeck 1902, in the form
    of Tustin and of Canudas de Wit et al. 1995)."""
    return np.asarray(np.sign(motion.rate) * np.exp(-np.square(motion.rate / speed)))


def _lag(motion: JointSamples, speed: float) -> Numbers:
    """Minus the rate of tanh(rate / speed): friction that follows a change of direction late by T
    is F - T dF/dt to first order (frictional lag; Armstrong-Hélouvry, Dupont & Canudas de Wit,
    Automatica 1994, sec. 2.4)."""
    slope = (1 - np.square(np.tanh(motion.rate / speed))) / speed
    return np.asarray(-slope * motion.acceleration)


TERMS: Final[dict[str, DriveTerm]] = {
    "viscous": DriveTerm(lambda motion, speed: motion.rate, "viscous friction", "N m s/rad"),
    "coulomb": DriveTerm(
        lambda motion, speed: step(motion.rate, speed),
        "Coulomb friction",
        "N m",
        signed=True,
        speeds=(0.0, 0.01, 0.02, 0.05),
    ),
    "offset": DriveTerm(
        lambda motion, speed: np.ones_like(motion.rate), "offset", "N m", least=None
    ),
    "asymmetric": DriveTerm(
        lambda motion, speed: np.abs(motion.rate),
        "direction-dependent viscous friction",
        "N m s/rad",
        least=None,
    ),
    "stribeck": DriveTerm(
        _stribeck,
        "Stribeck friction",
        "N m",
        signed=True,
        speeds=(0.03, 0.06, 0.12, 0.25),
        least=None,
    ),
    "root": DriveTerm(
        lambda motion, speed: np.sign(motion.rate) * np.sqrt(np.abs(motion.rate)),
        "friction proportional to the root of the speed",
        "N m (s/rad)^½",
        signed=True,
        least=None,
    ),
    "saturating": DriveTerm(
        lambda motion, speed: np.tanh(motion.rate / speed),
        "saturating viscous friction",
        "N m",
        signed=True,
        speeds=(0.1, 0.2, 0.4, 0.8),
        least=None,
    ),
    "lag": DriveTerm(
        _lag,
        "lag of the friction: friction times delay",
        "N m s",
        signed=True,
        speeds=(0.03, 0.06, 0.12, 0.25),
        accelerated=True,
    ),
    # below 0 it is the hysteresis of a sensor behind the gear
    "load": DriveTerm(
        lambda motion, speed: step(motion.rate, speed) * np.abs(motion.load),
        "Coulomb friction per load of the gear",
        "1",
        signed=True,
        loaded=True,
        least=None,
    ),
    "crosstalk_x": DriveTerm(
        lambda motion, speed: motion.bending[:, 0],
        "crosstalk of the moment about the first transverse axis",
        "1",
        bent=True,
        least=None,
    ),
    "crosstalk_y": DriveTerm(
        lambda motion, speed: motion.bending[:, 1],
        "crosstalk of the moment about the second transverse axis",
        "1",
        bent=True,
        least=None,
    ),
    "armature": DriveTerm(
        lambda motion, speed: motion.acceleration,
        "armature (reflected inertia of the rotor)",
        "kg m²",
        accelerated=True,
    ),
    "stiffness": DriveTerm(
        lambda motion, speed: motion.position, "stiffness of a spring", "N m/rad"
    ),
    "preload": DriveTerm(
        lambda motion, speed: -np.ones_like(motion.rate),
        "preload of a spring: stiffness times reference",
        "N m",
        least=None,
    ),
}
"""By name: viscous and saturating terms keep their value near standstill, the others of friction
jump there. Signs are those of the force that the drive has to give beyond the dynamics."""

SPRINGS: Final = ("stiffness", "preload")
ARMATURE: Final = ("armature",)
FRICTION: Final = tuple(name for name in TERMS if name not in (*SPRINGS, *ARMATURE))
"""The terms that are friction, and the others."""
