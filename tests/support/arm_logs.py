"""A log of a small arm, and changes of it."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from benchmarks.simulated_logs import Recipe, simulated, write
from symgen.jobs.job import Job
from tests.support.tools import robot_file

ARM = robot_file("scara")


RECIPE = Recipe(duration=2.0, rate=200.0)


@cache
def good(**changes):
    job = Job.of(ARM)
    return simulated(job, job.load(), replace(RECIPE, **changes))


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Pictures are laid out but not drawn, which takes longest; one test draws one."""
    from symgen.identification.report import plots

    monkeypatch.setattr(
        plots,
        "encoded",
        lambda figure, kind: repr([axis.get_title("left") for axis in figure.axes]).encode(),
    )
    return plots


def log(folder, columns, suffix=".csv"):
    path = folder / f"log{suffix}"
    write(path, columns)
    return path


def but(*names):
    return {name: x for name, x in good().items() if not name.startswith(names)}


JOINT = Job.of(ARM).load().model.joint_names[0]


def lines():
    rows = zip(*(x.tolist() for x in good().values()), strict=True)
    return [",".join(good()), *(",".join(map(repr, row)) for row in rows)]


def matrices(columns):
    names = Job.of(ARM).load().model.joint_names
    return {"t": columns["t"]} | {
        p: np.stack([columns[f"{p}_{name}"] for name in names], 1)
        for p in ("q", "qd", "qdd", "tau")
    }
