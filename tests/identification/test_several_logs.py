"""Several logs of one robot: one estimate, with an offset of each log."""

import json
import os
import signal

import numpy as np
import pytest

from benchmarks.simulated_logs import Motion, Recipe, simulated, write
from symgen.errors import OptionError, SymgenError
from symgen.identification.data.open_log import read_log, resolve_logs
from symgen.identification.estimation.log_groups import EliminatedColumns, means
from symgen.identification.estimation.run import identify
from symgen.identification.estimation.several_logs import DaskWorkers, open_workers, unlike
from symgen.identification.estimation.triangular_factors import TriangularFactors, triangle
from symgen.identification.model.settings import Settings
from symgen.identification.report.identification_report import drift_data, linear_drifts
from symgen.jobs.job import Job

JOB = Job.of("robots/scara.urdf")
LOADED = JOB.load(every_motor=True)
NAMES = LOADED.model.joint_names
SETTINGS = Settings(friction="viscous,coulomb,offset", held_out=0.2)
COUNT = 4
OFFSETS = np.random.default_rng(3).normal(size=(COUNT, len(NAMES)))
GROWTH = 0.1
"""By which part friction grows from log to log."""


@pytest.fixture(scope="module")
def columns():
    """The columns of the logs, an hour apart."""
    logs = []
    for k in range(COUNT):
        log = simulated(JOB, LOADED, Recipe(8.0, 100.0, k, Motion(0.3)))
        for j, name in enumerate(NAMES):
            rate = log[f"qd_{name}"]
            log[f"tau_{name}"] += (1 + GROWTH * k) * (3 * rate + 2 * np.sign(rate)) + OFFSETS[k, j]
        log["t"] += 1.7e9 + 3600 * k
        logs.append(log)
    return logs


@pytest.fixture(scope="module")
def folder(columns, tmp_path_factory):
    """A data set of the logs."""
    folder = tmp_path_factory.mktemp("logs")
    for k, log in enumerate(columns):
        write(folder / f"{k}.parquet", log)
    return folder


@pytest.fixture(scope="module")
def found(folder):
    return identify(JOB, LOADED, str(folder), SETTINGS)


def test_elimination_is_least_squares_with_an_unknown_of_each_log():
    random, logs = np.random.default_rng(1), 3
    supports, offset = ((0, 1, 3), (1, 2)), {0: (3,)}
    a = random.normal(size=(logs, 20, 2, 4))
    a[:, :, 0, 3] = 2.0  # the column of an offset, in units of its own
    y = random.normal(size=(logs, 20, 2)) + np.arange(logs)[:, None, None]
    found, parts = [], []
    for k in range(logs):
        rows = [np.column_stack([a[k, :, j][:, s], y[k, :, j]]) for j, s in enumerate(supports)]
        factors = TriangularFactors((20, 20), tuple(map(triangle, rows)))
        found.append(EliminatedColumns.of(factors, supports, offset, (), 4))
        parts.append(found[-1].without(factors, supports))
    parts.append(means(found, supports))
    assert parts[-1].rows == (1 - logs, 0)
    factors = np.concatenate([part.factors[0] for part in parts])
    own = np.linalg.lstsq(factors[:, :3], factors[:, 3], rcond=None)[0]
    wide = np.zeros((logs, 20, 2 + logs))
    wide[:, :, :2] = a[:, :, 0][:, :, [0, 1]]
    for k in range(logs):
        wide[k, :, 2 + k] = 2.0
    direct = np.linalg.lstsq(wide.reshape(-1, 2 + logs), y[:, :, 0].ravel(), rcond=None)[0]
    np.testing.assert_allclose(own, [*direct[:2], direct[2:].mean()], rtol=1e-10)
    rest = factors @ [*own, -1.0]
    left = wide.reshape(-1, 2 + logs) @ direct - y[:, :, 0].ravel()
    assert rest @ rest == pytest.approx(left @ left)


def test_offsets_of_the_logs_are_those_of_the_simulation(found):
    offsets = np.array([log.offsets for log in found.logs])
    np.testing.assert_allclose(offsets, OFFSETS, atol=0.15)
    places = [found.estimate.names.index(f"offset {name}") for name in NAMES]
    np.testing.assert_allclose(found.estimate.values[places], OFFSETS.mean(axis=0), atol=0.15)


def test_the_drift_of_friction_is_reported(found):
    change, error = linear_drifts(found.logs)["friction"]
    mean = 1 + GROWTH * (COUNT - 1) / 2
    np.testing.assert_allclose(change, GROWTH * (COUNT - 1) / mean, atol=0.03)
    assert (error < 0.03).all()
    data = json.loads(json.dumps(drift_data(found.logs, found.estimate.channels)))
    assert [log["file"] for log in data["logs"]] == [f"{k}.parquet" for k in range(COUNT)]


def test_a_data_set_is_the_list_of_its_files(found, folder, columns):
    files = tuple(str(folder / f"{k}.parquet") for k in range(COUNT))
    assert resolve_logs(str(folder)) == (files, ("",) * COUNT)
    again = identify(JOB, LOADED, [read_log(log) for log in columns], SETTINGS)
    np.testing.assert_array_equal(again.estimate.values, found.estimate.values)
    assert again.rows == found.rows == sum(len(log["t"]) for log in columns)


def test_a_url_is_a_data_set(folder):
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    logs, _ = resolve_logs(f"file://{folder}")
    assert [log.rows for log in logs] == [800] * COUNT


def test_a_log_of_another_robot_is_named(found):
    fits = list(found.logs)
    odd = fits[1]
    fits[1] = type(odd)(**{**vars(odd), "residual": 5 * odd.residual})
    (text,) = unlike(fits)
    assert "1.parquet: warning: the residuals of a joint are more than 3 times" in text
    assert not unlike(found.logs)


def test_workers_that_are_none_are_refused():
    with pytest.raises(OptionError, match="address of a Dask scheduler"), open_workers("here"):
        pass
    with pytest.raises(SymgenError, match="--workers"), open_workers("tcp://localhost:1"):
        pass


def _kill_once(task):
    """The square of a number; the first process that gets the number 2 dies."""
    number, mark = task
    if number == 2 and not os.path.exists(mark):  # noqa: PTH110
        with open(mark, "w", encoding="utf-8"):  # noqa: PTH123
            os.kill(os.getpid(), signal.SIGKILL)
    return number**2


def test_a_worker_that_dies_loses_nothing(tmp_path, found, folder):
    distributed = pytest.importorskip("distributed", reason="Dask's scheduler is not installed")
    local = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**local) as cluster, distributed.Client(cluster) as client:
        tasks = [(k, str(tmp_path / "mark")) for k in range(6)]
        assert [*DaskWorkers(client).map(_kill_once, tasks)] == [k**2 for k in range(6)]
        again = identify(JOB, LOADED, str(folder), SETTINGS, workers=cluster.scheduler_address)
    np.testing.assert_array_equal(again.estimate.values, found.estimate.values)
