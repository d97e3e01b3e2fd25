"""Iterations over a log: fits the parameters, selects the shape parameters of the joints' laws, and
repeats with what depends on the estimate itself.

A pass over the samples leaves triangular factors. One pass is enough for known columns and the loss
of squares. Friction that grows with the load needs the load, which comes from the estimate of the
pass before, and a robust loss needs its residuals."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from symgen.identification.estimation.priors import (
    Prior,
    select_prior_strength,
    with_neutral_prior,
)
from symgen.identification.estimation.shape_search import ShapeSearch
from symgen.identification.estimation.triangular_factors import Batches, TriangularFactors, combined
from symgen.identification.estimation.weighted_solve import (
    GaussianPrior,
    TriangularSystem,
    inflation,
    regularizer,
    robust_errors,
    solve_with_prior,
)
from symgen.identification.model.drive_columns import (
    DriveUnknowns,
    MotionRanges,
    candidates,
    presliding_states,
)
from symgen.identification.model.equations import Equations, ResidualLimits, inseparable
from symgen.identification.model.estimate import Solution
from symgen.identification.model.problem import Problem
from symgen.identification.model.settings import Settings
from symgen.numbers.scalar import Numbers

ROBUST_PASSES: Final = 2
"""Passes that limit outliers: with 0.5 % of the forces 10 or 30 root mean squares off, more change
no prediction."""
OUTLIER_DEVIATIONS: Final = 3.0
"""Standard deviations of the residual beyond which a measurement is an outlier: of normal noise 0.3
% of the rows are, so that a log without outliers loses nothing."""
MIN_BATCHES: Final = 10
"""Parts of a log that cross-validation of the prior needs: two in each fold."""
MAX_SUM_PER_LOAD: Final = 0.9
"""The largest sum of the coefficients of friction per load at a joint. With 1 the joint could not
move under its load, and forward dynamics would have no unique solution."""


@dataclass(frozen=True)
class FactoredEquations:
    """The triangular factors of equations: `training` of the equations for the estimate, batch by
    batch, which may be means of rows; `rows` of the same rows without means; `held_out` of the rows
    for validation; `means` of the equations for the mean offset of the logs and the mean friction
    of the robots. `robot_columns` has the `EliminatedColumns` of each of several robots."""

    training: Batches
    rows: TriangularFactors | None
    held_out: TriangularFactors | None
    means: TriangularFactors | None = None
    robot_columns: Mapping[str, Any] = field(default_factory=dict)


ReduceFunction = Callable[[Equations, Equations, str], FactoredEquations]
"""Reads the log and reduces its equations: those for the estimate, those for the rows held out, the
name of the pass for the progress."""


@dataclass(frozen=True)
class FittedSystem:
    """The equations and three systems of their factors: `system` for the estimate, which may be of
    means of rows, `rows` of the same rows without means, and `held_out` for validation. `prior` is
    the prior of the values."""

    equations: Equations
    system: TriangularSystem
    rows: TriangularSystem
    held_out: TriangularSystem | None
    prior: GaussianPrior | None = None
    prior_deviation: float | None = None
    """The relative deviation of the robot's file as a prior, if it was selected."""
    shape_errors: Numbers | None = None
    """What the selection of shape parameters adds to the standard error of each value (p)."""
    robot_columns: Mapping[str, Any] = field(default_factory=dict)
    """The `EliminatedColumns` of the friction of each of several robots."""

    @cached_property
    def solution(self) -> Solution:
        """The estimate by weighted least squares, with the prior if there is one."""
        return solve_with_prior(self.system, self.prior)

    def robust_errors(self, solution: Solution) -> Numbers | None:
        """The robust standard errors of a solution; None if there are too few batches."""
        return robust_errors(self.system, solution)

    def only(self, columns: list[int], equations: Equations) -> "FittedSystem":
        """With some columns, whose `equations` are given."""
        return FittedSystem(
            equations,
            self.system.only(columns),
            self.rows.only(columns),
            None if self.held_out is None else self.held_out.only(columns),
            None if self.prior is None else self.prior.only(columns),
            self.prior_deviation,
            None if self.shape_errors is None else self.shape_errors[columns],
            self.robot_columns,
        )


