"""The system's C compiler: which one, what it is told, and what it says; and foreign code in a
process of its own, so that what crashes or does not come back ends that alone.

`Platform` has the differences between operating systems that matter to native code: how commands
are split, what libraries are called, which flags the compiler needs, and how a compiler is
installed. Linux is tested. macOS and Windows follow the documentation of their tools and have not
been run."""

import faulthandler
import os
import platform as host
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from symgen.errors import SymgenError
from symgen.text import reason, shown

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

TIME_LIMIT: Final = {"seconds": 120}
"""How long a call of foreign code may take; the longest take one second."""

Work = Callable[[Callable[[Any], None]], None]
"""What hands out its results one by one to its argument."""


class ProcessEnded(Exception):
    """The process ended before its work did; the text says why."""


@contextmanager
def time_limit() -> Iterator[None]:
    """A call of foreign code. In a process of its own, one that takes too long ends the process,
    even where it never comes back to Python."""
    if _outer_folder:
        signal.alarm(TIME_LIMIT["seconds"])
    try:
        yield
    finally:
        if _outer_folder:
            signal.alarm(0)


_outer_folder: Final = list[str]()
"""In a process that `run_isolated` made, the folder for temporary files of the process before it;
otherwise empty."""


def outer_temporary_folder() -> str:
    """The folder for temporary files that outlive the process of `run_isolated`."""
    return _outer_folder[0] if _outer_folder else tempfile.gettempdir()


def run_isolated(work: Work, scratch: Path) -> Iterator[Any]:
    """The results that some work hands out, one by one; it runs in a process of its own, with
    `scratch` for its temporary files, where the system can fork one. Raises Ended, and what the
    work raises."""
    if not hasattr(os, "fork"):
        results = list[Any]()
        work(results.append)
        yield from results
        return
    from multiprocessing.connection import Pipe

    receiving, sending = Pipe(duplex=False)
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if not child:
        receiving.close()
        _run(work, sending, scratch)
    sending.close()
    try:
        yield from _results(receiving, child)
    finally:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(child, 0)
        receiving.close()


def _run(work: Work, sending: "Connection", scratch: Path) -> NoReturn:
    """The process of its own; it leaves nothing to those who wait for the end of Python."""
    try:
        for ends in (signal.SIGALRM, signal.SIGINT, signal.SIGTERM):
            signal.signal(ends, signal.SIG_DFL)
        faulthandler.disable()  # the process that waits says what happened
        _outer_folder.append(tempfile.gettempdir())
        tempfile.tempdir = str(scratch)
        try:
            work(lambda said: sending.send(("said", said)))
            sending.send(("done", None))
        except Exception as error:
            sending.send(("raised", error))
        sys.stdout.flush()
    finally:
        os._exit(0)


def _results(receiving: "Connection", child: int) -> Iterator[Any]:
    kind = "said"
    while kind != "done":
        try:
            kind, content = receiving.recv()
        except EOFError:
            status = os.waitpid(child, 0)[1]
            number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
            if number == signal.SIGALRM:
                end = f"did not end within {TIME_LIMIT['seconds']} s"
            elif number:
                end = f"was terminated by {signal.Signals(number).name}"
            else:
                end = f"ended with the exit status {os.waitstatus_to_exitcode(status)}"
            raise ProcessEnded(end) from None
        if kind == "raised":
            raise content
        if kind == "said":
            yield content


# -- foreign code in a process of its own ----------------------------------------------------------


def split_posix(text: str) -> list[str]:
    """The words of a command as a POSIX shell splits them. Raises ValueError for an open quote."""
    return shlex.split(text)


def split_windows(text: str) -> list[str]:
    """The words of a command where a backslash separates folders; double quotes keep blanks
    together. Raises ValueError for an open quote."""
    return [word.strip('"') for word in shlex.split(text, posix=False)]


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
    extension_links=tuple,
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

PORTABLE_FAST: Final = ("-O2", "-ffp-contract=fast", "-fno-math-errno")
"""For all processors of an architecture. Products and sums are fused where the architecture always
has such an instruction, as AArch64 does and x86-64 does not."""

PORTABLE_EXACT: Final = ("-O2", "-ffp-contract=off", "-fno-tree-slp-vectorize")
"""For all processors of an architecture, with the same bits on all machines. gcc 12 fuses scalar
code that it vectorises, whatever the second flag says."""

