"""A scheduler of Dask and two workers, processes of their own that the test starts and ends."""

import contextlib
import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.simulated_logs import Recipe, simulated, write
from symgen.jobs.job import Job
from tests.support.tools import invoke, robot_file

pytestmark = pytest.mark.skipif(
    find_spec("distributed") is None, reason="needs Dask: pip install 'symgen[dask]'"
)
ARM = robot_file("scara")
ROOT = str(Path(__file__).resolve().parents[2])
PATIENCE = 300
"""Seconds that a machine under load may take to start processes; it is no part of the law."""
SLOW = {
    "distributed.comm.timeouts.connect": "300s",
    "distributed.comm.timeouts.tcp": "300s",
    "distributed.scheduler.worker-ttl": "1h",
}


@contextmanager
def cluster(folder):
    """The address of a scheduler with two workers."""
    patient = {
        "DASK_" + name.replace(".", "__").replace("-", "_").upper(): value
        for name, value in SLOW.items()
    }
    environment = os.environ | {"PYTHONPATH": ROOT} | patient
    file, own = folder / "scheduler.json", []

    def start(*arguments):
        command = [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]]
        log = (folder / f"{len(own)}.log").open("wb")
        own.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))
        log.close()

    try:
        start("dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", file)
        for _ in range(2):
            start(
                "dask_worker", "--scheduler-file", file, "--nthreads", "1", "--no-nanny",
                "--no-dashboard", "--local-directory", folder,
            )  # fmt: skip
        yield address(file)
    finally:
        for process in own:
            process.kill()
            process.wait(PATIENCE)


def address(file):
    """That of the scheduler, once it has written its file."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(OSError, ValueError, KeyError):
            return json.loads(file.read_text())["address"]
        time.sleep(0.1)
    pytest.skip(f"no scheduler of Dask within {PATIENCE} s on this machine")


def test_two_processes_give_the_bits_of_one(tmp_path):
    distributed = pytest.importorskip("distributed")
    job = Job.of(ARM)
    write(tmp_path / "log.npz", simulated(job, job.load(), Recipe(duration=8.0, rate=5000.0)))
    options = (ARM, tmp_path / "log.npz", "--friction", "viscous,coulomb", "--json")
    alone = invoke("identify", *options)
    assert alone.exit_code == 0, alone.output
    dask = pytest.importorskip("dask")
    with dask.config.set(SLOW), cluster(tmp_path) as address:
        with distributed.Client(address, timeout=PATIENCE, set_as_default=False) as client:
            try:
                client.wait_for_workers(2, timeout=PATIENCE)
            except TimeoutError:
                pytest.skip(f"no two workers of Dask within {PATIENCE} s on this machine")
            ids = client.run(os.getpid)
        there = invoke("identify", *options, "--scheduler", address)
    assert there.exit_code == 0, there.output
    assert len(set(ids.values()) - {os.getpid()}) == 2, "two processes that are not this one"
    assert there.stdout == alone.stdout
