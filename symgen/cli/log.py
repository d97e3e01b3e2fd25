"""The command ``symgen log``."""

from pathlib import Path
from typing import Any

import click

from symgen import output
from symgen.cli.help import command, option
from symgen.cli.options import JSON, ROBOT, path_option, with_options
from symgen.cli.progress import progress
from symgen.identification.data.log_options import LogOptions
from symgen.options import rows


@command()
@click.argument("log", metavar="LOG", type=click.Path())
@path_option(
    "--plot", "OUT.png|svg|pdf", "Plot position, velocity and force of each joint over time."
)
@with_options(JSON)
@option(
    "--robot",
    metavar="FILE",
    type=click.Path(),
    help="Robot file. Its joint names identify the columns, and its limits are compared with the "
    "motion.",
    section="Log",
)
@with_options(rows(LogOptions), ROBOT)
def log(log: str, robot: str | None, plot: Path | None, as_json: bool, **options: Any) -> None:
    """Show how a log is interpreted: columns, sample rate, gaps, standstill, ranges.

    LOG is a text file (CSV, with any delimiter), NPZ, Parquet or a ROS bag. When the result is
    right, give the same options to symgen identify.

    \b
    symgen log motion.csv
    symgen log motion.csv --robot robots/ur5.urdf --column q=actual_q_{} --unit q=deg --plot log.png
    """
    from symgen.identification.report import log_report
    from symgen.inspection.pictures import picture_target
    from symgen.jobs.job import Job
    from symgen.jobs.publish import write_files

    wanted = LogOptions(**{row.name: options.pop(row.name) for row in rows(LogOptions)})
    target = None if plot is None else picture_target("--plot", plot, "symgen log", [log])
    with progress() as tell:
        model = None if robot is None else Job.of(robot, **options).load().model
        look = log_report.looked_at(log, wanted, model, tell)
        if target is not None:
            tell("drawing the plot")
            write_files({target: log_report.picture(look, target)})
    for note in look.reading.notes:
        output.say(note, error=True)
    log_report.report(look).print(as_json)
