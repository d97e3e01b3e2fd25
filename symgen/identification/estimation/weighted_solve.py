"""From triangular factors to an estimate: weights of channels, robust standard errors, what the
motion does not excite."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from symgen.identification.estimation.triangular_factors import (
    Batches,
    TriangularFactors,
    gathered,
    triangle,
)
from symgen.identification.model.equations import Supports
from symgen.identification.model.estimate import Solution
from symgen.numbers.scalar import Numbers

ROUNDS: Final = 50
SETTLED: Final = 1e-12
"""Relative change of the deviations below which the weights count as found."""
FLOOR: Final = 1e-9
"""The least deviation of a channel relative to its measurements, for logs without noise."""
FAINT: Final = 1e-9
"""What a prior that only makes a solution unique has of a column's length."""
NEAR: Final = 3.0
"""The change of a deviation up to which a factorization serves for others too."""
SHARE: Final = 0.2
"""A parameter takes part in a direction that is not excited if it has this much of its largest
entry."""


@dataclass(frozen=True)
class TriangularSystem:
    """Equations of all channels by their factors: R_j x = z_j and a rest, each on the columns of
    its support; `batches` has those of consecutive parts of the log, where they are known."""

    factors: TriangularFactors
    supports: Supports
    size: int
    batches: Batches = ()

    def only(self, columns: Sequence[int]) -> "TriangularSystem":
        """With some of the columns, in their order."""
        places = {column: k for k, column in enumerate(columns)}
        kept = [[k for k, c in enumerate(support) if c in places] for support in self.supports]
        pairs = zip(self.supports, kept, strict=True)
        supports = tuple(tuple(places[support[k]] for k in numbers) for support, numbers in pairs)
        batches = tuple(batch.only(kept) for batch in self.batches)
        return TriangularSystem(self.factors.only(kept), supports, len(columns), batches)

    def spread(self, j: int) -> Numbers:
        """The factor of channel j on all columns, the measurement last."""
        factor, wide = self.factors.factors[j], np.zeros((len(self.supports[j]) + 1, self.size + 1))
        wide[: len(factor), [*self.supports[j], self.size]] = factor
        return wide

    @property
    def channels(self) -> range:
        """Their numbers."""
        return range(len(self.supports))

    def measured(self, j: int) -> float:
        """Root mean square of the measurements of channel j."""
        return float(
            np.linalg.norm(self.factors.factors[j][:, -1]) / math.sqrt(max(self.rows(j), 1))
        )

    def squares(self, j: int, values: Numbers) -> float:
        """The sum of squares of the residuals of channel j."""
        return float(np.sum(np.square(self.spread(j) @ np.append(values, -1.0))))

    def residual(self, j: int, values: Numbers) -> float:
        """Their root mean square."""
        return math.sqrt(self.squares(j, values) / max(self.rows(j), 1))

    def rows(self, j: int) -> int:
        """How many equations channel j has."""
        return self.factors.rows[j]

    def weighted(self, deviations: Sequence[float]) -> Numbers:
        """The factor of all channels, rows divided by the deviation of their channel: (p + 1) x (p
        + 1)."""
        stack = np.concatenate([self.spread(j) / deviations[j] for j in self.channels])
        missing = max(self.size + 1 - len(stack), 0)
        return triangle(np.pad(stack, ((0, missing), (0, 0))) if missing else stack)


@dataclass(frozen=True)
class GaussianPrior:
    """A prior in values before the log: R (p x p) with (RᵀR)⁻¹ their covariance, and R times their
    mean."""

    factor: Numbers
    target: Numbers
    weak: bool = False
    """True if it only makes the solution unique."""

    def only(self, columns: Sequence[int]) -> "GaussianPrior":
        """Of some values, in their order, which are independent of those that are left out."""
        factor = self.factor[np.ix_(columns, columns)]
        return GaussianPrior(factor, self.target[list(columns)], self.weak)


def regularizer(
    system: TriangularSystem, of_drives: Mapping[int, int] | None = None
) -> GaussianPrior:
    """A prior that makes a solution unique and changes nothing else: what the log does not
    determine is 0. `of_drives` has the channel of each column of a drive: its coefficient is normal
    about 0 with a deviation at which the column alone gives the whole measured force, which counts
    as one row of the log."""
    parts = [
        np.linalg.norm(system.spread(j)[:, :-1], axis=0) / (system.measured(j) or 1.0)
        for j in system.channels
    ]
    lengths = np.linalg.norm(parts, axis=0)
    scales = FAINT * np.where(lengths > 0, lengths, 1.0)
    for column, channel in (of_drives or {}).items():
        size, measured = np.linalg.norm(system.spread(channel)[:, [column, -1]], axis=0).tolist()
        scales[column] = max(size / measured, FAINT) if measured else 1.0
    return GaussianPrior(np.diag(scales), np.zeros(system.size), weak=True)


