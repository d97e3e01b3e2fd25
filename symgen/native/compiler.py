"""The system's C compiler: which one, what it is told, and what it says."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from symgen.errors import SymgenError

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


class CompilerError(SymgenError):
    """The system's C compiler is missing or refuses the code."""

    several_lines = True


def compiler() -> str:
    """The C compiler: $CC, cc or gcc. Raises CompilerError."""
    found = next(
        (c for c in (os.environ.get("CC"), "cc", "gcc", "clang") if c and shutil.which(c)), None
    )
    if found is None:
        raise CompilerError("error: no C compiler found; install gcc or set CC")
    return found


def run_compiler(arguments: Sequence[str], folder: Path) -> None:
    """Run the C compiler in `folder`. Raises CompilerError with what it said."""
    done = subprocess.run(
        [compiler(), *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CompilerError(
            f"error: the C compiler refused the generated code:\n{done.stderr.strip()}"
        )


@contextmanager
def workspace() -> Iterator[Path]:
    """A scratch folder; a library loaded from it stays usable after it is gone. Raises
    CompilerError where files cannot be written there."""
    try:
        with tempfile.TemporaryDirectory(prefix="symgen-") as name:
            yield Path(name)
    except OSError as error:
        raise CompilerError(
            f"error: cannot compile: {error.strerror or error}; TMPDIR names the folder for "
            "temporary files"
        ) from error
