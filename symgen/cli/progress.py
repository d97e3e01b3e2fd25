"""What is going on, for people who wait."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import click

from symgen import output
from symgen.errors import Notice, in_short

VERBOSE: Final = "symgen.verbose"
"""Where a context remembers that people asked for every note."""


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Tells what is going on, on a terminal only; gone when it is over."""
    if not sys.stderr.isatty():
        yield lambda step: None
        return
    with output.console(error=True).status("") as status:
        yield lambda step: status.update(f"{step} ...")


def say(notices: Sequence[Notice]) -> None:
    """Notes and warnings on stderr, a line for each kind, or for each with --verbose."""
    verbose = click.get_current_context().meta.get(VERBOSE, False)
    for notice in notices if verbose else in_short(notices):
        output.say(notice, error=True)
