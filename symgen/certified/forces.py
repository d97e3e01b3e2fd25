"""Ranges of joint forces by the coefficients of accelerations and of products of velocities.

    tau_i = sum_j M_ij qdd_j + sum_jk Gamma_ijk qd_j qd_k + g_i

is what inverse dynamics computes from link to link, but each coefficient depends on the positions
alone. Its largest value in a box of positions bounds the force for all velocities and
accelerations, which need no boxes of their own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from symgen.certified.boxes import EnclosedPart, branch_and_bound, on_whole_domain
from symgen.certified.domain import Domain, Interval
from symgen.certified.enclosures import EXACT
from symgen.certified.search import random_inputs, results
from symgen.compiler.evaluate import Rows, levels, values_of
from symgen.compiler.program import Program, Ref
from symgen.errors import OptionError
from symgen.numbers.types import Numbers
from symgen.tracing.function import Function
from symgen.tracing.request import FunctionRequest, find_quantity
from symgen.tracing.trace import trace

COEFFICIENTS: Final = ("mass_matrix", "christoffel_symbols", "gravity")

SLACK: Final = 1e-9
"""Part of the largest terms by which a range is widened. The constants of the functions, which are
regrouped in different ways, differ by rounding in double precision, some 1e-15."""

STATES: Final = 16
"""Random states in which the sum of terms has to be what the function computes."""

SIGNED: Final = 8
"""Velocities whose signs are tried in all combinations."""


@dataclass(frozen=True)
class ForceTerms:
    """The terms of one joint force that are not always zero: coefficients, and the places of their
    factors among `_factors`, which has those of `size` coordinates."""

    refs: Sequence[Ref]
    places: Rows
    size: int

    def sum(self, values: Numbers, factors: Numbers) -> Numbers:
        """The force from the values of the coefficients (terms x states) and all factors."""
        signs = np.array([[-1.0 if ref.negative else 1.0] for ref in self.refs])
        total: Numbers = (signs * values * factors[self.places]).sum(axis=0)
        return total

    def bounds(self, lower: Numbers, upper: Numbers, largest: Numbers) -> Numbers:
        """-lower and upper of the force, from the ranges of the coefficients (terms x boxes) and
        the largest absolute values of all factors. Squares are not negative, and gravity has the
        factor 1. What a product of two velocities contributes is largest at the ends of their
        ranges: the signs there of some velocities are tried in all combinations."""
        i, j = np.triu_indices(self.size)
        pair = self.places - self.size
        gravity = self.places == len(largest) - 1
        velocities = (pair >= 0) & ~gravity
        first, second = (x[np.where(velocities, pair, 0)] for x in (i, j))
        square = velocities & (first == second)
        negative = np.array([[ref.negative] for ref in self.refs])
        both = np.stack([np.where(negative, upper, -lower), np.where(negative, -lower, upper)])
        both *= largest[self.places]
        sizes = both.max(axis=0)
        slack: Numbers = SLACK * np.abs(sizes).sum(axis=0)
        used = np.select([square[:, None], gravity[:, None]], [np.maximum(both, 0.0), both], sizes)
        mixed = np.flatnonzero(velocities & ~square)
        weights = np.bincount(first[mixed], sizes[mixed].sum(axis=1), self.size)
        weights += np.bincount(second[mixed], sizes[mixed].sum(axis=1), self.size)
        tried = np.argsort(-weights, kind="stable")[:SIGNED]
        mixed = mixed[np.isin(first[mixed], tried) & np.isin(second[mixed], tried)]
        signs = np.ones((2 ** max(len(tried) - 1, 0), self.size))
        for k, coordinate in enumerate(tried[1:]):
            signs[:, coordinate] = 1.0 - 2.0 * (np.arange(len(signs)) >> k & 1)
        middle = 0.5 * both[:, mixed].sum(axis=0)
        used[:, mixed] = middle
        sides = (signs[:, first[mixed]] * signs[:, second[mixed]]) @ (both[1, mixed] - middle)
        total: Numbers = used.sum(axis=1) + slack
        total += np.stack([-sides.min(axis=0), sides.max(axis=0)])
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
    wanted = FunctionRequest("coefficients", tuple(map(find_quantity, COEFFICIENTS)))
    try:
        program = trace(robot, wanted).program
    except OptionError:  # a robot without these quantities
        return []
    forces = _forces(program, domain)
    if not _agree(function.program, program, forces, domain):
        return []
    none = [(0.0, 0.0)] * len(forces)
    rates, accelerations = (
        np.array([[max(-a, b)] for a, b in read.get(name, none)]) for name in ("qd", "qdd")
    )
    largest, share = _factors(rates, accelerations), max(boxes // max(len(forces), 1), 1)
    positions = Domain({"q": read["q"]})
    whole = on_whole_domain(program, positions, EXACT)
    ranges = list[Interval]()
    for force in forces:
        if not force.refs:
            ranges.append((0.0, 0.0))
            continue
        part = EnclosedPart(program, [ref.node for ref in force.refs], positions, EXACT, whole)

        def evaluate(
            low: Numbers, high: Numbers, force: ForceTerms = force, part: EnclosedPart = part
        ) -> Numbers:
            found = part.on(low, high)[part.rows]
            return force.bounds(found.lower, found.upper, largest)

        lower, upper = branch_and_bound(evaluate, part.ranges, share, objectives=2).tolist()
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
        places = np.array([t for t, ref in enumerate(refs) if ref is not None], np.intp)
        forces.append(ForceTerms([ref for ref in refs if ref is not None], places, n))
    return forces


def _agree(
    program: Program, coefficients: Program, forces: Sequence[ForceTerms], domain: Domain
) -> bool:
    """Whether the sums of terms are what a program computes, in random states."""
    states = random_inputs(domain, STATES, np.random.default_rng(0))
    at, values = levels(coefficients), values_of(coefficients, {"q": states["q"]}, "double")
    factors = _factors(states["qd"], states.get("qdd", np.zeros_like(states["qd"])))
    sums = [
        force.sum(values[at.row[[ref.node for ref in force.refs]]], factors)
        for force, ref in zip(forces, program.outputs[0].refs, strict=True)
        if ref is not None
    ]
    computed = results(program, states, "double")
    off = np.abs(np.array(sums) - computed).max(axis=1)
    return bool((off <= SLACK * np.abs(computed).max(axis=1)).all())
