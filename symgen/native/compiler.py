"""The system's C compiler: which one, what it is told, and what it says."""

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from typing import Final

from symgen.errors import SymgenError
from symgen.text import reason, shown

STRICT: Final = (
    "-std=c99",
    "-O2",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wdouble-promotion",
    "-Wshadow",
    "-Werror",
)
"""What all generated C passes."""

EXACT: Final = ("-ffp-contract=off",)
"""No fused multiply-add, so that results are those of the operations as written."""

NATIVE: Final = "-march=native"
"""The widest vectors of this processor, where the compiler knows the flag."""

FAST: Final = ("-O2", NATIVE, "-ffp-contract=fast", "-fno-math-errno")
"""For this machine, products and sums fused where that is faster: the last bits of results may be
others than on another one."""

SAME: Final = ("-O2", NATIVE, "-ffp-contract=off", "-fno-tree-slp-vectorize")
"""For this machine, with the bits that all machines compute. gcc 12 fuses scalar code that it
vectorises, whatever the second-to-last says."""


class CompilerError(SymgenError):
    """The system's C compiler is missing or refuses the code."""

    several_lines = True


def compiler() -> list[str]:
    """The C compiler, a program and its first arguments: $CC as a shell would part it, or where
    that is not set cc, gcc or clang. Raises CompilerError, also where $CC names no program: another
    compiler in its place would prove nothing of the one that is meant."""
    wanted = os.environ.get("CC", "")
    if wanted.strip():
        return _named(wanted)
    program = next((c for c in ("cc", "gcc", "clang") if shutil.which(c)), None)
    if program is None:
        raise CompilerError("error: no C compiler found; install gcc or set CC")
    return [program]


def _named(wanted: str) -> list[str]:
    try:
        parts = shlex.split(wanted)
    except ValueError as error:
        raise CompilerError(f"error: CC='{shown(wanted)}': {error}") from None
    if not parts or shutil.which(parts[0]) is None:
        raise CompilerError(
            f"error: CC='{shown(wanted)}': there is no such program; set CC to a C compiler or "
            "leave it unset"
        )
    return parts


def identity() -> list[str | int]:
    """The C compiler as plain data: what it is called with, and size and time of its file, which an
    update changes. Raises CompilerError."""
    command = compiler()
    path = os.path.realpath(shutil.which(command[0]) or command[0])
    status = Path(path).stat()
    return [*command, path, status.st_size, status.st_mtime_ns]


def processor() -> str:
    """The text that NATIVE depends on: the processor's name and instructions, where the system
    tells them."""
    facts = [platform.machine(), platform.processor(), sys.platform]
    with suppress(OSError), Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
        wanted = ("model name", "flags", "Features", "CPU implementer", "CPU part", "isa", "cpu")
        first = takewhile(str.strip, lines)  # one processor of many
        facts += [" ".join(x.split()) for x in first if x.partition("\t")[0].strip() in wanted]
    return "\n".join(facts)


def version(command: Sequence[str]) -> str:
    """The first line that a compiler says of itself, the command where it says nothing."""
    try:
        run = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return " ".join(command)
    return (run.stdout.splitlines() or [" ".join(command)])[0]


def run_compiler(arguments: Sequence[str], folder: Path) -> None:
    """Run the C compiler in `folder`. Raises CompilerError with what it said."""
    command = compiler()
    try:
        run = subprocess.run(
            [*command, *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="backslashreplace",
            check=False,
        )
    except OSError as error:
        raise CompilerError(f"error: cannot run '{shown(command[0])}': {reason(error)}") from error
    if run.returncode:
        raise CompilerError(
            f"error: the C compiler refused the generated code:\n{run.stderr.strip()}"
        )


def run_tuned(arguments: Sequence[str], folder: Path) -> None:
    """A run of the compiler, tuned to this processor, without NATIVE where the compiler does not
    know that. Raises CompilerError."""
    try:
        run_compiler(arguments, folder)
    except CompilerError:
        if NATIVE not in arguments:
            raise
        run_compiler([flag for flag in arguments if flag != NATIVE], folder)


@contextmanager
def workspace() -> Iterator[Path]:
    """A scratch folder; a library loaded from it stays usable after it is gone. Raises
    CompilerError where files cannot be written there."""
    try:
        with tempfile.TemporaryDirectory(prefix="symgen-") as name:
            yield Path(name)
    except OSError as error:
        raise CompilerError(
            f"error: cannot compile: {reason(error)}; TMPDIR names the folder for temporary files"
        ) from error
