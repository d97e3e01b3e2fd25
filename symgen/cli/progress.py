"""What is going on, for people who wait."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from symgen import output
from symgen.errors import Notice


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Tells what is going on, on a terminal only; gone when it is over."""
    if not sys.stderr.isatty():
        yield lambda step: None
        return
    with output.console(error=True).status("") as status:
        yield lambda step: status.update(f"{step} ...")


def say(notices: Sequence[Notice]) -> None:
    """Notes and warnings on stderr, a line each."""
    for notice in notices:
        output.say(notice, error=True)
