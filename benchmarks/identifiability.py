"""What can be identified, and how long it takes: ``python -m benchmarks.identifiability FOLDER``.

The observations of Cărmizaru (2022) with our figures: which parameters of a three-joint arm a
torque sensor at the joints and a wrench sensor at the base see; how many samples a wrench sensor
needs; the time of linear least squares and of nonlinear multiple-shooting least squares as joints
grow. Writes identifiability.json and pictures."""

import json
import math
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import symgen
from symgen.numbers.scalar import Numbers

JOINTS = (1, 2, 3, 4, 5, 6)
NAMES = ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
SEED = 0
SAMPLES = 60
"""Of a motion to identify from, 10 ms apart."""

PERIOD = 0.01
LINK = """<link name="link{k}"><inertial><origin xyz="0.02 0.03 0.15"/><mass value="{mass}"/>
<inertia ixx="0.02" ixy="0.001" ixz="0.002" iyy="0.025" iyz="-0.001" izz="0.01"/></inertial></link>
<joint name="joint{k}" type="revolute"><parent link="{parent}"/><child link="link{k}"/>
<origin xyz="0 0 {offset}" rpy="{roll} 0 0"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" effort="100" velocity="5"/></joint>"""


def chain(n: int) -> str:
    """The URDF of n links of 0.3 m, each axis turned by a right angle about the link before; the
    first is upright."""
    links = [
        LINK.format(
            k=k,
            mass=4.0 - 0.5 * k,
            parent=f"link{k - 1}" if k > 1 else "base",
            offset=0.3 if k > 1 else 0.1,
            roll=(-1) ** k * math.pi / 2 if k > 1 else 0.0,
        )
        for k in range(1, n + 1)
    ]
    return f'<robot name="chain{n}"><link name="base"/>{"".join(links)}</robot>'


class Chain:
    """The compiled functions of a chain of n joints, and its true parameters."""

    def __init__(self, n: int, *quantities: str, parameters: str = "constant") -> None:
        with tempfile.TemporaryDirectory(prefix="symgen-") as folder:
            file = Path(folder) / "chain.urdf"
            file.write_text(chain(n), encoding="utf-8")
            self.run = symgen.compile(file, *quantities, parameters=parameters)
            bodies = symgen.load(str(file)).model.bodies
        self.n = n
        self.truth = np.concatenate([body.links[0].parameters for body in bodies])


def motion(n: int, times: Numbers, seed: int = SEED) -> tuple[Numbers, Numbers, Numbers]:
    """A smooth motion of n joints, two sines each: q, q̇, q̈."""
    random = np.random.default_rng(seed)
    size, rate, phase = (
        random.uniform(0.3, 0.7, (2, n)),
        random.uniform(2, 8, (2, n)),
        random.uniform(0, 6, (2, n)),
    )
    angle = times[:, None, None] * rate + phase
    return tuple(
        (size * rate**k * wave).sum(1)
        for k, wave in enumerate((np.sin(angle), np.cos(angle), -np.sin(angle)))  # type: ignore[return-value]
    )


# -- which parameters a sensor sees ----------------------------------------------------------------


def classes(rows: Numbers) -> list[str]:
    """For each column: "none" where it vanishes, "alone" where the rows determine its parameter,
    else "sum"."""
    _, values, vectors = np.linalg.svd(rows, full_matrices=False)
    seen = vectors[values > 1e-9 * values[0]]
    found = []
    for k, column in enumerate(rows.T):
        if np.abs(column).max() < 1e-12:
            found.append("none")
        else:
            found.append("alone" if np.linalg.norm(seen[:, k]) > 1 - 1e-9 else "sum")
    return found


