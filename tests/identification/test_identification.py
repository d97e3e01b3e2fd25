"""Identification: laws of its parts, and what it finds in simulated logs whose truth is known."""

import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from random_trees import FEW
from random_trees import model as random_model
from tools import robot_file

from benchmarks.simulated_logs import Motion, Recipe, Sensors, simulated, write
from symgen.identification.derivatives import Derivation
from symgen.identification.estimate import Estimate
from symgen.identification.estimation import ExcitationError
from symgen.identification.logs import open_log
from symgen.identification.methods import problem, standard_parameters
from symgen.identification.rates import Rates
from symgen.identification.reduction import Factors, reduced, triangle, whole
from symgen.identification.rounds import Rounds
from symgen.identification.run import identify
from symgen.identification.samples import BLOCK, Plan, Samples, pieces
from symgen.identification.settings import Settings
from symgen.identification.solve import System, solve
from symgen.identification.standard import Prior, deviations
from symgen.jobs.job import Job
from symgen.mechanics.parameters import lumped
from symgen.tracing.robot import Robot
from symgen.tracing.trace import trace
from symgen.tracing.wanted import Wanted

ARM, SMALL = robot_file("ur5"), robot_file("scara")
SILENT = Sensors(noise=0.0)
SHORT = Recipe(duration=8.0, rate=200.0)
FRICTION = {
    "viscous joint1": 2.0,
    "coulomb joint1": 1.5,
    "offset joint3": 0.2,
    "viscous joint5": 0.7,
}
ALL = "runtime:viscous,coulomb,offset"
SEEN = Rates(np.ones(6), np.zeros(6), 0)


@cache
def loaded(file, **options):
    job = Job.of(file, **options)
    return job, job.load()


def found(tmp_path, recipe, settings=None, suffix=".npz", accelerations=True, file=ARM, **options):
    """What identification finds in the log of a recipe."""
    job, robot = loaded(file, **options)
    path = tmp_path / f"log{suffix}"
    write(path, simulated(job, robot, recipe, accelerations))
    return identify(job, robot, str(path), settings or Settings())


def truth(estimate: Estimate, friction=None):
    given = friction or {}
    return np.array(
        [
            *estimate.mapping.base(estimate.mapping.prior),
            *(given.get(n, 0.0) for n in estimate.friction),
        ]
    )


def scores(estimate, friction=None):
    return (estimate.values - truth(estimate, friction)) / estimate.standard_errors


# -- reduction -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "columns"), [(1, 3), (3, 3), (1000, 7), (5000, 40), (400, 150), (0, 2)]
)
def test_a_triangle_has_the_products_of_its_matrix(rows, columns):
    matrix = np.random.default_rng(0).normal(size=(rows, columns))
    r = triangle(matrix)
    assert r.shape == (columns, columns) and np.array_equal(r, np.triu(r))
    assert np.allclose(r.T @ r, matrix.T @ matrix, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 16, 21])
def test_parts_in_a_tree_are_the_whole(count):
    random = np.random.default_rng(count)
    a, y = random.normal(size=(count, 30, 2, 4)), random.normal(size=(count, 30, 2))
    supports = ((0, 1, 2, 3), (1, 3))
    parts = [reduced(*pair, supports) for pair in zip(a, y, strict=True)]
    total = whole(iter(parts))
    assert total.rows == (30 * count, 30 * count)
    for j, columns in enumerate(supports):
        joined = np.concatenate(
            [a[:, :, j, list(columns)].reshape(-1, len(columns)), y[:, :, j].reshape(-1, 1)], 1
        )
        assert np.allclose(
            total.factors[j].T @ total.factors[j], joined.T @ joined, rtol=1e-12, atol=1e-12
        )
    again = whole(iter(parts))
    assert all(
        np.array_equal(one, other) for one, other in zip(total.factors, again.factors, strict=True)
    )


def test_a_tree_keeps_no_more_than_its_levels():
    alive, most = 0, 0

    class Watched(Factors):
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

    assert whole(parts()).rows == (1000,) and most <= 11
    assert whole(iter(())) is None


