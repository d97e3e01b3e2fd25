"""Held-out errors of the default estimate beside those of the simplest estimator: seven fixed laws
of friction and a rotor for each joint by weighted least squares, in three passes for the load.
``python -m benchmarks.friction_table [FOLDER]`` writes docs/benchmarks/friction_table.json; `make
figures` writes the table of docs/benchmarks/identification.md from it.

The seven laws are fitted and tried on filtered signals, with accelerations from filtered velocities.
The estimate predicts the same rows, and also each recorded sample as ``symgen predict`` does; then
both sides are filtered. All errors are by the norm of the same filtered forces, in percent."""

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from scipy.signal import butter, filtfilt

from benchmarks.real_logs import (
    TRIALS,
    Even,
    Numbers,
    Trial,
    errors,
    even,
    matrix,
    model_of,
    predicted,
    prepared,
    weighted,
)
from symgen.identification.diagnostics.cutoffs import open_with_best_cutoff
from symgen.identification.estimation.run import solved
from symgen.identification.prediction.prediction_errors import Predictor, joined, points_of

PASSES: Final = 3
"""Passes of the seven laws: each has the load of the one before."""
RESULTS: Final = Path(__file__).parents[1] / "docs" / "benchmarks" / "friction_table.json"


@dataclass(frozen=True)
class Split:
    """The name in the table, the logs that are fitted and the one that is tried, the robot and the
    filter (`trial`), and the presliding distance of each joint in the seven laws (rad)."""

    name: str
    fitted: tuple[str, ...]
    tried: str
    trial: Trial
    distances: tuple[float, ...]


UR10E: Final = replace(TRIALS[0], order=4)
PANDA: Final = replace(TRIALS[3], order=4)
OF_UR10E: Final = (0.3e-3, 1e-3, 1e-3, 1e-3, 1e-3, 0.3e-3)
MOTIONS: Final = {
    "30 s": "logs/ur10e/motion_30s.csv",
    "50 s": "logs/ur10e/motion_50s.csv",
    "20 s": "logs/ur10e/motion_20s_with_standstill.csv",
}
PAIRS: Final = (
    *((("50 s", "20 s"), "30 s"), (("30 s", "20 s"), "50 s"), (("30 s", "50 s"), "20 s")),
    *((("30 s",), "50 s"), (("50 s",), "30 s"), (("30 s",), "20 s"), (("50 s",), "20 s")),
)
SPLITS: Final = (
    *(
        Split(
            f"UR10e {' + '.join(fitted)}, {tried}",
            tuple(MOTIONS[name] for name in fitted),
            MOTIONS[tried],
            UR10E,
            OF_UR10E,
        )
        for fitted, tried in PAIRS
    ),
    Split(PANDA.name, (PANDA.fitted,), PANDA.fitted, PANDA, (4e-3,) * 7),
)


def rows(split: Split, folder: Path) -> tuple[list[Even], Even]:
    """The filtered rows of the logs that are fitted and of the one that is tried, without a period
    of the cut-off at the ends of each log."""
    trial, tried = split.trial, settled(even(split.trial, folder / split.tried, folder), split)
    fitted = [settled(even(trial, folder / name, folder), split) for name in split.fitted]
    if not trial.held_out:
        return fitted, tried
    edge = tried.t[0] + (1 - trial.held_out) * (tried.t[-1] - tried.t[0])
    return [tried.part(tried.t <= edge)], tried.part(tried.t > edge)


def settled(log: Even, split: Split) -> Even:
    """The rows more than a period of the cut-off from either end."""
    edge = 1 / split.trial.cutoff
    return log.part((log.t > log.t[0] + edge) & (log.t < log.t[-1] - edge))


def seven_laws(split: Split, folder: Path) -> Numbers:
    """Errors of all rows and of moving ones (2 x joints) by the seven laws."""
    fitted, tried = rows(split, folder)
    count = len(prepared(split.trial.robot, (), folder)[2].mapping)
    signals = zip(*(vars(log).values() for log in fitted), strict=True)
    whole = Even(*(np.concatenate(x) for x in signals))
    values: Numbers = np.zeros(0)
    for _ in range(PASSES):
        equations = np.concatenate([_laws(split, log, folder, values, count) for log in fitted])
        values = weighted(whole, equations, np.ones(whole.tau.shape, np.bool_))
    return errors(tried, _laws(split, tried, folder, values, count) @ values)


def _laws(split: Split, log: Even, folder: Path, before: Numbers, count: int) -> Numbers:
    """The regressor of the seven laws, with the load by the values `before` if there are any."""
    load = matrix(split.trial, log, folder, ()) @ before[:count] if len(before) else log.tau
    coulomb, state = np.tanh(log.qd / 0.02), presliding(log.q, np.array(split.distances))
    of_load = [np.abs(load) * coulomb, np.abs(load) * state]
    others = [log.qdd, log.qd, np.ones_like(log.qd), np.tanh(log.qd / 0.5)]
    return matrix(split.trial, log, folder, [*others, coulomb, state, *of_load])


def presliding(q: Numbers, distances: Numbers) -> Numbers:
    """Dahl's state in its rate-independent form, 0 at first."""
    states, state = np.zeros_like(q), np.zeros(q.shape[1])
    for k, step in enumerate(np.diff(q, axis=0), 1):
        direction = np.sign(step)
        state = direction + (state - direction) * np.exp(-np.abs(step) / distances)
        states[k] = state
    return states


def ours(split: Split, folder: Path) -> tuple[Numbers, Numbers]:
    """The errors of the default estimate on the filtered rows and from the recorded samples."""
    job, loaded, problem = prepared(split.trial.robot, (), folder)
    logs = [str(folder / name) for name in split.fitted]
    found = solved(job, loaded, problem, logs if len(logs) > 1 else logs[0], split.trial.settings())
    return (
        predicted(problem, found, rows(split, folder)[1]),
        of_samples(split, folder, model_of(problem, found)),
    )


def of_samples(split: Split, folder: Path, model: Predictor) -> Numbers:
    """The errors of the prediction of every recorded sample, filtered like the forces."""
    _, loaded, problem = prepared(split.trial.robot, (), folder)
    settings = split.trial.settings(held_out=0.0)
    blocks = open_with_best_cutoff(str(folder / split.tried), problem, loaded, settings).blocks(
        lambda step: None
    )
    states = model.equations.drives.presliding if model.equations.drives else None
    assert states is not None
    points = joined([points_of(samples, model) for samples in states.attached(blocks)])
    log = even(split.trial, folder / split.tried, folder)
    log = log.part((log.t >= points.t[0]) & (log.t <= points.t[-1]))
    at_rows = [np.interp(log.t, points.t, x) for x in points.predicted.T]
    step = float(np.median(np.diff(log.t)))
    filter_ = butter(split.trial.order, split.trial.cutoff * step * 2)
    smooth = filtfilt(*filter_, np.column_stack(at_rows), axis=0)
    tried = np.isin(log.t, rows(split, folder)[1].t) & np.isin(log.t, settled(log, split).t)
    return errors(log.part(tried), smooth[tried])


def main(folder: str = "../shared") -> None:
    """Writes the results file."""
    found: dict[str, dict[str, list[list[float]]]] = {}
    for split in SPLITS:
        same, recorded = ours(split, Path(folder))
        all_models = {
            "seven laws": seven_laws(split, Path(folder)),
            "default, same rows": same,
            "default, recorded samples": recorded,
        }
        found[split.name] = {name: np.round(x, 3).tolist() for name, x in all_models.items()}
        for name, x in all_models.items():
            print(split.name, name, *(np.round(row, 2) for row in x[::-1]), flush=True)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
