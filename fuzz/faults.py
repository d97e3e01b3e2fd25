"""What can go wrong with the machine while a command runs, done to the process itself."""

import os
import resource
import signal
from collections.abc import Callable
from typing import Any, Final


def _small_disk(at: int) -> None:
    """No file may become longer than `at` bytes; Python says so as OSError."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (at, at))


def _full_stdout(at: int) -> None:
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)


def _closed_stdout(at: int) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    os.dup2(writer, 1)


def _at_rename(at: int, deed: Callable[[], None]) -> None:
    """Do something at rename number `at`, before it is carried out."""
    left = [at]

    def wrapped(real: Callable[..., Any]) -> Callable[..., Any]:
        def rename(*arguments: Any, **options: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                deed()
            return real(*arguments, **options)

        return rename

    for name in ("replace", "rename", "link"):
        setattr(os, name, wrapped(getattr(os, name)))


def _killed(at: int) -> None:
    _at_rename(at, lambda: os.kill(os.getpid(), signal.SIGKILL))


def _terminated(at: int) -> None:
    _at_rename(at, lambda: os.kill(os.getpid(), signal.SIGTERM))


def _refused(at: int) -> None:
    def refuse() -> None:
        raise PermissionError(13, "Permission denied")

    _at_rename(at, refuse)


FAULTS: Final[dict[str, Callable[[int], None]]] = {
    "small disk": _small_disk,
    "full stdout": _full_stdout,
    "closed stdout": _closed_stdout,
    "killed at rename": _killed,
    "terminated at rename": _terminated,
    "rename refused": _refused,
}
