"""Differences between operating systems that matter to native code: how commands are split, what
libraries are called, which flags the compiler needs, and how a compiler is installed.

Linux is tested. macOS and Windows follow the documentation of their tools and have not been run."""

import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final


def split_posix(text: str) -> list[str]:
    """The words of a command as a POSIX shell splits them. Raises ValueError for an open quote."""
    return shlex.split(text)


def split_windows(text: str) -> list[str]:
    """The words of a command where a backslash separates folders; double quotes keep blanks
    together. Raises ValueError for an open quote."""
    return [word.strip('"') for word in shlex.split(text, posix=False)]


def _no_flags() -> tuple[str, ...]:
    return ()


def _python_library() -> tuple[str, ...]:
    """The import library of this Python, which has no open symbols in a DLL."""
    version = f"{sys.version_info.major}{sys.version_info.minor}"
    return (f"-L{Path(sys.base_prefix) / 'libs'}", f"-lpython{version}")


@dataclass(frozen=True)
class Platform:
    """One operating system, as seen by the compiler."""

    split: Callable[[str], list[str]]
    """Splits a command or flags into words."""
    library_suffix: str
    position_independent: tuple[str, ...]
    """Flags for code of a shared library."""
    math_library: tuple[str, ...]
    """Flags that link sines and square roots."""
    extension_links: Callable[[], tuple[str, ...]]
    """Flags that link an extension module with Python."""
    compiler_advice: str
    """How a C compiler is installed."""
    headers_advice: str
    """How the headers of Python are installed."""
    loaded_files_are_locked: bool = False
    """True if a loaded library cannot be deleted, as on Windows."""


POSIX: Final = Platform(
    split=split_posix,
    library_suffix=".so",
    position_independent=("-fPIC",),
    math_library=("-lm",),
    extension_links=_no_flags,
    compiler_advice="install one (Debian and Ubuntu: apt install gcc; Fedora: dnf install gcc)",
    headers_advice="install the headers of this Python (python3-dev)",
)

PLATFORMS: Final = {
    "linux": POSIX,
    "darwin": Platform(
        split=split_posix,
        library_suffix=".dylib",
        position_independent=("-fPIC",),
        math_library=("-lm",),
        extension_links=lambda: ("-undefined", "dynamic_lookup"),
        compiler_advice="install Apple's command line tools (xcode-select --install)",
        headers_advice="install Python from python.org or Homebrew, which include its headers",
    ),
    "win32": Platform(
        split=split_windows,
        library_suffix=".dll",
        position_independent=(),  # all code of Windows is, and clang refuses the flag
        math_library=(),  # part of the C runtime
        extension_links=_python_library,
        compiler_advice="install MinGW-w64's gcc (winget install BrechtSanders.WinLibs.POSIX.UCRT)",
        headers_advice="install Python from python.org, which includes its headers",
        loaded_files_are_locked=True,
    ),
}
"""By `sys.platform`."""


def platform() -> Platform:
    """The platform that this Python runs on; an unknown one is treated as a POSIX system."""
    return PLATFORMS.get(sys.platform, POSIX)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A temporary folder. A library loaded from it stays usable after the folder is deleted; on
    Windows, where a loaded library cannot be deleted, the folder stays. Raises OSError."""
    folder = tempfile.mkdtemp(prefix="symgen-")
    try:
        yield Path(folder)
    finally:  # TemporaryDirectory of Python 3.11 recurses without end on a locked file
        shutil.rmtree(folder, ignore_errors=platform().loaded_files_are_locked)
