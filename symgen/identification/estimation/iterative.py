"""Rounds through a log: which terms of drives there are, what they are linear about, and the
equations that result.

A round reads the log once and leaves triangular factors. One is enough where all terms are known
columns; friction that grows with the load needs the load, which comes from the estimate of the
round before, and a robust loss needs its residuals."""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Final

import numpy as np

from symgen.identification.estimation.huber_loss import SHARE, Reweighted
from symgen.identification.estimation.instruments import Instrumented, Instruments
from symgen.identification.estimation.prior_strength import trusting
from symgen.identification.estimation.random_effects import EFFECTS
from symgen.identification.estimation.robust_errors import believed, robust_errors
from symgen.identification.estimation.standard_parameters import Prior
from symgen.identification.estimation.term_selection import Choice, Chooser
from symgen.identification.estimation.triangular_factors import Batches, TriangularFactors, combined
from symgen.identification.estimation.uniform_rods import with_neutral_prior
from symgen.identification.estimation.weighted_solve import Belief, TriangularSystem, faint
from symgen.identification.model.drive_columns import DriveUnknowns, candidates
from symgen.identification.model.equations import Equations
from symgen.identification.model.estimate import Solution
from symgen.identification.model.methods import METHODS
from symgen.identification.model.problem import Problem
from symgen.identification.model.separable import inseparable
from symgen.identification.model.settings import Settings
from symgen.identification.model.terms import FRICTION, TERMS
from symgen.identification.model.velocity_survey import Rates
from symgen.numbers.types import Numbers

ROUNDS: Final = 8
SETTLED: Final = 1e-3
"""Standard errors by which values may still change in the last round."""
CLOSE: Final = 0.05
"""The same of a robust loss."""
FITTING: Final = "fitting the parameters"
"""The stage of the first pass for the estimate."""
ALWAYS: Final = ("viscous", "coulomb", "offset")
"""The terms that automatic friction begins with."""


@dataclass(frozen=True)
class Reduced:
    """The factors of the batches of the equations for the estimate, which may be means of rows, and
    of its rows and those held out."""

    trained: Batches
    rows: TriangularFactors | None
    held_out: TriangularFactors | None


Reduce = Callable[[Equations, str], Reduced]
"""Reads the log and reduces its equations."""


@dataclass(frozen=True)
class Settled:
    """The equations that were settled on, the system of their factors (of means of rows, perhaps),
    those of the rows and of the rows held out, how the terms were chosen and what is believed
    beside the log."""

    equations: Equations
    system: TriangularSystem
    rows: TriangularSystem
    after: TriangularSystem | None
    choice: Choice
    belief: Belief | None = None
    instruments: Instruments | None = None

    @cached_property
    def solution(self) -> Solution:
        """The estimate of the equations: with instruments, or by least squares, where there is a
        belief beside it."""
        if self.instruments:
            return self.instruments.solution()
        return believed(self.system, self.belief)

    def robust_errors(self, solution: Solution) -> Numbers | None:
        """The robust standard errors of a solution; None where there are too few batches."""
        instruments = self.instruments
        return instruments.errors(solution) if instruments else robust_errors(self.system, solution)


