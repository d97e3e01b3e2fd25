"""The whole example: ``python -m examples.adaptive_mpc.run [FOLDER]`` (`make adaptive-mpc`).

The same task four times: parameters never updated, updated by the generated filter, by one in
NumPy, and known. Writes results.json and plots, and prints the table. Where the system permits, the
loop has real-time priority, as loops of controllers have; then once more without."""

import gc
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, sleep, thread_time
from typing import Any

import numpy as np

from examples.adaptive_mpc import task
from examples.adaptive_mpc.estimator import PayloadEstimator, is_consistent
from examples.adaptive_mpc.inertia import Array
from examples.adaptive_mpc.model import NOTHING, Arm
from examples.adaptive_mpc.mpc import Controller
from examples.adaptive_mpc.plant import Noise, Plant
from examples.adaptive_mpc.recursive import RecursiveEstimator

MODES = ("off", "on", "numpy", "known")
"""The estimator: none, the generated one, the one in NumPy, and the true payload in its place."""

PRIORITY = 10
"""Among those of real-time processes, 1 to 99."""


@dataclass(frozen=True)
class Log:
    """One run, a row a step: times (s), errors of the hand (m), its positions (m), torques (N m),
    the controller's parameters and their standard deviations, milliseconds of linearisation,
    quadratic program and estimator, milliseconds of processor time of the whole step; the number of
    steps whose program was not solved."""

    times: Array
    errors: Array
    hand: Array
    torques: Array
    payloads: Array
    deviations: Array
    milliseconds: Array
    processor: Array
    unsolved: int


def simulate(
    arm: Arm,
    mode: str,
    duration: float = task.DURATION,
    iterations: int = 1,
    nodes: int = 10,
    paced: bool = False,
) -> Log:
    """Close the loop: measure, control, hold the torque for a period, estimate from both samples.

    `paced`: a step begins a period after the one before, by the clock of the machine."""
    plant = Plant(arm, task.HOME, task.SCHEDULE, Noise())
    controller = Controller(arm, task.HOME, nodes, task.PERIOD, iterations=iterations)
    estimator = _estimator(arm, mode, plant.noise)
    beliefs: dict[str, Callable[[], Array]] = {
        "off": lambda: NOTHING,
        "on": lambda: estimator.estimate,
        "numpy": lambda: estimator.estimate,
        "known": lambda: plant.payload,
    }
    ahead = task.PERIOD * np.arange(nodes + 1)
    rows: list[tuple[Any, ...]] = []
    before = plant.sense(np.zeros(arm.dof))
    controller.step(before.q, before.qd, task.target(ahead), beliefs[mode]())  # sets up the solver
    begun = perf_counter()
    for k in range(round(duration / task.PERIOD)):
        if paced:
            sleep(max(0.0, begun + k * task.PERIOD - perf_counter()))
        payload, used = beliefs[mode](), thread_time()
        step = controller.step(before.q, before.qd, task.target(plant.time + ahead), payload)
        used = thread_time() - used
        after = plant.run(step.torque, task.PERIOD)
        start, again = perf_counter(), thread_time()
        if estimated(mode):
            estimator.update(before, after)
        spent = (step.linearise, step.solve, perf_counter() - start)
        used += thread_time() - again
        deviations = np.sqrt(np.diag(estimator.covariance))
        times = (1e3 * np.array(spent), 1e3 * used)
        rows.append((*_seen(plant), step.torque, payload, deviations, *times, not step.solved))
        before = after
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return Log(*columns[:8], unsolved=int(columns[8].sum()))


def _estimator(arm: Arm, mode: str, noise: Noise) -> PayloadEstimator | RecursiveEstimator:
    if mode == "numpy":
        return PayloadEstimator(arm, task.EXPECTED, noise, task.PERIOD)
    return RecursiveEstimator(arm, task.EXPECTED, noise, task.PERIOD, task.HOME)


def _seen(plant: Plant) -> tuple[float, float, Array]:
    """Time, the hand's distance from its target, and where it is."""
    hand = plant.arm.hand(plant.q, plant.qd).position
    away = np.linalg.norm(hand - task.target(np.array(plant.time)).position)
    return plant.time, float(away), hand


def estimated(mode: str) -> bool:
    """Whether the payload is estimated."""
    return mode in ("on", "numpy")


