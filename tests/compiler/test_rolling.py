"""Rolled code: loops over lanes that do the same, with the values of the tape."""

import math
import random

import pytest

from symgen.compiler.evaluate import evaluate
from symgen.compiler.passes import counts, live, pivots
from symgen.compiler.program import LEAVES, Program
from symgen.compiler.rolled import Loop, run
from symgen.compiler.rolling import rolled
from symgen.compiler.rows import NOTHING
from symgen.numbers.operations import sin
from symgen.numbers.scalar import ZERO


def solved(x, low):
    """A lower triangular system, with a triangle of numbers."""
    found = []
    for i, row in enumerate(low):
        y = x[i]
        for j, a in enumerate(row[:i]):
            y = y - a * found[j]
        found.append(y * row[i])
    return found


def columns(n: int, lanes: int, without=(), turned=()) -> Program:
    """L⁻¹ B for n x lanes numbers B, where those `without` vanish in every state, and columns that
    are `turned` as the negative of what goes in."""
    p = Program()
    a, b = p.input("a", (n, n)), p.input("b", (n, lanes))
    low = [a[i * n : i * n + n] for i in range(n)]
    given = [
        [ZERO if (i, k) in without else b[i * lanes + k] + b[0] * a[i] for i in range(n)]
        for k in range(lanes)
    ]
    made = [solved([-x for x in g] if k in turned else g, low) for k, g in enumerate(given)]
    p.output("x", (n, lanes), [made[k][i] for i in range(n) for k in range(lanes)])
    return p


def drawn(p: Program, seed: int = 1):
    rng = random.Random(seed)
    return {
        name: [rng.uniform(-2.0, 2.0) for _ in range(math.prod(shape))] for name, shape in p.inputs
    }


def loops_of(p: Program) -> list[tuple[int, int]]:
    """Lanes and operations of the body of each loop, after a check of the whole."""
    made, given = rolled(p), drawn(p)
    assert run(made, given) == evaluate(p, given)
    single = [step for step in made.steps if not isinstance(step, Loop)]
    assert len(set(single)) == len(single)
    return [(loop.count, counts(loop.body).total) for loop in made.loops]


def test_columns_are_one_loop():
    (loop,) = loops_of(columns(5, 6))
    assert loop[0] == 6
    assert loop[1] >= 25


def test_signs_that_the_tape_pulled_out_are_given_back():
    (loop,) = loops_of(columns(5, 6, turned={0, 3}))
    assert loop[0] == 6
    assert loop[1] >= 25


def test_a_lane_that_lacks_terms_has_zeros_in_their_place():
    p = columns(6, 7, without={(2, 2), (4, 5)})
    (loop,) = loops_of(p)
    assert loop[0] == 7
    assert any(NOTHING in row for row in rolled(p).loops[0].reads)


def test_lanes_that_need_one_another_are_no_loop():
    p = Program()
    x, (a, b) = p.input("x", (1,))[0], p.input("c", (2,))
    rows = []
    for _ in range(40):
        x = x * a + b
        rows.append(x)
    p.output("y", (1, 40), rows)
    assert loops_of(p) == []


def test_what_must_be_positive_is_in_no_loop():
    """The status of a function is asked of variables."""
    p = Program()
    x = p.input("x", (12,))
    made = [[1.0 / (x[k] * x[k] + x[k + 6] * x[k + 6] + 1.0)] for k in range(6)]
    p.output("y", (1, 6), [y * y * x[k] + y for k, (y,) in enumerate(made)])
    inside = {ref.node for loop in rolled(p).loops for row in loop.makes for ref in row}
    assert not inside & {ref.node for ref in pivots(p)}
    loops_of(p)


def test_sines_stay_out_of_loops():
    p = Program()
    q, x = p.input("q", (8,)), p.input("x", (8,))
    terms = [sin(q[k]) * x[k] + x[k] * x[k - 1] - sin(q[k]) * x[k - 2] for k in range(8)]
    p.output("y", (1, 8), [t * t * x[0] + t * q[k] - t for k, t in enumerate(terms)])
    assert loops_of(p)
    assert all("sin" not in {n.op for n in loop.body.nodes} for loop in rolled(p).loops)


def anything(rng: random.Random) -> Program:
    """Columns of random operations, some with terms of their own, some that others read."""
    p = Program()
    n, lanes = rng.randrange(3, 9), rng.randrange(2, 7)
    shared, own = p.input("s", (n,)), p.input("x", (n, lanes))
    plan = [
        (rng.randrange(4), rng.randrange(n), rng.randrange(n)) for _ in range(rng.randrange(40))
    ]
    made, last = [], shared[0]
    for k in range(lanes):
        values = [own[i * lanes + k] for i in range(n)]
        for what, i, j in plan:
            if rng.random() < 0.05:
                values[i] = rng.choice([values[j], -values[i], values[i] * last, ZERO, shared[j]])
            both = values[i], rng.choice([values[j], values[j], shared[j]])
            a, b = both if rng.random() < 0.5 else both[::-1]
            values[i] = [a + b, values[i] - values[j], a * b, -(a * shared[j])][what]
        last = values[0] if isinstance(values[0], type(own[0])) else last
        made.append(values)
    p.output("y", (n, lanes), [made[k][i] for i in range(n) for k in range(lanes)])
    return p


@pytest.mark.parametrize("seed", range(40))
def test_any_program_has_the_values_of_its_tape(seed):
    p = anything(random.Random(seed))
    loops_of(p)
    single = {step for step in rolled(p).steps if not isinstance(step, Loop)}
    made = {ref.node for loop in rolled(p).loops for row in loop.makes for ref in row}
    ends = {ref.node for out in p.outputs for ref in out.refs if ref is not None}
    assert {k for k in ends if p.nodes[k].op not in LEAVES} <= single | made
    assert single <= set(live(p))


def test_straight_code_stays_where_loops_save_next_to_nothing():
    p = columns(5, 6)
    x, total = p.input("z", (2,)), 0.0
    for k in range(1500):
        total = total * x[0] + (k + 0.5) * x[1]
    p.output("t", (1,), [total])
    assert loops_of(columns(5, 6))
    assert not loops_of(p)


def test_what_is_found_has_to_do_after_a_while(monkeypatch):
    assert not rolled(columns(5, 6)).cut
    monkeypatch.setattr("symgen.compiler.packs.PATIENCE", -1)
    assert not loops_of(columns(5, 6))
    assert rolled(columns(5, 6)).cut


def test_the_search_ends_where_nothing_is_kept_for_long(monkeypatch):
    monkeypatch.setattr("symgen.compiler.packs.HOPE", -1)
    assert rolled(columns(5, 6)).cut and not loops_of(columns(5, 6))