FAST: Final = (*PORTABLE_FAST, NATIVE)
"""For this processor, products and sums fused where that is faster: the last bits of results may
differ from those of another processor."""

REPRODUCIBLE: Final = (*PORTABLE_EXACT, NATIVE)
"""For this processor, with the same bits as on all machines."""


class CompilerError(SymgenError):
    """The system's C compiler refuses the code or cannot be run."""


class NoCompilerError(CompilerError):
    """There is no C compiler, or $CC names none."""


def compiler() -> list[str]:
    """The C compiler, a program and its first arguments: the words of $CC, or cc, gcc or clang if
    that is not set. Raises NoCompilerError, also if $CC names no program: a check with another
    compiler would prove nothing about the named one."""
    wanted = os.environ.get("CC", "")
    if not wanted.strip():
        program = next((c for c in ("cc", "gcc", "clang") if shutil.which(c)), None)
        if program is None:
            raise NoCompilerError(
                f"error: no C compiler found; {platform().compiler_advice}, or set CC to one"
            )
        return [program]
    if shutil.which(wanted):  # a path with blanks
        return [wanted]
    try:
        parts = platform().split(wanted)
    except ValueError as error:
        raise NoCompilerError(f"error: CC='{shown(wanted)}': {error}") from None
    if not parts or shutil.which(parts[0]) is None:
        raise NoCompilerError(
            f"error: CC='{shown(wanted)}': there is no such program; set CC to a C compiler or "
            "leave it unset"
        )
    return parts


def compiler_identity() -> list[str | int]:
    """The C compiler as plain data: what it is called with, and size and time of its file, which an
    update changes. Raises CompilerError."""
    command = compiler()
    path = os.path.realpath(shutil.which(command[0]) or command[0])
    status = Path(path).stat()
    return [*command, path, status.st_size, status.st_mtime_ns]


def processor_description() -> str:
    """The text that NATIVE depends on: the processor's name and instructions, where the system
    tells them."""
    facts = [host.machine(), host.processor(), sys.platform]
    with suppress(OSError), Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
        wanted = ("model name", "flags", "Features", "CPU implementer", "CPU part", "isa", "cpu")
        first = takewhile(str.strip, lines)  # one processor of many
        facts += [" ".join(x.split()) for x in first if x.partition("\t")[0].strip() in wanted]
    return "\n".join(facts)


def compiler_version(command: Sequence[str]) -> str:
    """The first line that a compiler says of itself, the command where it says nothing."""
    try:
        run = subprocess.run(
            [*command, "--version"],
            capture_output=True,
            encoding="utf-8",
            errors="backslashreplace",
            check=False,
            timeout=60,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return " ".join(command)
    return (run.stdout.splitlines() or [" ".join(command)])[0]


def run_compiler(arguments: Sequence[str], folder: Path) -> None:
    """Run the C compiler in `folder`. Raises CompilerError with the first error of its
    output and the path of a log file that contains all of it."""
    command = compiler()
    try:
        run = subprocess.run(
            [*command, *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="backslashreplace",
            check=False,
        )
    except OSError as error:
        raise CompilerError(f"error: cannot run '{shown(command[0])}': {reason(error)}") from error
    if run.returncode:
        output = (run.stderr.strip() or run.stdout.strip()).splitlines()
        called = f"{shown(command[0])}, exit status {run.returncode}"
        raise CompilerError(f"error: the C compiler ({called}) failed: {first_error(output)}")


def first_error(output: Sequence[str]) -> str:
    """The first error of a compiler's output and, if the output has more lines, the path of a log
    file that contains all of them, on one line."""
    if not output:
        return "it printed nothing"
    if len(output) == 1:
        return output[0]
    first = next((line for line in output if re.search(r"\berror\b", line)), output[0])
    try:
        number, path = tempfile.mkstemp(".log", "symgen-compiler-", outer_temporary_folder())
        with open(number, "w", encoding="utf-8", errors="backslashreplace") as stream:  # noqa: PTH123
            stream.write("\n".join([*output, ""]))
    except OSError as error:
        return f"{first} ({len(output)} lines in all, no log: {reason(error)})"
    return f"{first} (all {len(output)} lines: {path})"


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
    """A scratch folder, as `scratch_folder` has it. Raises CompilerError if files cannot be written
    there."""
    try:
        with scratch_folder() as folder:
            yield folder
    except OSError as error:
        raise CompilerError(
            f"error: cannot compile: {reason(error)}; set TMPDIR to a writable folder for "
            "temporary files"
        ) from error
