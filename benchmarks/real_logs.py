"""Logs of real robots (in ../shared/logs, not part of the project): how well the estimate from one
predicts another, beside the usual recipe. ``python -m benchmarks.real_logs [FOLDER]`` prints what
docs/identification.md has; with ``--splits``, errors over parts of a log that are predicted from the
others.

The recipe: zero-phase Butterworth filters on all signals, velocities and accelerations by central
differences, weighted least squares for base parameters, rotors, viscous and Coulomb friction and an
offset. Both models predict the same rows, filtered as the recipe does, and are judged by the same forces:
the norm of the error by the norm of the force, in percent, by joint."""

import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.data.dataset import Wish, reading
from symgen.identification.data.samples import Samples
from symgen.identification.diagnostics.cutoffs import tuned
from symgen.identification.estimation.run import Identified, solved
from symgen.identification.model.equations import Instants
from symgen.identification.model.problem import Problem, problem
from symgen.identification.model.settings import Settings
from symgen.identification.prediction.prediction_errors import SLOW
from symgen.identification.prediction.predictors import predictor
from symgen.jobs.job import Job
from symgen.numbers.types import Numbers
from symgen.reading.assemble import LoadedRobot

GAINS: Final = (14.87, 13.26, 11.13, 10.62, 11.03, 11.47)
"""Drive gains in use for a UR10 in the literature (N m/A)."""


@dataclass(frozen=True)
class Trial:
    """A robot, the log that is fitted and the one that is tried; without that the end of the first,
    a part of it. `cutoff` is that of the recipe (Hz); symgen finds its own."""

    robot: str
    fitted: str
    tried: str | None
    held_out: float = 0.0
    cutoff: float = 10.0
    constants: tuple[tuple[str, float], ...] = ()

    @property
    def settings(self) -> Settings:
        """Those of the one command."""
        return Settings(
            friction="auto",
            armature=True,
            held_out=self.held_out,
            torque_constant=self.constants,
        )


UR10E: Final = tuple((f"joint{k}", gain) for k, gain in enumerate(GAINS, 1))
TRIALS: Final = (
    Trial("ur10e", "ur10e/motion_30s.csv", "ur10e/motion_50s.csv", cutoff=5.0, constants=UR10E),
    Trial("ur10e", "ur10e/motion_50s.csv", "ur10e/motion_30s.csv", cutoff=5.0, constants=UR10E),
    Trial("panda_arm", "panda/motion_14s.csv", None, 4 / 14, 10.0),
)


def ours(trial: Trial, folder: Path) -> Numbers:
    """Errors of all rows and of moving ones (2 x joints) by symgen identify."""
    job, loaded, sought = prepared(trial.robot, trial.settings)
    found = solved(job, loaded, sought, str(folder / trial.fitted), trial.settings)
    return predicted(sought, found, halves(trial, folder)[1])


@cache
def prepared(robot: str, settings: Settings) -> tuple[Job, LoadedRobot, Problem]:
    """The robot, and its problem, whose regressors are compiled once for all logs."""
    job = Job.of(f"robots/{robot}.urdf")
    loaded = job.load()
    return job, loaded, problem(job, loaded, settings)


def predicted(sought: Problem, found: Identified, tried: "Even") -> Numbers:
    """Errors of an estimate on some rows."""
    drives, b = found.equations.drives, len(found.estimate.mapping)
    columns = drives.columns if drives else ()
    model = predictor(sought, found.estimate.base, columns, found.estimate.values[b:].tolist())
    samples = Samples.of(tried.t, tried.q, tried.qd, tried.qdd, tried.tau)
    return errors(tried, model.equations.equations(samples).regressor @ model.values)


