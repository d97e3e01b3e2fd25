"""The command ``symgen list``."""

import json

import click

from symgen.cli.options import JSON, with_options


@click.command("list")
@with_options(JSON)
def list_(as_json: bool) -> None:
    """List the quantities and languages."""
    from symgen.inspection.report import registry, registry_data

    if as_json:
        click.echo(json.dumps(registry_data(), indent=1))
    else:
        registry()
