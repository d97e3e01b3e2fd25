"""The command ``symgen ops``."""

from typing import Any

import click

from symgen import output
from symgen.cli.options import FILE, JSON, ROBOT, VERBOSE, with_options
from symgen.cli.progress import progress, say
from symgen.options import rows
from symgen.tracing.options import FunctionOptions


@click.command()
@FILE
@click.option("--all", "every", is_flag=True, help="Show every formulation, not only the cheapest.")
@with_options(rows(FunctionOptions), ROBOT, JSON, VERBOSE)
def ops(file: str, every: bool, as_json: bool, **options: Any) -> None:
    """Count operations per quantity.

    Each quantity is traced in every formulation; the cheapest is shown.

    Additions include subtractions; sine and cosine count one each; negation is free.
    """
    from symgen.inspection.report import (
        formulations,
        formulations_data,
        operations,
        operations_data,
    )
    from symgen.jobs.job import Job

    job = Job.of(file, **options)
    with progress() as tell:
        tell("reading the robot")
        loaded = job.load()
        tell("tracing its dynamics")
        module = job.module(loaded)
        hint = job.saving(loaded, module)
        traced = job.every_formulation(loaded) if every else []
    if as_json:
        output.say(
            output.as_json(formulations_data(module, traced) if every else operations_data(module))
        )
        return
    say([*loaded.notices, *hint])
    if every:
        formulations(module, traced)
    else:
        operations(module)
