"""How far the robot's file is trusted where the log tells little: by cross-validation.

Least squares on a short log have parameters that it hardly tells, each far from its value and made
up for by others; elsewhere they no longer are. What is believed beside the log (`standard`, as
with ``--full``) keeps them near the robot's file. Files may be wrong too, so that parts of the log
that take no part in the fit tell how much they count: ridge regression (Hoerl & Kennard,
Technometrics 1970) in the metric of the prior, its strength by blocks of a time series."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from symgen.identification.estimation.random_effects import with_effects
from symgen.identification.estimation.robust_errors import inflation
from symgen.identification.estimation.standard_parameters import Prior, deviations
from symgen.identification.estimation.term_selection import Chooser
from symgen.identification.estimation.weighted_solve import Belief, faint, solve
from symgen.identification.model.estimate import BaseMapping
from symgen.numbers.types import Numbers

TIMES: Final = (10.0, 3.0, 1.0)
"""What the deviations of the prior are tried as, by those of ``--prior-deviation``."""
LEAST: Final = 1e-9
"""Of a root mean square by the measurement's, for columns that are 0 in the whole log."""


@dataclass(frozen=True)
class Trust:
    """A chooser with a belief beside its fits and the deviation of the prior in that; None, and a
    belief of drives alone, where the log predicts better without the prior. `scales` are those of
    random effects."""

    chooser: Chooser
    deviation: float | None = None
    scales: tuple[tuple[str, float], ...] = ()


def trusting(
    chooser: Chooser, always: Sequence[str], mapping: BaseMapping, deviation: float
) -> Trust:
    """The chooser with the belief beside its fits, of several strengths the largest that predicts
    parts of the log as well as the best one, or with one of drives alone. Predictions are with the
    terms `always` at every joint."""
    start = chooser.best([key for key in chooser.groups if key[1] in always])
    columns, plain = chooser.columns(start), chooser.belief or faint(chooser.system)
    system = chooser.system.only(columns)
    tells = inflation(system, solve(system, plain.only(columns)))
    tried, count = [], len(chooser.drives.columns)
    for times in (None, *TIMES):
        off = None if times is None else times * deviation
        prior = plain if off is None else Prior(mapping, deviations(mapping, off)).belief(count)
        tried.append(Trust(chooser.believing(_with_drives(prior, chooser), tells), off))
    scores = [_scores(trust.chooser, start) for trust in tried]
    best = min(scores, key=np.mean)
    taken = [trust for trust, x in zip(tried, scores, strict=True) if _as_good(x, best)][-1]
    held, scales = with_effects(taken.chooser, start)
    return Trust(held, taken.deviation, scales)


def _scores(chooser: Chooser, chosen: dict[tuple[int, str], int]) -> Numbers:
    """For each fold the mean over channels of the log of the squares that its prediction is off
    by."""
    return np.asarray(np.mean(np.log(np.maximum(chooser.errors(chosen), 1e-300)), axis=1))


def _as_good(scores: Numbers, best: Numbers) -> bool:
    """Whether they are worse than the best ones by no more than the standard error of the
    difference (the rule of Breiman, Friedman, Olshen & Stone 1984, sec. 3.4.3, by pairs)."""
    excess = scores - best
    return bool(np.mean(excess) <= np.std(excess, ddof=1) / np.sqrt(len(excess)))


def _with_drives(belief: Belief, chooser: Chooser) -> Belief:
    """The belief in base parameters, and of each column of drives that by itself it gives no more
    than the force that is measured."""
    system, joints = chooser.system, chooser.drives.joints
    factor, first = belief.factor.copy(), chooser.first
    for k, column in enumerate(chooser.drives.columns):
        channel = int(np.argmax(np.abs(joints.rates[column.joint])))
        rows = system.spread(channel)
        size, measured = np.linalg.norm(rows[:, [first + k, -1]], axis=0).tolist()
        factor[first + k, first + k] = max(size / measured, LEAST) if measured else 1.0
    return Belief(factor, belief.target)