@dataclass(frozen=True)
class IterativeEstimator:
    """Fits a problem by passes over a log: settings, how to reduce it, the velocities of its
    joints, the prior of standard parameters."""

    problem: Problem
    settings: Settings
    reduce: ReduceFunction
    ranges: MotionRanges | None
    prior: Prior | None
    robots: int = 1
    """How many robots have friction of their own."""

    def fitted(self) -> FittedSystem:
        """The equations with the best shape parameters, and their system."""
        drives = self.drives
        fit = self._pass_over_log(drives, None, "fitting the parameters")
        if drives and drives.loaded:
            drives = self._loaded_drives(drives, self._with_selected_shapes(fit, False))
            stage = "fitting with load-dependent friction"
            fit = self._pass_over_log(drives, None, stage)
        fit = self._with_prior(self._with_selected_shapes(fit))
        if fit.equations.drives and (fit.equations.drives.loaded or self.robots > 1):
            fit = self._refitted_under_load(fit)
            movable = self._without_self_locking(fit)
            fit = fit if movable is fit else self._refitted_under_load(movable)
        for number in range(ROBUST_PASSES if self.settings.loss == "huber" else 0):
            stage = f"limiting outliers, {number + 1} of {ROBUST_PASSES}"
            fit = self._refitted(fit, fit.equations.drives, stage, fit)
        return self._evaluated(self._without_self_locking(fit))

    def _without_self_locking(self, fit: FittedSystem) -> FittedSystem:
        """The fit without the laws of load-dependent friction at joints that they would make
        self-locking: the joint could not move under its load, because the sum of the coefficients
        is `MAX_SUM_PER_LOAD` or more. There the load is too small beside the friction to determine
        them."""
        drives = fit.equations.drives
        if drives is None:
            return fit
        sums: dict[int, float] = {}
        first = fit.system.size - len(drives.columns)
        for column, value in zip(drives.columns, fit.solution.values[first:].tolist(), strict=True):
            if "load" in column.row.reads:
                sums[column.joint] = sums.get(column.joint, 0.0) + abs(value)
        kept = [
            k
            for k, column in enumerate(drives.columns)
            if "load" not in column.row.reads or sums[column.joint] < MAX_SUM_PER_LOAD
        ]
        if len(kept) == len(drives.columns):
            return fit
        equations = self.problem.equations(drives.only(kept))
        return self._without_self_locking(
            fit.only([*range(first), *(first + k for k in kept)], equations)
        )  # other joints have other coefficients now

    def _evaluated(self, fit: FittedSystem) -> FittedSystem:
        """The fit with its equations under the loads that follow from its own values."""
        drives = fit.equations.drives
        if drives is None or not drives.loaded:
            return fit
        seen = self._pass_over_log(
            self._loaded_drives(drives, fit), None, "evaluating the estimate"
        )
        return replace(fit, equations=seen.equations, rows=seen.rows, held_out=seen.held_out)

    def _refitted_under_load(self, fit: FittedSystem) -> FittedSystem:
        """Another pass with the loads of the gears that follow from a fit."""
        assert fit.equations.drives is not None
        drives = self._loaded_drives(fit.equations.drives, fit)
        return self._refitted(fit, drives, "fitting the loads of the gears")

    def _refitted(
        self,
        fit: FittedSystem,
        drives: DriveUnknowns | None,
        stage: str,
        previous: FittedSystem | None = None,
    ) -> FittedSystem:
        """Another pass with what was selected for `fit`. With an estimate `previous` outliers are
        limited about it; its loads are kept, since a prediction with other loads would make
        outliers of good rows."""
        read = self._pass_over_log(drives, previous, stage)
        kept = fit.prior, fit.prior_deviation, fit.shape_errors
        return FittedSystem(
            read.equations, read.system, read.rows, read.held_out, *kept, read.robot_columns
        )

    def _with_prior(self, fit: FittedSystem) -> FittedSystem:
        """The fit with the robot's file as a prior, as strong as cross-validation allows."""
        if fit.prior is None or not fit.prior.weak or len(fit.system.batches) < MIN_BATCHES:
            return fit
        mapping = with_neutral_prior(self.problem.mapping, fit.rows)
        deviation = self.settings.prior_deviation
        prior, relative = select_prior_strength(fit.system, fit.prior, mapping, deviation)
        return replace(fit, prior=prior, prior_deviation=relative)

    @cached_property
    def drives(self) -> DriveUnknowns | None:
        """The columns of the terms asked for with every candidate of their shape parameters."""
        joints, ranges = self.problem.joints, self.ranges
        if joints is None or ranges is None:
            return None
        columns = candidates(
            self.problem.laws, joints, ranges.fastest, ranges.travel, self.settings.width
        )
        states = presliding_states(columns, joints)
        drives = DriveUnknowns(joints, columns, ranges.slowest, ranges.margin, presliding=states)
        left_out = inseparable(self.problem.mapping.model, drives, self.problem.equations)
        return drives.only({*range(len(columns))} - {*left_out})

    @property
    def left_out(self) -> tuple[str, ...]:
        """The names of the requested unknowns that no motion distinguishes from others."""
        drives, joints = self.drives, self.problem.joints
        if drives is None or joints is None:
            return ()
        present = {(column.joint, column.law) for column in drives.columns}
        laws = self.problem.laws
        pairs = ((k, law) for k in range(len(joints.names)) for law in joints.laws(k, laws))
        return tuple(f"{law} {joints.names[k]}" for k, law in pairs if (k, law) not in present)

    def _pass_over_log(
        self, drives: DriveUnknowns | None, previous: FittedSystem | None, stage: str
    ) -> FittedSystem:
        """A pass over the log; with an estimate `previous`, outliers are limited about it."""
        plain = self.problem.equations(drives)
        used = plain
        if previous is not None:
            values, rows = previous.solution.values, previous.rows
            limits = np.array(
                [OUTLIER_DEVIATIONS * rows.residual(j, values) for j in rows.channels]
            )
            used = replace(plain, limits=ResidualLimits(values, limits))
        reduction = self.reduce(used, plain, stage)
        count = len(drives.columns) if drives else 0
        size, total = len(self.problem.mapping) + count, combined(reduction.training)
        if total is None or reduction.rows is None:
            raise ValueError("no rows for the estimate")
        if reduction.means is not None:
            total = total.combined(reduction.means)
        system = TriangularSystem(total, plain.supports, size, reduction.training)
        rows = TriangularSystem(reduction.rows, plain.supports, size)
        held_out = None if reduction.held_out is None else replace(rows, factors=reduction.held_out)
        prior = self.prior.of_values(count) if self.prior else None
        if prior is None and self.settings.automatic and drives:
            prior = regularizer(system, drives.channels(size - count))
        return FittedSystem(
            plain, system, rows, held_out, prior, robot_columns=reduction.robot_columns
        )

    def _with_selected_shapes(self, fit: FittedSystem, errors: bool = True) -> FittedSystem:
        """The fit with the best shape parameters only, with the `errors` of their selection."""
        drives = fit.equations.drives
        if drives is None or not drives.has_candidates:
            return fit
        prior = fit.prior or regularizer(fit.system)
        search = ShapeSearch(replace(fit.system, batches=()), drives, prior)
        equations = self.problem.equations(drives.only(search.best))
        best = fit.only([*range(search.first), *(search.first + k for k in search.best)], equations)
        if not errors:
            return best
        return replace(best, shape_errors=search.spread(inflation(best.system, best.solution)))

    def _loaded_drives(self, drives: DriveUnknowns, fit: FittedSystem) -> DriveUnknowns:
        """The unknowns with the loads of an estimate."""
        previous = fit.equations.drives
        return drives.with_loads(previous.columns if previous else (), fit.solution.values)
