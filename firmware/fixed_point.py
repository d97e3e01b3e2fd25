"""Fixed-point modules on emulated Cortex-M: self-tests, instructions, stack and code.

``python -m firmware.fixed_point`` measures the inverse dynamics of the UR5 in q31 and q15, and the
sine and cosine in them. The code of the M0+, whose instructions are a part of those of the M3, runs
on the M3's board, so that instructions are counted exactly."""

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, StrictUndefined

from benchmarks.page_tables import write_table
from firmware.probes import Probed
from firmware.stack import Calls, tail_calls
from firmware.target import COUNTED, SECTIONS, STARTUP
from firmware.tools import BARE, ROOT, WARNINGS, Refused, emulated, missing, run
from symgen.jobs.job import Job
from symgen.languages.c.backend import files
from symgen.languages.c.certified_code import fixed_functions_in_c
from symgen.languages.c.fixed_files import random_integers
from symgen.languages.c.options import ARM_COMPILER, TARGETS
from symgen.languages.module import Module

BOARD: Final = "mps2-an385"
CORES: Final = {
    "M0+": TARGETS["cortex-m0plus"].flags,
    "M3": ("-mcpu=cortex-m3", "-mthumb"),
}
OPTIONS: Final[dict[str, Any]] = {
    "quantities": ("inverse_dynamics",),
    "certify_limits": {"acceleration": 10.0},
}
CASES: Final = (
    ("q31", None, ("M0+", "M3")),
    ("q31", "cortex-m0plus", ("M0+",)),
    ("q15", None, ("M3",)),
    ("q15", "cortex-m0plus", ("M0+",)),
)
"""Types, the target that the code is written for, and the processors that run it."""
PAGE: Final = ROOT / "docs" / "fixed-point.md"
RESULTS: Final = ROOT / "docs" / "benchmarks" / "fixed_point.json"
TOOLS: Final = (ARM_COMPILER, "arm-none-eabi-size", "qemu-system-arm")


@dataclass(frozen=True)
class FixedFigures:
    """What a function takes on a processor."""

    scalar: str
    target: str | None
    core: str
    function: str
    instructions: int
    stack: int
    """Bytes as compiled, of the worst path."""
    painted: int
    """Bytes that a call overwrites."""
    code: int
    wrong: int
    """Wrong entries of the self-test on the processor."""


def measured(module: Module, core: str) -> Iterator[FixedFigures]:
    """The figures of all functions of a module, and those of its sine and cosine. Raises
    Refused."""
    name, scalar = module.name, module.options["scalar"]
    with tempfile.TemporaryDirectory(prefix="symgen-fixed-") as scratch:
        work = Path(scratch)
        for file, text in files(module).items():
            (work / file).write_text(text, encoding="utf-8")
        (work / "probe.c").write_text(probe(module), encoding="ascii")
        (work / "once.c").write_text("#define ONCE\n" + probe(module), encoding="ascii")
        units = [*sorted(work.glob("*.c")), BARE / "startup.c"]
        for source in units:
            own = STARTUP if source.parent == BARE else WARNINGS
            flags = ("-O2", "-std=c99", "-fcallgraph-info=su", *SECTIONS, f"-I{BARE}", f"-I{work}")
            none = f"-D{name.upper()}_SELFTEST_NO_MAIN"
            run(ARM_COMPILER, *CORES[core], *flags, *own, none, "-c", source, "-o", source.stem + ".o",
                cwd=work)  # fmt: skip
        images = {main: _linked(work, core, main) for main in ("probe", "once")}
        printed = emulated(images["probe"], BOARD, *COUNTED)
        wrong = int(next(x.split()[1] for x in printed.splitlines() if x.startswith("wrong ")))
        calls = Calls.read(work.glob("*.ci"), tail_calls(images["once"]))
        rows = [line.split()[1:] for line in printed.splitlines() if line.startswith("probe ")]
        for function, painted, count in rows:
            symbol = f"{name}_{function}"
            below = calls.frames[f"{work / 'probe.c'}:call_{function}"]
            size = 0
            if (work / f"{symbol}.o").exists():
                size = int(
                    run("arm-none-eabi-size", f"{symbol}.o", cwd=work).splitlines()[1].split()[0]
                )
            stack = calls.worst(symbol) if symbol in calls.frames else 0
            yield FixedFigures(
                scalar,
                module.options["target"],
                core,
                function,
                int(count),
                stack,
                int(painted) - below,
                size,
                wrong,
            )


