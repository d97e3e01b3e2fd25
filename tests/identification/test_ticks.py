"""Rows that a recorder has polled from a controller have the time of the controller's ticks."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from symgen.identification.data.column_map import ColumnMap, NeededColumns
from symgen.identification.data.dataset import dataset_of
from symgen.identification.data.log_options import LogOptions
from symgen.identification.data.open_log import open_log
from symgen.identification.data.sample_clock import PolledClock, TimestampCorrection

PANDA = Path(__file__).parents[3] / "shared" / "logs" / "panda" / "motion_14s.csv"
NAMES = ("a", "b", "c")


def motion(t):
    """Positions and velocities of three joints, which stand still for two seconds."""
    phase = np.where(t < 3, t, np.where(t < 5, 3.0, t - 2))
    begun = np.clip(phase, 0, 1) ** 2
    speeds = np.array([1.0, 2.3, 3.1])
    q = begun[:, None] * np.sin(phase[:, None] * speeds)
    moves = ((t < 3) | (t >= 5)).astype(float)
    slope = np.where(phase < 1, 2 * phase, 0.0)
    rates = slope[:, None] * np.sin(phase[:, None] * speeds)
    return q, (rates + begun[:, None] * speeds * np.cos(phase[:, None] * speeds)) * moves[:, None]


def polled(period=1e-3, jitter=0.3, seed=0, noise=1e-5, skew=1.0):
    """Stamps of a recorder, the ticks that it read, and what it read."""
    random = np.random.default_rng(seed)
    stamps = np.cumsum(period * (1 + jitter * random.uniform(-1, 1, 8000))) + 7.3
    ticks = np.floor((stamps - 7.3) / period)
    q, qd = motion(ticks * period)
    rows, place = np.unique(ticks, return_inverse=True)
    own = random.normal(size=(2, len(rows), 3)) * noise
    return stamps * skew, ticks, q + 0.01 * own[0][place], qd + own[1][place]


@pytest.mark.parametrize("jitter", [0.2, 0.6])
@pytest.mark.parametrize("skew", [1.0, 1.0002])
@pytest.mark.parametrize("period", [1e-3, 8e-3])
def test_rows_get_the_ticks_that_they_are_of(jitter, skew, period):
    stamps, ticks, q, qd = polled(period, jitter, skew=skew)
    found = PolledClock.of(stamps[:4000], q[:4000], qd[:4000])
    assert found is not None
    assert found.period == pytest.approx(period, rel=5e-4)
    times = TimestampCorrection(found)(stamps, q, qd)
    numbers = np.round((times - times[0]) / found.period)
    moving = (qd**2).mean(1) > 0.1
    steps, true = np.diff(numbers)[moving[1:]], np.diff(ticks)[moving[1:]]
    assert np.mean(steps == true) > 0.999
    assert np.abs(numbers - (ticks - ticks[0])).max() <= 2  # where it stands still stamps tell


def test_pieces_do_not_matter():
    stamps, _, q, qd = polled()
    found = PolledClock.of(stamps, q, qd)
    whole, one = TimestampCorrection(found)(stamps, q, qd), TimestampCorrection(found)
    edges = [0, 1, 2, 500, 501, 3000, len(stamps)]
    parts = [one(stamps[a:b], q[a:b], qd[a:b]) for a, b in pairwise(edges)]
    assert np.diff(np.concatenate(parts)) == pytest.approx(np.diff(whole), abs=2e-3)
    moved = (qd[1:] ** 2).mean(1) > 0.1
    assert np.array_equal(
        np.round(np.diff(np.concatenate(parts)) * 1e3)[moved], np.round(np.diff(whole) * 1e3)[moved]
    )


def test_stamps_of_the_motion_are_kept():
    """Jitter that is in the motion too, and velocities so noisy that they tell nothing."""
    random = np.random.default_rng(1)
    t = np.cumsum(1e-3 * (1 + 0.3 * random.uniform(-1, 1, 4000)))
    assert PolledClock.of(t, *motion(t)) is None
    stamps, _, q, qd = polled()
    assert PolledClock.of(stamps, q, qd + random.normal(size=qd.shape)) is None
    assert PolledClock.of(stamps[:100], q[:100], qd[:100]) is None
    assert PolledClock.of(stamps, np.zeros_like(q), np.zeros_like(qd)) is None


def test_a_gap_and_a_recorder_that_begins_anew():
    stamps, ticks, q, qd = polled()
    found = PolledClock.of(stamps, q, qd)
    kept = np.r_[0:1000, 1500:8000]
    times = TimestampCorrection(found)(stamps[kept], q[kept], qd[kept])
    assert times[-1] - times[0] == pytest.approx((ticks[-1] - ticks[0]) * 1e-3, abs=2.1e-3)
    twice = [np.concatenate([x, x[:3000]]) for x in (stamps, q, qd)]
    times = TimestampCorrection(found)(*twice)
    assert times[-1] == pytest.approx(times[2999], abs=2.1e-3)


def test_a_log_says_so(tmp_path):
    stamps, _, q, qd = polled()
    path = tmp_path / "log.npz"
    columns = {f"q_{n}": x for n, x in zip(NAMES, q.T, strict=True)}
    columns |= {f"qd_{n}": x for n, x in zip(NAMES, qd.T, strict=True)}
    np.savez(path, t=stamps, **columns)
    wanted = NeededColumns(NAMES, ("rad",) * 3, NAMES, (), True)

    read = dataset_of(open_log(str(path)), wanted, None, ColumnMap.of(LogOptions()))
    assert read.survey.clock.step == 1e-3
    assert "identical to the row before" in "".join(read.survey.left_out)
    assert any("a recorder that polls" in note for note in read.notes)


@pytest.mark.skipif(not PANDA.exists(), reason="the logs of real robots are not here")
def test_the_log_of_a_real_robot():
    d = np.genfromtxt(PANDA, delimiter=",", skip_header=1)
    found = PolledClock.of(d[:, 0], d[:, 1:8], d[:, 8:15])
    assert found is not None
    assert found.period == 1e-3
    late = d[:, 0] - TimestampCorrection(found)(d[:, 0], d[:, 1:8], d[:, 8:15])
    assert np.quantile(late[200:], 0.99) - np.quantile(late[200:], 0.01) < 1.6e-3