# -- reading ---------------------------------------------------------------------------------------


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
    ("rows", "half", "interval", "held_out"),
    [
        (20_000, 0, 0, 0.2),
        (70_000, 33, 0, 0.3),
        (9000, 5, 10, 0.25),
        (4096, 0, 0, 0.0),
        (70, 3, 4, 0.5),
        (3, 5, 0, 0.1),
    ],
)
def test_a_plan_uses_every_row_once(tmp_path, rows, half, interval, held_out):
    plan, more = Plan(((0, rows),), half, interval, held_out), bool(interval)
    ranges = [*plan.training, *plan.validation]
    inner = [(a + half, b - half - more) for a, b in ranges]
    assert all(b - a <= BLOCK and b <= rows for a, b in inner) and all(b <= rows for _, b in ranges)
    used = [k for a, b in inner for k in range(a, b)]
    assert len(set(used)) == len(used) and used == sorted(used)
    usable = max(rows - 2 * half - more, 0)
    assert len(used) >= usable - 2 * max(interval - 1, 0)
    write(tmp_path / "log.npz", {"t": np.arange(rows) * 1.0, "x": np.arange(rows) ** 2.0})
    parts = open_log(str(tmp_path / "log.npz")).chunks(["x"])
    for (a, b), (start, piece) in zip(ranges, pieces(parts, ranges), strict=True):
        assert start == a and np.array_equal(piece[:, 0], np.arange(a, b) ** 2.0)


# -- derivatives -----------------------------------------------------------------------------------


def test_derivatives_of_polynomials_are_exact_and_blocks_give_the_same_bits():
    derivation, t = Derivation.of_cutoff(25.0, 0.002), np.arange(600) * 0.002
    powers = np.stack([t**k for k in range(5)], axis=1)
    inner = t[derivation.half : -derivation.half]
    for order, exact in ((0, inner**4), (1, 4 * inner**3), (2, 12 * inner**2)):
        assert np.allclose(derivation.derivative(powers, order)[:, 4], exact, rtol=1e-8, atol=1e-7)
    both = derivation.derivative(powers, 2)
    part = derivation.derivative(powers[100 : 300 + 2 * derivation.half], 2)
    assert np.array_equal(part, both[100:300])


@pytest.mark.parametrize("cutoff", [10.0, 20.0, 40.0])
def test_the_cutoff_is_where_half_of_the_power_is_left(cutoff):
    """To within a decibel, as the formula promises; slow motion passes."""
    derivation, t = Derivation.of_cutoff(cutoff, 0.001), np.arange(4000) * 0.001

    def gain(frequency):
        wave = np.cos(2 * np.pi * frequency * (t - 2.0))[:, None]
        return derivation.derivative(wave, 0)[2000 - derivation.half, 0]

    assert gain(cutoff) == pytest.approx(np.sqrt(0.5), abs=0.07)
    assert gain(cutoff / 8) == pytest.approx(1.0, abs=1e-3)


# -- a regressor that needs no accelerations -------------------------------------------------------


@pytest.mark.parametrize("name", FEW)
def test_what_changes_the_momentum_beside_joint_forces(name):
    """N π = Cᵀ q̇ - g, and the rate of the momentum along any motion is τ + N π."""
    robot, random = Robot(random_model(name)), np.random.default_rng(0)
    n = robot.model.dof
    q, qd, qdd = (random.uniform(-1, 1, n).tolist() for _ in range(3))
    pi = standard_parameters(lumped(robot.model, [body.name for body in robot.model.bodies]))

    def of(quantity, **state):
        function = trace(robot, Wanted.parse(quantity))
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


# -- what is found ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "tolerance"),
    [
        (Settings(), 1e-11),
        (Settings(method="momentum"), 1e-4),
        (Settings(method="energy"), 1e-4),
    ],
)
def test_a_log_without_noise_gives_the_truth(tmp_path, settings, tolerance):
    """The balances integrate, and jumps of Coulomb friction with them, so they are held to less."""
    friction = {} if settings.method != "acceleration" else FRICTION
    options = {"friction": ALL} if friction else {"file": SMALL}
    estimate = found(
        tmp_path, replace(SHORT, sensors=SILENT, friction=friction), settings, **options
    ).estimate
    assert np.allclose(estimate.values, truth(estimate, friction), rtol=0, atol=tolerance)
    assert all(
        c.residual < 1e-4 * c.measured and c.validation_residual < 1e-4 * c.measured
        for c in estimate.channels
    )


