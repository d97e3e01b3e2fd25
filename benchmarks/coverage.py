"""Do the 95 % intervals of `symgen identify` contain the truth? ``python -m benchmarks.coverage
[SEEDS]`` writes docs/benchmarks/coverage.json; `make figures` writes the table of
docs/benchmarks/identification.md from it.

A UR5 whose inertial parameters are up to 20 % off the file's moves for 10 s at 250 Hz, on another
motion with other noise for each seed. Three robots are simulated (`TRUTHS`): one that the model
describes, one with an encoder and Stribeck friction, and one with effects that no model has.
Coefficients of friction count where they have a true value."""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.simulated_logs import Motion, Recipe, moved
from symgen.identification.data.open_log import read_log
from symgen.identification.estimation.run import solved
from symgen.identification.model.equations import Kernel, kernel
from symgen.identification.model.estimate import Estimate
from symgen.identification.model.problem import problem_for, standard_parameters
from symgen.identification.model.settings import Settings
from symgen.jobs.job import Job
from symgen.mechanics.parameters import lump_links
from symgen.numbers.scalar import Numbers
from symgen.reading.assemble import LoadedRobot

ROBOT: Final = "robots/ur5.urdf"
RESULTS: Final = Path(__file__).parents[1] / "docs" / "benchmarks" / "coverage.json"
OFF: Final = 0.2
"""The part by which inertial parameters differ from the file's at most."""
NOISE: Final = 0.02
"""The deviation of the noise of a force by its root mean square."""
QUANTUM: Final = 1e-4
"""The resolution of encoders (rad)."""
DEVIATIONS: Final = 1.959964
"""Standard errors to each side of a 95 % interval."""
VISCOUS, COULOMB, OFFSET = 3.0, 5.0, 0.4
STRIBECK, STRIBECK_VELOCITY = 2.0, 0.1
LOAD, ASYMMETRIC = 0.06, 0.5
SCALES: Final = np.array([2.0, 2.0, 1.5, 0.5, 0.5, 0.5])
"""Friction of each joint by that of the constants above."""


@dataclass(frozen=True)
class Moved:
    """A motion: time (N), positions, velocities, accelerations and rigid-body forces (N x n)."""

    t: Numbers
    q: Numbers
    qd: Numbers
    qdd: Numbers
    load: Numbers


Columns = tuple[Numbers, Numbers | None, Numbers]
"""Positions, velocities (None if they are not recorded) and forces (N x n) of a log."""


def plain(moved: Moved) -> Columns:
    """Viscous and Coulomb friction and an offset; exact positions and velocities."""
    own = VISCOUS * moved.qd + COULOMB * np.sign(moved.qd) + OFFSET
    return moved.q, moved.qd, moved.load + SCALES * own


def stribeck(moved: Moved) -> Columns:
    """Stribeck friction too; positions of an encoder alone."""
    q, _, forces = plain(moved)
    own = np.sign(moved.qd) * np.exp(-np.square(moved.qd / STRIBECK_VELOCITY))
    return np.round(q / QUANTUM) * QUANTUM, None, forces + SCALES * STRIBECK * own


def unmodelled(moved: Moved) -> Columns:
    """Joint springs between motor and link, whose encoders are at the motors; ripple of the motor's
    torque, friction that depends on the load and on the direction, that grows with the power 0.8 of
    the speed, and that falls by 15 % over the log."""
    speed, sign = np.abs(moved.qd), np.sign(moved.qd)
    own = VISCOUS * sign * speed**0.8 + COULOMB * sign + ASYMMETRIC * speed
    drift = 1 - 0.15 * (moved.t - moved.t[0])[:, None] / np.ptp(moved.t)
    size = np.sqrt(np.mean(np.square(moved.load), axis=0))
    ripple = 0.01 * size * np.sin(50 * moved.q)
    forces = moved.load + drift * SCALES * own + LOAD * sign * np.abs(moved.load) + ripple
    bent = moved.load / (400 * size)
    return np.round((moved.q + bent) / QUANTUM) * QUANTUM, None, forces + SCALES * OFFSET


Known = Mapping[str, Numbers]
"""The true coefficient of each law at each joint (n), or 0 at all of them."""


@dataclass(frozen=True)
class Truth:
    """A simulated robot: what a log records of a motion, and the models that are fitted, by name,
    each ``--friction`` and the laws whose coefficients have a true value in it."""

    columns: Callable[[Moved], Columns]
    models: Mapping[str, tuple[str, Known]]


