"""The page docs/firmware-figures.md: ``python -m firmware.figures`` prints it; `make firmware-docs`
writes it."""

import sys
from collections.abc import Iterator, Sequence

from firmware.errors import section
from firmware.modules import ROBOTS
from firmware.target import (
    BOUND,
    M0,
    M4F,
    M7,
    PACKAGES,
    TOOLS,
    Core,
    Figures,
    Result,
    results,
    summary,
)
from firmware.tools import ROOT, missing, run

HEAD = """# What functions take on a Cortex-M

Written by `make firmware-docs` with {compiler} and QEMU; `make firmware` runs the same and judges it.

Sine and cosine are the module's own (`--trig inline`), so these figures hold all of a function. Pieces are those of
the default `--chunk`. Code is text and constants; stack is the worst path through a function and its pieces as the
compiler states it, equal to what the stack pointer reaches in the emulator, and never above
{bound}.
Work is the array that the caller passes, in scalars. Instructions are executed ones of a call, its own included; a
Cortex-M4 takes about one to three cycles for each from flash without wait states, an M7 about one. QEMU counts
instructions, not cycles. Loops over structural zeros are calls of memset here, that of examples/firmware, a word at a
time.

M0+: float without an FPU, -Os, calls of the compiler's float library not included. M4F: float, -O2.
M7: double, -O2.

Modules are generated without `--target`. With it pieces reach long work arrays by several pointers, and long functions
are smaller and faster ([figures](concepts/latency.md#loops)).

A sine counts as one operation and is some 60 instructions here: where sines of sums of angles save an operation or
two, there are more instructions (`kinetic_energy` of the UR5: 155 and 676, with products of sines 157 and 556). Every
quantity of a robot is more than the 4 MB that the emulated boards have at 0, so code and constants are in their
PSRAM; instructions are the same wherever they are. Stack above 1,024 bytes is that of doubles in long pieces, at
whose beginning gcc reads what all of it needs: `--chunk 40` in place of 100 brings `step_jacobians:rk4` of the Panda
from 1,744 bytes in its deepest piece to 824, for 5 % more code.

{summary}.
"""
COLUMNS = (
    "function",
    "operations",
    "work",
    "code M0+",
    "code M4F",
    "code M7",
    "stack M4F",
    "stack M7",
    "instructions M4F",
    "instructions M7",
)
SHOWN: tuple[tuple[Core, str, str], ...] = (
    (M0, "float", "-Os"),
    (M4F, "float", "-O2"),
    (M7, "double", "-O2"),
)


def page(found: Sequence[Result], compiler: str) -> str:
    """The whole page."""
    robots = dict.fromkeys(r.robot for r in found)
    tables = "".join(
        f"\n## {robot}\n\n" + "\n".join(_rows(found, robot)) + "\n" for robot in robots
    )
    return HEAD.format(compiler=compiler, bound=BOUND, summary=summary(found).capitalize()) + tables


def _rows(found: Sequence[Result], robot: str) -> Iterator[str]:
    yield f"| {' | '.join(COLUMNS)} |"
    yield f"|---|{'---:|' * (len(COLUMNS) - 1)}"
    shown = [of(found, robot, *key) for key in SHOWN]
    for m0, m4, m7 in zip(*(r.functions for r in shown), strict=True):
        yield f"| `{m4.name}` | {' | '.join(map(str, _cells(m0, m4, m7)))} |"


def _cells(m0: Figures, m4: Figures, m7: Figures) -> tuple[int, ...]:
    code = (m0.code, m4.code, m7.code)
    return m4.operations, m4.work, *code, m4.stack, m7.stack, m4.instructions, m7.instructions


def of(found: Sequence[Result], robot: str, core: Core, scalar: str, optimise: str) -> Result:
    """The result of a robot's module on a core."""
    return next(
        r
        for r in found
        if (r.robot, r.core, r.scalar, r.optimise) == (robot, core, scalar, optimise)
    )


def main() -> int:
    """Print the page; the exit status is 1 where something is not as it must be."""
    if absent := missing(TOOLS):
        print(
            f"{', '.join(absent)} not installed (Debian: apt-get install {PACKAGES})",
            file=sys.stderr,
        )
        return 1
    found = list(results(ROBOTS, jobs=2))
    if refused := [r for r in found if r.refusal]:
        for r in refused:
            print(f"{r.robot}, {r.core.name}, {r.scalar}: {r.refusal}", file=sys.stderr)
        return 1
    compiler = run("arm-none-eabi-gcc", "-dumpfullversion", cwd=ROOT).strip()
    print(page(found, f"arm-none-eabi-gcc {compiler}") + section(), end="")
    return 1 if any(r.faults for r in found) else 0


if __name__ == "__main__":
    sys.exit(main())
