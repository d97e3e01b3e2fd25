"""Costs of tapes on models of processors, sums as trees, and choices by them."""

import math
import random
from fractions import Fraction
from itertools import pairwise

import pytest

from symgen.compiler.evaluate import evaluate
from symgen.compiler.objective import (
    CORTEX_M,
    HOST,
    MACHINES,
    MAX_OPERATIONS_RATIO,
    OBJECTIVES,
    Objective,
    balance_sums,
    cost,
)
from symgen.compiler.passes import counts, pivots
from symgen.compiler.program import Program
from symgen.numbers.operations import OPS
from symgen.numbers.scalar import ZERO


def chain(length: int) -> Program:
    """x0 + x1 + ..., one after the other."""
    p = Program()
    x = p.input("x", (length,))
    p.output("sum", (1,), [sum(x[1:], x[0])])
    return p


def test_every_operation_has_its_cycles_on_every_machine():
    for op in OPS.values():
        assert set(op.cycles) == set(MACHINES)
        assert all(latency >= 0 and busy >= 0 for latency, busy in op.cycles.values())


def test_work_is_of_all_operations_and_path_of_the_longest_chain():
    p = Program()
    x, y, z = p.input("x", (3,))
    p.output("r", (2,), [(x + y) / z, x * y])
    (add, add_busy), (div, div_busy), (_, mul_busy) = (
        OPS[name].cycles["host"] for name in ("add", "div", "mul")
    )
    found = cost(p, HOST)
    assert found.path == add + div
    assert found.work == add_busy + div_busy + mul_busy
    assert found.cycles == max(found.work, found.path)
    assert cost(p, CORTEX_M).path != found.path


def test_what_no_output_reads_costs_nothing():
    p = Program()
    x, y = p.input("x", (2,))
    p.output("r", (1,), [x + y])
    before = cost(p, HOST)
    assert x / y is not None
    assert cost(p, HOST) == before


@pytest.mark.parametrize("length", [2, 3, 5, 8, 13])
def test_a_chain_of_sums_becomes_a_tree(length):
    p = chain(length)
    made = balance_sums(p, HOST)
    add = HOST.latency("add")
    assert cost(p, HOST).path == (length - 1) * add
    assert cost(made, HOST).path == math.ceil(math.log2(length)) * add
    assert counts(made) == counts(p)


def test_terms_that_are_late_are_added_last():
    p = Program()
    x, y, *rest = p.input("x", (6,))
    p.output("r", (1,), [sum(rest, x / y)])
    made = balance_sums(p, HOST)
    assert cost(made, HOST).path == HOST.latency("div") + HOST.latency("add")


def test_a_sum_that_others_read_stays():
    p = Program()
    x = p.input("x", (5,))
    head = x[0] + x[1] + x[2]
    p.output("r", (2,), [head + x[3] + x[4], head])
    made = balance_sums(p, HOST)
    assert counts(made) == counts(p)
    given = {"x": [0.1, 0.2, 0.3, 1e16, -1e16]}
    assert evaluate(made, given)["r"][1] == (0.1 + 0.2) + 0.3


def test_what_is_no_faster_stays_bit_for_bit():
    p = Program()
    x, y, z = p.input("x", (3,))
    p.output("r", (1,), [x + z + x * y])
    made = balance_sums(p, HOST)
    given = {"x": [0.1, 0.7, 1e16]}
    assert evaluate(made, given) == evaluate(p, given) == {"r": [0.1 + 1e16 + 0.1 * 0.7]}


def grown(rng: random.Random) -> Program:
    """A tape of random sums, products and quotients, with names and a structural zero."""
    p = Program()
    values = [*p.input("x", (5,)), p.value(0.5), p.value(-3.0)]
    for k in range(60):
        a, b = rng.choice(values), rng.choice(values[-8:])
        how = rng.random()
        if how < 0.75:
            made = a - b if how < 0.3 else -a - b if how < 0.35 else a + b
        else:
            made = a * b if how < 0.95 else a / (b * b + 2.0)
        if made is not ZERO and type(made) is type(a):
            values.append(made.named(f"v{k}") if k % 3 == 0 else made)
    p.output("r", (4,), [*values[-3:], ZERO])
    return p


def test_trees_are_the_same_functions_exactly():
    """On fractions, which do not round, for random tapes."""
    better = 0
    for seed in range(150):
        rng = random.Random(seed)
        p = grown(rng)
        made = balance_sums(p, HOST)
        given = {"x": [Fraction(rng.randint(-9, 9), rng.randint(1, 9)) for _ in range(5)]}
        try:
            wanted = evaluate(p, given, Fraction)
        except ZeroDivisionError:
            continue
        assert evaluate(made, given, Fraction) == wanted
        assert counts(made).total <= counts(p).total
        assert cost(made, HOST).path <= cost(p, HOST).path
        better += cost(made, HOST).path < cost(p, HOST).path
        assert {name for name, _ in made.names.values()} <= {name for name, _ in p.names.values()}
    assert better > 20


def test_divisors_keep_the_sign_that_the_algorithm_gave_them():
    p = Program()
    x = p.input("x", (4,))
    d = x[0] - x[1] - x[2] - x[3]
    p.output("r", (1,), [1.0 / d])
    made = balance_sums(p, HOST)
    (pivot,) = pivots(made)
    value = evaluate(made, {"x": [9.0, 1.0, 2.0, 3.0]})["r"][0]
    assert pivot.node in {ref.node for ref in made.outputs[0].refs}
    assert value == 1 / 3 and pivot.negative != (not made.outputs[0].refs[0].negative)


def test_aims_rank_by_what_they_are_for():
    """Many operations side by side against few in a row."""
    p = chain(2)
    long, wide = Program(), Program()
    x, y = long.input("x", (2,))
    for _ in range(10):
        x = x / y
    long.output("r", (1,), [x])
    a = wide.input("x", (22,))
    wide.output("r", (11,), [u * v for u, v in zip(a[::2], a[1::2], strict=True)])
    both = [wide, long]
    programs = lambda program: [program]  # noqa: E731
    assert Objective("operations").best(both, programs) is long
    assert (
        Objective("latency").best(both, programs) is wide
    )  # 11 operations are within the slack of 10
    assert Objective("size").best([wide, long, p], programs) is p
    assert {Objective(name).best([p], programs) for name in OBJECTIVES} == {p}


def test_latency_may_not_cost_more_operations_than_is_said():
    long, wide = Program(), Program()
    x, y = long.input("x", (2,))
    for _ in range(10):
        x = x / y
    long.output("r", (1,), [x])
    a = wide.input("x", (26,))
    wide.output("r", (13,), [u * v for u, v in zip(a[::2], a[1::2], strict=True)])
    assert counts(wide).total > MAX_OPERATIONS_RATIO * counts(long).total
    for both in ([wide, long], [long, wide]):
        assert Objective("latency").best(both, lambda program: [program]) is long


def test_only_latency_changes_programs():
    p = chain(9)
    assert all(Objective(name).rebalanced(p) is p for name in ("operations", "size"))
    made = Objective("latency").rebalanced(p)
    assert cost(made, HOST).path < cost(p, HOST).path
    paths = [cost(chain(n), HOST).path for n in range(2, 9)]
    assert all(a < b for a, b in pairwise(paths))