ZERO: Final = np.zeros(len(SCALES))
LINEAR: Final = {"viscous": VISCOUS * SCALES, "offset": OFFSET * SCALES}
JUMPS: Final = {"coulomb": COULOMB * SCALES}
PER_LOAD: Final = {"load": LOAD + ZERO}
OTHERS: Final = {"asymmetric": ASYMMETRIC * SCALES, "offset": OFFSET * SCALES}
ABSENT: Final = {"load": ZERO, "armature": ZERO}
SIMULATED, DEFAULT, TEXTBOOK = "laws of the simulation", "default", "viscous, Coulomb and offset"
TRUTHS: Final = {
    "viscous and Coulomb friction": Truth(
        plain,
        {
            SIMULATED: ("viscous,coulomb,offset", LINEAR | JUMPS),
            DEFAULT: ("auto", LINEAR | JUMPS | ABSENT),
        },
    ),
    "Stribeck friction, encoder": Truth(
        stribeck,
        {
            SIMULATED: (
                "viscous,coulomb,offset,stribeck",
                LINEAR | JUMPS | {"stribeck": STRIBECK * SCALES},
            ),
            DEFAULT: ("auto", LINEAR | JUMPS | ABSENT),
        },
    ),
    "joint springs, ripple, drift": Truth(
        unmodelled,
        {
            SIMULATED: ("viscous,coulomb,offset,load,asymmetric", PER_LOAD | OTHERS),
            TEXTBOOK: ("viscous,coulomb,offset", {}),
            DEFAULT: ("auto", PER_LOAD | {"armature": ZERO}),
        },
    ),
}
"""In the last one viscous and Coulomb friction stand for a power of the speed that falls over the log,
so they have no true value."""
TOGETHER: Final = {
    "presliding": "coulomb",
    "saturating": "coulomb",
    "presliding_load": "load",
}
"""Laws whose coefficient counts together with that of another law of the joint: at speed they have the
same force, so only the sum has a true value."""


@dataclass(frozen=True)
class Simulator:
    """The robot whose logs are made."""

    job: Job
    loaded: LoadedRobot
    regressor: Kernel

    @classmethod
    def of(cls, file: str) -> "Simulator":
        """Of a robot's file."""
        job = Job.of(file)
        loaded = job.load()
        return cls(job, loaded, kernel(job.changed(quantities=("regressor",)), loaded))

    def standard(self, seed: int) -> Numbers:
        """The true inertial parameters of a seed."""
        model = lump_links(self.loaded.model, [body.name for body in self.loaded.model.moving])
        values, random = standard_parameters(model), np.random.default_rng([seed, 2])
        return values * (1 + random.uniform(-OFF, OFF, len(values)))

    def log(self, truth: Truth, seed: int) -> dict[str, Numbers]:
        """A log of a seed."""
        recipe = Recipe(10.0, 250.0, seed, Motion(0.1))
        t = np.arange(round(recipe.duration * recipe.rate)) / recipe.rate
        q, qd, qdd = moved(self.loaded.model, recipe, t)
        load = self.regressor(q, qd, qdd) @ self.standard(seed)
        q, rates, forces = truth.columns(Moved(t, q, qd, qdd, load))
        random, size = np.random.default_rng([seed, 1]), np.sqrt(np.mean(forces**2, axis=0))
        parts = {"q": q, "tau": forces + NOISE * size * random.normal(size=forces.shape)}
        if rates is not None:
            parts["qd"] = rates
        names = self.loaded.model.joint_names
        rows = {f"{k}_{n}": x for k, a in parts.items() for n, x in zip(names, a.T, strict=True)}
        return {"t": t, **rows}


def scores(estimate: Estimate, known: Known, standard: Numbers) -> dict[str, list[float]]:
    """Standard errors by which the base parameters and the coefficients of friction that have a true
    value are off."""
    b = len(estimate.mapping)
    off = (estimate.base - estimate.mapping.base(standard)) / estimate.standard_errors[:b]
    sums: dict[tuple[str, str], list[int]] = {}
    for k, name in enumerate(estimate.friction, b):
        law, _, joint = name.partition(" ")
        sums.setdefault((TOGETHER.get(law, law), joint), []).append(k)
    joints = [*dict.fromkeys(joint for _, joint in sums)]
    friction = []
    for (law, joint), places in sums.items():
        if law in known:
            off_by = estimate.values[places].sum() - known[law][joints.index(joint)]
            variance = estimate.covariance[np.ix_(places, places)].sum()
            friction.append(float(off_by / np.sqrt(variance)))
    return {"base": off.tolist(), "friction": friction}


def covered(seeds: int) -> dict[str, Any]:
    """The results: by truth and model, how many parameters were estimated, which part of them is in
    its interval, and how many standard errors the worst one is off."""
    simulator, found = Simulator.of(ROBOT), dict[str, Any]()
    for name, truth in TRUTHS.items():
        for model, (laws, known) in truth.models.items():
            settings = Settings(friction=laws)
            problem = problem_for(simulator.job, simulator.loaded, settings)
            rows = []
            for seed in range(seeds):
                log = read_log(simulator.log(truth, seed))
                fit = solved(simulator.job, simulator.loaded, problem, log, settings)
                rows.append(scores(fit.estimate, known, simulator.standard(seed)))
            summed = {k: summary([row[k] for row in rows]) for k in ("base", "friction")}
            found.setdefault(name, {})[model] = summed
            print(name, model, summed, flush=True)
    return found


def summary(rows: list[list[float]]) -> dict[str, float]:
    """Of the errors of each seed, in standard errors."""
    off = np.abs([x for row in rows for x in row])
    if not len(off):
        return {"count": 0}
    return {
        "count": len(off),
        "covered": round(float(np.mean(off <= DEVIATIONS)), 4),
        "worst": round(float(off.max()), 2),
    }


def main(seeds: int = 40) -> None:
    """Writes the results file."""
    found = {"seeds": seeds, "truths": covered(seeds)}
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
