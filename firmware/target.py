"""Self-tests, stack and instructions on emulated Cortex-M: ``python -m firmware.target`` (`make
firmware`).

Every function of every quantity is built for the boards by arm-none-eabi-gcc and run by
qemu-system-arm, bare metal: the start-up of examples/firmware, no C library at all. The exit status
is 1 if a self-test fails, or a function's stack is not what its compiler promised or above
``STACK`` values of its scalar."""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from firmware.modules import CONTROLLED, LOOPS, ROBOTS, Sample, Written, controlled, looped
from firmware.probes import RECORD, Probed, probe, probed
from firmware.stack import Calls, reached, tail_calls
from firmware.tools import BARE, ROOT, WARNINGS, Refused, emulated, missing, run
from symgen.languages.c.options import ARM_COMPILER, RISCV_COMPILER, TARGETS, COptions
from symgen.tracing.options import DEFAULT_QUANTITIES

TOOLS = (ARM_COMPILER, "arm-none-eabi-size", "qemu-system-arm")
PACKAGES = "gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm"
STACK = 256
"""Values of a function's scalar that no stack may exceed."""

MAINS = {"probe": "", "once": "#define ONCE\n"}
"""Main programs and what stands before their common text: one measures, one only calls each
function."""

COUNTED = ("-icount", "shift=0")
"""A tick of QEMU's clock an instruction."""

STARTUP = ("-ffreestanding", "-fno-tree-loop-distribute-patterns")
"""Or gcc would make memset a call of memset."""

WIDTH = {"float": 4, "double": 8}

BOUND = " or ".join(f"{STACK * width:,} bytes in {scalar}" for scalar, width in WIDTH.items())
"""The same in words."""

SECTIONS = ("-ffunction-sections", "-fdata-sections")


@dataclass(frozen=True)
class Core:
    """A processor: the flags that choose it, the board that has it, the scalars its FPU computes,
    and where that board's PSRAM is: all quantities of a robot outgrow the 4 MB at 0."""

    name: str
    flags: tuple[str, ...]
    board: str = ""
    scalars: tuple[str, ...] = ()
    psram: int = 0
    compiler: str = ARM_COMPILER
    own: tuple[str, ...] = ()
    """Flags of the probe and of the linker that the board needs."""

    @property
    def start(self) -> Path:
        """The folder of the start-up code."""
        return BARE if self.compiler == ARM_COMPILER else ROOT / "firmware" / "riscv"

    def tool(self, name: str) -> str:
        """The tool that belongs to the compiler."""
        return self.compiler.replace("gcc", name)

    @property
    def tools(self) -> tuple[str, ...]:
        """The programs that it needs."""
        return (
            self.compiler,
            "qemu-system-arm" if self.compiler == ARM_COMPILER else "qemu-system-riscv32",
        )

    @property
    def linked(self) -> tuple[object, ...]:
        """The linker script, and libraries: the arc tangent of closed loops."""
        if self.compiler != ARM_COMPILER:
            return "-T", self.start / "virt.ld"
        place = f"-Wl,--defsym=psram={self.psram:#x}" if self.psram else ""
        return *filter(None, [place]), "-T", BARE / "mps2.ld", "-lm", "-lc"


M0 = Core("M0+", TARGETS["cortex-m0plus"].flags)
M4F = Core("M4F", TARGETS["cortex-m4f"].flags, "mps2-an386", ("float",), 0x21000000)
M7 = Core("M7", TARGETS["cortex-m7"].flags, "mps2-an500", ("float", "double"), 0x60000000)

M55 = Core(
    "M55", TARGETS["cortex-m55"].flags, "mps3-an547", ("float", "double"),
    own=("-DCALLS=125", "-DTICKS=4", "-Wl,--defsym=ram=512K"),
)  # fmt: skip
"""A clock of 32 MHz: 125 calls take 4 ticks an instruction."""
RV32 = Core("RV32IMC", TARGETS["rv32imc"].flags, "virt", compiler=RISCV_COMPILER)
RV32F = Core("RV32IMAFC", TARGETS["rv32imafc"].flags, "virt", ("float",), compiler=RISCV_COMPILER)

