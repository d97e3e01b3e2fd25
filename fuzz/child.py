"""Runs a case in a process of its own, forked from this one, under limits of memory and time.

Everything that a command may import is imported before the first fork, so a run costs what it
computes and some 10 ms."""

import contextlib
import gc
import importlib
import io
import os
import pkgutil
import resource
import selectors
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fuzz.case import Case, Outcome, lay, snapshot
from fuzz.faults import FAULTS

Program = Callable[[Sequence[str]], None]

MEMORY: Final = 1 << 30
"""Bytes that a run may take beyond the process that it is forked from."""
CPU: Final = 20
"""Seconds of processor time of a run; those of its children count by themselves."""
WALL: Final = 120.0
"""Seconds after which a run is ended even if it computes nothing; more than CPU, since the machine
may be busy."""
KEPT: Final = 1 << 24
"""Bytes of each stream that are looked at."""

LIBRARIES: Final = (
    "rich.console",
    "rich.table",
    "xacro",
    "xacrodoc",
    "scipy.optimize",
    "scipy.signal",
    "matplotlib.figure",
    "matplotlib.backends.backend_agg",
    "clarabel",
    "sympy.tensor.tensor",
    "cffi.recompiler",
    "pycparser.c_parser",
)


def symgen(arguments: Sequence[str]) -> None:
    """The command line, as ``python -m symgen`` runs it."""
    from symgen.cli.main import main

    main(list(arguments), prog_name="python -m symgen")


def prepare() -> None:
    """Import what commands import, and put it out of the collector's sight."""
    import symgen as package

    for module in pkgutil.walk_packages(package.__path__, "symgen."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()


def run(case: Case, folder: Path, program: Program = symgen) -> Outcome:
    """What comes of a case in a folder, which gets its files first."""
    lay(case, folder)
    before = snapshot(folder)
    streams = [os.pipe(), os.pipe()]
    pid = os.fork()
    if not pid:
        _child(case, folder, program, [writer for _, writer in streams])
    for _, writer in streams:
        os.close(writer)
    stdout, stderr, late = _listened(pid, [reader for reader, _ in streams])
    _, status, usage = os.wait4(pid, 0)
    with contextlib.suppress(ProcessLookupError):  # whatever it started ends with it
        os.killpg(pid, signal.SIGKILL)
    died = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    return Outcome(
        None if died else os.WEXITSTATUS(status),
        died,
        stdout,
        stderr,
        usage.ru_utime + usage.ru_stime,
        max(usage.ru_maxrss * 1024 - _resident(), 0),
        late or died in (signal.SIGXCPU,),
        before,
        snapshot(folder),
    )


def _resident() -> int:
    """Bytes of this process in memory: a forked one starts with them."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _listened(pid: int, readers: Sequence[int]) -> tuple[bytes, bytes, bool]:
    """All that is said on two pipes until they are closed, and whether that took too long."""
    heard: dict[int, list[bytes]] = {reader: [] for reader in readers}
    end, late = time.monotonic() + WALL, False
    with selectors.DefaultSelector() as selector:
        for reader in readers:
            selector.register(reader, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(end - time.monotonic(), 0.0))
            if not ready and not late:
                late, end = True, end + WALL
                os.killpg(pid, signal.SIGKILL)
            for key, _ in ready:
                _heard(selector, key.fd, heard[key.fd])
    stdout, stderr = (b"".join(heard[reader])[:KEPT] for reader in readers)
    return stdout, stderr, late


def _heard(selector: selectors.BaseSelector, reader: int, pieces: list[bytes]) -> None:
    piece = os.read(reader, 1 << 16)
    if piece:
        pieces.append(piece)
    else:
        selector.unregister(reader)
        os.close(reader)


def apart(make: Callable[[], bytes]) -> bytes:
    """What a function gives in a process of its own."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        with os.fdopen(writer, "wb") as stream, contextlib.suppress(Exception):
            stream.write(make())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        made = stream.read()
    os.waitpid(pid, 0)
    return made


def _child(case: Case, folder: Path, program: Program, writers: Sequence[int]) -> None:
    """Never returns."""
    status = 1
    try:
        _set_up(case, folder, writers)
        status = _status(case, program)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stderr.flush()
        os._exit(status)


@dataclass(frozen=True)
class _Stream:
    """A standard stream as a new interpreter would open it."""

    number: int
    errors: str

    def opened(self) -> io.TextIOWrapper:
        raw = io.FileIO(self.number, "w", closefd=False)
        return io.TextIOWrapper(
            io.BufferedWriter(raw),
            encoding="utf-8",
            errors=self.errors,
            line_buffering=self.number == 2,
        )


def _set_up(case: Case, folder: Path, writers: Sequence[int]) -> None:
    os.setsid()
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, writer in enumerate(writers, 1):
        os.dup2(writer, number)
        os.close(writer)
    sys.stdout, sys.stderr = _Stream(1, "strict").opened(), _Stream(2, "backslashreplace").opened()
    os.environ.update(case.environment)
    warnings.simplefilter("default", RuntimeWarning)  # both as in a new interpreter
    warnings.showwarning = _show_warning
    sys.argv = ["symgen", *case.arguments]
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if case.fault is not None:
        FAULTS[case.fault.kind](case.fault.at)


def _show_warning(message: Any, category: Any, filename: str, lineno: int, *_: Any) -> None:
    sys.stderr.write(warnings.formatwarning(message, category, filename, lineno))


def _status(case: Case, program: Program) -> int:
    """The exit status that the interpreter would end with."""
    try:
        program(case.arguments)
        code: object = 0
    except SystemExit as end:
        code = end.code
    try:
        sys.stdout.flush()
    except OSError:
        traceback.print_exc()
        return 120
    return code if isinstance(code, int) else int(code is not None)