def test_a_wrench_without_noise_gives_the_truth(tmp_path):
    estimate = found(
        tmp_path, replace(SHORT, sensors=SILENT, wrench="link3"), Settings(sensor="wrench:joint3")
    ).estimate
    assert [c.name for c in estimate.channels] == ["fx", "fy", "fz", "tx", "ty", "tz"]
    assert np.allclose(estimate.values, truth(estimate), rtol=0, atol=1e-11)
    bodies = {name.rpartition("_")[2] for name in estimate.names}
    assert bodies == {"3", "4", "5", "6"}, "a wrench depends on what the joint carries alone"
    total = sum(estimate.mapping.prior[10 * k] for k in range(2, 6))
    assert estimate.values[estimate.names.index("MR_3")] == pytest.approx(total), (
        "and weighs all of it"
    )


def test_standard_errors_are_those_of_many_logs():
    """Over many draws of noise the errors have a mean square of one standard error each, within
    what chance leaves."""
    job, robot = loaded(ARM, friction=ALL)
    sought, quiet = (
        problem(job, robot, Settings()),
        simulated(job, robot, replace(SHORT, sensors=SILENT)),
    )
    drives = Rounds(sought, Settings(), 0, None, SEEN, None).drives()
    names = robot.model.joint_names
    rest = (
        np.stack([quiet[f"{p}_{name}"] for name in names], 1) for p in ("q", "qd", "qdd", "tau")
    )
    equations, random, size = (
        sought.equations(0, drives),
        np.random.default_rng(0),
        len(sought.mapping) + len(drives.columns),
    )
    rows = equations.equations(Samples.of(quiet["t"], *rest))
    a, y = rows.regressor, rows.measured
    true = np.concatenate(
        [sought.mapping.base(sought.mapping.prior), np.zeros(len(drives.columns))]
    )
    every = []
    for _ in range(20):
        noisy = y + random.normal(size=y.shape) * np.arange(1.0, 7.0)
        solution = solve(System(reduced(a, noisy, equations.supports), equations.supports, size))
        inverse = np.linalg.inv(solution.factor)
        every.append((solution.values - true) / np.sqrt(np.sum(inverse**2, axis=1)))
    assert np.mean(np.square(every)) == pytest.approx(1.0, abs=0.15) and np.abs(every).max() < 4.5


def test_positions_alone_are_enough(tmp_path):
    """Noise and steps of an encoder, velocities and accelerations by the filter."""
    sensors = Sensors(noise=0.01, quantum=2e-5)
    result = found(tmp_path, replace(SHORT, sensors=sensors), suffix=".parquet")
    assert result.reading.derivation is not None and not result.reading.layout.qd
    assert np.abs(scores(result.estimate)).max() < 4.5


def test_a_noisy_joint_weighs_less(tmp_path):
    job, robot = loaded(ARM)
    columns = simulated(job, robot, SHORT)
    quiet = columns["tau_joint2"]
    rough = quiet + np.random.default_rng(1).normal(size=len(quiet)) * 20.0
    write(tmp_path / "log.npz", columns | {"tau_joint2": rough})
    estimate = identify(job, robot, str(tmp_path / "log.npz"), Settings()).estimate
    assert estimate.channels[1].deviation == pytest.approx(20.0, rel=0.1)
    assert np.abs(scores(estimate)).max() < 4.5


def test_a_delay_is_seen_in_the_residuals(tmp_path):
    exact, late = (
        found(tmp_path, replace(SHORT, sensors=Sensors(noise=1e-3, delay=delay))).estimate
        for delay in (0, 10)
    )
    assert all(
        b.residual > 3 * a.residual for a, b in zip(exact.channels, late.channels, strict=True)
    )


def test_a_motion_that_excites_too_little_is_refused_and_a_prior_helps(tmp_path):
    slow = replace(SHORT, motion=Motion(frequency=2e-4))
    with pytest.raises(
        ExcitationError, match=r"does not excite \d of 8 parameters \(condition number"
    ):
        found(tmp_path, slow, file=SMALL)
    result = found(tmp_path, slow, Settings(full=True), file=SMALL)
    assert (
        "the prior decides them" in result.notes[0]
        and np.isfinite(result.estimate.standard_errors).all()
    )
    assert np.abs(scores(result.estimate)).max() < 4.5