def sparsity() -> dict[str, Any]:
    """Structure (which entries are not always zero), rank and classes of both regressors of the
    three-joint arm."""
    arm = Chain(3, "regressor", "wrench_regressor:link1")
    states = np.random.default_rng(SEED).uniform(-2, 2, (3, 200, 3))
    found = {}
    for sensor, values in (
        ("torque", arm.run.regressor(*states)),
        ("wrench", arm.run.wrench_regressor_link1(*states)),
    ):
        rows = values.reshape(-1, values.shape[-1])
        found[sensor] = {
            "structure": (np.abs(values).max(0) > 1e-12).astype(int).tolist(),
            "rank": int(np.linalg.matrix_rank(rows, tol=1e-9 * np.linalg.norm(rows))),
            "classes": classes(rows),
        }
    return found


# -- two consecutive samples -----------------------------------------------------------------------


def samples(count: int, sensor: str, exact: bool, period: float) -> dict[str, Any]:
    """The last link's ten parameters from consecutive samples, the other links known.

    `exact` takes the true accelerations, else velocities' differences between samples, halfway.
    """
    name, quantity = {
        "torque": ("regressor", "regressor"),
        "wrench": ("wrench_regressor_link1", "wrench_regressor:link1"),
    }[sensor]
    arm = Chain(3, quantity)
    times = period * np.arange(count + (not exact))
    q, qd, qdd = motion(3, times)
    measured = getattr(arm.run, name)
    if exact:
        rows, given = measured(q, qd, qdd), (q, qd, qdd)
    else:
        given = motion(3, (times[1:] + times[:-1]) / 2)
        rows = measured((q[1:] + q[:-1]) / 2, (qd[1:] + qd[:-1]) / 2, np.diff(qd, axis=0) / period)
    truth = (measured(*given) @ arm.truth).ravel()
    rows = rows.reshape(-1, 30)
    last, rest = rows[:, 20:], truth - rows[:, :20] @ arm.truth[:20]
    found, _, rank, values = np.linalg.lstsq(last, rest, rcond=1e-11)
    error = np.abs(found - arm.truth[20:]).max() / np.abs(arm.truth[20:]).max()
    return {
        "sensor": sensor,
        "samples": count,
        "acceleration": "exact" if exact else "differences",
        "period": period,
        "equations": len(rest),
        "rank": int(rank),
        "condition": float(values[0] / values[rank - 1]),
        "error": float(error),
    }


def few_samples() -> list[dict[str, Any]]:
    """Both sensors with few samples, 10 ms apart; then differences in place of exact
    accelerations."""
    few = [
        samples(count, sensor, True, PERIOD)
        for sensor in ("wrench", "torque")
        for count in (1, 2, 3, 4, 6)
    ]
    return few + [samples(2, "wrench", False, period) for period in (1e-2, 1e-3, 1e-4)]


# -- linear against nonlinear least squares --------------------------------------------------------


def growth(joints: Sequence[int] = JOINTS) -> list[dict[str, Any]]:
    """Seconds and errors of both for chains of these lengths (best of three)."""
    from benchmarks.shooting import Experiment

    rows = []
    for n in joints:
        experiment = Experiment(n)
        linear, nonlinear = (_timed(solve) for solve in (experiment.linear, experiment.shooting))
        rows.append(
            {
                "joints": n,
                "unknowns": experiment.unknowns,
                "linear_s": linear[0],
                "shooting_s": nonlinear[0],
                "iterations": nonlinear[1][1],
                "linear_error": experiment.error(linear[1]),
                "shooting_error": experiment.error(nonlinear[1][0]),
            }
        )
    return rows


def _timed(solve: Any) -> tuple[float, Any]:
    times, found = [], None
    for _ in range(3):
        start = perf_counter()
        found = solve()
        times.append(perf_counter() - start)
    return min(times), found


def main(folder: Path) -> None:
    from benchmarks.identifiability_plots import draw

    folder.mkdir(parents=True, exist_ok=True)
    found = {"sparsity": sparsity(), "samples": few_samples(), "growth": growth()}
    (folder / "identifiability.json").write_text(
        json.dumps(found, indent=1) + "\n", encoding="utf-8"
    )
    draw(found, folder)
    for row in found["samples"] + found["growth"]:
        print(row)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/adaptive-mpc"))
