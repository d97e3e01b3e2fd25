"""The page docs/firmware-figures.md: ``python -m firmware.figures`` prints it; `make firmware-docs`
writes it. With ``--only NAME`` it writes one of the last sections: ``closed loops``, ``further
processors`` or ``fixed point``."""

import argparse
import sys
from collections.abc import Iterator, Sequence

from benchmarks.page_tables import write_table
from firmware import fixed_point
from firmware.errors import section
from firmware.modules import LOOPS, ROBOTS, looped
from firmware.target import (
    BOUND,
    FURTHER,
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
    usual,
)
from firmware.tools import ROOT, missing, run

HEAD = """# Firmware figures: code size, stack and instructions of every function on a Cortex-M

`make firmware-docs` writes this page with {compiler} and QEMU. `make firmware` runs the same programs and checks the
results.

The columns are:

- **code**: text and constants in bytes.
- **stack**: the deepest path through a function and its pieces in bytes, as reported by the compiler. It is equal to the
  stack usage in the emulator and at most {bound}.
- **work**: the array that the caller passes, in scalars.
- **instructions**: those executed in one call, the call included. A Cortex-M4 takes about one to three cycles for each
  instruction from flash without wait states, an M7 about one. QEMU counts instructions, not cycles.

The processors are M0+ (float without an FPU, -Os; functions of the compiler's float library are not included), M4F (float,
-O2) and M7 (double, -O2). Sine and cosine are inline (`--trig inline`), so the figures include them. `--chunk` has its
default. Loops that write structural zeros are calls of the memset of examples/firmware, which writes one word at a time.

The modules are generated without `--target`. With `--target`, pieces access long work arrays through several pointers, and
long functions are smaller and faster ([figures](concepts/latency.md#loops)).

Notes:

- A sine counts as one operation and takes about 60 instructions. If the sine of a sum of angles saves one or two
  operations, the number of instructions can increase. Example: `kinetic_energy` of the UR5 has 155 operations and 676
  instructions; with products of sines it has 157 operations and 556 instructions.
- All quantities of a robot exceed the 4 MB that the emulated boards have at address 0, so code and constants are in their
  PSRAM. This does not change the number of instructions.
- A stack above 1,024 bytes occurs in double in long pieces, because gcc loads the inputs of a piece at its beginning. With
  `--chunk 40` instead of 100, the deepest piece of `step_jacobians:rk4` of the Panda needs 824 bytes instead of 1,744, and
  the code is 5 % larger.

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


LOOPS_HEAD = """
## Closed loops

The robots of `robots/` with [closed loops](concepts/coupling.md#closed-loops). The first four functions of the ankle are the module of its
transmission, for a board on the shin ([how-to](howto/ankle.md)): `command` gives position, velocity and torque of both motors, `step` is a step from
motor to joint positions, `measured` gives joint velocities and torques, and `inertia` is the inertia of the motors at the joints. The square
roots are instructions of the FPU (`-fno-math-errno`). `command` calls the arc tangent of the C library, and its stack is the measured one.
{summary}.
"""


def loop_section(found: Sequence[Result]) -> str:
    """The tables of the robots with closed loops."""
    robots = dict.fromkeys(r.robot for r in found)
    tables = (f"\n### {robot}\n\n" + "\n".join(_rows(found, robot)) + "\n" for robot in robots)
    return LOOPS_HEAD.format(summary=summary(found).capitalize()) + "".join(tables) + "\n"


FURTHER_HEAD = """
## Further processors

Code in bytes, stack in bytes and instructions of one call, with -O2 and inline sines. The vector unit of the Cortex-M55 (Helium)
computes several sines at once in float. RV32IMC computes floating point in the compiler's library, whose instructions are included. {summary}.
"""


def further_section(found: Sequence[Result]) -> str:
    """The table of the further processors."""
    shown = dict.fromkeys((r.core.name, r.scalar) for r in found)
    heads = [f"{x} {name} {scalar}" for name, scalar in shown for x in HEADS]
    text = FURTHER_HEAD.format(summary=summary(found).capitalize())
    text += f"\n| robot | function | {' | '.join(heads)} |\n|---|---|{'---:|' * len(heads)}\n"
    for robot in dict.fromkeys(r.robot for r in found):
        rows = [r.functions for r in found if r.robot == robot]
        for same in zip(*rows, strict=True):
            cells = [(f.code, f.stack or "", f.instructions) for f in same]
            line = " | ".join(str(x) for three in cells for x in three)
            text += f"| {robot} | `{same[0].name}` | {line} |\n"
    return text + "\n"


HEADS = ("code", "stack", "instructions")

FIXED_HEAD = """
## Fixed point

The inverse dynamics of the UR5 in [fixed point](fixed-point.md), and one call of the sine and cosine in it (seven of them are
included). The instructions of the M0+ are a part of those of the M3, so they are counted on that one's board. The
self-test has {wrong} wrong entries on the processors.

"""


def fixed_section() -> str:
    """The table of functions in fixed point, which it stores. Raises Refused."""
    found = fixed_point.figures()
    fixed_point.store(found)
    head = FIXED_HEAD.format(wrong=sum(row.wrong for row in found))
    return f"{head}{fixed_point.table(found)}\n"


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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=SECTIONS, help="write this section of the page only")
    only = parser.parse_args().only
    if absent := missing(TOOLS):
        print(
            f"{', '.join(absent)} not installed (Debian: apt-get install {PACKAGES})",
            file=sys.stderr,
        )
        return 1
    if absent := [x for core, *_ in FURTHER for x in missing(core.tools)]:
        print(f"{absent[0]} not installed", file=sys.stderr)
        return 1
    ran = list[Result]()

    def made(name: str) -> str:
        """A section of `SECTIONS`."""
        if name == "fixed point":
            return fixed_section()
        further = name == "further processors"
        found = list(results(ROBOTS, 2, usual, FURTHER) if further else results(LOOPS, 2, looped))
        ran.extend(found)
        return further_section(found) if further else loop_section(found)

    if only:
        write_table(ROOT / "docs" / "firmware-figures.md", only, made(only))
    else:
        compiler = run("arm-none-eabi-gcc", "-dumpfullversion", cwd=ROOT).strip()
        ran.extend(results(ROBOTS, jobs=2))
        print(page(ran, f"arm-none-eabi-gcc {compiler}"))
        for name in SECTIONS:
            print(f"<!-- {name} -->\n{made(name)}<!-- end {name} -->")
        print(section(), end="")
    for r in ran:
        for fault in r.faults:
            print(f"{r.robot}, {r.core.name}, {r.scalar}: {fault}", file=sys.stderr)
    return 1 if any(r.faults for r in ran) else 0


SECTIONS = ("closed loops", "further processors", "fixed point")
"""The last sections of the page, by their names in it."""


if __name__ == "__main__":
    sys.exit(main())
