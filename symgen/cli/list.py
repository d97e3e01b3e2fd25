"""The command ``symgen list``."""

import click

from symgen import output
from symgen.cli.options import JSON, with_options


@click.command("list")
@with_options(JSON)
def list_(as_json: bool) -> None:
    """List the quantities and languages."""
    from symgen.inspection.report import registry, registry_data

    if as_json:
        output.say(output.as_json(registry_data()))
    else:
        registry()