@contextmanager
def real_time() -> Iterator[bool]:
    """Real-time priority and no collection of garbage; gives whether the system permits the
    first."""
    gc.collect()
    gc.freeze()
    gc.disable()
    permitted = True
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except (AttributeError, OSError):  # another system, or not allowed to this user
        permitted = False
    try:
        yield permitted
    finally:
        gc.enable()
        gc.unfreeze()
        if permitted:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def summary(arm: Arm, log: Log) -> dict[str, Any]:
    """Figures of a run: errors (mm) by phase, milliseconds and steps beyond the period, largest
    torque by its limit."""
    whole, period = log.milliseconds.sum(1), 1e3 * task.PERIOD
    return {
        "rms_mm": {name: _rms(log, *span) for name, span in task.PHASES.items()},
        "largest_mm": float(1e3 * log.errors[log.times > task.PHASES["no payload"][0]].max()),
        "ms": {
            "linearise": float(np.median(log.milliseconds[:, 0])),
            "qp": float(np.median(log.milliseconds[:, 1])),
            "estimate": float(np.median(log.milliseconds[:, 2])),
            "median": float(np.median(whole)),
            "p99": float(np.quantile(whole, 0.99)),
            "largest": float(whole.max()),
            "late_percent": float(100 * np.mean(whole > period)),
        },
        "processor_ms": {
            "median": float(np.median(log.processor)),
            "p99": float(np.quantile(log.processor, 0.99)),
            "largest": float(log.processor.max()),
        },
        "torque_by_limit": float((np.abs(log.torques) / arm.limits.effort).max()),
        "unsolved": log.unsolved,
    }


def convergence(log: Log) -> dict[str, Any]:
    """How the estimate does after each change: largest errors a second later and at the end, and 5
    % of the mass."""
    found = {}
    for name, (since, truth), until in zip(
        ("2.5 kg", "1.2 kg"), task.SCHEDULE, (task.CHANGED, task.DURATION), strict=True
    ):
        during = (log.times > since + 1e-9) & (log.times <= until + 1e-9)
        times, ten = log.times[during] - since, log.payloads[during]
        away = np.abs(ten[:, 0] / truth[0] - 1) > 0.05
        centre = np.linalg.norm(ten[:, 1:4] / ten[:, :1] - truth[1:4] / truth[0], axis=1)
        found[name] = {
            "s_to_5_percent_of_mass": float(times[away].max() + task.PERIOD) if away.any() else 0.0,
            "mass_error_percent": float(100 * abs(ten[-1, 0] / truth[0] - 1)),
            "centre_error_mm": float(1e3 * centre[-1]),
            "largest_inertia_error": float(np.abs(ten[-1, 4:] - truth[4:]).max()),
            "consistent": bool(all(is_consistent(row) for row in ten)),
        }
    return found


def _rms(log: Log, since: float, until: float) -> float:
    during = (log.times > since + 1e-9) & (log.times <= until + 1e-9)
    return float(1e3 * np.sqrt(np.mean(log.errors[during] ** 2)))


def table(runs: dict[str, Any]) -> str:
    """The figures as a table in Markdown."""
    names = list(task.PHASES)
    times = ("median", "p99", "largest", "late_percent")
    heads = [*(f"{name}, rms mm" for name in names), "largest mm", "ms a step, median", *times[1:]]
    lines = ["| estimator | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for mode, row in runs.items():
        figures = [row["rms_mm"][name] for name in names] + [row["largest_mm"]]
        figures += [row["ms"][name] for name in times]
        lines.append(f"| {mode} | " + " | ".join(f"{x:.2f}" for x in figures) + " |")
    return "\n".join(lines)


def main(folder: Path) -> None:
    from examples.adaptive_mpc.plots import draw

    folder.mkdir(parents=True, exist_ok=True)
    print("generating and compiling the dynamics (half a minute)")
    arm = Arm(task.ROBOT, task.LINK)
    with real_time() as permitted:
        logs = {mode: simulate(arm, mode, paced=True) for mode in MODES}
    runs = {mode: summary(arm, log) for mode, log in logs.items()}
    runs["on, ordinary priority"] = summary(arm, simulate(arm, "on", paced=True))
    found = {
        "real_time_priority": permitted,
        "runs": runs,
        "estimate": {mode: convergence(logs[mode]) for mode in MODES if estimated(mode)},
    }
    (folder / "results.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    draw({mode: log for mode, log in logs.items() if mode != "numpy"}, folder)
    print(table(runs))
    print(json.dumps(found["estimate"], indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/adaptive-mpc"))
