"""A prior for robots whose files have no inertia at all: rods between joints, all of one mass by
length, which the log gives.

It says no more than that mass is where links are. Each moving body is a rod from its own joint to
those after it, with a thickness, so that its pseudo-inertia is definite; all masses are one number
times the rods' lengths, the number by least squares of the log."""

from dataclasses import replace
from typing import Final

import numpy as np

from symgen.identification.estimation.weighted_solve import TriangularSystem
from symgen.identification.model.estimate import BaseMapping
from symgen.mechanics.inertia import inertial_parameters_of
from symgen.mechanics.model import RigidBodyModel
from symgen.numbers.types import Numbers

SHORT: Final = 0.1
"""Length (m) of a rod of which nothing is known, and the least of all."""
THICK: Final = 0.25
"""Radius of gyration across a rod, by its length."""
LIGHT: Final = 1e-3
"""kg/m at least, where the log says less than nothing."""


def with_neutral_prior(mapping: BaseMapping, system: TriangularSystem) -> BaseMapping:
    """The mapping with a neutral prior, if the robot's files have no inertia; `system` has the
    equations of the log, base parameters first."""
    if mapping.prior[: 10 * len(mapping.bodies)].any():
        return mapping
    unit = rods(mapping.model, len(mapping.prior))
    return replace(mapping, prior=unit * max(_density(mapping, system, unit), LIGHT))


def rods(model: RigidBodyModel, size: int) -> Numbers:
    """The standard parameters (s) of rods of 1 kg/m, nothing for rotors."""
    numbers = {body.links[0].name: k for k, body in enumerate(model.moving)}
    prior = np.zeros(size)
    for k, body in enumerate(model.moving):
        number = model.bodies.index(body) + 1
        ends = [
            np.array(other.pose.position)
            for other in model.bodies
            if other.parent == number and other.links and other.links[0].name in numbers
        ]
        end = np.mean(ends, axis=0) if ends else np.zeros(3)
        prior[10 * k : 10 * k + 10] = _rod(np.asarray(end, np.float64))
    return prior


def _rod(end: Numbers) -> Numbers:
    """The ten numbers of a rod of 1 kg/m from the origin to a point."""
    length = max(float(np.linalg.norm(end)), SHORT)
    p = np.zeros((4, 4))
    p[:3, :3] = np.outer(end, end) / 3 + np.eye(3) * (THICK * length) ** 2
    p[:3, 3] = p[3, :3] = end / 2
    p[3, 3] = 1.0
    return inertial_parameters_of(length * p)


def _density(mapping: BaseMapping, system: TriangularSystem, unit: Numbers) -> float:
    """kg/m by least squares, with all that drives add left open."""
    b = len(mapping)
    factor = system.weighted([system.measured(j) or 1.0 for j in system.channels])
    rods_alone = factor[:, :b] @ mapping.base(unit)
    columns = np.column_stack([rods_alone, factor[:, b:-1]])
    return float(np.linalg.lstsq(columns, factor[:, -1], rcond=1e-9)[0][0])