def _linked(work: Path, core: str, main: str) -> Path:
    """The image of a main program."""
    parts = [
        p for p in sorted(work.glob("*.o")) if p.stem not in ("probe", "once") or p.stem == main
    ]
    flags = ("-nostdlib", "-nostartfiles", "-T", BARE / "mps2.ld", "-Wl,--gc-sections")
    run(ARM_COMPILER, *CORES[core], *flags, *parts, "-lgcc", "-o", f"{main}.elf", cwd=work)
    return work / f"{main}.elf"


def probe(module: Module) -> str:
    """The main program that measures each function."""
    name, scalar = module.name, module.options["scalar"]
    codes = fixed_functions_in_c(module)
    probed = [
        Probed(
            f.description.name, f.full_name, 0, 0, (f.full_name,),
            f"{f.full_name}("
            + ", ".join(f"in_{a.name}" if a.direction == "in" else a.name for a in f.description.arguments)
            + ");",
        )
        for f in codes
    ]  # fmt: skip
    probed.append(
        Probed("sincos", "", 0, 0, (), f"{name}_sincos(angle, &sine, &cosine);",
               ("volatile uint32_t angle = 123456789U;", "int32_t sine, cosine;"))
    )  # fmt: skip
    state = {key: x[:, 0].tolist() for key, x in random_integers(module, 1, "probe").items()}
    sizes = {a.name: a.size for f in codes for a in f.description.outs}
    text = (Path(__file__).parent / "probe.c.jinja").read_text(encoding="utf-8")
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    head = f'#include "{name}_fixed.h"\ntypedef {name}_{scalar} {name}_real;\n'
    return head + environment.from_string(text).render(
        module=module,
        probed=probed,
        controllers=(),
        results=sizes,
        inputs=state,
        numbers=lambda values: ", ".join(map(str, values)),
    )


def figures() -> list[FixedFigures]:
    """The figures of the UR5 in both types on both processors. Raises Refused."""
    found = list[FixedFigures]()
    for scalar, target, cores in CASES:
        options = {**OPTIONS, "scalar": scalar, "target": target}
        job = Job.of(str(ROOT / "robots" / "ur5.urdf"), **options)
        module = job.module(job.load())
        for core in cores:
            found += measured(module, core)
    return found


def table(found: Sequence[FixedFigures]) -> str:
    """The figures as a table in Markdown."""
    heads = "function", "instructions", "stack, bytes", "code, bytes"
    text = (
        f"| type | `--target` | processor | {' | '.join(heads)} |\n|---|---|---|---|---|---|---|\n"
    )
    for row in found:
        sizes = (row.stack, row.code) if row.code else ("", "")
        cells = (row.scalar, row.target or "", row.core, f"`{row.function}`")
        text += f"| {' | '.join(map(str, (*cells, f'{row.instructions:,}', *sizes)))} |\n"
    return text


def store(found: Sequence[FixedFigures]) -> None:
    """Write the figures to `RESULTS`, and their table to the page."""
    RESULTS.write_text(
        json.dumps([asdict(row) for row in found], indent=1) + "\n", encoding="utf-8"
    )
    write_table(PAGE, "fixed point on processors", table(found))


def main() -> int:
    """Measure and store; the exit status is 1 where a self-test fails."""
    if absent := missing(TOOLS):
        print(f"skipped: {', '.join(absent)} not installed")
        return 0
    try:
        found = figures()
    except Refused as refusal:
        print(refusal, file=sys.stderr)
        return 1
    for row in found:
        print(row)
    if "--write" in sys.argv:
        store(found)
    return 1 if any(row.wrong for row in found) else 0


if __name__ == "__main__":
    sys.exit(main())
