"""Logs of real robots (in ../shared, not part of the project): how well the estimate from one log
predicts another one, and how well two versions of the textbook recipe do. ``python -m
benchmarks.real_logs [FOLDER]`` writes docs/benchmarks/real_logs.json; `make figures` writes the
tables of docs/benchmarks/identification.md from it.

The recipe: zero-phase Butterworth filters on all signals, velocities and accelerations by central
differences, weighted least squares for base parameters, rotors, viscous and Coulomb friction and an
offset. All models predict the same rows, filtered as the recipe does, and are compared with the same
forces: the norm of the error by the norm of the force, in percent, by joint."""

import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.consistency.nearest_bodies import nearest_consistent_bodies
from symgen.identification.data.dataset import open_dataset
from symgen.identification.data.samples import Samples
from symgen.identification.estimation.run import Identified, solved
from symgen.identification.model.problem import Problem, problem_for
from symgen.identification.model.settings import Settings
from symgen.identification.prediction.prediction_errors import SLOW, Predictor, predictor
from symgen.jobs.job import Job
from symgen.reading.assemble import LoadedRobot

Numbers = NDArray[np.float64]

GAINS: Final = (11.33, 12.20, 9.99, 10.30, 10.05, 10.26)
"""Torque constants (N m/A) by `symgen gains` from motion_50s and motion_50s_load."""
UR10E: Final = tuple((f"joint{k}", gain) for k, gain in enumerate(GAINS, 1))


@dataclass(frozen=True)
class Trial:
    """The name in the tables, a robot, the log that is fitted and the one that is tried, or the
    part of the first that is held out. `cutoff` (Hz) and `order` are those of the recipe's filter;
    symgen finds its own cut-off. `robot` is a file in the folder of the logs if it has a path;
    `couple` are lines of ``--couple``."""

    name: str
    robot: str
    fitted: str
    tried: str | None
    held_out: float = 0.0
    cutoff: float = 10.0
    constants: tuple[tuple[str, float], ...] = ()
    couple: tuple[tuple[str, str], ...] = ()
    rate: float = 0.0
    order: int = 2

    def settings(self, **options: Any) -> Settings:
        """Those of the one command, with some options in place of the defaults."""
        log = {"held_out": self.held_out, "torque_constant": self.constants, "rate": self.rate}
        return Settings(**(log | options))


MADE: Final = Path(tempfile.gettempdir()) / "symgen-tx40"
WRIST: Final = """<transmission name="wrist">
<type>transmission_interface/FourBarLinkageTransmission</type>
<joint name="joint_5"><role>joint1</role><mechanicalReduction>1</mechanicalReduction></joint>
<joint name="joint_6"><role>joint2</role><mechanicalReduction>1</mechanicalReduction></joint>
<actuator name="motor_5"><role>actuator1</role><mechanicalReduction>45</mechanicalReduction></actuator>
<actuator name="motor_6"><role>actuator2</role><mechanicalReduction>32</mechanicalReduction></actuator>
</transmission></robot>"""
"""The sixth motor of a TX40 turns with the sum of the angles of joints 5 and 6."""


def make_tx40(folder: Path) -> None:
    """Write the TX40 with the transmission of its wrist, and its log in joint coordinates: q = K⁻¹
    motor positions, τ = Kᵀ motor torques (logs3/README.md)."""
    MADE.mkdir(exist_ok=True)
    text = (folder / "logs3/staubli_tx40.urdf").read_text()
    (MADE / "tx40.urdf").write_text(text.replace("</robot>", WRIST))
    rows = np.loadtxt(folder / "logs3/staubli_tx40_6s.csv", delimiter=",", skiprows=1)
    ratios = np.diag([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])
    ratios[5, 4] = 32.0
    q = rows[:, 1:7] @ np.linalg.inv(ratios).T + np.pi / 2 * np.array([0, -1, 1, 0, 0, 0])
    table = np.column_stack([rows[:, 0], q, rows[:, 7:13] @ ratios])
    names = [f"{name}_joint_{k}" for name in ("q", "tau") for k in range(1, 7)]
    header = ",".join(["t", *names])
    np.savetxt(MADE / "tx40_joints.csv", table, "%.9g", ",", header=header, comments="")


