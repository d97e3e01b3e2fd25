"""How much the robot's file counts where the log determines little: by cross-validation.

On a short log least squares leaves some parameters far from their values, compensated by others,
which fails on other motions. A prior keeps them near the robot's file; because the file may be
wrong, parts of the log that take no part in the fit decide how much it counts: ridge regression
(Hoerl & Kennard, Technometrics 1970) in the metric of the prior, its strength by blocks of a time
series."""

from itertools import pairwise
from typing import Final

import numpy as np

from symgen.identification.estimation.robust_errors import inflation
from symgen.identification.estimation.standard_parameters import Prior
from symgen.identification.estimation.triangular_factors import combined
from symgen.identification.estimation.weighted_solve import (
    GaussianPrior,
    TriangularSystem,
    solve,
    solve_weighted,
)
from symgen.identification.model.estimate import BaseMapping
from symgen.identification.model.prior_file import deviations
from symgen.numbers.types import Numbers

MULTIPLES: Final = (10.0, 3.0, 1.0)
"""The deviations that are tried, relative to that of ``--prior-deviation``."""
FOLDS: Final = 5
"""Consecutive parts of the log, each of which is predicted from the others."""


def select_prior_strength(
    system: TriangularSystem, weak: GaussianPrior, mapping: BaseMapping, deviation: float
) -> tuple[GaussianPrior, float | None]:
    """The strongest prior, with its relative deviation, whose predictions are not worse than the
    best ones by more than the standard error of the difference (Breiman, Friedman, Olshen & Stone
    1984, sec. 3.4.3); the prior `weak` and None if the log predicts better without the robot's
    file."""
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