RUNS = (
    (M4F, "float", "-O2"),
    (M4F, "float", "-Os"),
    (M4F, "double", "-O2"),
    (M7, "float", "-O2"),
    (M7, "double", "-O2"),
    (M7, "double", "-Os"),
)
FURTHER = (
    (M55, "float", "-O2"),
    (M55, "double", "-O2"),
    (RV32, "float", "-O2"),
    (RV32F, "float", "-O2"),
)
"""Runs of fewer functions."""
SIZES = ((M0, "float", "-Os"),)
"""Only compiled."""


@dataclass(frozen=True)
class Figures:
    """What a function takes: bytes of code, of stack (as compiled, as reached by the stack pointer,
    as overwritten), words of work, instructions a call."""

    name: str
    operations: int
    work: int
    code: int
    stack: int
    reached: int
    painted: int
    instructions: int
    state: int = 0
    """Bytes of a controller's state and gains."""
    library: bool = False
    """Whether it calls the C library (the arc tangent), so that its stack is measured only."""

    @property
    def honest(self) -> bool:
        """Whether the stack is the promised one."""
        return self.library or self.painted <= self.stack == self.reached


@dataclass(frozen=True)
class Result:
    """A module on a core: wrong values of its self-test, figures of its functions, or why it did
    not run."""

    robot: str
    core: Core
    scalar: str
    optimise: str
    functions: tuple[Figures, ...] = ()
    wrong: int = -1
    refusal: str = ""

    @property
    def bounded(self) -> bool:
        """Whether the stack is known: all arithmetic is the FPU's, not a library's."""
        return self.scalar in self.core.scalars

    @property
    def faults(self) -> list[str]:
        """What is not as it must be."""
        found = [self.refusal] if self.refusal else []
        if self.core.board and not self.refusal and self.wrong:
            found.append(
                f"self-test: {self.wrong} wrong values"
                if self.wrong > 0
                else "self-test: said nothing"
            )
        if self.bounded:
            found += [
                f"{f.name}: {f.stack} bytes promised, {f.reached} used, {f.painted} overwritten"
                for f in self.functions
                if not f.honest
            ]
            most = STACK * WIDTH[self.scalar]
            found += [
                f"{f.name}: {f.stack} bytes of stack" for f in self.functions if f.stack > most
            ]
        return found


# -- building --------------------------------------------------------------------------------------


def build(made: Written, core: Core, optimise: str, work: Path) -> dict[str, Path]:
    """Objects by source name, each with its .ci file of calls and frames beside it. Raises
    Refused."""

    def one(source: Path) -> Path:
        target = work / f"{source.stem}.o"
        flags = (
            *core.flags,
            optimise,
            "-std=c99",
            "-fno-math-errno",
            "-fcallgraph-info=su",
            *SECTIONS,
            f"-I{made.folder}",
            f"-I{BARE}",
            *(flag for flag in core.own if flag.startswith("-D")),
        )
        own = STARTUP if source.name == "startup.c" else WARNINGS
        none = f"-D{made.module.name.upper()}_SELFTEST_NO_MAIN"
        run(core.compiler, *flags, *own, none, "-c", source, "-o", target, cwd=work)
        return target

    sources = [*made.own, *(() if not core.board else _image(made, core, work))]
    return {source.stem: one(source) for source in sources}


def _image(made: Written, core: Core, work: Path) -> Iterator[Path]:
    """The further sources of an image that runs."""
    yield from (p for p in made.sources if p not in made.own)
    for name, head in MAINS.items():
        (work / f"{name}.c").write_text(head + probe(made), encoding="ascii")
        yield work / f"{name}.c"
    yield core.start / "startup.c"


def link(objects: Mapping[str, Path], main: str, core: Core, work: Path) -> Path:
    """The image of one of the main programs. Raises Refused where anything but the compiler's
    helpers is missing, and square roots for which the processor has no instruction."""
    own = (flag for flag in core.own if flag.startswith("-Wl"))
    flags = ("-nostdlib", "-nostartfiles", *own, "-Wl,--gc-sections")
    parts = [path for name, path in objects.items() if name == main or name not in MAINS]
    end = (*core.linked, "-lgcc", "-o", f"{main}.elf")
    run(core.compiler, *core.flags, *flags, *parts, *end, cwd=work)
    return work / f"{main}.elf"


