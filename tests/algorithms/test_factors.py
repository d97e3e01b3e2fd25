"""Factors of mass matrices in exact arithmetic: whatever blocks they are eliminated in, they are
those of the same matrix."""

import random
from fractions import Fraction
from pathlib import Path

import pytest

from symgen.algorithms.composite import factorize, factorize_in_pairs, mass_matrix
from symgen.compiler.evaluate import evaluate
from symgen.compiler.passes import counts, pivots
from symgen.compiler.program import Program, Value
from symgen.numbers.scalar import ZERO, plain
from symgen.reading.assemble import load
from symgen.tracing.robot import ParametricModel

ROBOTS = Path(__file__).resolve().parents[2] / "robots"
WAYS = {"one by one": factorize, "by pairs": factorize_in_pairs}


def matrix(name: str):
    """A robot's system, and its mass matrix at some state as fractions, structural zeros as they
    are."""
    layout = ParametricModel(load(ROBOTS / name).model).regroup("minimal").layout
    rng = random.Random(1)
    found = mass_matrix(layout, [rng.uniform(-2, 2) for _ in range(layout.size)])
    return layout, [x if x is ZERO else Fraction(plain(x)) for x in found]


def traced(layout, entries, way):
    """The inverse, and the solution for a right side, as a tape."""
    p, n = Program(), layout.size
    given = p.input("m", (n * n,))
    solver = way(layout, [x if x is ZERO else given[k] for k, x in enumerate(entries)])
    p.output("inverse", (n * n,), solver.inverse())
    p.output("x", (n,), solver.solve(p.input("b", (n,))))
    return p


def numbers(p, entries, b, sign=1):
    given = {"m": [Fraction(0) if x is ZERO else sign * x for x in entries], "b": b}
    return evaluate(p, given, Fraction)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["pendulum.urdf", "ur5.urdf", "panda.urdf", "quadruped.urdf"])
def test_inverse_and_solution_are_exact(name, way):
    layout, entries = matrix(name)
    n, b = layout.size, [Fraction(k + 1, 7) for k in range(layout.size)]
    found = numbers(traced(layout, entries, WAYS[way]), entries, b)
    inverse, x = ([0 if e is ZERO else e for e in found[name]] for name in ("inverse", "x"))
    rows = [[0 if e is ZERO else e for e in entries[i * n : i * n + n]] for i in range(n)]
    for i in range(n):
        for j in range(n):
            assert sum(rows[i][k] * inverse[k * n + j] for k in range(n)) == (i == j)
    assert [sum(rows[i][k] * x[k] for k in range(n)) for i in range(n)] == b


def test_pairs_halve_the_divisions():
    layout, entries = matrix("panda.urdf")
    one, two = (counts(traced(layout, entries, way)).div for way in WAYS.values())
    blocks = factorize_in_pairs(layout, entries).blocks
    assert sorted(i for block in blocks for i in block) == list(range(1, layout.size + 1))
    assert two < 0.7 * one and two == len(blocks)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_pair_is_positive_only_with_its_first_entry(sign):
    """The determinant of minus a positive definite matrix is positive, too."""
    layout, entries = matrix("ur5.urdf")
    p = traced(layout, entries, factorize_in_pairs)
    found = pivots(p)
    p.output("pivots", (len(found),), [Value(p, *ref) for ref in found])
    checked = numbers(p, entries, [Fraction(1)] * 6, sign)["pivots"]
    assert all(x > 0 for x in checked) == (sign > 0)