@dataclass(frozen=True)
class Rounds:
    """Rounds through a log: the problem, settings, how to read, what was seen before."""

    sought: Problem
    settings: Settings
    interval: int
    reduce: Reduce
    rates: Rates | None
    prior: Prior | None

    def settled(self) -> Settled:
        """The equations with the terms that were asked for or chosen, and their system, by the loss
        that was asked for."""
        settled = self._least_squares()
        if METHODS[self.settings.method].instruments:
            return self._instrumented(settled)
        return self._reweighted(settled) if self.settings.loss == "huber" else settled

    def _instrumented(self, settled: Settled) -> Settled:
        """With instruments beside the columns that were chosen."""
        size = settled.system.size
        beside = Instrumented(settled.equations, size)
        reduced = self.reduce(beside, "fitting the instruments")
        total = combined(reduced.trained)
        if total is None:
            raise ValueError("no rows for the estimate")
        instruments = Instruments(
            TriangularSystem(total, beside.supports, 2 * size, reduced.trained)
        )
        return replace(settled, system=instruments.plain, instruments=instruments)

    def _reweighted(self, settled: Settled) -> Settled:
        """With weights by residuals, until the values settle."""
        for number in range(1, ROUNDS + 1):
            before = settled.solution
            sizes = tuple(x / math.sqrt(SHARE) for x in before.deviations)
            reread = self._read(
                Reweighted(settled.equations, before.values, sizes),
                f"fitting the weights of outliers, iteration {number} of at most {ROUNDS}",
            )
            settled = replace(settled, system=reread.system)
            change = settled.solution.values - before.values
            if np.abs(before.factor @ change).max(initial=0.0) < CLOSE:
                break
        return settled

    def _least_squares(self) -> Settled:
        drives = self.drives()
        if drives is None or not drives.columns:
            return self._read(self.sought.equations(self.interval, drives), FITTING)
        if not drives.loaded:
            return self._chosen(self._read(self.sought.equations(self.interval, drives), FITTING))
        plain = [k for k, column in enumerate(drives.columns) if not TERMS[column.term].loaded]
        equations = self.sought.equations(self.interval, drives.only(plain))
        first = self._chosen(self._read(equations, "fitting without load-dependent friction"))
        drives = replace(drives, load=self._base(first.solution))
        equations = self.sought.equations(self.interval, drives)
        settled = self._chosen(self._read(equations, "fitting with load-dependent friction"))
        return self._repeated(settled)

    def drives(self) -> DriveUnknowns | None:
        """All candidate columns of the terms asked for."""
        if self.sought.joints is None or self.rates is None:
            return None
        width = self.settings.width
        columns = candidates(self.terms, self.sought.joints, self.rates.fastest, width)
        drives = DriveUnknowns(self.sought.joints, columns, self.rates.slowest, self.rates.margin)
        drives = self.sought.bent(drives)
        return drives.only({*range(len(columns))} - {*self._inseparable(drives)})

    def _inseparable(self, drives: DriveUnknowns) -> tuple[int, ...]:
        if self.sought.intervals:
            return ()
        make = partial(self.sought.equations, self.interval)
        return inseparable(self.sought.mapping.model, drives, make)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The unknowns that were asked for but that no motion tells from others, by name."""
        drives = self.drives()
        if drives is None or self.sought.joints is None:
            return ()
        present = {(column.joint, column.term) for column in drives.columns}
        wanted = [term for term in TERMS if term in self.sought.terms]
        pairs = ((k, term) for k in range(len(self.sought.joints.names)) for term in wanted)
        return tuple(
            f"{term} {self.sought.joints.names[k]}" for k, term in pairs if (k, term) not in present
        )

    @property
    def terms(self) -> tuple[str, ...]:
        """The names of terms, in the order of TERMS: those of the settings; automatic friction
        tries all."""
        wanted = self.sought.terms
        names = {*wanted, *(FRICTION if self.settings.automatic else ())}
        possible = [name for name in TERMS if self.sought.bending or not TERMS[name].bent]
        return tuple(name for name in possible if name in names)

    def _read(self, equations: Equations, stage: str) -> Settled:
        reduction = self.reduce(equations, stage)
        drives = equations.drives
        count = len(drives.columns) if drives else 0
        size, total = len(self.sought.mapping) + count, combined(reduction.trained)
        if total is None or reduction.rows is None:
            raise ValueError("no rows for the estimate")
        system = TriangularSystem(total, equations.supports, size, reduction.trained)
        rows = TriangularSystem(reduction.rows, equations.supports, size)
        after = None if reduction.held_out is None else replace(rows, factors=reduction.held_out)
        belief = self.prior.belief(count) if self.prior else None
        return Settled(equations, system, rows, after, Choice(tuple(range(count))), belief)

    def _chosen(self, settled: Settled) -> Settled:
        """With the chosen columns alone."""
        drives, belief = settled.equations.drives, settled.belief
        assert drives is not None
        chooser = Chooser(settled.system, drives, faint(settled.system))
        if self.settings.automatic:
            always = {*ALWAYS, *self.sought.terms}
            trust = None
            if belief is None:
                always |= {term for effect in EFFECTS.values() for term in effect.terms}
                mapping = with_neutral_prior(self.sought.mapping, settled.rows)
                trust = trusting(chooser, _ordered(always), mapping, self.settings.prior_deviation)
                chooser, belief = trust.chooser, trust.chooser.belief
            choice = chooser.automatic(_ordered(always))
            if trust:
                choice = replace(choice, deviation=trust.deviation, scales=trust.scales)
        else:
            choice = chooser.fixed(self.terms)
        columns = [*range(chooser.first), *(chooser.first + k for k in choice.columns)]
        return Settled(
            self.sought.equations(self.interval, drives.only(choice.columns)),
            settled.system.only(columns),
            settled.rows.only(columns),
            None if settled.after is None else settled.after.only(columns),
            choice,
            None if belief is None else belief.only(columns),
        )

    def _repeated(self, settled: Settled) -> Settled:
        """With loads from the estimate itself, until that settles."""
        for number in range(1, ROUNDS + 1):
            drives = settled.equations.drives
            if drives is None or not drives.loaded:
                break
            before = settled.solution
            drives = replace(drives, load=self._base(before))
            reread = self._read(
                self.sought.equations(self.interval, drives),
                f"fitting the loads of the gears, iteration {number} of at most {ROUNDS}",
            )
            settled = replace(reread, choice=settled.choice, belief=settled.belief)
            change = settled.solution.values - before.values
            if np.abs(before.factor @ change).max(initial=0.0) < SETTLED:
                break
        return settled

    def _base(self, solution: Solution) -> Numbers:
        return solution.values[: len(self.sought.mapping)]


def _ordered(names: Collection[str]) -> list[str]:
    """Terms in the order of TERMS."""
    return [name for name in TERMS if name in names]
