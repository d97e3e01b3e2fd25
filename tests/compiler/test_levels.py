"""A tape run level by level: what it computes, and its derivatives in all nodes."""

import random
from decimal import Decimal

import numpy as np
import pytest

from symgen.compiler.evaluate import evaluate, evaluate_exactly, levels
from symgen.compiler.passes import operands
from symgen.compiler.program import Program
from symgen.numbers.decimals import decimal_precision
from symgen.numbers.operations import OPS, sin, sqrt
from symgen.numbers.scalar import ZERO
from symgen.proof import bounds as linear
from symgen.proof.bounds import BoundedArray, ProgramRun, error_bounds


def test_decimals_of_many_states_are_those_of_each():
    p = Program()
    x, y, z = p.input("x", (3,))
    (g,) = p.input("g", (1,))
    late = sin(x * y + 0.1) / sqrt(z * z + 2)
    p.output("a", (4,), (late, ZERO, -(x * y), g))
    p.output("b", (2,), (late - g, 0.5))
    rng, count = random.Random(3), 4
    rows = {k: [[Decimal(rng.uniform(-2, 2)) for _ in range(n)] for _ in range(count)]
            for k, n in (("x", 3), ("g", 1))}  # fmt: skip
    with decimal_precision():
        got = evaluate_exactly(p, {k: np.array(v).T for k, v in rows.items()}, Decimal)
        for k in range(count):
            wanted = evaluate(p, {name: v[k] for name, v in rows.items()}, Decimal)
            assert {name: v[:, k].tolist() for name, v in got.items()} == wanted
    assert got["a"][1, 0] is ZERO


def _tape(seed):
    """Sums, differences and products of small whole numbers, so that nothing is rounded."""
    rng, p = random.Random(seed), Program()
    values = list(p.input("x", (4,)))
    for _ in range(30):
        a, b = rng.choice(values[-12:]), rng.choice(values)
        values.append(rng.choice((a + b, a - b, a * b if rng.random() < 0.3 else a + 2 * b)))
    p.output("y", (6,), (*rng.sample(values, 5), values[-1]))
    return p


@pytest.mark.parametrize("memory", [1, 500_000])
@pytest.mark.parametrize("seed", range(6))
def test_derivatives_of_outputs_in_all_nodes(seed, memory, monkeypatch):
    """Against the chain rule, one node after the other from the last."""
    monkeypatch.setattr(linear, "MAX_HELD_DERIVATIVES", memory)
    p, at = _tape(seed), levels(_tape(seed))
    run = ProgramRun(p, {"x": np.array([[1, -1, 2], [0, 1, -1], [2, 1, 1], [-1, 0, 1]], float)})
    rows = np.unique(at.of(p.outputs[0].refs)[1])
    place = {int(i): k for k, i in enumerate(at.indices)}
    got = [(block, slopes.copy()) for block, slopes in run.derivatives(rows)]
    assert np.concatenate([block for block, _ in got]).tolist() == rows.tolist()
    for block, slopes in got:
        for k, row in enumerate(block.tolist()):
            wanted = np.zeros_like(run.values)
            wanted[row] = 1.0
            for i in sorted(place, reverse=True):
                node, v = p.nodes[i], run.values[place[i]]
                read = [place[j] for j in operands(node)]
                if read:
                    partials = OPS[node.op].partials(*(run.values[j] for j in read), v)
                    for j, slope in zip(read, partials, strict=True):
                        wanted[j] += wanted[place[i]] * slope
            assert (slopes[:, k] == wanted).all()


def test_a_tape_without_operations():
    p = Program()
    (x,) = p.input("x", (1,))
    p.output("z", (2,), (ZERO, ZERO))
    given = {"x": BoundedArray(np.ones((1, 5)), np.zeros((1, 5)))}
    assert not error_bounds(p, given, "double")["z"].bounds.any()
    p.output("x_again", (1,), (x,))
    assert error_bounds(p, given, "double")["x_again"].values.tolist() == [[1.0] * 5]
