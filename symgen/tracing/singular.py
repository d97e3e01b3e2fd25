"""Whether what a quantity divides by is there: a mass matrix that can be inverted, and mass.

Where a joint moves no inertia of its own, M is singular; without mass there is no centre of it."""

import random
from collections.abc import Collection, Iterable
from typing import Final

import numpy as np

from symgen.algorithms.composite import mass_matrix
from symgen.algorithms.registry import Quantity
from symgen.errors import OptionError
from symgen.mechanics.listing import Listed, moving
from symgen.mechanics.model import Model
from symgen.mechanics.parameters import system
from symgen.mechanics.system import System
from symgen.numbers.scalar import plain
from symgen.text import shown
from symgen.tracing.robot import Robot

STATES: Final = 3
ROUNDING: Final = 1e-13


def check_defined(robot: Robot, quantities: Iterable[Quantity]) -> None:
    """Refuses a quantity that divides by what is zero whatever the parameters of run time are: that
    needs the inverse of a singular mass matrix, or the centre of mass of a robot without mass.

    Raises OptionError."""
    wanted = list(quantities)
    inverse = next((q.name for q in wanted if q.needs_inverse), None)
    velocity = singular_joint(robot.lumped, robot.blocks) if inverse else None
    if velocity is not None:
        joint = moving(robot.model, velocity)
        raise OptionError(
            f"{inverse} needs the inverse of the mass matrix, but joint '{shown(joint.name)}' "
            f"moves no inertia of its own; {remedy(robot.model, joint)}"
        )
    centre = next((q.name for q in wanted if q.needs_mass), None)
    if centre and not robot.blocks and not has_mass(robot.model):
        raise OptionError(
            f"{centre} needs the mass of the robot, but no moving link has any; give links an "
            "<inertial>, or leave their parameters open with --parameters runtime"
        )


def has_mass(model: Model) -> bool:
    """Whether any moving link has mass."""
    tens = (link.parameters for body in model.bodies for link in body.links)
    return any(ten is not None and ten[0] != 0 for ten in tens)


def singular_joint(model: Model, unknown: Collection[str] = ()) -> str | None:
    """The first joint, from the tips inward, without which the rest moves no differently; None if M
    is regular.

    Found as a pivot of M = Lᵀ D L (Featherstone 2008, section 6.5) that vanishes at random states.
    The parameters of the links called `unknown` come at run time: they are those of some body, and
    a joint is only found if it is one for (almost) all of them.
    """
    rng = random.Random(0)
    robot = system(model, {name: _some_body(rng) for name in unknown})
    states = [[rng.uniform(-3, 3) for _ in range(robot.coupling.positions)] for _ in range(STATES)]
    pivots = np.array([_pivots(robot, q) for q in states])
    gone = np.flatnonzero((np.abs(pivots) <= ROUNDING).all(axis=0))
    return model.joint_names[int(gone[-1])] if gone.size else None


def _some_body(rng: random.Random) -> list[float]:
    """The ten parameters of a body that has no symmetry: 1 kg, inertia of a scattered cloud."""
    x, y, z = (rng.uniform(0.1, 0.3) for _ in range(3))
    a, b, c = (rng.uniform(0.1, 0.3) for _ in range(3))
    around = [b + c + y * y + z * z, -x * y, -x * z, a + c + x * x + z * z, -y * z]
    return [1.0, x, y, z, *around, a + b + x * x + y * y]


def remedy(model: Model, joint: Listed) -> str:
    """What a user can do about a joint that `singular_joint` found."""
    link = shown(joint.body.name)
    if len(joint.bodies) == 1:
        return "give the links beyond it mass, or hold it with --lock"
    floating_base = not model.base and not model.body(joint.bodies[0]).parent
    instead = ", or make one that has them the --root" if floating_base else ""
    return f"give link '{link}' mass and inertia of its own{instead}"


def _pivots(robot: System, q: list[float]) -> list[float]:
    """The pivots of the factorisation from the last joint to the first, relative to the diagonal of
    M."""
    n, coupling = robot.dof, robot.coupling
    entries = coupling.matrix(mass_matrix(robot, coupling.normalized(q)))
    m = np.array([plain(x) for x in entries]).reshape(n, n)
    diagonal, found = m.diagonal().copy(), [0.0] * n
    for k in reversed(range(n)):
        found[k] = float(m[k, k] / diagonal[k]) if diagonal[k] else 0.0
        if abs(found[k]) > ROUNDING:
            m[:k, :k] -= np.outer(m[:k, k], m[k, :k]) / m[k, k]
    return found
