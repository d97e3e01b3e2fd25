"""Foreign code in a process of its own: what crashes, or does not come back, ends that alone."""

import faulthandler
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

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
            raise ProcessEnded(_exit_reason(os.waitpid(child, 0)[1])) from None
        if kind == "raised":
            raise content
        if kind == "said":
            yield content


def _exit_reason(status: int) -> str:
    if not os.WIFSIGNALED(status):
        return f"ended with the exit status {os.waitstatus_to_exitcode(status)}"
    number = os.WTERMSIG(status)
    if number == signal.SIGALRM:
        return f"did not end within {TIME_LIMIT['seconds']} s"
    return f"was terminated by {signal.Signals(number).name}"
