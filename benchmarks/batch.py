"""``python -m benchmarks.batch``: batches beside single states and Pinocchio's C++, ns a state on
one core.

All functions of a robot take turns in one process, round after round; the figure is the minimum.
Batches were compared with single states first, and those with Pinocchio. A batch here is 64 states,
again and again the same, in the caches."""

import ctypes
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import numpy as np

from benchmarks.bench import ours, peers
from benchmarks.bench.build import FOLDER, Cost, all_compiled, empty, linked, log, python
from benchmarks.bench.cases import QUANTITIES, Case, cases
from benchmarks.bench.clock import TOLERANCE, Clock, difference
from benchmarks.bench.contender import INPUTS, STATES, Contender, Order, address, states
from benchmarks.bench.plain import Plain

PAGE = Path("docs/benchmarks/batch.md")
ROBOTS = ("ur5", "panda", "talos")
WANTED = (
    "inverse_dynamics",
    "mass_matrix",
    "coriolis_matrix",
    "regressor",
    "forward_dynamics",
    "inverse_dynamics_derivatives",
)
FLAGS = {
    "portable": ("-O2", "-ffp-contract=off"),
    "exact": ("-O2", "-march=native", "-ffp-contract=off", "-fno-tree-slp-vectorize"),
    "contracted": ("-O2", "-march=native", "-ffp-contract=fast"),
}
"""For all x86-64, vectors as long as the processor has them; as written for this one, the same bits
everywhere (docs/batch.md tells why the last flag); and with fused multiply-add."""

ROUNDS = 25
SLICE = 5e5
"""Nanoseconds of a turn."""

ROWS = 1_000_000
"""Rows of the regressor of a UR5, six a state."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """Something to be timed: `run` makes so many calls and gives the nanoseconds of one; `each`
    states a call."""

    tool: str
    quantity: str
    run: Callable[[int], float]
    each: int


# -- symgen ----------------------------------------------------------------------------------------


def library(folder: Path, manifest: Any, plain: Plain, kind: str) -> ctypes.CDLL:
    """The batch functions with `kind` of flags, each called on STATES states: ``batch_NAME`` and
    ``rows_NAME``."""
    names = [name for name in manifest["functions"] if name in WANTED]
    text = f'#include "{ours.PREFIX}_batch.h"\n' + "".join(
        _calls(name, manifest, plain) for name in names
    )
    (folder / "many.c").write_text(text, encoding="utf-8")
    header = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.h")))
    sources = [
        *folder.glob(f"{ours.PREFIX}_*_batch.c"),
        folder / f"{ours.PREFIX}_batch.c",
        folder / "many.c",
    ]
    built = all_compiled(sources, (*FLAGS[kind], "-std=gnu11", f"-I{folder}"), header)
    return ctypes.CDLL(
        str(linked([path for path, _ in built], folder / f"many-{kind}.so").resolve())
    )


def _calls(name: str, manifest: Any, plain: Plain) -> str:
    starts, stride = (0, plain.nq, plain.nq + plain.nv), plain.nq + 2 * plain.nv
    blocks = [f"x + {STATES * starts[INPUTS[a]]}" for a, _ in ours.arguments(manifest, name, "in")]
    rows = [f"x + {starts[INPUTS[a]]}, {stride}" for a, _ in ours.arguments(manifest, name, "in")]
    sizes = _sizes(manifest, name)
    places = [f"y + {STATES * sum(sizes[:k])}" for k in range(len(sizes))]
    heads = [f"void {kind}_{name}(const double *x, double *y)" for kind in ("batch", "rows")]
    steps = [f"{place}, {size}" for place, size in zip(places, sizes, strict=True)]
    words = [", ".join([*blocks, *places]), ", ".join([*rows, *steps])]
    return "".join(
        f"{head};\n{head} {{ (void){ours.PREFIX}_{name}_{kind}({STATES}, {word}); }}\n"
        for head, kind, word in zip(heads, ("batch", "rows"), words, strict=True)
    )


def _sizes(manifest: Any, name: str) -> list[int]:
    """The entries of each output of a function."""
    return [size for _, size in ours.arguments(manifest, name, "out")]


def _blocks(rows: Any, width: int) -> Any:
    """Columns of rows in blocks."""
    return np.ascontiguousarray(rows.reshape(-1, width, rows.shape[1]).transpose(0, 2, 1)).ravel()


def batches(
    clock: Clock,
    singles: Sequence[Contender],
    lib: ctypes.CDLL,
    plain: Plain,
    drawn: Any,
    kind: str,
    sizes: dict[str, list[int]],
) -> Iterator[Turn]:
    """A turn for each batch function, after its results were found to be those of single states."""
    width = int(lib[f"{ours.PREFIX}_batch_width"]())
    columns = np.split(drawn, [plain.nq, plain.nq + plain.nv], axis=1)
    given = {
        "batch": np.concatenate([_blocks(part, width) for part in columns]),
        "rows": np.ascontiguousarray(drawn),
    }
    for one in singles:
        wanted = np.array([clock.result(one, state) for state in drawn])
        parts = np.split(wanted, np.cumsum(sizes[one.quantity])[:-1], axis=1)
        expected = {
            "batch": np.concatenate([_blocks(part, width) for part in parts]),
            "rows": np.concatenate([part.ravel() for part in parts]),
        }
        for way, x in given.items():
            out, place = np.zeros(wanted.size), address(lib, f"{way}_{one.quantity}")
            run = _runner(clock, place, x, out)
            run(1)
            error = float(np.abs(out - expected[way]).max() / np.abs(wanted).max())
            if error > (1e-9 if kind == "contracted" else 0.0):
                raise RuntimeError(
                    f"{way} {kind} {one.quantity} differs from single states by {error:.1e}"
                )
            yield Turn(f"{way} {kind}", one.quantity, run, STATES)


def _runner(clock: Clock, place: int, x: Any, out: Any, stride: int = 0) -> Callable[[int], float]:
    """The clock's loop; stride 0 gives every call the same."""
    return lambda calls: (
        float(clock._run(place, calls, x.ctypes.data, stride, STATES, out.ctypes.data)) / calls
    )


