"""Stack of functions on a target: as the compiler promises it, and as an emulator sees it used.

The compiler's figure is the worst path through its frames. The emulator's is the lowest stack
pointer between a function's first instruction and its return; a painted stack shows less where a
frame has words that are not written."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from firmware.tools import Refused, emulated, run

THUNK = "call_"
"""Head of the names of functions that the image calls only to call another."""

INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\t(\S+)\t?([^;@\n]*)", re.MULTILINE)
MOVES_STACK = re.compile(r"v?push|v?pop|\S+ sp!?,|\S+ .*\[sp(\], #|, #-?\d+\]!)")

BRANCH = re.compile(r"\t(bl?)(?:\.[wn])?\t[0-9a-f]+ <([^+>]+)>")

REGISTERS = re.compile(r"R13=([0-9a-f]{8}) R14=[0-9a-f]{8} R15=([0-9a-f]{8})")


@dataclass(frozen=True)
class Calls:
    """What -fcallgraph-info=su tells of an image: bytes of stack by function, and who calls whom.

    A tail call is a jump behind the end of the caller's frame.
    """

    frames: dict[str, int]
    callees: dict[str, list[str]]
    tails: frozenset[tuple[str, str]] = frozenset()

    @classmethod
    def read(
        cls, paths: Iterable[Path], tails: frozenset[tuple[str, str]] = frozenset()
    ) -> "Calls":
        """From .ci files and an image's tail calls. Raises Refused for a frame without a fixed
        size."""
        text = "".join(path.read_text(encoding="utf-8") for path in paths)
        if unknown := re.search(r'title: "([^"]*)" label: "[^"]* bytes \((?!static)', text):
            raise Refused(f"{unknown[1]}: stack is not static")
        callees: dict[str, list[str]] = {}
        for caller, callee in re.findall(r'sourcename: "([^"]*)" targetname: "([^"]*)"', text):
            callees.setdefault(caller, []).append(callee)
        return cls(
            {
                name: int(size)
                for name, size in re.findall(r'title: "([^"]*)" label: "[^"]*n(\d+) bytes', text)
            },
            callees,
            tails,
        )

    def worst(self, name: str) -> int:
        """Stack of the worst path from a function. Raises Refused where it calls one that is not of
        the image."""
        if name not in self.frames:
            raise Refused(f"{name} is called, and its stack is not known")
        below = (
            self.worst(callee) + self._kept(name, callee) for callee in self.callees.get(name, ())
        )
        return max((self.frames[name], *below))

    def _kept(self, caller: str, callee: str) -> int:
        """What a caller's frame takes during a call."""
        return 0 if (_symbol(caller), _symbol(callee)) in self.tails else self.frames[caller]


def _symbol(title: str) -> str:
    return title.rpartition(":")[2]


def tail_calls(image: Path) -> frozenset[tuple[str, str]]:
    """Pairs of functions of which one calls the other only by jumping there."""
    jumps, calls, caller = set(), set(), ""
    for line in _listing(image).splitlines():
        if head := re.fullmatch(r"[0-9a-f]+ <(\S+)>:", line):
            caller = head[1]
        elif found := BRANCH.search(line):
            (calls if found[1] == "bl" else jumps).add((caller, found[2]))
    return frozenset(pair for pair in jumps - calls if pair[0] != pair[1])


def reached(image: Path, board: str) -> dict[str, int]:
    """Bytes of stack that each function of an image has below its caller's, where the image calls
    it.

    QEMU runs one instruction at a time and logs the registers at the head of each function and
    behind each instruction that moves the stack pointer. Raises Refused where the image stops at a
    fault."""
    code = _code(image)
    log = image.with_suffix(".log")
    watched = ",".join(f"{address:#x}+2" for address in sorted({*code, *_moved(image)}))
    emulated(
        image,
        board,
        "-singlestep",
        "-d",
        "cpu,nochain",
        "-dfilter",
        watched,
        "-D",
        log,
        timeout=240,
    )
    return _lowest(_steps(log), code)


def _code(image: Path) -> dict[int, str]:
    """Functions by the address of their first instruction."""
    rows = [line.split() for line in run("arm-none-eabi-nm", image, cwd=image.parent).splitlines()]
    return {int(row[0], 16): row[2] for row in rows if len(row) == 3 and row[1] in "tT"}


def _listing(image: Path) -> str:
    return run("arm-none-eabi-objdump", "-d", "--no-show-raw-insn", image, cwd=image.parent)


def _moved(image: Path) -> Iterator[int]:
    """Addresses of the instructions before which the stack pointer may have moved."""
    rows = INSTRUCTION.findall(_listing(image))
    return (
        int(after, 16)
        for (_, name, operands), (after, *_) in pairwise(rows)
        if MOVES_STACK.match(f"{name} {operands}")
    )


def _steps(log: Path) -> Iterator[tuple[int, int]]:
    """Stack pointer and program counter before each watched instruction."""
    with log.open(encoding="ascii") as lines:
        for line in lines:
            if found := REGISTERS.search(line):
                yield int(found[1], 16), int(found[2], 16)


def _lowest(steps: Iterable[tuple[int, int]], code: Mapping[int, str]) -> dict[str, int]:
    """The stack of each function from its first instruction to its return, its callees'
    included."""
    found: dict[str, int] = {}
    open_calls: list[tuple[str, int]] = []
    for sp, pc in steps:
        name = code.get(pc, "")
        while open_calls and (sp > open_calls[-1][1] or name.startswith(THUNK)):
            open_calls.pop()
        if name:
            open_calls.append((name, sp))
        for called, entered in open_calls:
            found[called] = max(found.get(called, 0), entered - sp)
    return found
