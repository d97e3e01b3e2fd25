"""The command ``symgen stiffness``."""

from pathlib import Path
from typing import Any

import click

from symgen import output
from symgen.cli.help import command, option
from symgen.cli.options import FILE, JSON, ROBOT, with_options
from symgen.cli.options import out as out_option
from symgen.cli.progress import progress
from symgen.identification.data.log_options import LogOptions
from symgen.options import rows

LOGS = rows(LogOptions)


@command()
@FILE
@click.argument("log", metavar="LOG", type=click.Path())
@out_option(
    "SPRINGS.toml",
    "File for the results: arrays in the order of the joints, with standard errors.",
    type=click.Path(path_type=Path),
)
@with_options(JSON)
@option(
    "--torque",
    metavar="motor|joint|model",
    default="motor",
    help="Source of the torques: motor reads the torques of motors after the gear (tau_JOINT) and "
    "also estimates motor inertia and friction; joint reads torque sensors between springs and "
    "links (tau_JOINT); model computes the torques of the links from the robot's file or "
    "--estimate.",
    show_default=True,
    section="Model and method",
)
@with_options(LOGS, ROBOT)
def stiffness(
    file: str, log: str, torque: str, out: Path | None, as_json: bool, **options: Any
) -> None:
    """Estimate stiffness and damping of elastic joints from motor and link encoders.

    LOG is a CSV, NPZ or Parquet file or a ROS bag with columns t (s), q_JOINT (positions of
    links), theta_JOINT (positions of motors after the gear) and tau_JOINT. The results are the
    inputs joint_stiffness, spring_damping and motor_inertia of quantities of elastic joints and of
    the controller elastic_feedback_linearization. symgen docs howto/elastic-joints explains them.

    \b
    symgen stiffness robots/pendulum.urdf log.csv -o springs.toml
    symgen stiffness robots/panda_arm.urdf log.csv --torque joint
    symgen stiffness robots/ur5.urdf log.csv --torque model --estimate ident
    """
    from symgen.identification.gains.joint_stiffness import joint_stiffness
    from symgen.identification.report.gain_report import of_springs, output_file, toml_of_springs
    from symgen.jobs.job import Job
    from symgen.jobs.publish import write_files

    wanted = LogOptions(**{row.name: options.pop(row.name) for row in LOGS})
    job = Job.of(file, **options)
    place = None if out is None else output_file("symgen stiffness", out)
    with progress() as tell:
        tell("reading the log")
        found = joint_stiffness(job, job.load(), log, torque, wanted)
        if place is not None:
            write_files({place: toml_of_springs(found).encode()})
    for note in found.notes:
        output.say(note, error=True)
    of_springs(found).print(as_json)
