"""The command ``symgen gains``."""

from pathlib import Path
from typing import Any

import click

from symgen import output
from symgen.cli.completion import naming
from symgen.cli.options import FILE, JSON, ROBOT, with_options
from symgen.cli.progress import progress
from symgen.identification.log_options import LogOptions
from symgen.options import rows
from symgen.reading.options import links

LOGS = rows(LogOptions)


@click.command()
@FILE
@click.argument("unloaded", metavar="LOG", type=click.Path())
@click.argument("loaded", metavar="LOG_WITH_LOAD", type=click.Path())
@click.option("--mass", metavar="KG", type=float, required=True, help="Of the load.")
@click.option(
    "--link",
    metavar="LINK",
    shell_complete=naming(links),
    help="What carries the load; by default the last one.",
)
@click.option(
    "-o",
    "--out",
    metavar="GAINS.toml",
    type=click.Path(path_type=Path),
    help="A file for --columns of symgen identify.",
)
@with_options(LOGS, ROBOT, JSON)
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
    """Find the force by ampere of each joint, from a run without and one with a known load.

    Both logs hold motor currents. The load's centre and inertia, the robot's parameters and
    friction need not be known; the mass gives the scale. Both motions should be exciting ones
    (symgen excite), and different from each other or the same.

    \b
    symgen gains robots/ur10e.urdf motion.csv motion_load.csv --mass 2.805 -o gains.toml
    symgen identify robots/ur10e.urdf motion.csv --columns gains.toml
    """
    from symgen.identification.gains import as_toml, data, gains, on_terminal, target
    from symgen.jobs.job import Job
    from symgen.jobs.publish import write_files

    wanted = LogOptions(**{row.name: options.pop(row.name) for row in LOGS})
    job, place = Job.of(file, **options), None if out is None else target(out)
    with progress() as tell:
        tell("reading the robot")
        fitted = gains(job, job.load(), (unloaded, loaded), mass, link, wanted, tell)
        if place is not None:
            write_files({place: as_toml(fitted).encode()})
    for note in fitted.notes:
        output.say(note, error=True)
    if as_json:
        output.say(output.as_json(data(fitted)))
    else:
        on_terminal(fitted)