def halves(trial: Trial, folder: Path) -> tuple["Even", "Even"]:
    """The rows that are fitted and those that are tried, as the recipe has them; of the latter
    without a period of the cutoff at either end, where the filters of the recipe begin: their
    accelerations are wrong there, for both models."""
    whole = even(trial, folder / trial.fitted)
    edge = whole.t[0] + (1 - trial.held_out) * (whole.t[-1] - whole.t[0])
    tried = whole.part(whole.t > edge) if trial.tried is None else even(trial, folder / trial.tried)
    settled = (tried.t > tried.t[0] + 1 / trial.cutoff) & (tried.t < tried.t[-1] - 1 / trial.cutoff)
    return whole.part(whole.t <= edge), tried.part(settled)


def errors(log: "Even", predicted: Numbers) -> Numbers:
    """Of all rows and of moving ones (2 x joints)."""
    error, moving = log.tau - predicted, np.abs(log.qd) > SLOW
    shares = [(error * on, log.tau * on) for on in (np.ones_like(moving), moving)]
    return 100 * np.array(
        [np.linalg.norm(e, axis=0) / np.linalg.norm(y, axis=0) for e, y in shares]
    )


# -- the recipe ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Even:
    """A log on even times, filtered."""

    t: Numbers
    q: Numbers
    qd: Numbers
    qdd: Numbers
    tau: Numbers

    def part(self, rows: NDArray[np.bool_]) -> "Even":
        """Some rows."""
        return Even(*(x[rows] for x in vars(self).values()))


@cache
def even(trial: Trial, log: Path) -> Even:
    """The log as the recipe has it: interpolated to even steps, every signal filtered."""
    from scipy.signal import butter, filtfilt

    _, loaded, sought = prepared(trial.robot, Settings())
    read = reading(str(log), sought.wanted, loaded.model, trial.settings, Wish())
    raw = np.concatenate([np.column_stack([p.t, p.rows]) for p in read.source.usable()])
    step, n = read.step, loaded.model.dof
    t = np.arange(raw[0, 0], raw[-1, 0], step)
    columns = np.array([np.interp(t, raw[:, 0], x) for x in raw[:, 1:].T]).T
    b, a = butter(2, trial.cutoff * step * 2)
    smooth = filtfilt(b, a, columns, axis=0)
    q, qd, tau = smooth[:, :n], smooth[:, n : 2 * n], smooth[:, -n:]
    qdd = filtfilt(b, a, np.gradient(qd, step, axis=0), axis=0)
    return Even(t, q, qd, qdd, tau)


def recipe(trial: Trial, folder: Path) -> Numbers:
    """The same errors of the usual recipe."""
    fitted, tried = halves(trial, folder)
    return errors(tried, matrix(trial, tried) @ weighted(trial, fitted))


def weighted(trial: Trial, fitted: Even) -> Numbers:
    """The recipe's values from some rows."""
    a = matrix(trial, fitted)
    values: Numbers = np.zeros(0)
    weights = np.ones(fitted.tau.shape[1])
    for _ in range(10):
        rows, y = a * weights[:, None], fitted.tau * weights
        found = np.linalg.lstsq(rows.reshape(-1, a.shape[2]), y.ravel(), rcond=1e-10)
        values = np.asarray(found[0], np.float64)
        weights = 1 / np.sqrt(np.mean((fitted.tau - a @ values) ** 2, axis=0))
    return values


def matrix(trial: Trial, log: Even) -> Numbers:
    """The recipe's regressor (N x n x p)."""
    equations: Any = prepared(trial.robot, Settings())[2].equations(0, None)
    assert isinstance(equations, Instants)
    base = equations.kernel(log.q, log.qd, log.qdd)
    own = [log.qdd, log.qd, np.sign(log.qd), np.ones_like(log.qd)]
    return np.concatenate([base, *(x[:, :, None] * np.eye(x.shape[1]) for x in own)], axis=2)


# -- parts of a log from the others ----------------------------------------------------------------

