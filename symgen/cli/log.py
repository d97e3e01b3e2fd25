"""The command ``symgen log``."""

from pathlib import Path
from typing import Any

import click

from symgen import output
from symgen.cli.options import JSON, ROBOT, with_options
from symgen.cli.progress import progress
from symgen.identification.log_options import LogOptions
from symgen.options import rows


@click.command()
@click.argument("log", metavar="LOG", type=click.Path())
@click.option(
    "--robot",
    metavar="FILE",
    type=click.Path(),
    help="The robot: its joints are looked for, and the motion is held against their limits.",
)
@click.option(
    "--plot",
    metavar="OUT.png|svg|pdf",
    type=click.Path(path_type=Path),
    help="Draw position, velocity and force of each joint over time.",
)
@with_options(rows(LogOptions), ROBOT, JSON)
def log(log: str, robot: str | None, plot: Path | None, as_json: bool, **options: Any) -> None:
    """Show what is understood of a log: columns, time, gaps, standstill, ranges.

    LOG is text (CSV, with any delimiter), NPZ, Parquet or a ROS bag. Nothing is written but --plot.
    Whoever is satisfied gives the same options to symgen identify.

    \b
    symgen log motion.csv
    symgen log motion.csv --robot robots/ur5.urdf --column q=actual_q_{} --unit q=deg --plot log.png
    """
    from symgen.identification import log_plots, log_report
    from symgen.jobs.job import Job
    from symgen.jobs.publish import write_files

    wanted = LogOptions(**{row.name: options.pop(row.name) for row in rows(LogOptions)})
    target = None if plot is None else log_plots.target(plot, log)
    with progress() as tell:
        model = None if robot is None else Job.of(robot, **options).load().model
        look = log_report.looked_at(log, wanted, model, tell)
        if target is not None:
            tell("drawing")
            write_files({target: log_plots.picture(look, target)})
    for note in look.reading.notes:
        output.say(note, error=True)
    if as_json:
        output.say(output.as_json(log_report.data(look)))
    else:
        log_report.on_terminal(look)
