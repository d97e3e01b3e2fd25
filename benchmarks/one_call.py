"""``python -m benchmarks.one_call`` measures one call of the UR5's inverse dynamics for several
compiler flags and writes the page on the cost of sines. All functions take turns in one process."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from benchmarks.batch import ROUNDS, Turn, measured, single
from benchmarks.bench import ours, peers
from benchmarks.bench.build import FOLDER, empty, log
from benchmarks.bench.cases import Case, cases
from benchmarks.bench.clock import TOLERANCE, Clock, difference
from benchmarks.bench.contender import Contender, Order, states
from benchmarks.bench.report import KINDS

PAGE: Final = Path("docs/benchmarks/one-call.md")
QUANTITY: Final = "inverse_dynamics"
FLAGS: Final = (
    "-O2",
    "-O3",
    "-Os",
    "-O2 -mavx2",
    "-O2 -march=native",
    "-O2 -march=native -ffp-contract=fast",
    "-O3 -march=native -ffp-contract=fast",
    f"-O3 -march=native -ffast-math {' '.join(ours.EXACT_ENOUGH)}",
)
"""Together with -std=c99, under which gcc contracts nothing unless it is told to."""

SINES, THEIRS, AIM = 59.0, 123.0, 45.0
"""ns that six sines and cosines of libm, and CasADi's inverse dynamics, took on the machine of the
aim, and the aim."""

JOINTS: Final = 6


def contenders(case: Case) -> Iterator[Contender]:
    """Ours by kind of sines and flags, and CasADi's."""
    folder, plain = empty(FOLDER / "one-call"), case.plain()
    for trig in ("libm", "inline"):
        where = empty(folder / trig)
        cost = ours.generate(case, where, trig)
        manifest = json.loads((where / "manifest.json").read_text(encoding="utf-8"))
        for flags in FLAGS:
            yield from ours.compiled_as(
                f"{trig} {flags}", flags.split(), where, manifest, plain, cost
            )
    names = [row["joint"] for row in manifest["joints"]]
    model, order = folder / "model.txt", Order.of(plain, names)
    model.write_text(plain.text, encoding="utf-8")
    yield from peers.sx_contenders(case, model, folder, order, ("O2", "fast"))
    yield from peers.u2c_contenders(case, plain, folder, order, ("O2", "fast"))


def turns(case: Case, clock: Clock) -> list[Turn]:
    """Everything that is timed, after its results were compared. Raises RuntimeError where they
    differ."""
    log(f"{case.name}: building")
    every, drawn = list(contenders(case)), states(case.plain())
    for one in every:
        if (error := difference(clock, one, every[0], drawn)) > TOLERANCE:
            raise RuntimeError(f"{one.tool} differs by {error:.1e}")
    return [single(clock, one, drawn, one.tool) for one in every]


def page(ns: dict[str, float], sines: float, load: float) -> str:
    """The text of the page."""
    from benchmarks.bench.__main__ import machine

    here = machine()
    theirs = min(x for tool, x in ns.items() if KINDS["CasADi"](tool))
    lines = "\n".join(
        _line(flags, ns[f"libm {flags}"], ns[f"inline {flags}"], sines, theirs) for flags in FLAGS
    )
    head = HEAD.format(**here, load=load, sines=sines, theirs=theirs)
    return f"{head}\n{lines}\n{END}"


