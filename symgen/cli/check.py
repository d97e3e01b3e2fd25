"""The command ``symgen check``."""

from typing import Any

from symgen.cli.help import command
from symgen.cli.options import FILE, JSON, ROBOT, VERBOSE, with_options
from symgen.cli.progress import say


@command()
@FILE
@with_options(JSON, ROBOT, VERBOSE)
def check(file: str, as_json: bool, **options: Any) -> None:
    """Read a robot and check it. No file is written.

    The command prints the joints and states for each body whether its inertia is physically
    possible. With --actuators it also prints the largest error of the reflected-inertia
    approximation of each rotor within the robot's limits. Notes and warnings are printed on
    stderr. The exit status is 2 if the robot cannot be compiled. With --json, errors are printed
    as JSON too.

    \b
    symgen check robots/ur5.urdf
    symgen check robots/ur5.urdf --json
    """
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
