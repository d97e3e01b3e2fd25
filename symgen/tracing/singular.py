"""Whether a mass matrix can be inverted: where a joint moves no inertia of its own, it cannot."""

import random
from typing import Final

import numpy as np

from symgen.algorithms.composite import mass_matrix
from symgen.mechanics.listing import Listed
from symgen.mechanics.model import Model
from symgen.mechanics.parameters import system
from symgen.mechanics.system import System
from symgen.text import shown

STATES: Final = 3
ROUNDING: Final = 1e-13


def singular_joint(model: Model) -> str | None:
    """The first joint, from the tips inward, without which the rest moves no differently; None if M
    is regular.

    Found as a pivot of M = Lᵀ D L (Featherstone 2008, section 6.5) that vanishes at random states.
    """
    robot, rng = system(model), random.Random(0)
    states = [[rng.uniform(-3, 3) for _ in range(robot.coupling.positions)] for _ in range(STATES)]
    pivots = np.array([_pivots(robot, q) for q in states])
    gone = np.flatnonzero((np.abs(pivots) <= ROUNDING).all(axis=0))
    return model.joint_names[int(gone[-1])] if gone.size else None


def remedy(model: Model, joint: Listed) -> str:
    """What a user can do about a joint that `singular_joint` found."""
    link = shown(joint.body.name)
    if joint.kind not in ("planar", "floating"):
        return "give the links beyond it mass, or hold it with --lock"
    floating_base = joint.kind == "floating" and not model.base
    instead = ", or make one that has them the --root" if floating_base else ""
    return f"give link '{link}' mass and inertia of its own{instead}"


def _pivots(robot: System, q: list[float]) -> list[float]:
    """The pivots of the factorisation from the last joint to the first, relative to the diagonal of
    M."""
    n, coupling = robot.dof, robot.coupling
    entries = coupling.matrix(mass_matrix(robot, coupling.normalized(q)))
    m = np.array([float(x) for x in entries]).reshape(n, n)
    diagonal, found = m.diagonal().copy(), [0.0] * n
    for k in reversed(range(n)):
        found[k] = float(m[k, k] / diagonal[k]) if diagonal[k] else 0.0
        if abs(found[k]) > ROUNDING:
            m[:k, :k] -= np.outer(m[:k, k], m[k, :k]) / m[k, k]
    return found