HEAD: Final = f"""# One call: effect of inline sines and compiler flags

`make bench-one-call` measures the first table. It contains the inverse dynamics of a UR5 (ur_description) with sines of libm
and with inline sines. All functions take turns in one process, over 64 random states one after the other; a value is the
minimum over all rounds. The processor is {{processor}}, shared (load {{load:.0f}}), so the
ratios are more reliable than the times; {{gcc}}; symgen at {{commit}}.

A function evaluates the sines of up to eight angles together, if the angles are sums of inputs. gcc and clang use vectors
(four doubles with AVX, two with SSE2 and on 64-bit ARM). The vectors are assembled and split in registers. Until November
2026 the angles were stored one by one and loaded as a vector. Such a load waits for the cache, because a processor cannot
forward several stores to one wider load. The arithmetic for each angle is the same in both cases, and so are the bits, unless
multiplications and additions are fused. The first table was measured with stored angles, at the commit above; the second
table contains both.

Six sines and cosines of libm take {{sines:.0f}} ns on this machine, and CasADi's C with its best flags {{theirs:.0f}} ns. On the
machine for which the target of {AIM:g} ns was set, they take {SINES:g} and {THEIRS:g} ns. The last two columns are estimates of
symgen's time on that machine, scaled by either of these times.

| flags, with `-std=c99` | libm, ns | inline, ns | libm / inline | scaled by sines, ns | scaled by CasADi, ns |
|---|---|---|---|---|---|"""
END: Final = """
## Vectors in registers

The second table was measured on an EPYC with AVX-512 (gcc 12, minimum of 180 rounds in one run, ns). It includes Estrin's
scheme and a correction of the reduced angle at the end.

| `--zeros once` | ID | gravity | M | FD | C |
|---|---|---|---|---|---|
| libm, `-O2` | 100 | 31.2 | 78.0 | 152 | 108 |
| stored angles, `-O2` | 72.1 | 35.6 | 60.4 | 119.7 | 85.2 |
| registers, `-O2` | 55.6 | 18.4 | 45.9 | 109.0 | 70.9 |
| stored angles, `-O2 -mavx2 -ffp-contract=off` | 56.9 | 36.0 | 53.9 | 117.0 | 76.2 |
| registers, same flags | 44.3 | 11.4 | 39.7 | 102.6 | 64.6 |
| stored angles, `-O3 -march=native -ffp-contract=fast` | 61.6 | 32.0 | 52.9 | 111.2 | 71.5 |
| registers, same flags | 39.8 | 9.4 | 32.3 | 90.3 | 60.4 |
| stored angles, clang 14, same flags | 71.5 | 20.9 | 63.9 | 120.6 | 85.9 |
| registers, clang 14, same flags | 39.7 | 10.8 | 29.8 | 82.9 | 50.5 |
| stored angles, `-Os` | 106.4 | 40.6 | 76.6 | 162.3 | 113.8 |
| registers, `-Os` | 59.4 | 17.6 | 45.4 | 115.7 | 75.7 |

## Alternatives

- Vectors of eight with AVX-512: ID 39.8, gravity 13.1, M 35.1, FD 85.7. There is no gain for up to eight angles, and a loss for
  four.
- `rint` and `fma` in the range reduction would allow `-ffast-math`. The whole function took 5 % less time, which does not
  justify a second version of the sines.
- Without vectors, as on a Cortex-M, the angles are evaluated in a loop, so the code of the sines exists once per function. All
  quantities of a UR5 then take 264 kB instead of 313 kB in float, and 279 kB instead of 349 kB in double. The number of
  instructions is a tenth higher (inverse dynamics in float: 925 instead of 838).
"""


def _line(flags: str, libm: float, inline: float, sines: float, theirs: float) -> str:
    there = (inline / sines * SINES, inline / theirs * THEIRS)
    return (
        f"| `{flags}` | {libm:.0f} | {inline:.0f} | {libm / inline:.1f} | "
        f"{' | '.join(f'{x:.0f}' for x in there)} |"
    )


def _case() -> Case:
    return replace(next(case for case in cases() if case.name == "ur5"), quantities=(QUANTITY,))


@click.command()
@click.option("--out", type=click.Path(path_type=Path), default=PAGE, show_default=True)
@click.option("--rounds", default=2 * ROUNDS, show_default=True)
def main(out: Path, rounds: int) -> None:
    """Measure and write the page."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    clock = Clock()
    ns = {tool: x for (_, tool), x in measured(turns(_case(), clock), rounds).items()}
    out.write_text(page(ns, _six(clock), os.getloadavg()[1]), encoding="utf-8")


def _six(clock: Clock) -> float:
    """Nanoseconds of a sine and a cosine of each joint, by libm."""
    return 2 * JOINTS * clock.trig()


if __name__ == "__main__":
    main()
