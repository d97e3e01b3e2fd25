"""Identification frozen: ``python -m benchmarks.freeze_identification store FILE [SHARED]`` writes
the results of ``symgen identify --json`` for simulated logs and for logs of real robots (in the
folder SHARED, ../shared by default, not part of the project; left out where it is missing);
``... compare FILE [SHARED]`` runs the same commands again and prints every number that differs by
more than 1e-12 of its size, and every other difference.

For changes that move code: the exit status is 1 if something differs."""

import json
import math
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from benchmarks.real_logs import MADE, make_tx40
from benchmarks.simulated_logs import Motion, Recipe, Sensors, simulated
from benchmarks.simulated_logs import write as write_log
from symgen.jobs.job import Job

TOLERANCE: Final = 1e-12
"""Relative difference that counts as equal: moved code computes the same operations."""

SIMULATED: Final = {
    "scara": ("scara", Recipe(duration=4.0, rate=200.0), ""),
    "ur5": ("ur5", Recipe(duration=6.0, rate=200.0, motion=Motion(0.2)), "--full --armature"),
    "panda": (
        "panda_arm",
        Recipe(duration=8.0, rate=200.0, sensors=Sensors(noise=0.02, position_noise=1e-5)),
        "--friction viscous,coulomb,offset",
    ),
}
"""Simulated logs: robot, recipe and options."""

GAINS: Final = " ".join(
    f"--torque-constant joint{k}={gain}"
    for k, gain in enumerate((11.33, 12.20, 9.99, 10.30, 10.05, 10.26), 1)
)
REAL: Final = {
    "ur10e": ("robots/ur10e.urdf", "logs/ur10e/motion_30s.csv", GAINS),
    "ur10e 50 s": ("robots/ur10e.urdf", "logs/ur10e/motion_50s.csv", GAINS),
    "ur10e 20 s": ("robots/ur10e.urdf", "logs/ur10e/motion_20s_with_standstill.csv", GAINS),
    "panda 14 s": ("robots/panda_arm.urdf", "logs/panda/motion_14s.csv", ""),
    "rokae default": ("logs3/rokae_xmate.urdf", "logs3/rokae_xmate_14s.csv", ""),
    "tx40": (str(MADE / "tx40.urdf"), str(MADE / "tx40_joints.csv"), ""),
    "mtm": (
        "logs3/dvrk_mtm.urdf",
        "logs3/dvrk_mtm_one_200hz.csv",
        "--couple j31=j2:1,j3:1 --couple j32=j3:-1 --rate 200",
    ),
    "ur10e terms": (
        "robots/ur10e.urdf",
        "logs/ur10e/motion_30s.csv",
        f"{GAINS} --friction viscous,coulomb,offset,load --armature",
    ),
    "rokae": (
        "logs3/rokae_xmate.urdf",
        "logs3/rokae_xmate_14s.csv",
        "--friction viscous,coulomb,offset",
    ),
}
"""Logs of real robots in SHARED: robot, log and options."""


def commands(folder: Path, shared: Path) -> Iterator[tuple[str, list[str]]]:
    """Names and arguments of the commands; simulated logs are made in `folder`."""
    for name, (robot, recipe, options) in SIMULATED.items():
        job, path = Job.of(f"robots/{robot}.urdf"), folder / f"{name}.npz"
        plain = replace(recipe, seed=1)
        write_log(path, simulated(job, job.load(), plain, accelerations=name == "scara"))
        yield name, [f"robots/{robot}.urdf", str(path), *shlex.split(options)]
    if (shared / "logs3").exists():
        make_tx40(shared)
    for name, (robot, log, options) in REAL.items():
        file = shared / robot if robot.startswith("logs") else Path(robot)
        if (shared / log).exists():
            yield name, [str(file), str(shared / log), *shlex.split(options)]


def result(arguments: list[str], folder: Path) -> dict[str, Any]:
    """Exit status, standard error and JSON of one command, without the names of scratch files."""
    command = [sys.executable, "-m", "symgen", "identify", *arguments, "--json"]
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - begin
    out, err = (text.replace(f"{folder}/", "") for text in (done.stdout, done.stderr))
    found = json.loads(out) if done.returncode == 0 else out
    return {"status": done.returncode, "messages": err, "json": found, "seconds": seconds}


def differences(a: Any, b: Any, where: str = "") -> Iterator[str]:
    """What differs between two values read from JSON, a line each."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(a.keys() | b.keys()):
            if key not in a or key not in b:
                yield f"{where}/{key}: only {'before' if key in a else 'after'}"
            else:
                yield from differences(a[key], b[key], f"{where}/{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from differences(x, y, f"{where}/{k}")
    elif isinstance(a, float) and isinstance(b, float):
        if not math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=0.0):
            yield f"{where}: {a!r} became {b!r}"
    elif a != b:
        yield f"{where}: {a!r} became {b!r}"


def main(action: str, path: str, shared: str = "../shared") -> int:
    """Store or compare; the exit status."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = {
            key: result(arguments, folder) for key, arguments in commands(folder, Path(shared))
        }
    seconds = {key: row.pop("seconds") for key, row in found.items()}
    print(", ".join(f"{key} {value:.1f} s" for key, value in seconds.items()), flush=True)
    if action == "store":
        Path(path).write_text(json.dumps(found, indent=1), encoding="utf-8")
        return 0
    lines = list(differences(json.loads(Path(path).read_text(encoding="utf-8")), found))
    print("\n".join(lines) or "equal")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
