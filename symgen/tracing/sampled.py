"""The mass matrix of a robot at sampled states, as numbers."""

import random
from typing import Any, Final

import numpy as np

from symgen.algorithms.factors import coupled_mass_matrix
from symgen.mechanics.parameters import canonical_model
from symgen.numbers.scalar import plain
from symgen.numbers.types import Numbers
from symgen.tracing.robot import ParametricModel

SAMPLED_STATES: Final = 200
"""The number of sampled states, the one with all coordinates at 0 included."""
LARGEST_COORDINATE: Final = 3.0
"""Coordinates are sampled between minus and plus this (rad or m)."""
ROUNDING: Final = 1e-10
"""The smallest eigenvalue, with 1 on the diagonal, that is not merely rounding."""


def sampled_mass_matrices(robot: ParametricModel) -> Numbers:
    """The mass matrices (SAMPLED_STATES, n, n) at the state 0 and at random ones.

    The states depend only on the number of coordinates. Parameters that are inputs have the values
    of the robot's file."""
    mechanism, rng = canonical_model(robot.model), random.Random(0)
    n, positions = mechanism.dof, mechanism.coupling.positions
    states = [[0.0] * positions]
    while len(states) < SAMPLED_STATES:
        states.append([rng.uniform(-LARGEST_COORDINATE, LARGEST_COORDINATE) for _ in states[0]])
    states[0] = _without_turn(mechanism, states[0])
    matrices = []
    for q in states:
        entries = coupled_mass_matrix(mechanism, mechanism.coupling.normalized(q))
        matrices.append(np.array([plain(x) for x in entries]).reshape(n, n))
    return np.array(matrices)


def _without_turn(mechanism: Any, q: list[float]) -> list[float]:
    """The state with quaternions of no rotation, which have 1 as their last number."""
    last = {quaternion.stop - 1 for quaternion in mechanism.coupling.quaternions}
    return [1.0 if k in last else x for k, x in enumerate(q)]


def is_positive_definite(robot: ParametricModel) -> bool:
    """Whether the mass matrix is positive definite in all sampled states."""
    for matrix in sampled_mass_matrices(robot):
        diagonal = np.diag(matrix)
        if not (diagonal > 0).all():
            return False
        scale = 1 / np.sqrt(diagonal)
        if np.linalg.eigvalsh(matrix * np.outer(scale, scale))[0] <= ROUNDING:
            return False
    return True


def largest_relative_change(robot: ParametricModel, other: ParametricModel) -> float:
    """The largest change of the mass matrix from a robot to another with the same joints over the
    sampled states, relative to its own size (Frobenius norms)."""
    before, after = sampled_mass_matrices(robot), sampled_mass_matrices(other)
    sizes = np.linalg.norm(before, axis=(1, 2))
    changes = np.linalg.norm(after - before, axis=(1, 2))
    return float((changes / np.where(sizes > 0, sizes, np.inf)).max())
