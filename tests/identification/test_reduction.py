"""Parts of identification: reduction of equations, reading of logs, derivatives, momenta."""

import numpy as np
import pytest

from benchmarks.simulated_logs import write
from symgen.identification.data.differentiation import DerivativeFilter
from symgen.identification.data.open_log import open_log
from symgen.identification.data.samples import BLOCK_ROWS, BlockPlan, rows_of_ranges
from symgen.identification.estimation.triangular_factors import (
    TriangularFactors,
    combined,
    factored,
    triangle,
)
from symgen.identification.model.problem import standard_parameters
from symgen.mechanics.parameters import lump_links
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace
from tests.support.random_trees import FEW
from tests.support.random_trees import model as random_model


@pytest.mark.parametrize(
    ("rows", "columns"), [(1, 3), (3, 3), (1000, 7), (5000, 40), (400, 150), (0, 2)]
)
def test_a_triangle_has_the_products_of_its_matrix(rows, columns):
    matrix = np.random.default_rng(0).normal(size=(rows, columns))
    r = triangle(matrix)
    assert r.shape == (min(rows, columns), columns) and np.array_equal(r, np.triu(r))
    assert np.allclose(r.T @ r, matrix.T @ matrix, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 16, 21])
def test_parts_in_a_tree_are_the_whole(count):
    random = np.random.default_rng(count)
    a, y = random.normal(size=(count, 30, 2, 4)), random.normal(size=(count, 30, 2))
    supports = ((0, 1, 2, 3), (1, 3))
    parts = [factored(*pair, supports) for pair in zip(a, y, strict=True)]
    total = combined(iter(parts))
    assert total.rows == (30 * count, 30 * count)
    for j, columns in enumerate(supports):
        joined = np.concatenate(
            [a[:, :, j, list(columns)].reshape(-1, len(columns)), y[:, :, j].reshape(-1, 1)], 1
        )
        assert np.allclose(
            total.factors[j].T @ total.factors[j], joined.T @ joined, rtol=1e-12, atol=1e-12
        )
    again = combined(iter(parts))
    assert all(
        np.array_equal(one, other) for one, other in zip(total.factors, again.factors, strict=True)
    )


def test_a_tree_keeps_no_more_than_its_levels():
    alive, most = 0, 0

    class Watched(TriangularFactors):
        def combined(self, other):
            nonlocal alive
            alive -= 1
            return Watched((self.rows[0] + other.rows[0],), ())

    def parts():
        nonlocal alive, most
        for _ in range(1000):
            alive += 1
            most = max(most, alive)
            yield Watched((1,), ())

    assert combined(parts()).rows == (1000,) and most <= 11
    assert combined(iter(())) is None


def columns_of(path, names):
    return np.concatenate(list(open_log(str(path)).chunks(names)))


def test_every_format_gives_the_same_numbers(tmp_path):
    random = np.random.default_rng(0)
    columns = {name: random.normal(size=70_000) for name in ("t", "a", "b")}
    names = ["b", "t"]
    wanted = np.stack([columns[name] for name in names], axis=1)
    for suffix in (".csv", ".npz", ".parquet"):
        write(tmp_path / f"log{suffix}", columns)
        log = open_log(str(tmp_path / f"log{suffix}"))
        assert log.rows == 70_000 and log.names == ("t", "a", "b")
        assert np.array_equal(columns_of(tmp_path / f"log{suffix}", names), wanted), suffix
    np.savez_compressed(
        tmp_path / "packed.npz", t=columns["t"], x=np.stack([columns["a"], columns["b"]], 1)
    )
    assert np.array_equal(columns_of(tmp_path / "packed.npz", ["x[1]", "t"]), wanted)
    np.savez(tmp_path / "plain.npz", t=columns["t"], x=np.stack([columns["a"], columns["b"]], 1))
    assert np.array_equal(columns_of(tmp_path / "plain.npz", ["x[1]", "t"]), wanted)


