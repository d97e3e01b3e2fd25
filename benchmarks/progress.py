"""Today's C beside that of an older symgen: ``python -m benchmarks.progress OLDER`` prints a page in
Markdown, where OLDER is a checkout of another commit.

Each symgen writes C for the same robots with its own defaults; both are compiled with the same
flags, values are compared, and then both take turns in one process, round after round. Bytes of
code are those of an ARM compiler, where there is one, generation is processor time of one run.
"""

import ctypes
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench.cases import QUANTITIES
from benchmarks.generation import ROOT, RUNS, Robot, commit, generation, robots, written

HEAD = """# Progress: the generated C compared with an older version of symgen

`python -m benchmarks.progress OLDER` writes this page, where OLDER is a checkout of {older}. It compares the C of that commit (old)
with the C of {today} (new).

- **Times** are the minimum of {rounds} rounds of {calls} calls on {states} states. Both versions take turns in one process. Each value
  includes a call through a function pointer (about 4 ns). The results were compared first.
- **Default options** are those of each version: the sines of the C library in the old version, inline sines in the new one.
- **Best flags** are `{best}` with `--trig inline --zeros once`.
- **Generation** is the processor time (user) of `symgen generate --lang c`, the minimum of {runs} runs in turns, with compiled Python
  modules and templates ([generation time](generation.md)).
- **Bytes** are code and constants (gcc `-O2`) in float for `--target cortex-m4f`. The last two columns are equal for functions without
  loops."""

PLAIN = ("-O2", "-std=c99")
BEST = ("-O3", "-march=native", "-ffp-contract=fast")
BOARD = ("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")
STATES, CALLS, ROUNDS = 64, 640, 60
DRIVER = """
#include <time.h>
typedef double *P;
static void call(void (*f)(), int n, P const *a)
{
    switch (n) {
    case 2: ((void (*)(P, P))f)(a[0], a[1]); break;
    case 3: ((void (*)(P, P, P))f)(a[0], a[1], a[2]); break;
    case 4: ((void (*)(P, P, P, P))f)(a[0], a[1], a[2], a[3]); break;
    case 5: ((void (*)(P, P, P, P, P))f)(a[0], a[1], a[2], a[3], a[4]); break;
    case 6: ((void (*)(P, P, P, P, P, P))f)(a[0], a[1], a[2], a[3], a[4], a[5]); break;
    default: ((void (*)(P, P, P, P, P, P, P))f)(a[0], a[1], a[2], a[3], a[4], a[5], a[6]); break;
    }
}
double timed(void (*f)(), int n, P const *a, int const *step, int states, int calls)
{
    struct timespec t, u;
    clock_gettime(CLOCK_MONOTONIC, &t);
    for (int k = 0; k < calls; ++k) {
        P at[7] = {0};
        for (int i = 0; i < n; ++i) {
            at[i] = a[i] + (k % states) * step[i];
        }
        call(f, n, at);
    }
    clock_gettime(CLOCK_MONOTONIC, &u);
    return (1e9 * (double)(u.tv_sec - t.tv_sec) + (double)(u.tv_nsec - t.tv_nsec)) / calls;
}
"""


@dataclass(frozen=True)
class Called:
    """A C function: its name, and name, size and direction of its arguments."""

    name: str
    arguments: tuple[tuple[str, int, bool], ...]


def functions(folder: Path) -> dict[str, Called]:
    """The functions of a header by quantity."""
    text = re.sub(r"/\*.*?\*/", " ", (folder / "arm.h").read_text(), flags=re.DOTALL)
    found = re.findall(r"(?:void|int) arm_(\w+)\(([^;]*)\);", text)
    argument = re.compile(r"(const )?arm_real (\w+)\[(\d+)\]")
    return {
        name: Called(f"arm_{name}", tuple((n, int(size), bool(c)) for c, n, size in rows))
        for name, words in found
        if (rows := argument.findall(words)) and name in QUANTITIES
    }


def library(folder: Path, flags: Sequence[str]) -> Any:
    """The compiled C of a folder."""
    program = folder / "arm.so"
    files = [str(p) for p in sorted(folder.glob("*.c")) if not p.stem.endswith("selftest")]
    subprocess.run(["gcc", *flags, "-fPIC", "-shared", *files, "-lm", "-o", program], check=True)
    return ctypes.CDLL(str(program))


@cache
def driver() -> Any:
    """The function that calls another one many times."""
    folder = Path(tempfile.mkdtemp(prefix="symgen-driver-"))
    (folder / "driver.c").write_text(DRIVER)
    program = folder / "driver.so"
    subprocess.run(["gcc", "-w", "-O2", "-fPIC", "-shared", folder / "driver.c", "-o", program])
    timed = ctypes.CDLL(str(program)).timed
    shutil.rmtree(folder)
    timed.restype = ctypes.c_double
    return timed


class Contender:
    """A function of one of the two libraries, with its states."""

    def __init__(self, compiled: Any, called: Called, states: dict[str, Any]) -> None:
        self.function = compiled[called.name]
        self.outputs = [name for name, _, given in called.arguments if not given and name != "w"]
        self.arrays = {
            name: states[name] if given else np.zeros(size)
            for name, size, given in called.arguments
        }
        rows = [
            (a.ctypes.data, size if given else 0)
            for a, (_, size, given) in zip(self.arrays.values(), called.arguments, strict=True)
        ]
        self.given = (ctypes.c_void_p * len(rows))(*(row[0] for row in rows))
        self.steps = (ctypes.c_int * len(rows))(*(row[1] for row in rows))

    def __call__(self, calls: int = CALLS) -> float:
        """Nanoseconds of a call, the mean of so many."""
        number = len(self.given)
        timed = driver()
        return float(timed(self.function, number, self.given, self.steps, STATES, calls))