SPLITS: Final = {
    "10 s, the 4 after": (((0, 10),), (10, 14)),
    "10 s, the 4 before": (((4, 14),), (0, 4)),
    "4 s, the 10 after": (((0, 4),), (4, 14)),
    "4 s, the 10 before": (((10, 14),), (0, 10)),
    "7 s, the 7 after": (((0, 7),), (7, 14)),
    "7 s, the 7 before": (((7, 14),), (0, 7)),
    "10 s, the 4 between": (((0, 5), (9, 14)), (5, 9)),
}
"""Fitted and tried fourteenths of a log."""
PARTED: Final = (
    Trial("panda_arm", "panda/motion_14s.csv", None, 0.0, 10.0),
    Trial("ur10e", "ur10e/motion_30s.csv", None, 0.0, 5.0, UR10E),
    Trial("ur10e", "ur10e/motion_50s.csv", None, 0.0, 5.0, UR10E),
)


def part_of(log: Path, ranges: Iterable[tuple[int, int]], out: Path) -> Path:
    """A log's rows of some fourteenths, as they are recorded."""
    head, *rows = log.read_text(encoding="utf-8").splitlines()
    kept = [
        row
        for a, b in ranges
        for row in rows[round(a / 14 * len(rows)) : round(b / 14 * len(rows))]
    ]
    out.write_text("\n".join([head, *kept, ""]), encoding="utf-8")
    return out


def split(trial: Trial, log: Path, cutoff: float, name: str) -> tuple[Numbers, Numbers]:
    """The errors (joints) of moving rows by the recipe and by symgen."""
    fitted, (a, b) = SPLITS[name]
    settings = replace(trial.settings, cutoff=cutoff)
    with tempfile.TemporaryDirectory() as folder:
        some = part_of(log, fitted, Path(folder) / "fitted.csv")
        whole = even(trial, log)
        t, length = whole.t - whole.t[0], whole.t[-1] - whole.t[0]
        edge = 1 / trial.cutoff
        within = (t > a / 14 * length + edge) & (t < b / 14 * length - edge)
        used = np.any([(t >= x / 14 * length) & (t < y / 14 * length) for x, y in fitted], axis=0)
        tried = whole.part(within)
        usual = errors(tried, matrix(trial, tried) @ weighted(trial, whole.part(used)))[1]
        job, loaded, sought = prepared(trial.robot, trial.settings)
        found = solved(job, loaded, sought, str(some), settings)
    return usual, predicted(sought, found, tried)[1]


def split_lines(folder: Path) -> Iterator[str]:
    """Errors of every split and their geometric mean, derivatives by the cutoff of the whole log."""
    for trial in PARTED:
        log = folder / trial.fitted
        _, loaded, sought = prepared(trial.robot, trial.settings)
        read = tuned(str(log), sought, loaded, trial.settings, Wish(0, 0.0, True))
        cutoff = read.derivation.cutoff if read.derivation else 0.0
        yield f"{trial.fitted}, moving rows"
        every = {name: split(trial, log, cutoff, name) for name in SPLITS}
        every["geometric mean"] = tuple(
            np.exp(np.mean(np.log([pair[k] for pair in every.values()]), axis=0)) for k in (0, 1)
        )
        for name, pair in every.items():
            for model, row in zip(("recipe", "symgen"), pair, strict=True):
                yield f"  {name:20} {model:7} " + ", ".join(f"{x:.2f}" for x in row)


def lines(folder: Path) -> Iterator[str]:
    """A table."""
    for trial in TRIALS:
        yield f"{trial.fitted} -> {trial.tried or 'its end'}, {trial.cutoff:g} Hz"
        for name, found in (("recipe", recipe(trial, folder)), ("symgen", ours(trial, folder))):
            for view, row in zip(("all", "moving"), found, strict=True):
                yield f"  {name:7} {view:7} " + ", ".join(f"{x:.2f}" for x in row)


def main(folder: str = "../shared/logs", *, splits: bool = False) -> None:
    """Prints the table."""
    for line in (split_lines if splits else lines)(Path(folder)):
        print(line, flush=True)


if __name__ == "__main__":
    main(
        *(x for x in sys.argv[1:] if x != "--splits"),
        splits="--splits" in sys.argv,
    )
