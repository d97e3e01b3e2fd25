"""Many logs of one robot: ``python -m benchmarks.fleet [LOGS]`` simulates logs of 60 s over a year,
as a folder of Parquet files, and identifies the robot from them in one process, and on two worker
processes, one of which is killed in the middle. Writes docs/benchmarks/fleet.json; `make
figures` writes the figures of docs/benchmarks/identification.md from it. Needs Dask's distributed
scheduler.

The robot is a SCARA (4 joints). Its offsets change from log to log, and its friction grows over the
year; the simulation has both, so that the drift report can be compared with it."""

import json
import os
import resource
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.simulated_logs import Motion, Recipe, simulated, write
from symgen.identification.estimation.run import Identified, identify
from symgen.identification.model.settings import Settings
from symgen.identification.report.identification_report import by_time, linear_drifts
from symgen.jobs.job import Job

ROBOT: Final = "robots/scara.urdf"
RESULTS: Final = Path(__file__).parents[1] / "docs" / "benchmarks" / "fleet.json"
DURATION, RATE = 60.0, 10.0
YEAR: Final = 365 * 86400.0
BEGIN: Final = 1.7e9
"""The date of the first log (s since 1970)."""
VISCOUS, COULOMB = 3.0, 2.0
GROWTH: Final = 0.2
"""The part by which friction grows over the year."""
OFFSET: Final = 0.3
"""The deviation of the offsets of the logs (N m or N)."""


def make(folder: Path, count: int) -> np.ndarray:
    """Write the logs; the offset of each log and joint (logs x n)."""
    job = Job.of(ROBOT)
    loaded = job.load()
    names = loaded.model.joint_names
    offsets = OFFSET * np.random.default_rng(1).normal(size=(count, len(names)))
    for k in range(count):
        columns = simulated(job, loaded, Recipe(DURATION, RATE, k, Motion(0.1)), False)
        part = k / max(count - 1, 1)
        for j, name in enumerate(names):
            rate = columns[f"qd_{name}"]
            friction = (1 + GROWTH * part) * (VISCOUS * rate + COULOMB * np.sign(rate))
            columns[f"tau_{name}"] = columns[f"tau_{name}"] + friction + offsets[k, j]
        columns["t"] = columns["t"] + BEGIN + YEAR * part
        write(folder / f"{k:05d}.parquet", columns)
    return offsets


def found(folder: Path, workers: str = "") -> tuple[Identified, float]:
    """The estimate from all logs, and the time it takes (s)."""
    job = Job.of(ROBOT)
    loaded = job.load(every_motor=True)
    begin = time.perf_counter()
    settings = Settings(friction="viscous,coulomb,offset")
    result = identify(job, loaded, str(folder), settings, workers=workers)
    return result, time.perf_counter() - begin


def _peak() -> float:
    """The largest memory of this process so far (MB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def on_workers(folder: Path, kill_after: float | None = None) -> tuple[Identified, dict[str, Any]]:
    """The same on two worker processes, one of which may be killed after a time (s)."""
    from distributed import Client, LocalCluster

    local: Any = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**local) as cluster, Client(cluster) as client:
        pids = client.run(os.getpid)
        if kill_after is not None:
            victim = next(iter(pids.values()))
            threading.Timer(kill_after, os.kill, (victim, signal.SIGKILL)).start()
        result, seconds = found(folder, cluster.scheduler_address)
        after = client.run(os.getpid)
        memory = {"worker_mb": [round(x) for x in client.run(_peak).values()]}
        lost = len({*pids.values()} - {*after.values()})
        return result, {"seconds": round(seconds, 1), "lost_workers": lost, **memory}


def same(a: Identified, b: Identified) -> bool:
    """Whether two estimates and their logs have the same bits."""
    pairs = [(a.estimate.values, b.estimate.values), (a.estimate.factor, b.estimate.factor)]
    pairs += [(x.offsets, y.offsets) for x, y in zip(a.logs, b.logs, strict=True)]
    return all(np.array_equal(x, y) for x, y in pairs)


def main(count: int = 1000) -> None:
    """Writes the results file."""
    with tempfile.TemporaryDirectory(prefix="symgen-fleet-") as name:
        folder = Path(name)
        truth = make(folder, count)
        megabytes = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
        print("made", flush=True)
        alone, seconds = found(folder)
        print("one process", seconds, flush=True)
        broken, of_broken = on_workers(folder, seconds / 4)
        print("two workers, one killed", of_broken, flush=True)
    logs = by_time(alone.logs)
    rms = float(np.sqrt(np.mean((np.array([log.offsets for log in logs]) - truth) ** 2)))
    change, error = linear_drifts(logs)["friction"]
    mean = 1 + GROWTH / 2
    results = {
        "logs": count,
        "seconds_of_a_log": DURATION,
        "rate": RATE,
        "rows": alone.rows,
        "megabytes": round(megabytes, 1),
        "one_process": {"seconds": round(seconds, 1), "peak_mb": round(_peak())},
        "two_workers": {**of_broken, "same_bits": same(alone, broken)},
        "offset_rms_error": float(f"{rms:.3g}"),
        "friction_change": [round(x, 4) for x in change.tolist()],
        "friction_change_error": [round(x, 4) for x in error.tolist()],
        "friction_change_simulated": round(GROWTH / mean, 4),
    }
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(results)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
