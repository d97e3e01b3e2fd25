"""Physically consistent least squares in one step: linear matrix inequalities on the pseudo-inertia
of each body (Sousa & Cortesao, IJRR 2014; Wensing, Kim & Slotine, RA-L 2018), and coefficients of
drives that are not below what they can be."""

from dataclasses import replace

import numpy as np

from symgen.advice import stay_near_prior
from symgen.identification.consistency.entropic import Entropic
from symgen.identification.consistency.nearest_bodies import free_links
from symgen.identification.consistency.sdp import BodiesError, Programme
from symgen.identification.model.drive_columns import DriveUnknowns
from symgen.identification.model.estimate import BaseMapping, Solution
from symgen.numbers.types import Numbers


def consistent(
    mapping: BaseMapping, drives: DriveUnknowns | None, solution: Solution, full: bool
) -> Solution:
    """The least-squares estimate under physical consistency of bodies and coefficients. `full` is
    the option ``--full``. Raises BodiesError."""
    programme, positive = _problem(mapping, drives)
    values = programme.fitted(solution.values, solution.factor, positive)
    if values is None:
        raise BodiesError(
            "error: --consistent: no physically consistent bodies have base parameters near the "
            f"estimate; use a log in which all joints move more, or {stay_near_prior(0.0, full)}"
        )
    return replace(solution, values=values)


def _problem(mapping: BaseMapping, drives: DriveUnknowns | None) -> tuple[Programme, list[int]]:
    """The bodies that may change, and the numbers of the values that are not below 0."""
    programme = Programme(tuple(free_links(mapping.model, mapping)), mapping)
    columns = drives.columns if drives else ()
    positive = [len(mapping) + k for k, column in enumerate(columns) if column.row.lower == 0.0]
    return programme, positive


def entropic(
    mapping: BaseMapping,
    drives: DriveUnknowns | None,
    solution: Solution,
    weight: float,
    inflation: float,
) -> tuple[Solution, Numbers]:
    """The same with the divergence of bodies from the prior beside it, and the standard parameters;
    `inflation` is how many times less the log tells than white residuals would. Raises
    BodiesError."""
    programme, positive = _problem(mapping, drives)
    factor = solution.factor / inflation**0.5
    values, standard = Entropic(programme, solution.values, factor, weight).solution(positive)
    return replace(solution, values=values), standard


def distance(before: Solution, after: Solution) -> float:
    """The amount by which the weighted squares of the residuals are larger, |R Δ|² (chi
    squared)."""
    return float(np.sum(np.square(before.factor @ (after.values - before.values))))
