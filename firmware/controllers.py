"""The page docs/controllers/firmware.md: ``python -m firmware.controllers`` prints it; `make
firmware-docs` writes it."""

import sys
from collections.abc import Iterator, Sequence

from firmware.figures import SHOWN, of
from firmware.modules import CONTROLLED, controlled
from firmware.target import BOUND, PACKAGES, TOOLS, Figures, Result, results, summary
from firmware.tools import ROOT, missing, run

HEAD = """# Controllers on a Cortex-M: memory, code size and instructions of a step

`make firmware-docs` writes this page with {compiler} and QEMU. `make firmware` runs the same programs and checks the
self-test, which replays the recorded closed loops, and the stack usage. The stack usage, measured by the stack
pointer, must equal the reported value and stay within {bound}.

Each row is one step of a controller, with inline sines. M4F: float, -O2; M7: double, -O2. Memory is the size of the state
and gains structs in bytes. Code is the size of the step and of its function in bytes, without the recorded loop; a linker
removes that loop if the program does not call the self-test. Instructions are those executed in a step in the middle of the
recorded loop. QEMU counts instructions, not cycles. A Cortex-M7 at 400 MHz has 400,000 cycles per step at 1 kHz.

{summary}.
"""
COLUMNS = (
    *("controller", "operations", "memory M4F", "memory M7", "code M0+", "code M4F", "code M7"),
    *("stack M4F", "stack M7", "instructions M4F", "instructions M7"),
)
END = "_step"
"""End of the names of step functions."""


def page(found: Sequence[Result], compiler: str) -> str:
    """The whole page."""
    robots = dict.fromkeys(r.robot for r in found)
    tables = "".join(
        f"\n## {robot}\n\n" + "\n".join(_rows(found, robot)) + "\n" for robot in robots
    )
    verdict = summary(found).capitalize()
    return HEAD.format(compiler=compiler, bound=BOUND, summary=verdict) + tables


def _rows(found: Sequence[Result], robot: str) -> Iterator[str]:
    yield f"| {' | '.join(COLUMNS)} |"
    yield f"|---|{'---:|' * (len(COLUMNS) - 1)}"
    shown = [of(found, robot, *key) for key in SHOWN]
    for m0, m4, m7 in zip(*(r.functions for r in shown), strict=True):
        if m4.name.endswith(END):
            cells = " | ".join(map(str, _cells(m0, m4, m7)))
            yield f"| `{m4.name.removesuffix(END)}` | {cells} |"


def _cells(m0: Figures, m4: Figures, m7: Figures) -> tuple[int, ...]:
    sizes = (m4.state, m7.state, m0.code, m4.code, m7.code, m4.stack, m7.stack)
    return m4.operations, *sizes, m4.instructions, m7.instructions


def main() -> int:
    """Print the page; the exit status is 1 where something is not as it must be."""
    if absent := missing(TOOLS):
        print(
            f"{', '.join(absent)} not installed (Debian: apt-get install {PACKAGES})",
            file=sys.stderr,
        )
        return 1
    found = list(results(CONTROLLED, 2, controlled))
    compiler = run("arm-none-eabi-gcc", "-dumpfullversion", cwd=ROOT).strip()
    print(page(found, f"arm-none-eabi-gcc {compiler}"), end="")
    return 1 if any(r.faults for r in found) else 0


if __name__ == "__main__":
    sys.exit(main())
