"""Derivatives in true time, and what is done with uneven logs."""

import json
from functools import cache

import numpy as np
import pytest

from benchmarks.simulated_logs import Recipe, exact, moved, write
from symgen.identification.data.differentiation import ORDER, DerivativeFilter, automatic_cutoff
from symgen.identification.data.usable_rows import UsableRows
from symgen.jobs.job import Job
from tests.support.tools import invoke, robot_file

ARM = robot_file("scara")


def jittery(count, step=0.01, share=0.4, seed=0):
    """Times whose steps are off by up to a share of the usual one, some late, some left out."""
    random = np.random.default_rng(seed)
    t = np.arange(count) * step + random.uniform(-share / 2, share / 2, count) * step
    return np.delete(t, random.choice(count, count // 50, replace=False))


@pytest.mark.parametrize("share", [0.0, 0.4, 0.8])
def test_derivatives_of_polynomials_are_exact_in_true_time(share):
    t = jittery(300, share=share)
    derivative_filter = DerivativeFilter.of_cutoff(20.0, 0.01, even=False)
    powers = np.stack([t**k for k in range(ORDER + 1)], axis=1)
    inner = t[derivative_filter.half_width : -derivative_filter.half_width]
    for order, truth in ((0, inner**4), (1, 4 * inner**3), (2, 12 * inner**2)):
        found = derivative_filter.derivative(powers, order, t)[:, 4]
        assert np.allclose(found, truth, rtol=1e-7, atol=1e-6), order


def test_blocks_of_uneven_rows_give_the_same_bits():
    t = jittery(600)
    derivative_filter, x = DerivativeFilter.of_cutoff(10.0, 0.01, even=False), np.sin(t)[:, None]
    whole = derivative_filter.derivative(x, 2, t)
    part = slice(150, 380 + 2 * derivative_filter.half_width)
    assert np.array_equal(derivative_filter.derivative(x[part], 2, t[part]), whole[150:380])


def test_even_rows_have_the_filter_of_savitzky_and_golay():
    t = np.arange(200) * 0.01
    x = np.random.default_rng(0).normal(size=(200, 2))
    even, uneven = (DerivativeFilter.of_cutoff(12.0, 0.01, even=flag) for flag in (True, False))
    for order in range(3):
        assert np.allclose(
            even.derivative(x, order), uneven.derivative(x, order, t), rtol=1e-9, atol=1e-9
        )


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_the_noise_of_derivatives_is_foreseen(even, order):
    t, sigma = np.arange(4000) * 0.01, 1e-3
    noise = np.random.default_rng(1).normal(scale=sigma, size=(4000, 3))
    derivative_filter = DerivativeFilter.of_cutoff(15.0, 0.01, even=even)
    left = derivative_filter.derivative(np.sin(t)[:, None] + noise, order, t)
    clean = derivative_filter.derivative(np.sin(t)[:, None] + 0 * noise, order, t)
    foreseen = derivative_filter.noise(np.sin(t)[:, None] + noise, t, order)
    assert np.allclose(foreseen, np.std(left - clean, axis=0), rtol=0.1)


@pytest.mark.parametrize("hertz", [6.0, 11.0, 30.0])
def test_a_window_knows_its_cutoff(hertz):
    assert DerivativeFilter.of_cutoff(hertz, 0.002).cutoff == pytest.approx(hertz, rel=0.05)


@pytest.mark.parametrize("highest", [0.5, 1.5, 3.0])
@pytest.mark.parametrize("derived", [True, False])
def test_the_cutoff_is_chosen_by_the_motion(highest, derived):
    """Ten times the highest frequency, whatever the noise and the standstill beside it."""
    t = jittery(6000, share=0.3)
    moving = np.clip((t - 10.0) / 5.0, 0, 1) * np.clip((50.0 - t) / 5.0, 0, 1)
    waves = [0.3 * highest, 0.6 * highest, highest]
    q = sum(np.sin(2 * np.pi * f * t) for f in waves) * moving
    noise = np.random.default_rng(0).normal(size=(len(t), 2))
    qd = np.gradient(q, t) + 2e-3 * noise[:, 0]
    rows = np.column_stack([q + 1e-5 * noise[:, 1], qd])
    parts = iter([UsableRows(t, rows, np.zeros(len(t), bool))])
    assert automatic_cutoff(parts, 1, 0 if derived else 1, 0.01) == pytest.approx(
        10 * highest, rel=0.2
    )


# -- uneven logs -----------------------------------------------------------------------------------


@cache
def recorded(seed=0, duration=20.0, rate=100.0):
    """A log of true motion at jittery times, some rows late, one double, a gap in the middle, and
    the times that were meant."""
    job = Job.of(ARM)
    loaded = job.load()
    recipe = Recipe(duration=duration, rate=rate, seed=seed)
    random = np.random.default_rng(seed)
    t = np.arange(round(duration * rate)) / rate
    t = t + random.uniform(0, 0.4, len(t)) / rate
    t[300::97] += 0.6 / rate
    t = np.delete(t, slice(900, 940))
    q, qd, qdd = moved(loaded.model, recipe, t)
    tau = exact(job, loaded, recipe, q, qd, qdd)
    tau += random.normal(size=tau.shape) * 0.01 * np.sqrt(np.mean(tau**2, axis=0))
    names = loaded.model.joint_names
    columns = {"t": t} | {f"q_{n}": q[:, k] for k, n in enumerate(names)}
    columns |= {f"tau_{n}": tau[:, k] for k, n in enumerate(names)}
    return {name: np.insert(x, 500, x[500]) for name, x in columns.items()}


def test_an_uneven_log_gives_the_truth(tmp_path):
    """Jitter of 40 %, late and double rows and a gap; positions alone."""
    write(tmp_path / "log.csv", recorded())
    done = invoke("identify", ARM, tmp_path / "log.csv", "--friction", "none", "--json")
    assert done.exit_code == 0, done.output
    assert (
        "1 row with the same time as the row before" in done.stderr and "2 segments" in done.stderr
    )
    for name, row in json.loads(done.stdout)["parameters"].items():
        assert abs(row["estimate"] - row["prior"]) < 4 * row["standard_error"], name