def single(clock: Clock, one: Contender, drawn: Any, tool: str) -> Turn:
    x, out = np.ascontiguousarray(one.order.states(drawn)), np.zeros(one.size + 1)
    return Turn(tool, one.quantity, _runner(clock, one.address, x, out, x.shape[1]), 1)


def turns(case: Case, clock: Clock, pinocchio: bool) -> list[Turn]:
    """Everything of a robot."""
    log(f"{case.name}: building")
    plain, folder = case.plain(), empty(FOLDER / f"batch-{case.name}")
    drawn, where = states(plain), folder / "symgen"
    wanted = [word for quantity in case.quantities for word in ("--quantity", quantity)]
    cost = python(
        "symgen",
        "generate",
        str(case.file),
        "-o",
        str(where),
        "--lang",
        "c",
        "--prefix",
        ours.PREFIX,
        *wanted,
        *case.options,
        "--trig",
        "inline",
        "--batch",
        "auto",
    )
    manifest = json.loads((where / "manifest.json").read_text(encoding="utf-8"))
    libm, names = ours.contenders(case, plain, folder, ("O2",), ("libm",))
    found = [single(clock, one, drawn, "libm") for one in libm]
    for kind, flags in FLAGS.items():
        singles = _inline(kind, flags, where, manifest, plain, cost)
        lib = library(where, manifest, plain, kind)
        found += [single(clock, one, drawn, f"single {kind}") for one in singles]
        sizes = {name: _sizes(manifest, name) for name in WANTED}
        found += batches(clock, singles, lib, plain, drawn, kind, sizes)
    return found + (_pinocchio(case, clock, plain, folder, libm, names, drawn) if pinocchio else [])


def _inline(
    kind: str, flags: Sequence[str], folder: Path, manifest: Any, plain: Plain, cost: Cost
) -> list[Contender]:
    return ours.compiled_as(f"single {kind}", flags, folder, manifest, plain, cost)


def _pinocchio(
    case: Case,
    clock: Clock,
    plain: Plain,
    folder: Path,
    judges: Sequence[Contender],
    names: Sequence[str],
    drawn: Any,
) -> list[Turn]:
    model = folder / "model.txt"
    model.write_text(plain.text, encoding="utf-8")
    judge = {one.quantity: one for one in judges}
    found = []
    for one in peers.cpp_contenders(case, plain, model, Order.of(plain, names)):
        error = difference(clock, one, judge[one.quantity], drawn)
        if error > TOLERANCE:
            raise RuntimeError(f"{one.tool} {one.quantity} differs by {error:.1e}")
        found.append(single(clock, one, drawn, one.tool))
    return found


def measured(several: Sequence[Turn], rounds: int) -> dict[tuple[str, str], float]:
    """By quantity and tool, nanoseconds a state: the minimum over rounds in which all take turns.

    Each runs for two turns before the one that counts: after vectors of 64 bytes a processor stays
    slower for a while."""
    calls = [
        max(1, round(SLICE / min(turn.run(4) for _ in range(3)) / 64)) * 64 for turn in several
    ]
    best = [float("inf")] * len(several)
    for _ in range(rounds):
        best = [
            min(old, _warm(turn, n) / turn.each)
            for old, turn, n in zip(best, several, calls, strict=True)
        ]
    return {(turn.quantity, turn.tool): ns for turn, ns in zip(several, best, strict=True)}


def _warm(turn: Turn, calls: int) -> float:
    turn.run(2 * calls)
    return turn.run(calls)


# -- Python ----------------------------------------------------------------------------------------


