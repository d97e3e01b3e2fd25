"""From the factors of a log's equations to an estimate, and whether its motion was enough."""

from dataclasses import replace
from typing import Final

import numpy as np

from symgen.errors import SymgenError
from symgen.identification.data.dataset import LogDataset
from symgen.identification.data.differentiation import ORDER, DerivativeFilter
from symgen.identification.diagnostics.cutoffs import rows_of_blocks
from symgen.identification.estimation.iterative import FittedSystem
from symgen.identification.estimation.priors import Prior, with_neutral_prior
from symgen.identification.estimation.weighted_solve import (
    Excitation,
    excitation,
    scaled_condition,
)
from symgen.identification.model.equations import LinearEquations
from symgen.identification.model.estimate import Channel, Estimate, deviations, unidentified
from symgen.identification.model.problem import Problem
from symgen.identification.model.settings import Settings
from symgen.numbers.scalar import Numbers
from symgen.text import shown, use_prior

LISTED: Final = 6
"""Parameters that a message names at most."""


class ExcitationError(SymgenError):
    """A log whose motion does not tell all parameters apart."""


def estimate(
    problem: Problem, fit: FittedSystem, file: str, settings: Settings
) -> tuple[Estimate, tuple[str, ...]]:
    """The estimate from the equations of the last pass over the log `file`, and notes. Raises
    ExcitationError where the motion does not tell all parameters apart."""
    drives = fit.equations.drives
    mapping = with_neutral_prior(problem.mapping, fit.rows)
    neutral, problem = mapping is not problem.mapping, replace(problem, mapping=mapping)
    names = drives.names if drives else ()
    regularized = settings.automatic and not settings.full
    rows = fit.rows.only(range(len(mapping))) if regularized else fit.rows
    judged = excitation(rows, settings.max_condition)
    notes = _judged(problem, () if regularized else names, judged, file, settings)
    prior = prior_of(problem, settings) if neutral else None
    if prior:
        fit = replace(fit, prior=prior.of_values(len(names)))
    solution = fit.solution
    result = Estimate(
        problem.mapping,
        names,
        solution.values,
        solution.factor,
        tuple(
            _channel(fit, j, *channel, solution.deviations[j], solution.values)
            for j, channel in enumerate(problem.channels)
        ),
        judged.condition,
        judged.scaled if fit.prior is None else scaled_condition(solution.factor),
        np.array([problem.known.get(name, 0.0) for name in names]),
        tuple(column.shape for column in drives.columns) if drives else (),
        fit.robust_errors(solution),
        shape_errors=fit.shape_errors,
    )
    if neutral:
        note = "the robot file has no inertia; the prior is uniform rods between the joints"
        notes = (*notes, note)
    return result, notes


def with_bias(
    estimate: Estimate, bias: Numbers | None, problem: Problem, settings: Settings
) -> Estimate:
    """The estimate with what windows of derivatives do to its values; then, where they are asked
    for, with standard parameters, in whose standard errors that is too."""
    biased = replace(estimate, bias=bias)
    prior = prior_of(replace(problem, mapping=estimate.mapping), settings)
    if prior is None:
        return biased
    b = len(estimate.mapping)
    values, errors = prior.standard(biased.base, biased.covariance[:b, :b])
    return replace(biased, standard=values, standard_errors_of_standard=errors)


def prior_of(problem: Problem, settings: Settings) -> Prior | None:
    """The prior of standard parameters, where ``--full`` asks for them."""
    if not settings.full:
        return None
    return Prior(problem.mapping, deviations(problem.mapping, settings.prior_deviation))


def _judged(
    problem: Problem,
    friction: tuple[str, ...],
    judged: Excitation,
    file: str,
    settings: Settings,
) -> tuple[str, ...]:
    """A note where the motion leaves parameters to the prior. Raises ExcitationError where there is
    none."""
    if not judged.weak:
        return ()
    names = [(*problem.mapping.names, *friction)[k] for k in judged.weak]
    text = unidentified(problem.mapping, names[:LISTED]) + (
        f" and {len(names) - LISTED} more" * (len(names) > LISTED)
    )
    text = (
        f"the motion does not excite {len(names)} of "
        f"{len(problem.mapping) + len(friction)} parameters "
        f"(condition number {judged.scaled:.3g}, limit {settings.max_condition:.3g}): "
        f"{shown(text, 2000)}"
    )
    if settings.full:
        return (f"{text}; the prior determines these",)
    raise ExcitationError(
        f"{shown(file)}: error: {text}; use a log in which these joints move more (symgen "
        f"excite optimizes a motion), or {use_prior(settings.full)}"
    )


def _channel(
    fit: FittedSystem, j: int, name: str, unit: str, deviation: float, values: Numbers
) -> Channel:
    """How well values explain channel j."""
    rows, held_out = fit.rows, fit.held_out
    used = rows.rows(j), deviation, rows.measured(j), rows.residual(j, values)
    if held_out is None:
        return Channel(name, unit, *used)
    return Channel(
        name, unit, *used, held_out.rows(j), held_out.measured(j), held_out.residual(j, values)
    )


# -- bias of the windows ---------------------------------------------------------------------------


WIDER: Final = 1.5
"""A window by that of the fit."""


def window_bias(dataset: LogDataset, fit: FittedSystem, count: int) -> Numbers | None:
    """The errors of the values (p) by the windows of derivatives, beside noise, from some blocks
    evenly over the log; `count` equations are one of the fit. None where there are no windows.

    A polynomial of order 4 about the middle of a window of length h leaves out what changes faster:
    velocities and accelerations of smooth motion are off by terms in h⁴ (positions by h⁶), which do
    not become less with more rows. A wider window shows how large they are (Richardson 1911): with
    regressors Y of the windows and Y' of windows r times as wide, Y is off by (Y' - Y) / (r⁴ - 1),
    and least squares by -(YᵀWY)⁻¹ YᵀW (Y' - Y) β / (r⁴ - 1)."""
    narrow = dataset.derivative_filter
    if narrow is None:
        return None
    wide = DerivativeFilter.of_cutoff(narrow.cutoff / WIDER, narrow.step, narrow.even)
    solution, rows = fit.solution, 0
    right = np.zeros(len(solution.values))
    for block in rows_of_blocks(dataset, wide.half_width):
        pairs = [
            _equations(dataset, fit, derivative_filter, block, wide)
            for derivative_filter in (narrow, wide)
        ]
        used = pairs[0].used & pairs[1].used
        near, far = (replace(linear, used=used).means(count) for linear in pairs)
        off = (far.regressor - near.regressor) @ solution.values
        off *= near.used / np.square(solution.deviations)
        right += np.einsum("ncp,nc->p", near.regressor, off)
        rows += int(used.sum())
    if not rows:
        return None
    total = sum(fit.rows.rows(j) for j in fit.rows.channels)
    right *= (
        total
        / rows
        / solution.inflation
        / ((wide.half_duration / narrow.half_duration) ** ORDER - 1)
    )
    half = np.linalg.solve(solution.factor.T, right)
    return np.asarray(-np.linalg.solve(solution.factor, half))


def _equations(
    dataset: LogDataset,
    fit: FittedSystem,
    derivative_filter: DerivativeFilter,
    block: Numbers,
    wide: DerivativeFilter,
) -> LinearEquations:
    """The equations of a block with some windows, at the rows that the widest ones leave."""
    samples, lost = (
        replace(dataset, derivative_filter=derivative_filter).samples(block),
        wide.half_width - derivative_filter.half_width,
    )
    inner = samples.part(slice(lost, len(samples) - lost))
    return fit.equations.equations(inner)
