"""Progress, for people who wait."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import click

from symgen import output
from symgen.errors import Notice, in_short
from symgen.text import shown

VERBOSE: Final = "symgen.verbose"
"""Where a context remembers that people asked for every note."""


KERNEL_VARIABLE: Final = "JPY_PARENT_PID"
"""What the environment of a notebook's kernel has, and of what it starts."""
NOTEBOOK_INTERVAL: Final = 2.0
"""Seconds from a line to the next, in a notebook."""


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Tells what is going on, on a terminal only; gone when it is over, and before anything else is
    printed."""
    if not sys.stderr.isatty():
        yield lambda step: None
    elif KERNEL_VARIABLE in os.environ:
        yield from _in_notebook()
    else:
        status = output.console(error=True).status("")
        status.start()
        output.end_before_printing(status.stop)
        try:
            yield lambda step: status.update(f"{step} ...")
        finally:
            output.end_progress()


def _in_notebook() -> Iterator[Callable[[str], None]]:
    """A line now and then: what a cell shows of a command cannot be written over."""
    last_time, last_step = time.monotonic(), ""

    def tell(step: str) -> None:
        nonlocal last_time, last_step
        if step != last_step and time.monotonic() - last_time > NOTEBOOK_INTERVAL:
            last_time, last_step = time.monotonic(), step
            sys.stderr.write(f"{shown(step)} ...\n")
            sys.stderr.flush()

    yield tell


def say_written(
    paths: Sequence[object], notices: Sequence[Notice], as_json: bool, *lines: str
) -> None:
    """Report written files: their paths and the notices as JSON, or the notices and some lines."""
    if as_json:
        output.say(output.as_json(output.written(paths, notices)))
        return
    say(notices)
    for line in lines:
        output.say(line)


def say(notices: Sequence[Notice]) -> None:
    """Notes and warnings on stderr, a line for each kind, or for each with --verbose."""
    verbose = click.get_current_context().meta.get(VERBOSE, False)
    for notice in notices if verbose else in_short(notices):
        output.say(notice, error=True)
