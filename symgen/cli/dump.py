"""The command ``symgen dump``."""

from typing import Any

import click

from symgen import output
from symgen.cli.completion import completer
from symgen.cli.options import FILE, ROBOT, with_options
from symgen.options import rows
from symgen.tracing.options import FunctionOptions


@click.command()
@FILE
@click.option(
    "--quantity",
    metavar="NAME",
    required=True,
    shell_complete=completer(rows(FunctionOptions, only=["quantities"])[0]),
    help="A quantity, or NAME=A+B.",
)
@with_options(rows(FunctionOptions, only=["parameters", "optimize"]), ROBOT)
def dump(file: str, quantity: str, **options: Any) -> None:
    """Print a quantity as a program, one operation a line."""
    from symgen.api import trace

    output.say(repr(trace(file, quantity, **options).program))