UR10E_LOGS: Final = (
    ("UR10e 30 s, 50 s", "motion_30s", "motion_50s"),
    ("UR10e 50 s, 30 s", "motion_50s", "motion_30s"),
    ("UR10e 50 s, 20 s with standstill", "motion_50s", "motion_20s_with_standstill"),
)
TRIALS: Final = (
    *(
        Trial(name, "ur10e", f"logs/ur10e/{a}.csv", f"logs/ur10e/{b}.csv", 0, 5.0, UR10E)
        for name, a, b in UR10E_LOGS
    ),
    Trial("Panda first 10 s, last 4 s", "panda_arm", "logs/panda/motion_14s.csv", None, 4 / 14),
    Trial(
        "Rokae first 10 s, last 4 s",
        "logs3/rokae_xmate.urdf",
        "logs3/rokae_xmate_14s.csv",
        None,
        4 / 14,
    ),
    Trial(
        "TX40 first 4 s, last 2 s",
        str(MADE / "tx40.urdf"),
        str(MADE / "tx40_joints.csv"),
        None,
        1 / 3,
        20.0,
    ),
    Trial(
        "MTM first 20 s, last 10 s",
        "logs3/dvrk_mtm.urdf",
        "logs3/dvrk_mtm_one_200hz.csv",
        None,
        1 / 3,
        8.0,
        couple=(("j31", "j2:1,j3:1"), ("j32", "j3:-1")),
        rate=200.0,
    ),
)
"""The TX40 has its log in joint coordinates and its coupled wrist as a transmission (`make_tx40`)."""


def ours(trial: Trial, folder: Path, **options: Any) -> Numbers:
    """Errors of all rows and of moving ones (2 x joints) by symgen identify."""
    settings = trial.settings(**options)
    job, loaded, problem = prepared(trial.robot, trial.couple, folder)
    found = solved(job, loaded, problem, str(folder / trial.fitted), settings)
    return predicted(problem, found, halves(trial, folder)[1])


def of_bodies(trial: Trial, folder: Path) -> Numbers:
    """The same errors of the physically consistent bodies that ``--urdf`` writes, with their
    drives."""
    job, loaded, problem = prepared(trial.robot, trial.couple, folder)
    found = solved(job, loaded, problem, str(folder / trial.fitted), trial.settings())
    rows = sum(map(found.system.rows, found.system.channels))
    written = nearest_consistent_bodies(loaded.model, found.estimate, rows)
    values = np.concatenate([written.base, written.drives])
    changed = replace(found, estimate=replace(found.estimate, values=values))
    return predicted(problem, changed, halves(trial, folder)[1])


@cache
def prepared(
    robot: str, couple: tuple[tuple[str, str], ...], folder: Path
) -> tuple[Job, LoadedRobot, Problem]:
    """The robot, and its problem, whose regressors are compiled once for all logs."""
    file = folder / robot if "/" in robot else Path(f"robots/{robot}.urdf")
    job = Job.of(str(file), couple=couple) if couple else Job.of(str(file))
    loaded = job.load(every_motor=True)
    return job, loaded, problem_for(job, loaded, Settings())


def model_of(problem: Problem, found: Identified) -> Predictor:
    """What predicts other logs with an estimate."""
    drives, b = found.equations.drives, len(found.estimate.mapping)
    columns = drives.columns if drives else ()
    return predictor(problem, found.estimate.base, columns, found.estimate.values[b:].tolist())


def predicted(problem: Problem, found: Identified, tried: "Even") -> Numbers:
    """Errors of an estimate on some rows."""
    model = model_of(problem, found)
    samples = Samples.of(tried.t, tried.q, tried.qd, tried.qdd, tried.tau)
    return errors(tried, model.equations.equations(samples).regressor @ model.values)