def states(robot: Robot, called: Sequence[Called]) -> dict[str, Any]:
    """Random states for every input by name."""
    random, found = np.random.default_rng(0), dict[str, Any]()
    for one in called:
        for name, size, given in one.arguments:
            if given and name not in found:
                found[name] = random.uniform(-1, 1, (STATES, size))
    if "floating" in robot.options:
        found["q"][:, 3:7] /= np.linalg.norm(found["q"][:, 3:7], axis=1)[:, None]
    return found


def compared(robot: Robot, folders: Sequence[Path], flags: Sequence[str]) -> dict[str, list[float]]:
    """The least nanoseconds of each folder's functions by quantity, timed in turns."""
    both = [functions(folder) for folder in folders]
    given = states(robot, list(both[0].values()))
    libraries = [library(folder, flags) for folder in folders]
    result = {}
    for name in both[0]:
        pair = [Contender(c, f[name], given) for c, f in zip(libraries, both, strict=True)]
        times = np.array([[one() for one in pair] for _ in range(ROUNDS)])
        _check(name, *pair)
        result[name] = times.min(axis=0).tolist()
    return result


def _check(name: str, before: Contender, after: Contender) -> None:
    for one in (before, after):
        one(1)
    for output in before.outputs:
        a, b = before.arrays[output], after.arrays[output]
        if not np.abs(a - b).max() <= 1e-9 * max(1.0, np.abs(a).max()):
            raise SystemExit(f"{name}: {output} of the two differ by {np.abs(a - b).max()}")


def sizes(folder: Path) -> dict[str, int]:
    """Bytes of code and constants for a Cortex-M4F by quantity."""
    found = {}
    for name in functions(folder):
        made = folder / f"{name}.o"
        source = folder / f"arm_{name}.c"
        subprocess.run([*BOARD, "-O2", "-c", str(source), "-o", str(made)], check=True)
        told = subprocess.run(["arm-none-eabi-size", str(made)], capture_output=True, text=True)
        found[name] = int(told.stdout.splitlines()[1].split()[0])
    return found


def page(older: Path) -> Iterator[str]:
    """The page."""
    yield HEAD.format(
        older=commit(older),
        today=commit(ROOT),
        rounds=ROUNDS,
        runs=RUNS,
        calls=CALLS,
        states=STATES,
        best=" ".join(BEST),
    )
    with tempfile.TemporaryDirectory(prefix="symgen-progress-") as scratch:
        for robot in robots():
            yield from _robot(older, robot, Path(scratch) / robot.name)


def _robot(older: Path, robot: Robot, scratch: Path) -> Iterator[str]:
    folders = [scratch / "before", scratch / "after"]
    wanted = [word for name in QUANTITIES for word in ("--quantity", name)]
    for tree, folder in zip((older, ROOT), folders, strict=True):
        written(tree, robot, folder, *wanted)
    columns = [compared(robot, folders, PLAIN)]
    fast = [scratch / "before-fast", scratch / "after-fast"]
    for tree, folder in zip((older, ROOT), fast, strict=True):
        written(tree, robot, folder, *wanted, "--trig", "inline", "--zeros", "once")
    columns.append(compared(robot, fast, BEST))
    yield f"\n## {robot.name}\n"
    yield (
        "| quantity | default options, `-O2`: old, new ns | old / new | best flags: old, new ns | old / new |"
    )
    yield "|---|---|---:|---|---:|"
    for name in columns[0]:
        cells = (f"{a:.0f}, {b:.0f} | **{a / b:.2f}**" for a, b in (c[name] for c in columns))
        yield f"| {name} | {' | '.join(cells)} |"
    a, b = generation((older, ROOT), robot, QUANTITIES, scratch)
    yield f"\nThe generation of these nine quantities takes {a:.2f} s (old) and {b:.2f} s (new)."
    if robot.short and shutil.which(BOARD[0]):
        yield from _board(older, robot, scratch, wanted)


def _board(older: Path, robot: Robot, scratch: Path, wanted: Sequence[str]) -> Iterator[str]:
    single = ("--scalar", "float", "--trig", "inline")
    rows = {
        "old": (older, ()),
        "new": (ROOT, ("--target", "cortex-m4f")),
        "new, `--optimize size`": (ROOT, ("--target", "cortex-m4f", "--optimize", "size")),
    }
    yield "\nBytes on a Cortex-M4F in float:\n"
    found = []
    for k, (tree, more) in enumerate(rows.values()):
        folder = scratch / f"board{k}"
        written(tree, robot, folder, *wanted, *single, *more)
        found.append(sizes(folder))
    yield "| quantity | " + " | ".join(rows) + " |"
    yield "|---|" + "---:|" * len(rows)
    for name in found[0]:
        yield f"| {name} | " + " | ".join(str(one[name]) for one in found) + " |"


if __name__ == "__main__":
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "symgen").is_dir():
        raise SystemExit(__doc__)
    for line in page(Path(sys.argv[1]).resolve()):
        print(line, flush=True)