@pytest.mark.parametrize(
    ("rows", "half", "held_out"),
    [(20_000, 0, 0.2), (70_000, 33, 0.3), (4096, 0, 0.0), (70, 3, 0.5), (3, 5, 0.1)],
)
def test_a_plan_uses_every_row_once(tmp_path, rows, half, held_out):
    plan = BlockPlan(((0, rows),), half, held_out)
    ranges = [*plan.training, *plan.validation]
    inner = [(a + half, b - half) for a, b in ranges]
    assert all(b - a <= BLOCK_ROWS and b <= rows for a, b in inner) and all(
        b <= rows for _, b in ranges
    )
    used = [k for a, b in inner for k in range(a, b)]
    assert len(set(used)) == len(used) and used == sorted(used)
    assert len(used) == max(rows - 2 * half, 0)
    write(tmp_path / "log.npz", {"t": np.arange(rows) * 1.0, "x": np.arange(rows) ** 2.0})
    parts = open_log(str(tmp_path / "log.npz")).chunks(["x"])
    for (a, b), (start, piece) in zip(ranges, rows_of_ranges(parts, ranges), strict=True):
        assert start == a and np.array_equal(piece[:, 0], np.arange(a, b) ** 2.0)


def test_derivatives_of_polynomials_are_exact_and_blocks_give_the_same_bits():
    derivative_filter, t = DerivativeFilter.of_cutoff(25.0, 0.002), np.arange(600) * 0.002
    powers = np.stack([t**k for k in range(5)], axis=1)
    inner = t[derivative_filter.half_width : -derivative_filter.half_width]
    for order, exact in ((0, inner**4), (1, 4 * inner**3), (2, 12 * inner**2)):
        assert np.allclose(
            derivative_filter.derivative(powers, order)[:, 4], exact, rtol=1e-8, atol=1e-7
        )
    both = derivative_filter.derivative(powers, 2)
    part = derivative_filter.derivative(powers[100 : 300 + 2 * derivative_filter.half_width], 2)
    assert np.array_equal(part, both[100:300])


@pytest.mark.parametrize("cutoff", [10.0, 20.0, 40.0])
def test_the_cutoff_is_where_half_of_the_power_is_left(cutoff):
    """To within a decibel, as the formula promises; slow motion passes."""
    derivative_filter, t = DerivativeFilter.of_cutoff(cutoff, 0.001), np.arange(4000) * 0.001

    def gain(frequency):
        wave = np.cos(2 * np.pi * frequency * (t - 2.0))[:, None]
        return derivative_filter.derivative(wave, 0)[2000 - derivative_filter.half_width, 0]

    assert gain(cutoff) == pytest.approx(np.sqrt(0.5), abs=0.07)
    assert gain(cutoff / 8) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("name", FEW)
def test_what_changes_the_momentum_beside_joint_forces(name):
    """N π = Cᵀ q̇ - g, and the rate of the momentum along any motion is τ + N π."""
    robot, random = ParametricModel(random_model(name)), np.random.default_rng(0)
    n = robot.model.dof
    q, qd, qdd = (random.uniform(-1, 1, n).tolist() for _ in range(3))
    pi = standard_parameters(lump_links(robot.model, [body.name for body in robot.model.bodies]))

    def of(quantity, **state):
        function = trace(robot, FunctionRequest.parse(quantity))
        return np.array(
            next(iter(function.run(**{k: state[k] for k in function.inputs}).values())), float
        )

    left = of("momentum_rate_regressor", q=q, qd=qd).reshape(n, -1) @ pi
    assert np.allclose(
        left,
        of("coriolis_transpose_product", q=q, qd=qd) - of("gravity", q=q),
        rtol=1e-9,
        atol=1e-9,
    )
    e = 1e-6
    ends = [
        of(
            "momentum_regressor",
            q=[a + s * e * b for a, b in zip(q, qd, strict=True)],
            qd=[a + s * e * b for a, b in zip(qd, qdd, strict=True)],
        ).reshape(n, -1)
        @ pi
        for s in (1, -1)
    ]
    rate = of("inverse_dynamics", q=q, qd=qd, qdd=qdd) + left
    assert np.allclose(
        (ends[0] - ends[1]) / (2 * e), rate, rtol=1e-6, atol=1e-6 * max(1.0, np.abs(rate).max())
    )