def test_standard_parameters_are_the_least_squares_with_the_prior(tmp_path):
    """Against one dense least squares of the log and the prior together, from another prior than
    the truth."""
    result = found(tmp_path, SHORT, Settings(full=True, prior_deviation=0.2))
    mapping = result.estimate.mapping
    prior = Prior(replace(mapping, prior=mapping.prior * 1.1), deviations(mapping, 0.2))
    r, z = result.estimate.factor, result.estimate.factor @ result.estimate.values
    both = np.concatenate([r @ mapping.factors, np.diag(1 / prior.deviation)])
    wanted = np.linalg.lstsq(
        both, np.concatenate([z, prior.mapping.prior / prior.deviation]), rcond=None
    )[0]
    belief = prior.belief(0)
    joint = np.concatenate(
        [np.column_stack([r, z]), np.column_stack([belief.factor, belief.target])]
    )
    t = triangle(joint)
    base = np.linalg.solve(t[:-1, :-1], t[:-1, -1])
    values, errors = prior.standard(base, np.linalg.inv(t[:-1, :-1].T @ t[:-1, :-1]))
    assert np.allclose(values, wanted, rtol=1e-6, atol=1e-8)
    assert np.allclose(errors, np.sqrt(np.diag(np.linalg.inv(both.T @ both))), rtol=1e-5)
    assert np.allclose(mapping.factors @ values, base, rtol=1e-9, atol=1e-9)
    assert np.allclose(
        mapping.base(result.estimate.standard), result.estimate.base, rtol=0, atol=1e-12
    )


def test_the_factor_tells_the_covariance_of_base_parameters(tmp_path):
    estimate = found(tmp_path, SHORT, file=SMALL, friction=ALL).estimate
    b = len(estimate.mapping)
    r = estimate.base_factor
    assert np.allclose(np.linalg.inv(r.T @ r), estimate.covariance[:b, :b], rtol=1e-6, atol=1e-15)


# -- who computes ----------------------------------------------------------------------------------


def test_dask_gives_the_same(tmp_path):
    """Workers behind a TCP scheduler get everything as bytes; ten blocks, more than are in flight
    at a time."""
    distributed = pytest.importorskip("distributed")
    recipe = replace(SHORT, rate=5000.0)
    alone = found(tmp_path, recipe, file=SMALL)
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=2,
        processes=False,
        protocol="tcp://",
        dashboard_address=None,
    ) as cluster:
        settings = Settings(scheduler=cluster.scheduler_address)
        there = found(tmp_path, recipe, settings, file=SMALL)
    assert np.allclose(there.estimate.values, alone.estimate.values, rtol=1e-10, atol=0)
    assert np.allclose(there.estimate.factor, alone.estimate.factor, rtol=1e-10, atol=1e-8)
    assert there.estimate.channels == alone.estimate.channels


def test_equations_travel(tmp_path):
    """What goes to a worker gives the same bits after a journey as bytes."""
    result = found(tmp_path, SHORT, file=SMALL)
    there = pickle.loads(pickle.dumps(result.equations))
    here, far = (e.equations(result.last[0]).regressor for e in (result.equations, there))
    assert np.array_equal(here, far) and there.supports == result.equations.supports


def test_weights_settle_where_no_joint_explains_another():
    """Without common parameters each channel's deviation is that of its own least squares."""
    random = np.random.default_rng(0)
    a, sizes = random.normal(size=(500, 2, 4)), (0.1, 3.0)
    a[:, 0, 2:], a[:, 1, :2] = 0.0, 0.0
    y = a @ [1.0, 2.0, 3.0, 4.0] + random.normal(size=(500, 2)) * sizes
    supports = ((0, 1), (2, 3))
    solution = solve(System(reduced(a, y, supports), supports, 4))
    for j, own in enumerate(supports):
        x, rest, *_ = np.linalg.lstsq(a[:, j, list(own)], y[:, j], rcond=None)
        assert np.allclose(solution.values[list(own)], x, rtol=1e-9)
        assert solution.deviations[j] == pytest.approx(np.sqrt(rest[0] / 498), rel=1e-9)
