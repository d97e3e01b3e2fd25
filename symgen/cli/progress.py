"""What is going on, for people who wait."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import click

from symgen.errors import Notice


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Tells what is going on, on a terminal only; gone when it is over."""
    if not sys.stderr.isatty():
        yield lambda step: None
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        yield lambda step: status.update(f"{step} ...")


def say(notices: Sequence[Notice]) -> None:
    """Notes and warnings on stderr, a line each."""
    for notice in notices:
        click.echo(str(notice), err=True)
