"""Logs of a UR5 that differs from its file: masses by up to 20 %, viscous and Coulomb friction,
offsets, a Stribeck term and rotors."""

from dataclasses import dataclass, field
from functools import cache
from xml.etree import ElementTree

import numpy as np

from benchmarks.simulated_logs import Motion, Recipe, Sensors, simulated
from symgen.jobs.job import Job
from tests.support.tools import robot_file

ARM = robot_file("ur5")
JOINTS = tuple(f"joint{k}" for k in range(1, 7))
RATE, DURATION = 250.0, 12.0
FRICTION = {
    "viscous": (9.0, 9.0, 7.0, 2.5, 2.5, 1.5),
    "coulomb": (6.0, 7.0, 4.0, 2.0, 2.0, 1.5),
    "offset": (0.5, -0.6, 0.4, -0.2, 0.1, 0.1),
}
STRIBECK, ROTORS = (3.0, 3.0, 2.0, 1.0, 1.0, 0.8), (1.2, 1.2, 0.9, 0.25, 0.25, 0.2)
STRIBECK_SPEED = 0.15


@dataclass(frozen=True)
class Truth:
    """The robot of a log: factors of lengths, gravity (m/s²), the mass at the last link (kg), a
    linear change of viscous friction over the log, the seed of the motion."""

    lengths: float = 1.0
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    load: float = 0.0
    drift: float = 0.0
    seed: int = 3
    motion: Motion = field(default_factory=lambda: Motion(0.1, 5, 0.3, 1.2))


def urdf(truth: Truth) -> bytes:
    """The file of the true robot."""
    tree, random = ElementTree.parse(ARM), np.random.default_rng(1)
    for origin in tree.getroot().iter("origin"):
        numbers = [float(x) * truth.lengths for x in origin.get("xyz", "0 0 0").split()]
        origin.set("xyz", " ".join(map(repr, numbers)))
    for link in tree.getroot().iter("link"):
        factor = random.uniform(0.8, 1.2)
        for mass in link.iter("mass"):
            more = truth.load if link.get("name") == "link6" else 0.0
            mass.set("value", repr(float(mass.get("value", "0")) * factor + more))
        for inertia in link.iter("inertia"):
            for key, value in inertia.attrib.items():
                inertia.set(key, repr(float(value) * factor * truth.lengths**2))
    return ElementTree.tostring(tree.getroot())


@cache
def columns(truth: Truth = Truth()) -> dict[str, np.ndarray]:
    """The clean log of a truth: t, q_, qd_ and tau_ of each joint, with 2 % noise on torques."""
    job = Job.of(urdf(truth), friction="runtime:viscous,coulomb,offset", gravity=truth.gravity)
    laws = {
        f"{kind} {j}": x for kind, row in FRICTION.items() for j, x in zip(JOINTS, row, strict=True)
    }
    recipe = Recipe(DURATION, RATE, truth.seed, truth.motion, Sensors(0.0), laws)
    robot = job.load()
    log = simulated(job, robot, recipe, accelerations=True)
    random = np.random.default_rng(truth.seed + 100)
    for k, j in enumerate(JOINTS):
        qd, qdd = log[f"qd_{j}"], log.pop(f"qdd_{j}")
        slip = np.exp(-((qd / STRIBECK_SPEED) ** 2)) * np.sign(qd)
        tau = log[f"tau_{j}"] + STRIBECK[k] * slip + ROTORS[k] * qdd
        tau += truth.drift * FRICTION["viscous"][k] * qd * log["t"] / DURATION
        noise = 0.02 * np.sqrt(np.mean(tau**2)) * random.normal(size=len(tau))
        log[f"tau_{j}"] = tau + noise
    return log


Columns = dict[str, np.ndarray]
