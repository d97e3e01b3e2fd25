"""Priors: standard parameters from base ones and a prior, uniform rods for robots without inertia,
and the strength of a prior by cross-validation.

Before the log, π is normal about the prior π₀ with independent deviations D. That makes β = K π
normal about K π₀ with covariance K D² Kᵀ, which joins the least squares as further equations; given
β, the mean of π is π₀ + G (β - K π₀) with G = D² Kᵀ (K D² Kᵀ)⁻¹. Together that is the π of least |R
K π - z|² + |D⁻¹ (π - π₀)|²."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np

from symgen.identification.estimation.triangular_factors import combined
from symgen.identification.estimation.weighted_solve import (
    GaussianPrior,
    TriangularSystem,
    inflation,
    solve,
    solve_weighted,
)
from symgen.identification.model.estimate import BaseMapping, deviations
from symgen.mechanics.inertia import inertial_parameters_of
from symgen.mechanics.model import RigidBodyModel
from symgen.numbers.scalar import Numbers

VAGUE: Final = 1e6
"""How little is known of a coefficient of friction beforehand: its deviation in N m s/rad or N
m."""


@dataclass(frozen=True)
class Prior:
    """The prior: what is believed of the standard parameters before the log; `deviation` has D
    (s)."""

    mapping: BaseMapping
    deviation: Numbers

    @property
    def _spread(self) -> Numbers:
        """K D² Kᵀ."""
        half = self.mapping.factors * self.deviation
        return np.asarray(half @ half.T)

    def of_values(self, friction: int) -> GaussianPrior:
        """The same of the base parameters and so many coefficients of friction, of which next to
        nothing is known."""
        b = len(self.mapping)
        factor = np.zeros((b + friction, b + friction))
        factor[:b, :b] = np.linalg.inv(np.linalg.cholesky(self._spread))
        factor[b:, b:] = np.eye(friction) / VAGUE
        mean = np.concatenate([self.mapping.base(self.mapping.prior), np.zeros(friction)])
        return GaussianPrior(factor, factor @ mean)

    def standard(self, base: Numbers, covariance: Numbers) -> tuple[Numbers, Numbers]:
        """Standard parameters (s) and their standard errors, of base parameters (b) and their
        covariance."""
        cross = (self.mapping.factors * self.deviation**2).T
        gain = np.linalg.solve(self._spread, cross.T).T
        values = self.mapping.prior + gain @ (base - self.mapping.base(self.mapping.prior))
        variance = (
            self.deviation**2
            - np.sum(gain * cross, axis=1)
            + np.sum((gain @ covariance) * gain, axis=1)
        )
        return values, np.sqrt(np.maximum(variance, 0.0))


# -- uniform rods ----------------------------------------------------------------------------------


SHORT: Final = 0.1
"""Length (m) of a rod of which nothing is known, and the least of all."""
THICK: Final = 0.25
"""Radius of gyration across a rod, by its length."""
LIGHT: Final = 1e-3
"""kg/m at least, where the log says less than nothing."""


def with_neutral_prior(mapping: BaseMapping, system: TriangularSystem) -> BaseMapping:
    """The mapping with a neutral prior, if the robot's files have no inertia; `system` has the
    equations of the log, base parameters first.

    The prior says no more than that mass is where links are. Each moving body is a rod from its own
    joint to those after it, with a thickness, so that its pseudo-inertia is definite; all masses
    are one number times the rods' lengths, the number by least squares of the log."""
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


# -- strength of the prior -------------------------------------------------------------------------


MULTIPLES: Final = (10.0, 3.0, 1.0)
"""The deviations that are tried, relative to that of ``--prior-deviation``."""
FOLDS: Final = 5
"""Consecutive parts of the log, each of which is predicted from the others."""


def select_prior_strength(
    system: TriangularSystem, weak: GaussianPrior, mapping: BaseMapping, deviation: float
) -> tuple[GaussianPrior, float | None]:
    """How much the robot's file counts where the log determines little: the strongest prior, with
    its relative deviation, whose predictions of parts of the log are not worse than the
    best ones by more than the standard error of the difference (Breiman, Friedman, Olshen & Stone
    1984, sec. 3.4.3); the prior `weak` and None if the log predicts better without the robot's
    file.

    On a short log least squares leaves some parameters far from their values, compensated by
    others, which fails on other motions. A prior keeps them near the robot's file; because the file
    may be wrong, parts of the log that take no part in the fit decide: ridge regression (Hoerl &
    Kennard, Technometrics 1970) in the metric of the prior, its strength by blocks of a time
    series."""
    solution, b = solve(system, weak), len(mapping)
    tells = inflation(system, solution)
    candidates: list[tuple[GaussianPrior, float | None]] = [(weak, None)]
    for multiple in MULTIPLES:
        relative = multiple * deviation
        prior = Prior(mapping, deviations(mapping, relative)).of_values(system.size - b)
        factor = prior.factor.copy()
        factor[b:, b:] = weak.factor[b:, b:]
        candidates.append((GaussianPrior(factor, prior.target), relative))
    folds = _folds(system)
    scores = [
        np.array([_score(*fold, solution.deviations, prior, tells) for fold in folds])
        for prior, _ in candidates
    ]
    best = min(scores, key=np.mean)
    good = [c for c, x in zip(candidates, scores, strict=True) if _as_good(x - best)]
    return good[-1]


def _folds(system: TriangularSystem) -> list[tuple[TriangularSystem, TriangularSystem]]:
    """For each fold the system of the other rows, and that of its own."""
    batches, folds = system.batches, []
    edges = np.linspace(0, len(batches), min(FOLDS, len(batches)) + 1).astype(int).tolist()
    for a, b in pairwise(edges):
        rest, own = combined([*batches[:a], *batches[b:]]), combined(batches[a:b])
        if rest is not None and own is not None:
            pair = (TriangularSystem(x, system.supports, system.size) for x in (rest, own))
            folds.append((next(pair), next(pair)))
    return folds


def _score(
    rest: TriangularSystem,
    own: TriangularSystem,
    deviations: tuple[float, ...],
    prior: GaussianPrior,
    inflation: float,
) -> float:
    """The mean over channels of the logarithm of the squared error of a fold's prediction."""
    values, _ = solve_weighted(rest, deviations, prior, inflation)
    squares = [own.squares(j, values) / deviations[j] ** 2 for j in own.channels]
    return float(np.mean(np.log(np.maximum(squares, 1e-300))))


def _as_good(excess: Numbers) -> bool:
    """True if scores exceed the best ones by no more than the standard error of the difference."""
    error = np.std(excess, ddof=1) / np.sqrt(len(excess)) if len(excess) > 1 else 0.0
    return bool(np.mean(excess) <= error)
