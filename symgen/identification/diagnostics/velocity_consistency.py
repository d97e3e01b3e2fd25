"""Kinematic consistency of a log: the recorded velocities must be the derivatives of the recorded
positions. The slope of one on the other, for every pair of joints, shows wrong units, signs,
orders of columns and rates of samples. Whether positions or velocities are wrong is decided by the
diagnostic fit."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from symgen.identification.data.unit_checks import Slopes
from symgen.identification.diagnostics.candidates import (
    Candidate,
    Context,
    column_options,
    factors_with_one,
    quoted_columns,
    scale_options,
    unit_of,
)
from symgen.identification.diagnostics.diagnostic_fit import Thresholds
from symgen.text import shown


def _order(slopes: Slopes, limits: Thresholds) -> list[int]:
    """The column of velocities of each position."""
    sure = np.abs(slopes.correlation)
    n = len(sure)
    order: list[int] = linear_sum_assignment(-sure)[1].tolist()
    clear = all(
        sure[k, order[k]] > limits.consistent and sure[k, k] < limits.inconsistent
        for k in range(n)
        if order[k] != k
    )
    return order if clear else list(range(n))


def _slopes(context: Context) -> tuple[Slopes, list[int]]:
    """The slopes with the velocities in the order of the positions, and that order."""
    slopes = Slopes.of([(s.t, s.q, s.qd) for s in context.picked.samples])
    order = _order(slopes, context.model.thresholds)
    return slopes.reordered(order), order


def unrelated(context: Context) -> Iterator[str]:
    """Velocities that have nothing to do with the positions, in any order."""
    limits, names = context.model.thresholds, context.names
    if not names.velocities:
        return
    slopes, order = _slopes(context)
    moves = np.ptp(np.concatenate([s.q for s in context.picked.samples]), axis=0) > limits.travel
    wrong = moves & (np.abs(np.diag(slopes.correlation)) < limits.inconsistent)
    for k in np.flatnonzero(wrong).tolist():
        yield (
            f"'{shown(names.velocities[order[k]])}' is not the derivative of "
            f"'{shown(names.positions[k])}'; choose other columns with --column, or remove the "
            "columns of velocities, which are then derived from the positions"
        )


def kinematic_changes(context: Context) -> Iterator[list[Candidate]]:
    """Groups of alternatives, of which one holds; the trial of each is that of the context with
    the change."""
    limits = context.model.thresholds
    slopes, order = _slopes(context)
    if order != list(range(len(order))):
        yield _orders(context, order)
    clear = slopes.factors(limits.consistent)
    factors = {k: slope for k, slope in clear.items() if abs(slope - 1) > limits.slope}
    values = np.array(list(factors.values()))
    alike = len(factors) > 1 and np.ptp(values) < limits.slope * abs(values.mean())
    if alike and len(factors) == len(clear):
        yield _common(context, float(values.mean()))
        return
    for k, slope in factors.items():
        yield _single(context, k, slope)


def _orders(context: Context, order: list[int]) -> list[Candidate]:
    names, inverse = context.names, np.argsort(order).tolist()
    moved = [shown(names.velocities[k]) for k in range(len(order)) if order[k] != k]
    places = [shown(names.positions[k]) for k in range(len(order)) if order[k] != k]
    verb = "are probably exchanged"
    return [
        Candidate(
            context.trial.reordered(order, *context.names.rates),
            f"the columns {quoted_columns(moved)} {verb}: "
            "they are the derivatives of other positions",
            f"give {column_options('qd', order, names.joints, names.velocities)}",
        ),
        Candidate(
            context.trial.reordered(inverse, "q"),
            f"the columns {quoted_columns(places)} {verb}: their derivatives are other velocities",
            f"give {column_options('q', inverse, names.joints, names.positions)}",
        ),
    ]


def _single(context: Context, k: int, slope: float) -> list[Candidate]:
    names, trial = context.names, context.trial
    factors = factors_with_one(len(names.joints), k, slope)
    finding = (
        f"the derivative of '{shown(names.positions[k])}' is {slope:.4g} times "
        f"'{shown(names.velocities[k])}'"
    )
    exact = float(np.round(slope, 2)) if abs(slope) >= 1 else slope
    return [
        Candidate(
            trial.scaled(factors, *names.rates),
            finding,
            f"give {scale_options(names.joints[k], exact, 'qd')}",
        ),
        Candidate(
            trial.scaled(1 / factors, "q"),
            finding,
            f"give {scale_options(names.joints[k], 1 / exact, 'q')}",
        ),
    ]


def _common(context: Context, slope: float) -> list[Candidate]:
    """All velocities, all positions or the time are wrong by a factor."""
    names, trial = context.names, context.trial
    finding = f"the derivatives of all positions are {slope:.4g} times the recorded velocities"

    def cure(group: str, factor: float) -> str:
        unit = unit_of(group, factor, "rad") or unit_of(group, factor, "m")
        scales = (scale_options(joint, factor, group) for joint in names.joints)
        return f"give {unit or ' '.join(scales)}"

    changes = [
        Candidate(trial.scaled(slope, *names.rates), finding, cure("qd", slope)),
        Candidate(trial.scaled(1 / slope, "q"), finding, cure("q", 1 / slope)),
    ]
    if slope > 0:
        slower = replace(trial, qdd=trial.qdd / slope, t=trial.t * slope)
        rate = 1 / (slope * context.step)
        changes.append(Candidate(slower, finding, f"give the sample rate: --rate {rate:.4g}"))
    return changes
