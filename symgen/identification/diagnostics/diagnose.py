"""Diagnoses a log: finds the changes that explain it far better than the log as it is.

The recorded velocities must be the derivatives of the recorded positions. The slope of one on the
other, for every pair of joints, shows wrong units, signs, orders of columns and sample rates.
Whether positions or velocities are wrong is decided by the diagnostic fit."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from symgen.identification.data.dataset import LogDataset
from symgen.identification.data.log_file import LogError
from symgen.identification.data.unit_checks import VelocityRegression, velocity_lag
from symgen.identification.diagnostics.candidates import (
    Candidate,
    DiagnosticContext,
    column_options,
    factors_with_one,
    scale_options,
    unit_of,
)
from symgen.identification.diagnostics.diagnostic_fit import (
    DiagnosticModel,
    PickedRows,
    Thresholds,
    spaced_blocks,
)
from symgen.identification.diagnostics.hypotheses import (
    HYPOTHESES,
    Hypothesis,
    common_force_factor,
    gravity_magnitudes,
    unknown_payload,
)
from symgen.identification.model.problem import Problem, gravity_kernel
from symgen.jobs.job import Job
from symgen.mechanics.joint_listing import velocity_coordinates
from symgen.numbers.scalar import Numbers
from symgen.text import quoted, shown, use_prior


def _velocity_order(regression: VelocityRegression, limits: Thresholds) -> list[int]:
    """The column of velocities of each position: that of another joint if the position clearly
    correlates with it and not with its own, and if every column is taken once."""
    correlation = np.abs(regression.correlation)
    own = np.arange(len(correlation))
    best = correlation.argmax(axis=1) if len(own) else own
    is_clear = correlation[own, best] > limits.consistent
    order = np.where(is_clear & (np.diag(correlation) < limits.inconsistent), best, own)
    return (order if len({*order.tolist()}) == len(own) else own).tolist()


def _segments(context: DiagnosticContext) -> list[tuple[Numbers, Numbers, Numbers]]:
    return [(s.t, s.q, s.qd) for s in context.picked.samples]


def _slopes(context: DiagnosticContext) -> tuple[VelocityRegression, list[int]]:
    """The slopes with the velocities in the order of the positions, and that order."""
    slopes = VelocityRegression.of(_segments(context))
    order = _velocity_order(slopes, context.thresholds)
    return slopes.reordered(order), order


def unrelated_velocities(context: DiagnosticContext) -> Iterator[str]:
    """Velocities that have nothing to do with the positions, in any order."""
    limits = context.thresholds
    if not context.velocities:
        return
    slopes, order = _slopes(context)
    moves = np.ptp(np.concatenate([s.q for s in context.picked.samples]), axis=0) > limits.travel
    wrong = moves & (np.abs(np.diag(slopes.correlation)) < limits.inconsistent)
    for k in np.flatnonzero(wrong).tolist():
        yield (
            f"'{shown(context.velocities[order[k]])}' is not the derivative of "
            f"'{shown(context.positions[k])}'; choose other columns with --column, or remove the "
            "columns of velocities, which are then derived from the positions"
        )


def kinematic_changes(context: DiagnosticContext) -> Iterator[list[Candidate]]:
    """Groups of alternatives, of which one holds; the trial of each is that of the context with
    the change."""
    limits = context.thresholds
    slopes, order = _slopes(context)
    if order != list(range(len(order))):
        yield _exchanged_columns(context, order)
    clear = slopes.factors(limits.consistent)
    factors = {k: slope for k, slope in clear.items() if abs(slope - 1) > limits.slope}
    values = np.array(list(factors.values()))
    alike = len(factors) > 1 and np.ptp(values) < limits.slope * abs(values.mean())
    if alike and len(factors) == len(clear):
        yield _wrong_common_factor(context, float(values.mean()))
        return
    for k, slope in factors.items():
        yield _wrong_factor_of_joint(context, k, slope)
    lag = 0.0 if factors else velocity_lag(_segments(context), context.step)
    if abs(lag) > limits.velocity_lag:
        rates: dict[str, Any] = {
            name: context.picked.interpolated(name, lag) for name in context.rate_fields
        }
        yield [
            Candidate(
                replace(context.trial, **rates),
                f"the velocities are recorded {1e3 * abs(lag):.3g} ms "
                f"{'after' if lag > 0 else 'before'} the positions",
                "remove the columns of velocities, which are then derived from the positions",
            )
        ]


def _exchanged_columns(context: DiagnosticContext, order: list[int]) -> list[Candidate]:
    inverse = np.argsort(order).tolist()
    moved = [k for k in range(len(order)) if order[k] != k]
    velocities = quoted(context.velocities[k] for k in moved)
    positions = quoted(context.positions[k] for k in moved)
    verb = "are probably exchanged"
    return [
        Candidate(
            context.trial.reordered(order, *context.rate_fields),
            f"the columns {velocities} {verb}: they are the derivatives of other positions",
            f"give {column_options('qd', order, context.joints, context.velocities)}",
        ),
        Candidate(
            context.trial.reordered(inverse, "q"),
            f"the columns {positions} {verb}: their derivatives are other velocities",
            f"give {column_options('q', inverse, context.joints, context.positions)}",
        ),
    ]


def _wrong_factor_of_joint(context: DiagnosticContext, k: int, slope: float) -> list[Candidate]:
    trial = context.trial
    factors = factors_with_one(len(context.joints), k, slope)
    finding = (
        f"the derivative of '{shown(context.positions[k])}' is {slope:.4g} times "
        f"'{shown(context.velocities[k])}'"
    )
    exact = float(np.round(slope, 2)) if abs(slope) >= 1 else slope
    return [
        Candidate(
            trial.scaled(factors, *context.rate_fields),
            finding,
            f"give {scale_options(context.joints[k], exact, 'qd')}",
        ),
        Candidate(
            trial.scaled(1 / factors, "q"),
            finding,
            f"give {scale_options(context.joints[k], 1 / exact, 'q')}",
        ),
    ]


def _wrong_common_factor(context: DiagnosticContext, slope: float) -> list[Candidate]:
    """All velocities, all positions or the time are wrong by a factor."""
    trial = context.trial
    finding = f"the derivatives of all positions are {slope:.4g} times the recorded velocities"

    coordinates = velocity_coordinates(context.model.mapping.model)
    (base, *others) = sorted({row.unit.partition("/")[0] for row in coordinates})

    def cure(group: str, factor: float) -> str:
        unit = None if others else unit_of(group, factor, base)
        scales = (scale_options(joint, factor, group) for joint in context.joints)
        return f"give {unit or ' '.join(scales)}"

    changes = [
        Candidate(trial.scaled(slope, *context.rate_fields), finding, cure("qd", slope)),
        Candidate(trial.scaled(1 / slope, "q"), finding, cure("q", 1 / slope)),
    ]
    if slope > 0:
        slower = replace(trial, qdd=trial.qdd / slope, t=trial.t * slope)
        rate = 1 / (slope * context.step)
        changes.append(Candidate(slower, finding, f"give the sample rate: --rate {rate:.4g}"))
    return changes


# -- velocities and positions ----------------------------------------------------------------------


DEFAULT_THRESHOLDS: Final = Thresholds()

RankedCandidate = tuple[float, Candidate, Hypothesis]
"""The reduction of the cost, the change, and the row that it comes from."""


@dataclass(frozen=True)
class Diagnosis:
    """What was found: sentences with their cures, and the rows of the log with all changes."""

    findings: tuple[str, ...]
    context: DiagnosticContext
    applied: tuple[Candidate, ...] = ()


def with_diagnosis(
    reading: LogDataset,
    problem: Problem,
    job: Job,
    full: bool,
    loaded_bodies: tuple[int, ...] = (),
    limits: Thresholds = DEFAULT_THRESHOLDS,
) -> LogDataset:
    """A log with what is probably wrong with it as `warnings`, if its channels are joint forces.

    The prior says nothing about `loaded_bodies`, which carry an unknown payload. Raises LogError
    for a joint that never moves, unless a prior determines it (`full`)."""
    if problem.needed.velocities_are_rates and not full:
        _check_moving(reading)
    kernel = problem.equations(None).joint_kernel
    if problem.joints is None or kernel is None:
        return reading
    model = DiagnosticModel(kernel, problem.mapping, lambda: gravity_kernel(job), limits)
    picked = PickedRows(spaced_blocks(reading), limits.rows)
    if not picked.samples or not problem.needed.velocities_are_rates:
        return reading
    context = DiagnosticContext.of(model, picked, reading, problem)
    if np.abs(context.trial.qd).max() < limits.least_rate:
        return reading
    if loaded_bodies:
        context = context.with_trial(replace(context.trial, unknown_bodies=loaded_bodies))
    found = diagnose_context(context)
    ceilings, floors = reading.survey.ceilings.copy(), reading.survey.floors.copy()
    for candidate in found.applied:
        for channel, low, high in candidate.limits:
            floors[channel], ceilings[channel] = low, high
    survey = replace(reading.survey, ceilings=ceilings, floors=floors)
    file = shown(reading.log.file)
    doubts = tuple(f"{file}: warning: {text}" for text in found.findings)
    return replace(reading, warnings=doubts, survey=survey)


def diagnose_context(context: DiagnosticContext) -> Diagnosis:
    """The changes that explain a log far better, the most important first, each tried on top of
    those before it."""
    if defects := (*_duplicated_forces(context), *_stuck_positions(context)):
        return Diagnosis(defects, context)
    found = list[Candidate]()
    for alternatives in kinematic_changes(context) if context.velocities else ():
        best = min(alternatives, key=lambda c: context.cost(c.trial))
        found.append(best)
        context = context.with_trial(best.trial)
    common = min(_changes_of_all_forces(context), key=lambda c: context.cost(c.trial))
    if common.trial is not context.trial:
        found.append(common)
        context = context.with_trial(common.trial)
    rows: Iterable[Hypothesis] = HYPOTHESES
    limits = context.thresholds
    for _ in range(0 if common.final else limits.most_changes):
        cures = _improvements(context, rows)
        most = max((gain for gain, _, _ in cures), default=0.0)
        cured = next((c for gain, c, _ in cures if gain > most - limits.tie_gain), None)
        if cured is None or (cured.final and found):
            break
        rows = dict.fromkeys(row for _, _, row in cures)  # those that explain something
        found.append(cured)
        context = context.with_trial(cured.trial)
        if cured.final:
            break
    texts = [f"{c.finding}; {c.cure}" for c in found]
    texts += [
        *_frozen_forces(context),
        *unrelated_velocities(context),
        *_different_robot(context),
    ]
    return Diagnosis((*texts, *_unexplained_forces(context, texts)), context, tuple(found))


def _changes_of_all_forces(context: DiagnosticContext) -> Iterator[Candidate]:
    """The rows as they are, all forces times a factor, and the changes of gravity and of the last
    body, which may look like one."""
    yield Candidate(context.trial, "", "")
    scaled = [*common_force_factor(context)]
    yield from scaled
    if scaled:
        yield from gravity_magnitudes(context)
        yield from unknown_payload(context)


def _improvements(context: DiagnosticContext, rows: Iterable[Hypothesis]) -> list[RankedCandidate]:
    """The changes that explain the log far better than no change."""
    limits, poor = context.thresholds, bool(context.unexplained_channels())
    found = list[RankedCandidate]()
    for row in rows:
        if row.unexplained_only and not poor:
            continue
        least = row.required_gain(len(context.forces), limits)
        least = max(least, limits.min_gain_if_unexplained) if poor else least
        for candidate in row.candidates(context):
            gain = context.score.cost - context.cost(candidate.trial)
            if gain > least:
                found.append((gain, candidate, row))
    return found


def _duplicated_forces(context: DiagnosticContext) -> Iterator[str]:
    """Columns of forces with the same values."""
    y, names = context.trial.measured, context.forces
    for j in range(y.shape[1]):
        for k in range(j + 1, y.shape[1]):
            if np.array_equal(y[:, j], y[:, k]) and np.ptp(y[:, j]):
                yield (
                    f"'{shown(names[j])}' and '{shown(names[k])}' have the same values in all "
                    "rows; choose another column with --column"
                )


def _frozen_forces(context: DiagnosticContext) -> Iterator[str]:
    """Columns of forces that keep one value for a part of the log in which the joint moves, and
    seldom another one."""
    samples, limits = context.picked.samples, context.thresholds
    least = limits.frozen_fraction * sum(map(len, samples))
    for k, name in enumerate(context.forces):
        for s in samples:
            a, count, seldom = _longest_run(s.measured[:, k])
            if count > least and seldom and np.ptp(s.q[a : a + count, k]) > limits.travel:
                yield (
                    f"'{shown(name)}' is {s.measured[a, k]:.4g} in {count} rows from "
                    f"{s.t[a]:.4g} s in which the joint moves; use a part of the log in which it "
                    "is measured"
                )


def _stuck_positions(context: DiagnosticContext) -> Iterator[str]:
    """Columns of positions that keep one value while their velocities move them."""
    samples, limits = context.picked.samples, context.thresholds
    least = limits.saturated_rows * sum(map(len, samples))
    for k, name in enumerate(context.positions if context.velocities else ()):
        for s in samples:
            a, count, _ = _longest_run(s.q[:, k])
            travel = float(np.ptp(np.cumsum(s.qd[a : a + count, k]))) * context.step
            if count > least and travel > limits.stuck:
                yield (
                    f"'{shown(name)}' is {s.q[a, k]:.4g} in {count} rows from {s.t[a]:.4g} s, in "
                    f"which its velocity moves it by {travel:.2g}; use a part of the log in which "
                    "it is measured"
                )
                break


def _longest_run(values: Numbers) -> tuple[int, int, bool]:
    """The first of the longest run of equal values, its length, and whether other values are less
    frequent."""
    edges = np.flatnonzero(np.diff(values, prepend=np.nan, append=np.nan) != 0)
    runs = np.diff(edges)
    count = int(runs.max(initial=0))
    return int(edges[np.argmax(runs)]) if count else 0, count, 2 * count > runs[runs > 1].sum()


def _unexplained_forces(context: DiagnosticContext, texts: list[str]) -> Iterator[str]:
    """A log of which no change explains the forces."""
    poor = context.unexplained_channels()
    if not texts and 2 * len(poor) >= len(context.forces):
        listed = quoted(context.forces[k] for k in poor)
        yield (
            f"the forces {listed} do not follow from the motion, and no change that was tried "
            "explains them; check that positions and forces are of the same run and robot"
        )


def _different_robot(context: DiagnosticContext) -> Iterator[str]:
    """A robot whose base parameters are far from those of its file."""
    limits, b = context.thresholds, len(context.model.mapping)
    distance = context.score.distance / max(b, 1)
    if distance > limits.different_robot:
        yield (
            "the robot that was recorded is probably not the one of the robot file: the base "
            f"parameters differ from it by {np.sqrt(distance):.2g} standard deviations of "
            f"{100 * limits.prior_deviation:.0f} %; check the robot file and its units"
        )


def _check_moving(reading: LogDataset) -> None:
    constant = reading.survey.constant[: len(reading.layout.q)]
    if constant.any() and not constant.all():
        k = int(np.argmax(constant))
        raise LogError(
            shown(reading.log.file),
            f"'{shown(reading.layout.q[k].name)}' is {reading.survey.low[k]:.4g} in every row: the "
            "joint does not move, or its encoder is defective; lock it with --lock JOINT=VALUE, "
            f"choose another column, or {use_prior(full=False)}",
        )
