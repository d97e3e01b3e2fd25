"""Ranges of joint forces by the coefficients of accelerations and of products of velocities.

    tau_i = sum_j M_ij qdd_j + sum_jk Gamma_ijk qd_j qd_k + g_i

is what inverse dynamics computes from link to link, but each coefficient depends on the positions
alone. Its largest value in a box of positions bounds the force for all velocities and
accelerations, which need no boxes of their own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from symgen.certified.boxes import EnclosedSubprogram, branch_and_bound, enclose_on_domain
from symgen.certified.domain import Domain, Interval, evaluated_outputs, random_inputs
from symgen.certified.enclosures import EXACT
from symgen.compiler.evaluate import Rows, levels, node_values
from symgen.compiler.program import Program, Ref
from symgen.errors import OptionError
from symgen.numbers.scalar import Numbers
from symgen.tracing.function import Function
from symgen.tracing.request import FunctionRequest, find_quantity
from symgen.tracing.trace import trace

COEFFICIENTS: Final = ("mass_matrix", "christoffel_symbols", "gravity")

RELATIVE_SLACK: Final = 1e-9
"""Part of the largest terms by which a range is widened. The constants of the functions, which are
regrouped in different ways, differ by rounding in double precision, some 1e-15."""

CHECKED_STATES: Final = 16
"""Random states in which the sum of terms has to be what the function computes."""

MAX_SIGN_COMBINATIONS: Final = 8
"""Velocities whose signs are tried in all combinations."""


@dataclass(frozen=True)
class ForceTerms:
    """The terms of one joint force that are not always zero: coefficients, and the places of their
    factors among `_factors`, which has those of `size` coordinates."""

    refs: Sequence[Ref]
    factor_indices: Rows
    size: int

    def sum(self, values: Numbers, factors: Numbers) -> Numbers:
        """The force from the values of the coefficients (terms x states) and all factors."""
        signs = np.array([[-1.0 if ref.negative else 1.0] for ref in self.refs])
        total: Numbers = (signs * values * factors[self.factor_indices]).sum(axis=0)
        return total

    def bounds(self, lower: Numbers, upper: Numbers, largest: Numbers) -> Numbers:
        """-lower and upper of the force, from the ranges of the coefficients (terms x boxes) and
        the largest absolute values of all factors. Squares are not negative, and gravity has the
        factor 1. What a product of two velocities contributes is largest at the ends of their
        ranges: the signs there of some velocities are tried in all combinations."""
        i, j = np.triu_indices(self.size)
        pair = self.factor_indices - self.size
        gravity = self.factor_indices == len(largest) - 1
        velocities = (pair >= 0) & ~gravity
        first, second = (x[np.where(velocities, pair, 0)] for x in (i, j))
        square = velocities & (first == second)
        negative = np.array([[ref.negative] for ref in self.refs])
        extremes = np.stack([np.where(negative, upper, -lower), np.where(negative, -lower, upper)])
        extremes *= largest[self.factor_indices]
        magnitudes = extremes.max(axis=0)
        slack: Numbers = RELATIVE_SLACK * np.abs(magnitudes).sum(axis=0)
        contributions = np.select(
            [square[:, None], gravity[:, None]], [np.maximum(extremes, 0.0), extremes], magnitudes
        )
        cross_terms = np.flatnonzero(velocities & ~square)
        weights = np.bincount(first[cross_terms], magnitudes[cross_terms].sum(axis=1), self.size)
        weights += np.bincount(second[cross_terms], magnitudes[cross_terms].sum(axis=1), self.size)
        sign_coordinates = np.argsort(-weights, kind="stable")[:MAX_SIGN_COMBINATIONS]
        cross_terms = cross_terms[
            np.isin(first[cross_terms], sign_coordinates)
            & np.isin(second[cross_terms], sign_coordinates)
        ]
        signs = np.ones((2 ** max(len(sign_coordinates) - 1, 0), self.size))
        for k, coordinate in enumerate(sign_coordinates[1:]):
            signs[:, coordinate] = 1.0 - 2.0 * (np.arange(len(signs)) >> k & 1)
        middle = 0.5 * extremes[:, cross_terms].sum(axis=0)
        contributions[:, cross_terms] = middle
        deviations = (signs[:, first[cross_terms]] * signs[:, second[cross_terms]]) @ (
            extremes[1, cross_terms] - middle
        )
        total: Numbers = contributions.sum(axis=1) + slack
        total += np.stack([-deviations.min(axis=0), deviations.max(axis=0)])
        return total


def _factors(rates: Numbers, accelerations: Numbers) -> Numbers:
    """What the coefficients are multiplied by: accelerations, products of velocities, 1."""
    i, j = np.triu_indices(len(rates))
    products = rates[i] * rates[j] * np.where(i == j, 1.0, 2.0)[:, None]
    return np.concatenate([accelerations, products, np.ones((1, rates.shape[1]))])


def force_ranges(function: Function, domain: Domain, boxes: int) -> list[Interval]:
    """The ranges of the joint forces of a function, with at most so many boxes for all of them;
    none of a function that is not this sum of terms."""
    shapes, read = [out.shape for out in function.program.outputs], domain.ranges
    if shapes != [(len(read.get("qd", ())),)] or not read.keys() <= {"q", "qd", "qdd"}:
        return []
    robot = next(iter(function.regroups.values())).robot
    request = FunctionRequest("coefficients", tuple(map(find_quantity, COEFFICIENTS)))
    try:
        program = trace(robot, request).program
    except OptionError:  # a robot without these quantities
        return []
    forces = _forces(program, domain)
    if not _sums_match(function.program, program, forces, domain):
        return []
    points = [(0.0, 0.0)] * len(forces)
    rates, accelerations = (
        np.array([[max(-a, b)] for a, b in read.get(name, points)]) for name in ("qd", "qdd")
    )
    largest, boxes_per_force = _factors(rates, accelerations), max(boxes // max(len(forces), 1), 1)
    positions = Domain({"q": read["q"]})
    on_domain = enclose_on_domain(program, positions, EXACT)
    ranges = list[Interval]()
    for force in forces:
        if not force.refs:
            ranges.append((0.0, 0.0))
            continue
        subprogram = EnclosedSubprogram(
            program, [ref.node for ref in force.refs], positions, EXACT, on_domain
        )

        def evaluate(
            low: Numbers,
            high: Numbers,
            force: ForceTerms = force,
            subprogram: EnclosedSubprogram = subprogram,
        ) -> Numbers:
            enclosure = subprogram.enclose(low, high)[subprogram.rows]
            return force.bounds(enclosure.lower, enclosure.upper, largest)

        lower, upper = branch_and_bound(
            evaluate, subprogram.ranges, boxes_per_force, objectives=2
        ).tolist()
        ranges.append((-lower, upper))
    return ranges


def _forces(program: Program, domain: Domain) -> list[ForceTerms]:
    """The terms of each joint force, from mass matrix, packed Christoffel symbols and gravity."""
    mass, symbols, gravity = (out.refs for out in program.outputs)
    n, pairs = len(gravity), len(symbols) // len(gravity)
    forces = []
    for k in range(n):
        refs = [*mass[n * k : n * (k + 1)], *symbols[pairs * k : pairs * (k + 1)], gravity[k]]
        if "qdd" not in domain.ranges:
            refs[:n] = [None] * n
        factor_indices = np.array([t for t, ref in enumerate(refs) if ref is not None], np.intp)
        forces.append(ForceTerms([ref for ref in refs if ref is not None], factor_indices, n))
    return forces


def _sums_match(
    program: Program, coefficients: Program, forces: Sequence[ForceTerms], domain: Domain
) -> bool:
    """Whether the sums of terms are what a program computes, in random states."""
    states = random_inputs(domain, CHECKED_STATES, np.random.default_rng(0))
    ordered, values = levels(coefficients), node_values(coefficients, {"q": states["q"]}, "double")
    factors = _factors(states["qd"], states.get("qdd", np.zeros_like(states["qd"])))
    sums = [
        force.sum(values[ordered.row[[ref.node for ref in force.refs]]], factors)
        for force, ref in zip(forces, program.outputs[0].refs, strict=True)
        if ref is not None
    ]
    computed = evaluated_outputs(program, states, "double")
    differences = np.abs(np.array(sums) - computed).max(axis=1)
    return bool((differences <= RELATIVE_SLACK * np.abs(computed).max(axis=1)).all())