# -- measuring -------------------------------------------------------------------------------------


def code_sizes(
    objects: dict[str, Path], work: Path, tool: str = "arm-none-eabi-size"
) -> dict[str, int]:
    """Bytes of code and constants by source; of a controller without its recorded loop."""
    rows = run(tool, *objects.values(), cwd=work).splitlines()[1:]
    found = {name: int(row.split()[0]) for name, row in zip(objects, rows, strict=True)}
    kept = [name for name in objects if name.endswith("_controller")]
    return found | {name: found[name] - _recorded(objects[name], work) for name in kept}


def _recorded(controller: Path, work: Path) -> int:
    """Bytes of a controller's object that are there for its recorded loop."""
    rows = [
        line.split() for line in run("arm-none-eabi-nm", "-S", controller, cwd=work).splitlines()
    ]
    return sum(
        int(row[1], 16)
        for row in rows
        if len(row) == 4 and (row[3].startswith(RECORD) or row[3].endswith("_closed_loop"))
    )


def judged(made: Written, core: Core, optimise: str) -> Result:
    """A module built for a core, and run where there is a board."""
    result = Result(made.module.robot.model.name, core, made.module[COptions].scalar, optimise)
    with tempfile.TemporaryDirectory(prefix="symgen-firmware-") as scratch:
        work = Path(scratch)
        try:
            objects = build(made, core, optimise, work)
            printed = (
                emulated(link(objects, "probe", core, work), core.board, *COUNTED)
                if core.board
                else ""
            )
            calls, used = (
                _stack(objects, core, work) if core.board and result.bounded else (None, {})
            )
            sizes = code_sizes(objects, work, core.tool("size"))
            figures = _figures(made, sizes, printed, calls, used, work)
            return Result(*_key(result), figures, _wrong(printed))
        except Refused as refusal:
            return Result(*_key(result), refusal=str(refusal))


def _key(r: Result) -> tuple[str, Core, str, str]:
    return r.robot, r.core, r.scalar, r.optimise


def _wrong(printed: str) -> int:
    return int(
        next((line.split()[1] for line in printed.splitlines() if line.startswith("wrong ")), -1)
    )


def _stack(objects: dict[str, Path], core: Core, work: Path) -> tuple[Calls, dict[str, int]]:
    """The stack as promised, and as reached, which is watched on Arm only."""
    if core.compiler != ARM_COMPILER:
        return Calls.read(work.glob("*.ci")), {}
    image = link(objects, "once", core, work)
    return Calls.read(work.glob("*.ci"), tail_calls(image)), reached(image, core.board)


def _figures(
    made: Written,
    sizes: dict[str, int],
    printed: str,
    calls: Calls | None,
    used: dict[str, int],
    work: Path,
) -> tuple[Figures, ...]:
    rows = [line.split()[1:] for line in printed.splitlines() if line.startswith("probe ")]
    measured = {name: (int(painted), int(count)) for name, painted, count in rows}
    width = WIDTH[made.module[COptions].scalar]

    def one(f: Probed) -> Figures:
        painted, count = measured.get(f.name, (0, 0))
        library = False
        try:
            stack = calls.worst(f.symbol) if calls else 0
            at = used.get(f.symbol, 0) if used else stack
        except Refused:
            stack, library = used.get(f.symbol, 0), True
            at = stack
        below = painted - (calls.frames[f"{work / 'probe.c'}:call_{f.name}"] if calls else 0)
        code, state = sum(sizes[name] for name in f.objects), width * f.state
        return Figures(f.name, f.operations, f.work, code, stack, at, below, count, state, library)

    return tuple(map(one, probed(made)))


# -- reporting -------------------------------------------------------------------------------------


def every_quantity(robot: str, scalar: str) -> Sample:
    """A robot with every quantity, for any processor."""
    return Sample(robot, {"scalar": scalar, "quantities": ("all",)})


