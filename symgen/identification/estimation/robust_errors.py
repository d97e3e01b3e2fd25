"""Standard errors that hold for residuals of any correlation and of changing size: from what each
batch of consecutive rows does to the estimate.

With G = RᵀR of all rows, G_b that of batch b and s_b = A_bᵀ W r_b its score, the estimate without
the batch is x - (G - G_b)⁻¹ s_b. The sum of squares of these steps is the delete-one-batch
jackknife, in other words the sandwich estimator of clustered data with the correction of leverages
(CR3; Bell & McCaffrey, Survey Methodology 2002), and that of batch means of time series, whose
correlation may reach over most of a batch. It needs no more of a log than the triangular factors of
its batches. Residuals of a short log may be correlated over more than a batch. So the same is done
with two and four batches joined, and the largest error counts."""

from dataclasses import replace
from typing import Final

import numpy as np

from symgen.identification.estimation.triangular_factors import gathered
from symgen.identification.estimation.weighted_solve import GaussianPrior, TriangularSystem, solve
from symgen.identification.model.estimate import Solution
from symgen.numbers.types import Numbers

CLEAR: Final = 0.1
"""The part of the information, in any direction, that is taken to be left without a batch at
least."""
JOINED: Final = (1, 2, 4)
"""How many batches are joined. One alone underestimates errors where effects that are not in the
model change more slowly than a batch lasts (docs/benchmarks/identification.md)."""


def solve_with_prior(system: TriangularSystem, prior: GaussianPrior | None) -> Solution:
    """Weighted least squares, where there is a prior beside it, with the log at the weight that it
    has: its information is divided by how many times the robust variance is the naive one."""
    solution = solve(system, prior)
    if prior is None or prior.weak or len(system.batches) < 2:
        return solution
    return solve(system, prior, inflation(system, solution))


def inflation(system: TriangularSystem, solution: Solution) -> float:
    """The mean of robust by naive variances over all directions, at least 1; 1 where there are too
    few batches."""
    count = len(system.batches)
    if count < 2:
        return 1.0
    inverse, steps = _steps(system, solution)
    spread = np.sum(np.square(steps @ solution.factor.T)) * (count - 1) / count
    log = system.weighted(solution.deviations)[:, : system.size] @ inverse
    return max(1.0, float(spread / np.sum(np.square(log))))


def robust_errors(system: TriangularSystem, solution: Solution) -> Numbers | None:
    """The robust standard error of each value (p); None where there are too few batches."""
    errors = list[Numbers]()
    for length in JOINED:
        batches = gathered(system.batches, length)
        count = len(batches)
        if count > 1:
            _, steps = _steps(replace(system, batches=batches), solution)
            errors.append(np.sqrt((count - 1) / count * np.sum(np.square(steps), axis=0)))
    return np.max(errors, axis=0) if errors else None


def _steps(system: TriangularSystem, solution: Solution) -> tuple[Numbers, Numbers]:
    """R^-1, and what the estimate changes by without each batch (batches x p)."""
    inverse: Numbers = np.asarray(np.linalg.inv(solution.factor), np.float64)
    numbers = range(len(system.batches))
    return inverse, np.array([_step(system, k, solution, inverse) for k in numbers])


def _step(system: TriangularSystem, batch: int, solution: Solution, inverse: Numbers) -> Numbers:
    """The change of the estimate without a batch."""
    p = len(solution.values)
    information, score = np.zeros((p, p)), np.zeros(p)
    for j, columns in enumerate(system.supports):
        factor = system.batches[batch].factors[j] / solution.deviations[j] / solution.inflation**0.5
        a, y, places = factor[:, :-1], factor[:, -1], list(columns)
        information[np.ix_(places, places)] += a.T @ a
        score[places] += a.T @ (y - a @ solution.values[places])
    shares, axes = np.linalg.eigh(inverse.T @ information @ inverse)
    free = np.maximum(1 - shares, CLEAR)
    return np.asarray(inverse @ (axes @ ((axes.T @ (inverse.T @ score)) / free)))
