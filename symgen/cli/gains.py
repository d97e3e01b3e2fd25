"""The command ``symgen gains``."""

from pathlib import Path
from typing import Any

import click

from symgen import output
from symgen.cli.completion import naming
from symgen.cli.help import command, option
from symgen.cli.options import FILE, JSON, ROBOT, with_options
from symgen.cli.options import out as out_option
from symgen.cli.progress import progress
from symgen.identification.data.log_options import LogOptions
from symgen.options import rows
from symgen.reading.options import links

LOGS = rows(LogOptions)


@command()
@FILE
@click.argument("unloaded", metavar="LOG", type=click.Path())
@click.argument("loaded", metavar="LOG_WITH_LOAD", type=click.Path())
@out_option(
    "GAINS.toml",
    "File for the torque constants, to be used as --columns of symgen identify.",
    type=click.Path(path_type=Path),
)
@with_options(JSON)
@option(
    "--mass",
    metavar="KG",
    type=float,
    required=True,
    help="Mass of the load (kg).",
    section="Load",
)
@option(
    "--link",
    metavar="LINK",
    shell_complete=naming(links),
    help="Link that carries the load.",
    show_default="the last link",
    section="Load",
)
@with_options(LOGS, ROBOT)
def gains(
    file: str,
    unloaded: str,
    loaded: str,
    mass: float,
    link: str | None,
    out: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Estimate the torque constant of each joint from runs with and without a known load.

    Both logs must contain motor currents. The mass of the load must be known; its centre of mass
    and inertia, the parameters of the robot and friction are estimated. Both motions should be
    exciting motions (symgen excite). They may be the same or different.

    \b
    symgen gains robots/ur10e.urdf motion.csv motion_load.csv --mass 2.805 -o gains.toml
    symgen identify robots/ur10e.urdf motion.csv --columns gains.toml
    """
    from symgen.identification.gains.torque_constants import gains as fitted_gains
    from symgen.identification.report.gain_report import of_gains, output_file, toml_of_gains
    from symgen.jobs.job import Job
    from symgen.jobs.publish import write_files

    wanted = LogOptions(**{row.name: options.pop(row.name) for row in LOGS})
    job = Job.of(file, **options)
    place = None if out is None else output_file("symgen gains", out)
    with progress() as tell:
        tell("reading the robot")
        fitted = fitted_gains(job, job.load(), (unloaded, loaded), mass, link, wanted, tell)
        if place is not None:
            write_files({place: toml_of_gains(fitted).encode()})
    for note in fitted.notes:
        output.say(note, error=True)
    of_gains(fitted).print(as_json)
