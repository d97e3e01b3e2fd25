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
from numpy.typing import NDArray

from symgen.identification.choice import Choice, Chooser
from symgen.identification.drives import DriveUnknowns, candidates
from symgen.identification.effects import EFFECTS
from symgen.identification.equations import Equations
from symgen.identification.instruments import Instrumented, Instruments
from symgen.identification.loss import SHARE, Reweighted
from symgen.identification.method_rows import METHODS
from symgen.identification.methods import Problem
from symgen.identification.neutral import with_neutral_prior
from symgen.identification.rates import Rates
from symgen.identification.reduction import Batches, TriangularFactors, whole
from symgen.identification.robust import believed, robust_errors
from symgen.identification.separable import inseparable
from symgen.identification.settings import Settings
from symgen.identification.solve import Belief, Solution, TriangularSystem, faint
from symgen.identification.standard import Prior
from symgen.identification.terms import FRICTION, TERMS
from symgen.identification.trust import trusting

Numbers = NDArray[np.float64]

ROUNDS: Final = 8
SETTLED: Final = 1e-3
"""Standard errors by which values may still change in the last round."""
CLOSE: Final = 0.05
"""The same of a robust loss."""
ALWAYS: Final = ("viscous", "coulomb", "offset")
"""The terms that automatic friction begins with."""


@dataclass(frozen=True)
class Reduced:
    """The factors of the batches of the equations for the estimate, which may be means of rows, and
    of its rows and those held out."""

    trained: Batches
    rows: TriangularFactors | None
    held_out: TriangularFactors | None


Reduce = Callable[[Equations], Reduced]
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

    def robust_errors(self, found: Solution) -> Numbers | None:
        """Its robust standard errors; None where there are too few batches."""
        made = self.instruments
        return made.errors(found) if made else robust_errors(self.system, found)


@dataclass(frozen=True)
class Rounds:
    """What rounds through a log need: the problem, settings, how to read, what was seen before."""

    sought: Problem
    settings: Settings
    interval: int
    reduce: Reduce
    rates: Rates | None
    prior: Prior | None

    def settled(self) -> Settled:
        """The equations with the terms that were asked for or chosen, and their system, by the loss
        that was asked for."""
        found = self._least_squares()
        if METHODS[self.settings.method].instruments:
            return self._instrumented(found)
        return self._reweighted(found) if self.settings.loss == "huber" else found

    def _instrumented(self, found: Settled) -> Settled:
        """With instruments beside the columns that were chosen."""
        size = found.system.size
        beside = Instrumented(found.equations, size)
        again = self.reduce(beside)
        total = whole(again.trained)
        if total is None:
            raise ValueError("no rows for the estimate")
        made = Instruments(TriangularSystem(total, beside.supports, 2 * size, again.trained))
        return replace(found, system=made.plain, instruments=made)

    def _reweighted(self, found: Settled) -> Settled:
        """With weights by residuals, until the values settle."""
        for _ in range(ROUNDS):
            before = found.solution
            sizes = tuple(x / math.sqrt(SHARE) for x in before.deviations)
            again = self._read(Reweighted(found.equations, before.values, sizes))
            found = replace(found, system=again.system)
            change = found.solution.values - before.values
            if np.abs(before.factor @ change).max(initial=0.0) < CLOSE:
                break
        return found

    def _least_squares(self) -> Settled:
        drives = self.drives()
        if drives is None or not drives.columns:
            return self._read(self.sought.equations(self.interval, drives))
        if not drives.loaded:
            return self._chosen(self._read(self.sought.equations(self.interval, drives)))
        plain = [k for k, column in enumerate(drives.columns) if not TERMS[column.term].loaded]
        first = self._chosen(self._read(self.sought.equations(self.interval, drives.only(plain))))
        drives = replace(drives, load=self._base(first.solution))
        found = self._chosen(self._read(self.sought.equations(self.interval, drives)))
        return self._repeated(found)

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
        there = {(column.joint, column.term) for column in drives.columns}
        asked = [term for term in TERMS if term in self.sought.terms]
        pairs = ((k, term) for k in range(len(self.sought.joints.names)) for term in asked)
        return tuple(
            f"{term} {self.sought.joints.names[k]}" for k, term in pairs if (k, term) not in there
        )

    @property
    def terms(self) -> tuple[str, ...]:
        """By name, in the order of TERMS: those of the settings; automatic friction tries all."""
        wanted = self.sought.terms
        own = {*wanted, *(FRICTION if self.settings.automatic else ())}
        possible = [name for name in TERMS if self.sought.bending or not TERMS[name].bent]
        return tuple(name for name in possible if name in own)

    def _read(self, equations: Equations) -> Settled:
        found = self.reduce(equations)
        drives = equations.drives
        count = len(drives.columns) if drives else 0
        size, total = len(self.sought.mapping) + count, whole(found.trained)
        if total is None or found.rows is None:
            raise ValueError("no rows for the estimate")
        system = TriangularSystem(total, equations.supports, size, found.trained)
        rows = TriangularSystem(found.rows, equations.supports, size)
        after = None if found.held_out is None else replace(rows, factors=found.held_out)
        belief = self.prior.belief(count) if self.prior else None
        return Settled(equations, system, rows, after, Choice(tuple(range(count))), belief)

    def _chosen(self, found: Settled) -> Settled:
        """With the chosen columns alone."""
        drives, belief = found.equations.drives, found.belief
        assert drives is not None
        chooser = Chooser(found.system, drives, faint(found.system))
        if self.settings.automatic:
            always = {*ALWAYS, *self.sought.terms}
            trust = None
            if belief is None:
                always |= {term for effect in EFFECTS.values() for term in effect.terms}
                mapping = with_neutral_prior(self.sought.mapping, found.rows)
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
            found.system.only(columns),
            found.rows.only(columns),
            None if found.after is None else found.after.only(columns),
            choice,
            None if belief is None else belief.only(columns),
        )

    def _repeated(self, found: Settled) -> Settled:
        """With loads from the estimate itself, until that settles."""
        for _ in range(ROUNDS):
            drives = found.equations.drives
            if drives is None or not drives.loaded:
                break
            before = found.solution
            drives = replace(drives, load=self._base(before))
            again = self._read(self.sought.equations(self.interval, drives))
            found = replace(again, choice=found.choice, belief=found.belief)
            change = found.solution.values - before.values
            if np.abs(before.factor @ change).max(initial=0.0) < SETTLED:
                break
        return found

    def _base(self, found: Solution) -> Numbers:
        return found.values[: len(self.sought.mapping)]


def _ordered(names: Collection[str]) -> list[str]:
    """Terms in the order of TERMS."""
    return [name for name in TERMS if name in names]
