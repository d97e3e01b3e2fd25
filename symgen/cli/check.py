"""The command ``symgen check``."""

from typing import Any

import click

from symgen.cli.options import FILE, JSON, ROBOT, VERBOSE, with_options
from symgen.cli.progress import say


@click.command()
@FILE
@with_options(JSON, ROBOT, VERBOSE)
def check(file: str, as_json: bool, **options: Any) -> None:
    """Read a robot and judge it, without writing anything.

    Prints its joints, and for each body whether its inertia is one that a rigid body can have.
    With --actuators also what rotors do within the robot's limits: by how much forces and
    accelerations are off where ratio² inertia stands on the diagonal, or nothing, and where.
    Notes and warnings go to stderr, one a line; nothing is ever altered. Exit status 2 if the robot
    cannot be compiled. With --json all of it, every note by itself, goes to stdout; what is refused
    too, as a list of errors."""
    from symgen import output
    from symgen.inspection.report import robot
    from symgen.jobs.job import Job
    from symgen.robot.checked import checked, checked_data

    job = Job.of(file, **options)
    loaded = job.load()
    result = checked(job, loaded, symbolic=False)
    if as_json:
        output.say(output.as_json(checked_data(loaded, result)))
        return
    say(result.notices)
    robot(loaded, result.verdicts)
    for line in result.rotor_lines:
        output.say(line)