def solve(
    system: TriangularSystem, prior: GaussianPrior | None = None, inflation: float = 1.0
) -> Solution:
    """Weighted least squares, the weight of each channel from the variance of its residuals, until
    these settle.

    The variances are restricted maximum-likelihood ones (each channel loses the degrees of freedom
    that its rows take up in the fit), so that standard errors hold for short logs too. They are
    found in coordinates in which the information near them is 1, so normal equations lose no
    digits."""
    measured = np.array([system.measured(j) for j in system.channels])
    rows = np.array([system.rows(j) for j in system.channels])
    floors = FLOOR * np.where(measured > 0, measured, measured.max() or 1.0)
    deviations, near = np.maximum(measured, floors), None
    for _ in range(ROUNDS):
        if near is None or not near.is_close(deviations):
            near = _LocalFit.of(system, deviations, prior, inflation)
        taken, squares = near.at(deviations)
        before = deviations
        deviations = np.maximum(np.sqrt(squares / np.maximum(rows - taken, 1.0)), floors)
        if np.abs(deviations / before - 1).max() < SETTLED:
            break
    settled = tuple(deviations.tolist())
    return Solution(*solve_weighted(system, settled, prior, inflation), settled, inflation)


@dataclass(frozen=True)
class _LocalFit:
    """The least squares near some deviations of the channels, in coordinates in which the
    information with these is 1: for each channel the information (c x p x p), the gradient at
    the solution (c x p) and the squares of the residuals (c) there, with weight 1."""

    deviations: Numbers
    inflation: float
    information: Numbers
    gradients: Numbers
    squares: Numbers

    @classmethod
    def of(
        cls,
        system: TriangularSystem,
        deviations: Numbers,
        prior: GaussianPrior | None,
        inflation: float,
    ) -> "_LocalFit":
        """By a factorization with these deviations."""
        values, factor = solve_weighted(system, deviations.tolist(), prior, inflation)
        inverse, p = np.linalg.inv(factor), system.size
        spreads = [system.spread(j) for j in system.channels]
        columns = [spread[:, :p] @ inverse for spread in spreads]
        rests = [spread[:, p] - spread[:, :p] @ values for spread in spreads]
        return cls(
            deviations,
            inflation,
            np.array([a.T @ a for a in columns]),
            np.array([a.T @ rest for a, rest in zip(columns, rests, strict=True)]),
            np.array([rest @ rest for rest in rests]),
        )

    def is_close(self, deviations: Numbers) -> bool:
        """Whether the information with other deviations is well conditioned here."""
        return bool(np.abs(np.log(deviations / self.deviations)).max() < math.log(NEAR))

    def at(self, deviations: Numbers) -> tuple[Numbers, Numbers]:
        """With other deviations the degrees of freedom that each channel takes up, and the squares
        of its residuals."""
        weights = 1 / (deviations**2 * self.inflation)
        change = weights - 1 / (self.deviations**2 * self.inflation)
        count, p = self.gradients.shape
        flat = self.information.reshape(count, p * p)
        inverse = np.linalg.inv(np.eye(p) + (change @ flat).reshape(p, p))
        step = inverse @ (change @ self.gradients)
        bent = (self.information @ step) @ step
        return weights * (flat @ inverse.ravel()), self.squares - 2 * self.gradients @ step + bent


def solve_weighted(
    system: TriangularSystem,
    deviations: Sequence[float],
    prior: GaussianPrior | None = None,
    inflation: float = 1.0,
) -> tuple[Numbers, Numbers]:
    """The values (p) and R (p x p) of the least squares with given deviations of the channels,
    whose squares count 1 / `inflation` beside a prior."""
    factor, p = system.weighted(deviations) / math.sqrt(inflation), system.size
    if prior is not None:
        rows = np.column_stack([prior.factor, prior.target])
        factor = triangle(np.concatenate([factor[:p], rows]))
    return np.asarray(np.linalg.solve(factor[:p, :p], factor[:p, p])), factor[:p, :p]


