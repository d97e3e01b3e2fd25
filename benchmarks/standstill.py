"""Logs in which the arm stands still, before, between and after its runs: are all parameters within
their standard errors? ``python -m benchmarks.standstill [SEEDS]`` prints what docs/identification.md
has.

Positions of an encoder (2e-5 rad), derived velocities, 1 % noise of the forces, viscous and Coulomb
friction whose force at standstill is anything that sticks, 0 to 90 % of standstill."""

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.simulated_logs import Motion, Recipe, Sensors, exact, moved
from benchmarks.simulated_logs import write as write_log
from symgen.identification.estimation.run import identify
from symgen.identification.model.estimate import Estimate
from symgen.identification.model.settings import Settings
from symgen.jobs.job import Job
from symgen.mechanics.joint_listing import velocity_coordinates
from symgen.numbers.scalar import Numbers
from symgen.reading.assemble import LoadedRobot

ROBOTS: Final = ("ur5", "panda_arm", "scara")
PARTS: Final = (0.0, 0.3, 0.6, 0.9)
SETTINGS: Final = Settings(friction="viscous,coulomb")
QUANTUM: Final = 2e-5


@dataclass(frozen=True)
class Score:
    """How many standard errors each parameter is off."""

    robot: str
    standstill: float
    seed: int
    off: Numbers

    @property
    def beyond(self) -> int:
        """The parameters that are more than three off."""
        return int(np.sum(self.off > 3))


def friction(n: int) -> tuple[Numbers, Numbers]:
    """Coefficients of viscous and Coulomb friction of n joints."""
    return 2.0 + np.arange(n) % 3, 4.0 + np.arange(n) % 4


def columns(job: Job, loaded: LoadedRobot, recipe: Recipe) -> dict[str, Numbers]:
    """A log: t, q_ and tau_ of each joint."""
    t = np.arange(round(recipe.duration * recipe.rate)) / recipe.rate
    q, qd, qdd = moved(loaded.model, recipe, t)
    random = np.random.default_rng([recipe.seed, 7])
    viscous, coulomb = friction(loaded.model.dof)
    stuck = random.uniform(-1, 1, q.shape[1])
    still = np.cumsum(np.any(qd != 0, axis=1)[:, None], axis=0)
    sign = np.where(qd == 0, stuck * np.cos(still), np.sign(qd))
    forces = exact(job, loaded, recipe, q, qd, qdd) + viscous * qd + coulomb * sign
    noise = recipe.sensors.noise * np.sqrt(np.mean(forces**2, axis=0))
    forces = forces + random.normal(size=forces.shape) * noise
    names = [row.name for row in velocity_coordinates(loaded.model)]
    return {
        "t": t,
        **{
            f"q_{name}": x
            for name, x in zip(names, (np.round(q / QUANTUM) * QUANTUM).T, strict=True)
        },
        **{f"tau_{name}": x for name, x in zip(names, forces.T, strict=True)},
    }


def score(robot: str, standstill: float, seed: int, moving: float = 30.0) -> Score:
    """What identification makes of one log, in which the arm moves for `moving` seconds."""
    job = Job.of(f"robots/{robot}.urdf")
    loaded = job.load()
    duration = round(moving / (1 - standstill))
    recipe = Recipe(duration, 500.0, seed, Motion(standstill=standstill), Sensors(0.01))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.npz"
        write_log(path, columns(job, loaded, recipe))
        estimate = identify(job, loaded, str(path), SETTINGS).estimate
    return Score(robot, standstill, seed, off(estimate))


def off(estimate: Estimate) -> Numbers:
    """How many standard errors each parameter is off the truth."""
    viscous, coulomb = friction(len(estimate.friction) // 2)
    truth = [estimate.mapping.base(estimate.mapping.prior), np.stack([viscous, coulomb], 1).ravel()]
    return np.asarray(np.abs(estimate.values - np.concatenate(truth)) / estimate.standard_errors)


def scores(seeds: int) -> Iterator[Score]:
    """Of all robots and seeds; the part of standstill changes with the seed."""
    for robot in ROBOTS:
        for seed in range(seeds):
            yield score(robot, PARTS[seed % len(PARTS)], seed)


def main(seeds: int) -> None:
    """Prints a line a log and the sum."""
    every = []
    for one in scores(seeds):
        every.append(one)
        print(
            f"{one.robot:10} {one.standstill:4.0%} seed {one.seed:2}: {one.beyond} of {len(one.off)} "
            f"beyond 3 sigma, worst {one.off.max():.2f}",
            flush=True,
        )
    total = np.concatenate([one.off for one in every])
    whole = sum(not one.beyond for one in every)
    print(f"{np.mean(total <= 3):.3%} of {len(total)} parameters within 3 sigma")
    print(f"all of them in {whole} of {len(every)} logs; worst {total.max():.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