def regressor_rows(case: Case) -> list[tuple[int, float, float]]:
    """Threads and seconds of ROWS regressor rows by the Python package: into a new array, into one
    that is there."""
    from symgen.jobs.extension_modules import build

    with TemporaryDirectory() as folder:
        build(case.file, folder, prefix="batch_of_ur5", quantities=("regressor",))
        import sys

        sys.path.insert(0, folder)
        import batch_of_ur5 as package  # type: ignore[import-not-found]

        q, qd, qdd = np.random.default_rng(0).uniform(-2, 2, (3, -(-ROWS // 6), 6))
        out, found = package.regressor(q, qd, qdd), []
        for threads in (1, 2):
            new = min(
                _seconds(lambda n=threads: package.regressor(q, qd, qdd, threads=n))
                for _ in range(5)
            )
            old = min(
                _seconds(lambda n=threads: package.regressor(q, qd, qdd, out=out, threads=n))
                for _ in range(5)
            )
            found.append((threads, new, old))
        return found


def _seconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


# -- page ------------------------------------------------------------------------------------------

COLUMNS = (
    "libm",
    *(f"{what} {kind}" for what in ("single", "batch", "rows") for kind in FLAGS),
)


def page(
    found: dict[str, dict[tuple[str, str], float]],
    rows: Sequence[tuple[int, float, float]],
    load: float,
) -> str:
    """The text of the page."""
    from benchmarks.bench.__main__ import machine

    here = machine()
    lines = [
        HEAD.format(
            **here,
            load=load,
            pin=here["packages"]["pin"],
            flags={kind: " ".join(words) for kind, words in FLAGS.items()},
        )
    ]
    for robot, times in found.items():
        names = [
            "quantity",
            "Pinocchio",
            *COLUMNS,
            *(f"Pinocchio / batch {kind}" for kind in FLAGS),
        ]
        lines += [f"## {robot}", "", f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
        lines += [_line(quantity, times) for quantity in WANTED]
        lines.append("")
    lines += [
        f"## {ROWS:,} rows of the regressor of a UR5 in Python",
        "",
        "The package is built by `symgen build` with default flags. Each state has six rows; the arrays have the "
        "shape (166667, 6, 60).",
        "",
        "| threads | new array, s | array `out`, s |",
        "|---|---|---|",
        *(f"| {n} | {new:.2f} | {old:.2f} |" for n, new, old in rows),
        "",
    ]
    return "\n".join(lines)


HEAD = """# Batches: time per state for many states

`make bench-batch` writes this page. It shows nanoseconds per state on one core. All functions of a robot take turns of half a
millisecond; a value is the minimum over all rounds. Every batch was first compared with single states (portable and exact:
bit for bit), and single states with Pinocchio.

The processor is {processor}, {cores} cores, shared (load {load:.0f}), so the
ratios are more reliable than the times; {gcc}; pin {pin}; symgen at {commit}.

The columns are:

- **libm**: C for one state, `--trig libm`, compiled with `-O2`.
- **single**: C for one state, `--trig inline`.
- **batch**: `NAME_batch`, 64 states in blocks. **rows**: `NAME_rows`, the same in row-major arrays.
- **portable**: `{flags[portable]}`, one library for all x86-64, which uses the longest vectors of the
  processor.
- **exact**: `{flags[exact]}`.
- **contracted** (fused multiply-add): `{flags[contracted]}`.
- **Pinocchio**: as on the [benchmark page](README.md); if there are two conventions, the faster one.
"""


def _line(quantity: str, times: dict[tuple[str, str], float]) -> str:
    theirs = min(
        (
            ns
            for (name, tool), ns in times.items()
            if name == quantity and tool.startswith("pinocchio")
        ),
        default=float("nan"),
    )
    ns = [times[quantity, tool] for tool in COLUMNS]
    ratios = [theirs / times[quantity, f"batch {kind}"] for kind in FLAGS]
    cells = [
        f"{theirs:.0f}",
        *(f"{x:.0f}" if x > 99 else f"{x:.1f}" for x in ns),
        *(f"{x:.1f}" for x in ratios),
    ]
    return f"| {QUANTITIES[quantity]} | {' | '.join(cells)} |"


@click.command()
@click.option("--out", type=click.Path(path_type=Path), default=PAGE, show_default=True)
@click.option("--rounds", default=ROUNDS, show_default=True)
@click.option(
    "--pinocchio/--no-pinocchio", default=True, help="Its first compilation takes minutes."
)
def main(out: Path, rounds: int, pinocchio: bool) -> None:
    """Measure and write the page."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    clock = Clock()
    some = [replace(case, quantities=WANTED) for case in cases() if case.name in ROBOTS]
    found = {case.name: measured(turns(case, clock, pinocchio), rounds) for case in some}
    rows = regressor_rows(next(case for case in some if case.name == "ur5"))
    out.write_text(page(found, rows, os.getloadavg()[1]), encoding="utf-8")


if __name__ == "__main__":
    main()