def halves(trial: Trial, folder: Path) -> tuple["Even", "Even"]:
    """The rows that are fitted and those that are tried, as the recipe has them; of the latter
    without a period of the cutoff at either end, where the filters of the recipe begin: their
    accelerations are wrong there, for both models."""
    whole = even(trial, folder / trial.fitted, folder)
    edge = whole.t[0] + (1 - trial.held_out) * (whole.t[-1] - whole.t[0])
    tried = (
        whole.part(whole.t > edge)
        if trial.tried is None
        else even(trial, folder / trial.tried, folder)
    )
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
def even(trial: Trial, log: Path, folder: Path) -> Even:
    """The log as the recipe has it: interpolated to even steps, every signal filtered."""
    from scipy.signal import butter, filtfilt

    _, loaded, problem = prepared(trial.robot, trial.couple, folder)
    read = open_dataset(str(log), problem.needed, loaded.model, trial.settings())
    raw = np.concatenate([np.column_stack([p.t, p.rows]) for p in read.row_reader.usable()])
    step, n = read.step, loaded.model.dof
    t = np.arange(raw[0, 0], raw[-1, 0], step)
    columns = np.array([np.interp(t, raw[:, 0], x) for x in raw[:, 1:].T]).T
    b, a = butter(trial.order, trial.cutoff * step * 2)
    smooth = filtfilt(b, a, columns, axis=0)
    q, tau = smooth[:, :n], smooth[:, -n:]
    qd = (
        smooth[:, n : 2 * n]
        if read.layout.qd
        else filtfilt(b, a, np.gradient(q, step, axis=0), axis=0)
    )
    qdd = filtfilt(b, a, np.gradient(qd, step, axis=0), axis=0)
    return Even(t, q, qd, qdd, tau)


def recipe(trial: Trial, folder: Path, slowest: float = 0.0) -> Numbers:
    """The same errors of the usual recipe, fitted to the rows of each joint that are faster than
    `slowest` (rad/s)."""
    fitted, tried = halves(trial, folder)
    used = np.abs(fitted.qd) >= slowest
    values = weighted(fitted, matrix(trial, fitted, folder, textbook(fitted)), used)
    return errors(tried, matrix(trial, tried, folder, textbook(tried)) @ values)


def weighted(fitted: Even, a: Numbers, used: NDArray[np.bool_]) -> Numbers:
    """The recipe's values from the rows of each joint that are `used` and their regressor."""
    values: Numbers = np.zeros(0)
    weights = used / 1.0
    for _ in range(10):
        rows, y = a * weights[:, :, None], fitted.tau * weights
        found = np.linalg.lstsq(rows.reshape(-1, a.shape[2]), y.ravel(), rcond=1e-10)
        values = np.asarray(found[0], np.float64)
        squares = np.mean(np.square(fitted.tau - a @ values), axis=0, where=used)
        weights = used / np.sqrt(squares)
    return values


def textbook(log: Even) -> list[Numbers]:
    """The columns of each joint in the recipe."""
    return [log.qdd, log.qd, np.sign(log.qd), np.ones_like(log.qd)]


def matrix(trial: Trial, log: Even, folder: Path, own: Sequence[Numbers]) -> Numbers:
    """The regressor (N x n x p) of base parameters and of the joints' `own` columns."""
    problem = prepared(trial.robot, trial.couple, folder)[2]
    equations: Any = problem.equations(None)
    assert equations.joint_kernel is not None
    base = equations.joint_kernel(log.q, log.qd, log.qdd)
    return np.concatenate([base, *(x[:, :, None] * np.eye(x.shape[1]) for x in own)], axis=2)


MODELS: Final[dict[str, Callable[[Trial, Path], Numbers]]] = {
    "textbook": recipe,
    "textbook, moving rows": lambda trial, folder: recipe(trial, folder, SLOW),
    "default": ours,
    "default, bodies of --urdf": of_bodies,
    "default without the prior": lambda trial, folder: ours(trial, folder, prior_deviation=1e6),
}
"""By name in the tables; the second is the recipe fitted to rows faster than 0.02 rad/s."""
RESULTS: Final = Path(__file__).parents[1] / "docs" / "benchmarks" / "real_logs.json"


def main(folder: str = "../shared") -> None:
    """Writes the results file."""
    make_tx40(Path(folder))
    found: dict[str, dict[str, list[list[float]]]] = {}
    for trial in TRIALS:
        found[trial.name] = {
            name: np.round(model(trial, Path(folder)), 3).tolist() for name, model in MODELS.items()
        }
        print(trial.name, found[trial.name], flush=True)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