# -- what is excited -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Excitation:
    """How well the motion tells the parameters apart.

    `condition` is the condition number of the regressor of all channels as it is, `scaled` that
    with columns of unit length; `weak` are the numbers of the parameters that some direction beyond
    a limit consists of."""

    condition: float
    scaled: float
    weak: tuple[int, ...]


def excitation(system: TriangularSystem, limit: float) -> Excitation:
    """Judges the regressor of a system; `limit` is the largest scaled condition number that
    passes."""
    stack = np.concatenate([system.spread(j)[:, : system.size] for j in system.channels])
    lengths = np.linalg.norm(stack, axis=0)
    unexcited = lengths <= np.finfo(float).eps * lengths.max(initial=0.0) * math.sqrt(len(stack))
    scaled = stack / np.where(unexcited, 1.0, lengths)
    _, sizes, directions = np.linalg.svd(scaled[:, ~unexcited], full_matrices=False)
    moving, dead = np.flatnonzero(~unexcited), np.flatnonzero(unexcited)
    low = directions[sizes * limit < sizes.max(initial=0.0)]
    entries = np.abs(low) > SHARE * np.abs(low).max(axis=1, keepdims=True, initial=0.0)
    weak = sorted({*dead.tolist(), *moving[entries.any(axis=0)].tolist()})
    plain = np.asarray(np.linalg.svd(stack, compute_uv=False))
    return Excitation(_ratio(plain), math.inf if unexcited.any() else _ratio(sizes), tuple(weak))


def scaled_condition(factor: Numbers) -> float:
    """The condition number of a factor with columns of unit length."""
    lengths = np.linalg.norm(factor, axis=0)
    return _ratio(
        np.asarray(np.linalg.svd(factor / np.where(lengths > 0, lengths, 1.0), compute_uv=False))
    )


def _ratio(sizes: Numbers) -> float:
    rounding = np.finfo(float).eps * len(sizes) * float(sizes.max(initial=0.0))
    return float(sizes[0] / sizes[-1]) if len(sizes) and sizes[-1] > rounding else math.inf


# -- robust standard errors ------------------------------------------------------------------------


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
    log = [
        np.sum(np.square(system.spread(j)[:, : system.size] @ inverse)) / deviation**2
        for j, deviation in enumerate(solution.deviations)
    ]
    return max(1.0, float(spread / np.sum(log)))


def robust_errors(system: TriangularSystem, solution: Solution) -> Numbers | None:
    """The standard error of each value (p) that holds for residuals of any correlation and of
    changing size; None where there are too few batches.

    With G = RᵀR of all rows, G_b that of batch b and s_b = A_bᵀ W r_b its score, the estimate
    without the batch is x - (G - G_b)⁻¹ s_b. The sum of squares of these steps is the
    delete-one-batch jackknife, in other words the sandwich estimator of clustered data with the
    correction of leverages (CR3; Bell & McCaffrey, Survey Methodology 2002), and that of batch
    means of time series. It needs no more of a log than the triangular factors of its batches.
    Residuals of a short log may be correlated over more than a batch. So the same is done with two
    and four batches joined, and the largest error counts."""
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
    return inverse, np.array([_step(system, x, solution, inverse) for x in system.batches])


def _step(
    system: TriangularSystem, batch: TriangularFactors, solution: Solution, inverse: Numbers
) -> Numbers:
    """The change of the estimate without a batch."""
    p = len(solution.values)
    rows, rests = list[Numbers](), list[Numbers]()
    for factor, columns, deviation in zip(
        batch.factors, system.supports, solution.deviations, strict=True
    ):
        places, scale = list(columns), 1 / (deviation * solution.inflation**0.5)
        rows.append(scale * (factor[:, :-1] @ inverse[places]))
        rests.append(scale * (factor[:, -1] - factor[:, :-1] @ solution.values[places]))
    whitened = np.concatenate(rows)
    score, information = whitened.T @ np.concatenate(rests), whitened.T @ whitened
    try:
        np.linalg.cholesky((1 - CLEAR) * np.eye(p) - information)
    except np.linalg.LinAlgError:
        shares, axes = np.linalg.eigh(information)
        return np.asarray(inverse @ (axes @ ((axes.T @ score) / np.maximum(1 - shares, CLEAR))))
    return np.asarray(inverse @ np.linalg.solve(np.eye(p) - information, score))
