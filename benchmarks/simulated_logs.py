"""Logs of a robot that does not exist: an excitation, exact forces, and what sensors make of them.

Every random number comes from the seed, so the same call makes the same log on every machine.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from symgen.identification.model.equations import kernel
from symgen.identification.model.problem import COMPONENTS, friction, standard_parameters
from symgen.jobs.job import Job
from symgen.mechanics.joint_listing import velocity_coordinates
from symgen.mechanics.model import Limits, RigidBodyModel
from symgen.mechanics.parameters import lump_links
from symgen.numbers.scalar import Numbers
from symgen.reading.assemble import LoadedRobot


@dataclass(frozen=True)
class Sensors:
    """What sensors do: noise of forces as a part of each channel's root mean square, noise and
    steps of positions (rad or m), a delay of forces (whole samples)."""

    noise: float = 0.01
    position_noise: float = 0.0
    quantum: float = 0.0
    delay: int = 0


@dataclass(frozen=True)
class Motion:
    """A sum of `harmonics` sines of a base frequency (Hz) for each joint, with random amplitudes
    and phases.

    Positions keep to the middle part (`reach`) of a joint's range, or to ±`free` rad or m where it
    has none."""

    frequency: float = 0.1
    harmonics: int = 5
    reach: float = 0.7
    free: float = 1.0
    standstill: float = 0.0
    """The part of the time in which nothing moves: before, between and after RUNS runs."""


RUNS: Final = 3
RAMP: Final = 0.5
"""Seconds from standstill to full speed, at most a third of a run."""


@dataclass(frozen=True)
class Recipe:
    """A log to be made: duration (s), rate (Hz), motion, sensors, coefficients of friction by name
    (those of the robot's files where they are not given), and the seed."""

    duration: float = 60.0
    rate: float = 1000.0
    seed: int = 0
    motion: Motion = field(default_factory=Motion)
    sensors: Sensors = field(default_factory=Sensors)
    friction: Mapping[str, float] = field(default_factory=dict)
    wrench: str = ""
    """The link whose wrench is measured in place of joint forces."""
    start: float = 0.0
    """Time of the first row (s), so that a long log can be made in parts."""


def waves(model: RigidBodyModel, recipe: Recipe) -> tuple[Numbers, Numbers, Numbers]:
    """Middle (n), amplitudes and phases (n x harmonics) of the motion of each joint."""
    random, n, motion = np.random.default_rng(recipe.seed), model.dof, recipe.motion
    ranges = np.array([_range(model.limits[name], motion.free) for name in model.joint_names])
    sizes = random.uniform(0.3, 1.0, (n, motion.harmonics)) / np.arange(1, motion.harmonics + 1)
    sizes *= (motion.reach * ranges[:, 1] / sizes.sum(axis=1))[:, None]
    return ranges[:, 0], sizes, random.uniform(0, 2 * np.pi, (n, motion.harmonics))


def _range(limits: Limits, free: float) -> tuple[float, float]:
    """Middle and half width of a joint's range."""
    if limits.lower is None or limits.upper is None:
        return 0.0, free
    return (limits.lower + limits.upper) / 2, (limits.upper - limits.lower) / 2


def moved(model: RigidBodyModel, recipe: Recipe, t: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Positions, velocities and accelerations (N x n) at times t; of robots whose positions are its
    joints' own."""
    if recipe.motion.standstill:
        return _stopped(model, recipe, t)
    middle, sizes, phases = waves(model, recipe)
    rates = 2 * np.pi * recipe.motion.frequency * np.arange(1, recipe.motion.harmonics + 1)
    angles = t[:, None, None] * rates + phases
    q = middle + (sizes * np.sin(angles)).sum(axis=2)
    qd = (sizes * rates * np.cos(angles)).sum(axis=2)
    return q, qd, -(sizes * rates**2 * np.sin(angles)).sum(axis=2)


def _stopped(model: RigidBodyModel, recipe: Recipe, t: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """The same path, along which the clock stands still at times."""
    going = replace(recipe, motion=replace(recipe.motion, standstill=0.0))
    run = recipe.duration * (1 - recipe.motion.standstill) / RUNS
    hold = recipe.duration * recipe.motion.standstill / (RUNS + 1)
    clock, speed, change = (np.zeros(len(t)) for _ in range(3))
    ramp = min(RAMP, run / 3)
    for k in range(RUNS):
        start = (k + 1) * hold + k * run
        for sign, begin in ((1.0, start), (-1.0, start + run - ramp)):
            x = np.clip((t - begin) / ramp, 0.0, 1.0)
            late = np.maximum(t - begin - ramp, 0.0)
            clock += sign * (ramp * (x**6 - 3 * x**5 + 2.5 * x**4) + late)
            speed += sign * (6 * x**5 - 15 * x**4 + 10 * x**3)
            change += sign * 30 * (x**4 - 2 * x**3 + x**2) / ramp
    q, qd, qdd = moved(model, going, clock)
    rate, own = speed[:, None], change[:, None]
    return q, qd * rate, qdd * rate**2 + qd * own


def exact(
    job: Job, loaded: LoadedRobot, recipe: Recipe, q: Numbers, qd: Numbers, qdd: Numbers
) -> Numbers:
    """What perfect sensors would measure: joint forces (N x n) or the wrench on a link (N x 6)."""
    model = lump_links(loaded.model, [body.name for body in loaded.model.moving])
    quantity = f"wrench_regressor:{recipe.wrench}" if recipe.wrench else "regressor"
    made = kernel(job.changed(quantities=(quantity,)), loaded)
    known = {} if recipe.wrench else friction(job, loaded.model) | dict(recipe.friction)
    values = np.array([*standard_parameters(model), *known.values()])
    sizes = range(0, len(q), 4096)
    return np.concatenate(
        [made(q[k : k + 4096], qd[k : k + 4096], qdd[k : k + 4096]) @ values for k in sizes]
    )


def simulated(
    job: Job, loaded: LoadedRobot, recipe: Recipe, accelerations: bool = True
) -> dict[str, Numbers]:
    """The columns of a log by name: t, q_, qd_, qdd_ (if asked for) and tau_ of each joint, or the
    wrench.

    With noise or steps of positions there are no velocities nor accelerations: no sensor gives
    these."""
    t = recipe.start + np.arange(round(recipe.duration * recipe.rate)) / recipe.rate
    q, qd, qdd = moved(loaded.model, recipe, t)
    random, sensors = (
        np.random.default_rng([recipe.seed, 1, round(recipe.start * recipe.rate)]),
        recipe.sensors,
    )
    forces = np.roll(exact(job, loaded, recipe, q, qd, qdd), sensors.delay, axis=0)
    forces = forces + random.normal(size=forces.shape) * sensors.noise * np.sqrt(
        np.mean(forces**2, axis=0)
    )
    rough = sensors.position_noise > 0 or sensors.quantum > 0
    seen = q + random.normal(size=q.shape) * sensors.position_noise
    seen = np.round(seen / sensors.quantum) * sensors.quantum if sensors.quantum else seen
    names = [row.name for row in velocity_coordinates(loaded.model)]
    measured = (
        [f"wrench_{c}" for c in COMPONENTS] if recipe.wrench else [f"tau_{name}" for name in names]
    )
    rates = (
        {}
        if rough
        else _columns("qd", names, qd) | (_columns("qdd", names, qdd) if accelerations else {})
    )
    return {
        "t": t,
        **_columns("q", names, seen),
        **rates,
        **dict(zip(measured, forces.T, strict=True)),
    }


def _columns(prefix: str, names: list[str], rows: Numbers) -> dict[str, Numbers]:
    return {f"{prefix}_{name}": column for name, column in zip(names, rows.T, strict=True)}


def write(path: Path, columns: Mapping[str, Numbers]) -> None:
    """Write a log as CSV, NPZ or Parquet, by the end of its name; CSV holds every digit."""
    WRITERS[path.suffix](path, columns)


def _write_csv(path: Path, columns: Mapping[str, Numbers]) -> None:
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(",".join(columns) + "\n")
        stream.writelines(",".join(map(repr, row)) + "\n" for row in rows)


def _write_npz(path: Path, columns: Mapping[str, Any]) -> None:
    np.savez(path, **columns)


def _write_parquet(path: Path, columns: Mapping[str, Numbers]) -> None:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table(dict(columns)), path, row_group_size=1 << 17)


WRITERS = {".csv": _write_csv, ".npz": _write_npz, ".parquet": _write_parquet}
