"""Identification measured: ``python -m benchmarks.identification [FOLDER]`` prints what
docs/identification.md has.

A simulated Panda log of 60 s at 1 kHz with 1 % noise on the torques (seed 0), then logs of 10⁵ to
10⁷ rows in each format, identified in a process of its own, whose peak memory is read from the
kernel. Logs are made in FOLDER (a few gigabytes; /tmp by default) and removed."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.simulated_logs import Recipe, simulated
from benchmarks.simulated_logs import write as write_log
from symgen.identification.estimation.run import identify
from symgen.identification.model.settings import Settings
from symgen.jobs.job import Job

ROBOT = "robots/panda_arm.urdf"
PART = 100_000
SIZES = {".parquet": (10**5, 10**6, 10**7), ".csv": (10**5, 10**6), ".npz": (10**5, 10**6)}


def parts(rows: int) -> Iterator[dict[str, Any]]:
    """A long log in parts, each with noise of its own."""
    job = Job.of(ROBOT)
    loaded, whole = job.load(), Recipe()
    for start in range(0, rows, PART):
        yield simulated(
            job, loaded, replace(whole, duration=PART / whole.rate, start=start / whole.rate)
        )


def _parquet(path: Path, rows: int) -> None:
    import pyarrow
    import pyarrow.parquet

    writer = None
    for part in parts(rows):
        table = pyarrow.table(part)
        writer = writer or pyarrow.parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer:
        writer.close()


def _csv(path: Path, rows: int) -> None:
    from pyarrow import csv, table

    with path.open("wb") as stream:
        for k, part in enumerate(parts(rows)):
            csv.write_csv(table(part), stream, csv.WriteOptions(include_header=not k))


def _npz(path: Path, rows: int) -> None:
    found = list(parts(rows))
    write_log(path, {name: np.concatenate([part[name] for part in found]) for name in found[0]})


WRITERS: dict[str, Callable[[Path, int], None]] = {".parquet": _parquet, ".csv": _csv, ".npz": _npz}


def _peak() -> float:
    """The largest resident memory of this process (MB); ru_maxrss would count what its parent had
    before exec."""
    status = Path("/proc/self/status").read_text()
    return (
        int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
        / 1024
    )


def one(path: str) -> dict[str, Any]:
    """The figures of one run in this process."""
    job, begin = Job.of(ROBOT), time.perf_counter()
    estimate = identify(job, job.load(), path, Settings(friction="none")).estimate
    seconds, used = time.perf_counter() - begin, time.process_time()
    true = estimate.mapping.base(estimate.mapping.prior)
    scores = np.abs(estimate.base - true) / estimate.standard_errors
    return {
        "seconds": seconds,
        "cpu": used,
        "peak": _peak(),
        "worst": float(scores.max()),
        "beyond": int((scores > 3).sum()),
        "count": len(scores),
        "condition": estimate.condition,
        "scaled": estimate.scaled_condition,
        "values": estimate.values.tolist(),
        "residuals": [c.residual_rms / c.measured_rms for c in estimate.channels],
        "validation": [
            (c.validation_residual_rms or 0) / (c.validation_measured_rms or 1)
            for c in estimate.channels
        ],
    }


def apart(path: Path) -> dict[str, Any]:
    """The figures of one run in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.identification", "--one", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def minute(folder: Path) -> None:
    """Seeds 0 to 9 of the log of 60 s."""
    job, path = Job.of(ROBOT), folder / "minute.parquet"
    loaded = job.load()
    for seed in range(10):
        write_log(path, simulated(job, loaded, replace(Recipe(), seed=seed)))
        row = apart(path)
        print(
            f"seed {seed}: condition {row['condition']:.4g} (scaled {row['scaled']:.4g}), worst "
            f"{row['worst']:.2f} "
            f"standard errors, {row['beyond']} of {row['count']} beyond 3, residual "
            f"{100 * max(row['residuals']):.3f} %, validation {100 * max(row['validation']):.3f} "
            f"% of rms at most, "
            f"{row['seconds']:.1f} s ({row['cpu']:.1f} s of processor), {row['peak']:.0f} MB",
            flush=True,
        )


def long(folder: Path) -> None:
    """Time and memory as logs grow."""
    for suffix, sizes in SIZES.items():
        for rows in sizes:
            path = folder / f"long{suffix}"
            WRITERS[suffix](path, rows)
            row = apart(path)
            print(
                f"{suffix[1:]:8s} {rows:9d} rows {path.stat().st_size / 1e6:8.0f} MB: "
                f"{row['seconds']:7.1f} s "
                f"({row['cpu']:.1f} s of processor), peak "
                f"{row['peak']:5.0f} MB, worst {row['worst']:.2f} standard errors",
                flush=True,
            )
            path.unlink()


def main() -> None:
    """The figures, in a scratch folder."""
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as name:
        minute(Path(name))
        long(Path(name))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(*sys.argv[2:3])))
    else:
        main()
