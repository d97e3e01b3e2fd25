"""The whole example: ``python -m examples.adaptive_mpc.run [FOLDER]`` (`make adaptive-mpc`).

The same task three times: parameters never updated, updated by the estimator, and known. Writes
results.json and plots, and prints the table."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from examples.adaptive_mpc import task
from examples.adaptive_mpc.estimator import PayloadEstimator, is_consistent
from examples.adaptive_mpc.inertia import Array
from examples.adaptive_mpc.model import NOTHING, Arm
from examples.adaptive_mpc.mpc import Controller
from examples.adaptive_mpc.plant import Noise, Plant

MODES = ("off", "on", "known")
"""The estimator: switched off, switched on, and the true payload in its place."""


@dataclass(frozen=True)
class Log:
    """One run, a row a step: times (s), errors of the hand (m), its positions (m), torques (N m),
    the controller's parameters and their standard deviations, milliseconds of linearisation,
    quadratic program and estimator; the number of steps whose program was not solved."""

    times: Array
    errors: Array
    hand: Array
    torques: Array
    payloads: Array
    deviations: Array
    milliseconds: Array
    unsolved: int


def simulate(
    arm: Arm, mode: str, duration: float = task.DURATION, iterations: int = 1, nodes: int = 10
) -> Log:
    """Close the loop: measure, control, hold the torque for a period, estimate from both
    samples."""
    noise = Noise()
    plant = Plant(arm, task.HOME, task.SCHEDULE, noise)
    controller = Controller(arm, task.HOME, nodes, task.PERIOD, iterations=iterations)
    estimator = PayloadEstimator(arm, task.EXPECTED, noise, task.PERIOD)
    beliefs: dict[str, Callable[[], Array]] = {
        "off": lambda: NOTHING,
        "on": lambda: estimator.estimate,
        "known": lambda: plant.payload,
    }
    ahead = task.PERIOD * np.arange(nodes + 1)
    rows: list[tuple[Any, ...]] = []
    before = plant.sense(np.zeros(arm.dof))
    for _ in range(round(duration / task.PERIOD)):
        payload = beliefs[mode]()
        step = controller.step(before.q, before.qd, task.target(plant.time + ahead), payload)
        after = plant.run(step.torque, task.PERIOD)
        start = perf_counter()
        if mode == "on":
            estimator.update(before, after)
        spent = (step.linearise, step.solve, perf_counter() - start)
        hand = arm.hand(plant.q, plant.qd).position
        error = float(np.linalg.norm(hand - task.target(np.array(plant.time)).position))
        rows.append(
            (
                plant.time,
                error,
                hand,
                step.torque,
                payload,
                np.sqrt(np.diag(estimator.covariance)),
                1e3 * np.array(spent),
                not step.solved,
            )
        )
        before = after
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return Log(*columns[:7], unsolved=int(columns[7].sum()))


def summary(arm: Arm, log: Log) -> dict[str, Any]:
    """Figures of a run: errors (mm) by phase, milliseconds, largest torque by its limit."""
    whole = log.milliseconds.sum(1)
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
    lines = [
        "| estimator | "
        + " | ".join(f"{name}, rms mm" for name in names)
        + " | largest mm | ms a step, median"
        " | p99 | largest |",
        "|---" * (len(names) + 5) + "|",
    ]
    for mode, row in runs.items():
        errors = [f"{row['rms_mm'][name]:.2f}" for name in names] + [f"{row['largest_mm']:.2f}"]
        lines.append(
            "| "
            + " | ".join(
                [mode, *errors, *(f"{row['ms'][k]:.1f}" for k in ("median", "p99", "largest"))]
            )
            + " |"
        )
    return "\n".join(lines)


def main(folder: Path) -> None:
    from examples.adaptive_mpc.plots import draw

    folder.mkdir(parents=True, exist_ok=True)
    print("generating and compiling the dynamics (half a minute)")
    arm = Arm(task.ROBOT, task.LINK)
    logs = {mode: simulate(arm, mode) for mode in MODES}
    runs = {mode: summary(arm, log) for mode, log in logs.items()}
    found = {"runs": runs, "estimate": convergence(logs["on"])}
    (folder / "results.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    draw(logs, folder)
    print(table(runs))
    print(json.dumps(found["estimate"], indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/adaptive-mpc"))
