"""``python -m benchmarks.one_call``: one call of the UR5's inverse dynamics, by flags of the
compiler.

The page it writes says what the sines cost and what making them together gains; everything takes
turns in one process."""

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
    return "\n".join(
        [
            "# One call: sines of all joints at once",
            "",
            "Written by `make bench-one-call`: UR5 (ur_description), inverse dynamics with "
            "sines of libm and of our own, the minimum of",
            "rounds in which everything takes turns; 64 random states in a row.",
            f"{here['processor']} (shared; load {load:.0f}: trust ratios); {here['gcc']}; symgen "
            f"at {here['commit']}.",
            "",
            "The angles of a function that are sums of inputs are taken together, eight at most. "
            "gcc and clang make them in",
            "vectors (four doubles with AVX, two with SSE2 and on 64-bit ARM) that are formed and "
            "taken apart in registers.",
            "Angles that are stored one by one and loaded as a vector, as until November 2026, "
            "wait for the cache: a load",
            "wider than the stores before it cannot be forwarded. The arithmetic is that of a call "
            "an angle: the same bits,",
            "unless products and sums are fused.",
            "",
            f"Six sines and cosines of libm take {sines:.0f} ns here, CasADi's C {theirs:.0f} ns "
            f"(best of its ways and",
            f"flags). On the machine of the aim ({AIM:g} ns) those took {SINES:g} and {THEIRS:g} "
            f"ns; the last two columns",
            "are what ours would take there by either measure.",
            "",
            "| flags, with `-std=c99` | libm, ns | inline, ns | libm / inline | by sines, ns | "
            "by CasADi, ns |",
            "|---|---|---|---|---|---|",
            *(
                _line(flags, ns[f"libm {flags}"], ns[f"inline {flags}"], sines, theirs)
                for flags in FLAGS
            ),
            "",
            "What that gained, with Estrin's scheme and a correction of the reduced angle at the "
            "end, on an EPYC with AVX-512",
            "(gcc 12, the least of 180 turns in one run, ns):",
            "",
            "| `--zeros once` | ID | gravity | M | FD | C |",
            "|---|---|---|---|---|---|",
            "| libm, `-O2` | 100 | 31.2 | 78.0 | 152 | 108 |",
            "| stored angles, `-O2` | 72.1 | 35.6 | 60.4 | 119.7 | 85.2 |",
            "| registers, `-O2` | 55.6 | 18.4 | 45.9 | 109.0 | 70.9 |",
            "| stored angles, `-O2 -mavx2 -ffp-contract=off` | 56.9 | 36.0 | 53.9 | 117.0 | 76.2 |",
            "| registers, the same | 44.3 | 11.4 | 39.7 | 102.6 | 64.6 |",
            "| stored angles, `-O3 -march=native -ffp-contract=fast` | 61.6 | 32.0 | 52.9 | 111.2 "
            "| 71.5 |",
            "| registers, the same | 39.8 | 9.4 | 32.3 | 90.3 | 60.4 |",
            "| stored angles, clang 14, the same | 71.5 | 20.9 | 63.9 | 120.6 | 85.9 |",
            "| registers, clang 14, the same | 39.7 | 10.8 | 29.8 | 82.9 | 50.5 |",
            "| stored angles, `-Os` | 106.4 | 40.6 | 76.6 | 162.3 | 113.8 |",
            "| registers, `-Os` | 59.4 | 17.6 | 45.4 | 115.7 | 75.7 |",
            "",
            "What else was tried: vectors of eight with AVX-512 (ID 39.8, gravity 13.1, M 35.1, FD "
            "85.7: no gain for eight",
            "angles at most, and a loss for four). With `rint` and `fma` for the",
            "reduction, which would let `-ffast-math` through, the whole function took 5 % less: "
            "not worth a second set of",
            "sines. Where there are no vectors, as on a Cortex-M, a loop makes the code shorter (UR5, all quantities: 313 to "
            "264 kB in float, 349 to",
            "279 kB in double), because the sines are there once a function, for a tenth more "
            "instructions (inverse",
            "dynamics in float 838 to 925).",
            "",
        ]
    )


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
