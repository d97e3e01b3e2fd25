"""From the factors of a log's equations to an estimate, and whether its motion was enough."""

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.errors import SymgenError
from symgen.identification.equations import Equations
from symgen.identification.estimate import Channel, Estimate
from symgen.identification.logs import Log
from symgen.identification.methods import Problem, unidentified
from symgen.identification.reduction import Factors
from symgen.identification.settings import Settings
from symgen.identification.solve import (
    Belief,
    Excitation,
    Solution,
    System,
    excitation,
    scaled_condition,
    solve,
)
from symgen.identification.standard import Prior, deviations
from symgen.text import shown

Numbers = NDArray[np.float64]

LISTED: Final = 6
"""Parameters that a message names at most."""


class ExcitationError(SymgenError):
    """A log whose motion does not tell all parameters apart."""


def estimate(
    sought: Problem,
    equations: Equations,
    trained: Factors,
    held_out: Factors | None,
    log: Log,
    settings: Settings,
) -> tuple[Estimate, tuple[str, ...]]:
    """The estimate from the factors of the rows for it and of those held out, and what is to be
    said of it. Raises ExcitationError where the motion does not tell all parameters apart."""
    size = len(sought.mapping) + len(sought.friction)
    system = System(trained, equations.supports, size)
    judged = excitation(system, settings.max_condition)
    notes = _judged(sought, judged, log, settings)
    prior = (
        Prior(sought.mapping, deviations(sought.mapping, settings.prior_deviation))
        if settings.full
        else None
    )
    found = solve(system, _belief(prior, len(sought.friction)))
    after = System(held_out, equations.supports, size) if held_out is not None else None
    made = Estimate(
        sought.mapping,
        tuple(sought.friction),
        found.values,
        found.factor,
        _channels(sought, system, after, found),
        judged.condition,
        judged.scaled if prior is None else scaled_condition(found.factor),
        np.array([*sought.friction.values()]),
    )
    return _with_standard(made, prior), notes


def _belief(prior: Prior | None, friction: int) -> Belief | None:
    return prior.belief(friction) if prior else None


def _with_standard(estimate: Estimate, prior: Prior | None) -> Estimate:
    if prior is None:
        return estimate
    b = len(estimate.mapping)
    values, errors = prior.standard(estimate.base, estimate.covariance[:b, :b])
    return replace(estimate, standard=values, standard_errors_of_standard=errors)


def _judged(sought: Problem, judged: Excitation, log: Log, settings: Settings) -> tuple[str, ...]:
    """A note where the motion leaves parameters to the prior. Raises ExcitationError where there is
    none."""
    if not judged.weak:
        return ()
    names = [(*sought.mapping.names, *sought.friction)[k] for k in judged.weak]
    said = unidentified(sought.mapping, names[:LISTED]) + (
        f" and {len(names) - LISTED} more" * (len(names) > LISTED)
    )
    said = (
        f"the motion does not excite {len(names)} of "
        f"{len(sought.mapping) + len(sought.friction)} parameters "
        f"(condition number {judged.scaled:.3g}, limit {settings.max_condition:.3g}): "
        f"{shown(said, 2000)}"
    )
    if settings.full:
        return (f"{shown(log.file)}: note: {said}; the prior decides them",)
    raise ExcitationError(
        f"{shown(log.file)}: error: {said}; move these joints more (symgen excite makes a motion), "
        "or let a prior decide with --full"
    )


def _channels(
    sought: Problem, system: System, after: System | None, found: Solution
) -> tuple[Channel, ...]:
    return tuple(
        Channel(
            name,
            unit,
            system.factors.rows,
            found.deviations[j],
            system.measured(j),
            system.residual(j, found.values),
            *_validated(after, j, found.values),
        )
        for j, (name, unit) in enumerate(sought.channels)
    )


def _validated(
    after: System | None, j: int, values: Numbers
) -> tuple[int, float | None, float | None]:
    if after is None:
        return 0, None, None
    return after.factors.rows, after.measured(j), after.residual(j, values)
