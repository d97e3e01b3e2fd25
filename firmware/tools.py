"""Running compilers and emulators: what they said when they refused, and which of them are
there."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BARE = ROOT / "examples" / "firmware"
"""Start-up and linker script, which the example and the probe share."""

WARNINGS = (
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wdouble-promotion",
    "-Wfloat-conversion",
    "-Wshadow",
    "-Werror",
)
"""Those that every compiler of generated C is asked for, as errors."""


class Refused(Exception):
    """A tool ended with a status other than 0, or said what it should not."""


def run(*command: object, cwd: Path, timeout: float = 3600) -> str:
    """What a command prints, on both streams. Raises Refused with it and its complaints where the
    status is not 0."""
    done = subprocess.run(
        [str(c) for c in command],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )
    if done.returncode:
        raise Refused(f"{command[0]}: status {done.returncode}\n{done.stdout}{done.stderr}".strip())
    return done.stdout + done.stderr


def emulated(image: Path, board: str, *flags: object, timeout: float = 120) -> str:
    """What an image prints on a board of QEMU. Raises Refused where it stops at a fault."""
    emulator = "qemu-system-riscv32" if board == "virt" else "qemu-system-arm"
    bare = ("-bios", "none") if board == "virt" else ()
    semihosting = ("-semihosting-config", "enable=on,target=native")
    quiet = ("-nographic", "-monitor", "none", "-serial", "none")
    return run(
        emulator,
        "-M",
        board,
        *bare,
        *quiet,
        *semihosting,
        *flags,
        "-kernel",
        image,
        cwd=image.parent,
        timeout=timeout,
    )


def silent(*command: object, cwd: Path) -> None:
    """Run a command that must say nothing. Raises Refused."""
    done = subprocess.run(
        [str(c) for c in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    if done.returncode or done.stdout or done.stderr:
        raise Refused(f"{command[0]}: status {done.returncode}\n{done.stdout}{done.stderr}".strip())


def missing(tools: Sequence[str]) -> list[str]:
    """Those of some programs that are not installed."""
    return [tool for tool in tools if shutil.which(tool) is None]
