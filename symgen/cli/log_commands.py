"""The commands on logs: ``log``, ``gains`` and ``stiffness``."""

from pathlib import Path
from typing import Any, Final

import click

from symgen import output
from symgen.cli.completion import naming
from symgen.cli.help import command, option
from symgen.cli.options import FILE, JSON, ROBOT, path_option, with_options
from symgen.cli.options import out as out_option
from symgen.cli.progress import progress
from symgen.identification.data.log_options import LogOptions
from symgen.options import rows
from symgen.reading.options import links

LOG_OPTIONS: Final = rows(LogOptions)
"""The options that describe a log."""


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
@with_options(LOG_OPTIONS, ROBOT)
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

    log_options = LogOptions(**{row.name: options.pop(row.name) for row in LOG_OPTIONS})
    target = None if plot is None else picture_target("--plot", plot, "symgen log", [log])
    with progress() as tell:
        model = None if robot is None else Job.of(robot, **options).load().model
        overview = log_report.log_overview(log, log_options, model, tell)
        if target is not None:
            tell("drawing the plot")
            write_files({target: log_report.picture(overview, target)})
    for note in overview.dataset.notes:
        output.say(note, error=True)
    log_report.report(overview).print(as_json)


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
@with_options(LOG_OPTIONS, ROBOT)
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
    from symgen.identification.gains.torque_constants import estimate_gains as fitted_gains
    from symgen.identification.report.gain_report import of_gains, output_file, toml_of_gains
    from symgen.jobs.job import Job
    from symgen.jobs.publish import write_files

    log_options = LogOptions(**{row.name: options.pop(row.name) for row in LOG_OPTIONS})
    job = Job.of(file, **options)
    place = None if out is None else output_file("symgen gains", out)
    with progress() as tell:
        tell("reading the robot")
        fitted = fitted_gains(job, job.load(), (unloaded, loaded), mass, link, log_options, tell)
        if place is not None:
            write_files({place: toml_of_gains(fitted).encode()})
    for note in fitted.notes:
        output.say(note, error=True)
    of_gains(fitted).print(as_json)


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
@with_options(LOG_OPTIONS, ROBOT)
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

    log_options = LogOptions(**{row.name: options.pop(row.name) for row in LOG_OPTIONS})
    job = Job.of(file, **options)
    place = None if out is None else output_file("symgen stiffness", out)
    with progress() as tell:
        tell("reading the log")
        found = joint_stiffness(job, job.load(), log, torque, log_options)
        if place is not None:
            write_files({place: toml_of_springs(found).encode()})
    for note in found.notes:
        output.say(note, error=True)
    of_springs(found).print(as_json)