def targeted(robot: str, scalar: str) -> Sample:
    """The same, written for the processor that its scalar is for: with a work array in banks."""
    target = "cortex-m4f" if scalar == "float" else "cortex-m7"
    sample = every_quantity(robot, scalar)
    return Sample(robot, {**sample.options, "target": target})


def usual(robot: str, scalar: str) -> Sample:
    """The functions that run on the further processors."""
    further = ("forward_dynamics", "inverse_dynamics_derivatives")
    return Sample(robot, {"scalar": scalar, "quantities": (*DEFAULT_QUANTITIES, *further)})


def results(
    robots: Iterable[str],
    jobs: int,
    sample: Callable[[str, str], Sample] = every_quantity,
    runs: Sequence[tuple[Core, str, str]] | None = None,
) -> Iterator[Result]:
    """Every robot in both scalars, on all cores, with all quantities or what `sample` says."""
    runs = (*RUNS, *SIZES) if runs is None else runs
    with (
        tempfile.TemporaryDirectory(prefix="symgen-firmware-") as scratch,
        ThreadPoolExecutor(jobs) as pool,
    ):
        for robot in robots:
            for scalar in ("float", "double"):
                made = sample(robot, scalar).written(Path(scratch) / f"{robot}_{scalar}")
                wanted = [(core, optimise) for core, s, optimise in runs if s == scalar]
                yield from pool.map(lambda run, made=made: judged(made, *run), wanted)


def table(found: Sequence[Result]) -> Table:
    """One line a robot, core, scalar and flag."""
    shown = Table(
        "robot",
        "core",
        "scalar",
        "flag",
        "functions",
        "self-test",
        "code kB",
        "largest stack B",
        box=None,
    )
    for r in (r for r in found if r.core.board):
        verdict = "passed" if r.wrong == 0 else "FAILED"
        code, stack = (
            sum(f.code for f in r.functions),
            max((f.stack for f in r.functions), default=0),
        )
        shown.add_row(
            r.robot,
            f"Cortex-{r.core.name}",
            r.scalar,
            r.optimise,
            str(len(r.functions)),
            verdict,
            f"{code / 1000:.0f}",
            f"{stack}" if r.bounded else "(library)",
        )
    return shown


def summary(found: Sequence[Result]) -> str:
    """The verdict in one line."""
    ran = [r for r in found if r.core.board]
    known = [f for r in ran if r.bounded for f in r.functions if not f.library]
    passed, largest = sum(r.wrong == 0 for r in ran), max((f.stack for f in known), default=0)
    honest = sum(f.honest for f in known)
    return (
        f"{passed} of {len(ran)} self-tests passed; reported stack = measured stack for {honest} of "
        f"{len(known)} "
        f"functions; largest stack: {largest} bytes"
    )


def main() -> int:
    """Run everything; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="*", default=(*ROBOTS, *LOOPS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--controllers", action="store_true", help="only the controllers")
    given = parser.parse_args()
    if absent := missing(TOOLS):
        print(f"skipped: {', '.join(absent)} not installed (Debian: apt-get install {PACKAGES})")
        return 0
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    found, names = list[Result](), [] if given.controllers else given.robots
    found += results([name for name in names if name not in LOOPS], given.jobs, targeted)
    found += results([name for name in names if name in LOOPS], given.jobs, looped)
    known = [run for run in FURTHER if not missing(run[0].tools)]
    for core in dict.fromkeys(core for core, *_ in FURTHER if missing(core.tools)):
        console.print(f"skipped: {core.name}: {', '.join(missing(core.tools))} not installed")
    found += results([name for name in names if name in ROBOTS], given.jobs, usual, known)
    kept = [robot for robot in given.robots if robot in CONTROLLED]
    found += results(kept, given.jobs, controlled)
    console.print(table(found), end="\n\n")
    for r in found:
        for fault in r.faults:
            console.print(
                f"{r.robot} {r.core.name} {r.scalar} {r.optimise}: {fault}",
                markup=False,
                soft_wrap=True,
            )
    console.print(summary(found))
    return 1 if any(r.faults for r in found) else 0


if __name__ == "__main__":
    sys.exit(main())
