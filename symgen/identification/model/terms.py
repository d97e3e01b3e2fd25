"""Terms that the drive of a joint adds to its force: each row of TERMS is a term.

Every term is one unknown coefficient times a known column, which depends on the motion of the joint
alone. Some columns have a shape parameter that the force is not linear in, such as the width of the
step of Coulomb friction; `shapes` are the candidates for it, from which variable projection (Golub
& Pereyra, SIAM J. Numer. Anal. 1973) selects."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from symgen.numbers.types import Numbers


@dataclass(frozen=True)
class JointSamples:
    """The motion of one joint at N samples: position (rad or m), velocity and acceleration.

    `load` is the force (N m or N) that the joint transmits to the links, without the terms of its
    drive. `presliding` is the presliding state (-1 to 1) for the distance of the column."""

    position: Numbers
    rate: Numbers
    acceleration: Numbers
    load: Numbers
    presliding: Numbers


@dataclass(frozen=True)
class DriveTerm:
    """A term: its column at a motion, with the shape parameter where it has one.

    `shapes` are the candidates of the shape parameter relative to the joint's largest velocity or,
    for terms that read the presliding `state`, to its travel. `jumps` is true for a column that
    jumps with the sign of the velocity if its shape parameter is 0 or no width. `loaded` terms need
    the load, `accelerated` ones the acceleration. `unit` is that of the coefficient of a revolute
    joint, `least` its physical lower bound."""

    column: Callable[[JointSamples, float], Numbers]
    words: str
    unit: str
    jumps: bool = False
    smoothed: bool = False
    """True if the shape parameter is the width of the direction, given by ``--friction-width``."""
    shapes: tuple[float, ...] = ()
    loaded: bool = False
    accelerated: bool = False
    state: bool = False
    least: float | None = 0.0


def direction(rate: Numbers, width: float) -> Numbers:
    """The sign of a velocity, 0 at rest; with a width tanh(rate / width)."""
    return np.asarray(np.tanh(rate / width) if width else np.sign(rate))


def _stribeck(motion: JointSamples, speed: float) -> Numbers:
    """Friction that is larger at breakaway and falls within a velocity (Stribeck 1902, in the form
    of Tustin and of Canudas de Wit et al. 1995)."""
    return np.asarray(np.sign(motion.rate) * np.exp(-np.square(motion.rate / speed)))


WIDTH: Final = 0.02
"""Width of the direction, relative to the largest velocity, if it is to be chosen: a sixth of it is
the usual noise of a velocity that is differentiated from an encoder."""
DISTANCES: Final = (1e-4, 3e-4, 1e-3, 3e-3)
"""Candidates of the presliding distance, relative to the travel of the joint: a UR10e has 0.3 to 1
mrad, a Panda 3 to 5 mrad."""

TERMS: Final[dict[str, DriveTerm]] = {
    "viscous": DriveTerm(lambda motion, shape: motion.rate, "viscous friction", "N m s/rad"),
    "coulomb": DriveTerm(
        lambda motion, width: direction(motion.rate, width),
        "Coulomb friction",
        "N m",
        jumps=True,
        smoothed=True,
        shapes=(WIDTH,),
    ),
    "offset": DriveTerm(
        lambda motion, shape: np.ones_like(motion.rate), "offset", "N m", least=None
    ),
    "asymmetric": DriveTerm(
        lambda motion, shape: np.abs(motion.rate),
        "direction-dependent viscous friction",
        "N m s/rad",
        least=None,
    ),
    "stribeck": DriveTerm(
        _stribeck,
        "Stribeck friction",
        "N m",
        jumps=True,
        shapes=(0.03, 0.06, 0.12, 0.25),
        least=None,
    ),
    "root": DriveTerm(
        lambda motion, shape: np.sign(motion.rate) * np.sqrt(np.abs(motion.rate)),
        "friction proportional to the root of the speed",
        "N m (s/rad)^½",
        jumps=True,
        least=None,
    ),
    "saturating": DriveTerm(
        lambda motion, speed: np.tanh(motion.rate / speed),
        "saturating viscous friction",
        "N m",
        shapes=(0.1, 0.2, 0.4, 0.8),
        least=None,
    ),
    # below 0 it is the hysteresis of a sensor behind the gear
    "load": DriveTerm(
        lambda motion, width: direction(motion.rate, width) * np.abs(motion.load),
        "Coulomb friction per load of the gear",
        "1",
        jumps=True,
        smoothed=True,
        shapes=(WIDTH,),
        loaded=True,
        least=None,
    ),
    "presliding": DriveTerm(
        lambda motion, distance: motion.presliding,
        "presliding friction",
        "N m",
        shapes=DISTANCES,
        state=True,
        least=None,
    ),
    "presliding_load": DriveTerm(
        lambda motion, distance: motion.presliding * np.abs(motion.load),
        "presliding friction per load of the gear",
        "1",
        shapes=DISTANCES,
        state=True,
        loaded=True,
        least=None,
    ),
    "armature": DriveTerm(
        lambda motion, shape: motion.acceleration,
        "armature (reflected inertia of the rotor)",
        "kg m²",
        accelerated=True,
    ),
    "stiffness": DriveTerm(
        lambda motion, shape: motion.position, "stiffness of a spring", "N m/rad"
    ),
    "preload": DriveTerm(
        lambda motion, shape: -np.ones_like(motion.rate),
        "preload of a spring: stiffness times reference",
        "N m",
        least=None,
    ),
}
"""By name. Signs are those of the force that the drive has to give in addition to the dynamics."""

SPRINGS: Final = ("stiffness", "preload")
ARMATURE: Final = ("armature",)
FRICTION: Final = tuple(name for name in TERMS if name not in (*SPRINGS, *ARMATURE))
"""The terms that are friction, and the others."""
DEFAULT: Final = (
    "viscous",
    "coulomb",
    "offset",
    "saturating",
    "load",
    "presliding",
    "presliding_load",
    *ARMATURE,
)
"""The terms of ``--friction auto``: the laws that reach or beat every selection of terms on logs of
real robots that were not fitted (docs/benchmarks/identification.md)."""
