"""Processor time of ``symgen generate --lang c`` beside that of an older symgen: ``python -m
benchmarks.generation OLDER`` prints a page in Markdown, where OLDER is a checkout of another commit.

Both write the same quantities, in turns, each in a process of its own with its modules and templates
compiled before, as Python keeps them; the least of some runs counts."""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.bench.cases import QUANTITIES, ROBOTS

ROOT: Final = Path(__file__).resolve().parents[1]
RUNS: Final = 3

HEAD: Final = """# Generation time compared with an older version of symgen

`python -m benchmarks.generation OLDER` writes this page, where OLDER is a checkout of {older}; the new version is {today}. The
table contains the processor time (user) of `symgen generate --lang c` in seconds, with the start of Python and symgen. Each
value is the minimum of {runs} runs; both versions run in turns. The columns are for nine quantities, and for all {count}
quantities that both versions have, without those of a link.

The new version does more work: it evaluates independent references, bounds the error of every entry, and chooses formulations by
latency.

| robot | nine: old, new | new / old | all {count}: old, new | new / old |
|---|---|---:|---|---:|"""


@dataclass(frozen=True)
class Robot:
    """A file, the options that both take for it, and whether it is short enough for a board and for
    all quantities."""

    name: str
    file: Path
    options: tuple[str, ...] = ()
    short: bool = True


def robots() -> Iterator[Robot]:
    """Those of the aims."""
    yield Robot("ur5", ROBOTS / "ur5.urdf")
    yield Robot("panda", ROBOTS / "panda.urdf")
    yield Robot("quadruped, floating", ROBOTS / "quadruped.urdf", ("--base", "floating"))
    yield Robot("snake16", ROBOTS / "snake16.urdf", short=False)


def written(tree: Path, robot: Robot, folder: Path, *more: str) -> float:
    """Seconds of processor time in which a checkout's symgen writes C into a folder."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "symgen", "generate", str(robot.file), "-o", str(folder)]
    words = ["--lang", "c", "--prefix", "arm", *robot.options, *more]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    environment |= {"PYTHONPYCACHEPREFIX": str(folder.parent / "compiled")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else every run would compile its modules
    subprocess.run([*command, *words], check=True, env=environment, cwd=tree, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


def generation(
    trees: Sequence[Path], robot: Robot, names: Sequence[str], scratch: Path
) -> list[float]:
    """The least seconds of processor time of each checkout for some quantities, in turns, after a
    run that is not counted."""
    wanted = [word for name in names for word in ("--quantity", name)]
    runs = [
        [written(tree, robot, scratch / str(k), *wanted) for k, tree in enumerate(trees)]
        for _ in range(RUNS + 1)
    ]
    return np.array(runs[1:]).min(axis=0).tolist()


def known(tree: Path) -> list[str]:
    """The quantities of a checkout's symgen, without those of a link."""
    command = "from symgen.algorithms.registry import QUANTITIES; print(*QUANTITIES)"
    told = subprocess.run(
        [sys.executable, "-c", command],
        env={**os.environ, "PYTHONPATH": str(tree)},
        cwd=tree,
        capture_output=True,
        text=True,
        check=True,
    )
    links = ("frame_", "point_", "wrench_")
    return [name for name in told.stdout.split() if not name.startswith(links)]


def commit(tree: Path) -> str:
    """The commit that a checkout is of, or its name where it has no history."""
    command = ["git", "-C", str(tree), "rev-parse", "--short", "HEAD"]
    told = subprocess.run(command, capture_output=True, text=True)
    return told.stdout.strip() or tree.name


def page(older: Path) -> Iterator[str]:
    """The page."""
    trees = (older, ROOT)
    today = known(ROOT)
    common = [name for name in known(older) if name in today]
    yield HEAD.format(older=commit(older), today=commit(ROOT), runs=RUNS, count=len(common))
    with tempfile.TemporaryDirectory(prefix="symgen-generation-") as scratch:
        for robot in robots():
            cells = ["", " | "]
            for k, names in enumerate((QUANTITIES, common) if robot.short else (QUANTITIES,)):
                folder = Path(scratch) / robot.name / str(k)
                before, after = generation(trees, robot, names, folder)
                cells[k] = f"{before:.2f}, {after:.2f} | **{after / before:.2f}**"
            yield f"| {robot.name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "symgen").is_dir():
        raise SystemExit(__doc__)
    for line in page(Path(sys.argv[1]).resolve()):
        print(line, flush=True)
