"""The commands on logs: ``log``, ``gains`` and ``stiffness``."""

from pathlib import Path
from typing import Any, Final

import click

from symgen.cli.help import command, naming, option
from symgen.cli.options import (
    EXCITE_OPTIONS,
    FILE,
    JSON,
    ROBOT,
    path_option,
    progress,
    say_lines,
    taken,
    with_options,
)
from symgen.cli.options import out as out_option
from symgen.identification.data.log_options import LogOptions
from symgen.identification.excitation.motion_limits import ExcitationPlan
from symgen.reading.options import links


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
@with_options(LogOptions, ROBOT)
def log(log: str, robot: str | None, plot: Path | None, as_json: bool, **options: Any) -> None:
    """Show how a log is interpreted: columns, sample rate, gaps, standstill, ranges.

    LOG is a text file (CSV, with any delimiter), NPZ, Parquet or a ROS bag. When the result is
    right, give the same options to symgen identify.

    \b
    symgen log motion.csv
    symgen log motion.csv --robot robots/ur5.urdf --column q=actual_q_{} --unit q=deg --plot log.png
    """
    from symgen.identification.report import log_report
    from symgen.inspection.rendering import picture_target
    from symgen.jobs.job import Job
    from symgen.jobs.publish import write_files

    log_options = taken(LogOptions, options)
    target = None if plot is None else picture_target("--plot", plot, "symgen log", [log])
    with progress() as tell:
        model = None if robot is None else Job.of(robot, **options).load().model
        overview = log_report.log_overview(log, log_options, model, tell)
        if target is not None:
            tell("drawing the plot")
            write_files({target: log_report.picture(overview, target)})
    say_lines(overview.dataset.notes, error=True)
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
@with_options(LogOptions, ROBOT)
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

    log_options = taken(LogOptions, options)
    job = Job.of(file, **options)
    place = None if out is None else output_file("symgen gains", out)
    with progress() as tell:
        tell("reading the robot")
        fitted = fitted_gains(job, job.load(), (unloaded, loaded), mass, link, log_options, tell)
        if place is not None:
            write_files({place: toml_of_gains(fitted).encode()})
    say_lines(fitted.notes, error=True)
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
@with_options(LogOptions, ROBOT)
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

    log_options = taken(LogOptions, options)
    job = Job.of(file, **options)
    place = None if out is None else output_file("symgen stiffness", out)
    with progress() as tell:
        tell("reading the log")
        found = joint_stiffness(job, job.load(), log, torque, log_options)
        if place is not None:
            write_files({place: toml_of_springs(found).encode()})
    say_lines(found.notes, error=True)
    of_springs(found).print(as_json)


# -- excite ----------------------------------------------------------------------------------------


EXCITE_OUTPUTS: Final = (
    out_option(
        "OUT.csv",
        "File for the motion, with the columns t, q_JOINT, qd_JOINT and qdd_JOINT.",
        required=True,
        type=click.Path(path_type=Path),
    ),
    path_option(
        "--plot", "OUT.png|svg|pdf", "Plot positions, velocities and forces with their limits."
    ),
)


@command()
@FILE
@with_options(EXCITE_OUTPUTS, JSON, ExcitationPlan, EXCITE_OPTIONS, ROBOT)
def excite(file: str, out: Path, plot: Path | None, as_json: bool, **options: Any) -> None:
    """Optimize an exciting motion for the identification of a robot.

    The motion of each joint is a Fourier series (Swevers 1997) within the limits of position,
    velocity and force. Forces are computed by inverse dynamics with the parameters of the robot's
    file. The optimization minimizes the condition number of the base regressor. With --around,
    --keep-above, --workspace and --self-clearance, the motion and a straight approach from its
    centre stay in a free space. Other objects are NOT checked: review the motion before you run
    it on a robot. symgen view FILE --motion OUT.csv plays it.

    \b
    symgen excite robots/panda_arm.urdf -o motion.csv --plot motion.png
    symgen excite robots/ur5.urdf -o motion.csv --harmonics 4 --rest --friction viscous,coulomb
    symgen excite arm.urdf -o motion.csv --limit slide.velocity=0.5 --limit slide.effort=200
    symgen excite robots/ur5.urdf -o motion.csv --around joint2=-1.6 --keep-above 0.1
    symgen view robots/ur5.urdf --motion motion.csv
    """
    from symgen.cli.options import progress
    from symgen.identification.excitation.optimizer import excite as excited
    from symgen.identification.report.excite_report import motion_csv, output_files, picture, report
    from symgen.jobs.job import Job
    from symgen.jobs.publish import write_files
    from symgen.robot.identification import at_runtime, excitation_task

    with progress() as tell:
        tell("reading the robot")
        plan = taken(ExcitationPlan, options)
        limits = options.pop("limits")
        job = Job.of(file, **{**options, "friction": at_runtime(options["friction"])})
        task = excitation_task(job, plan, limits)
        motion, *pictures = output_files(task, out, plot, file)
        excitation = excited(task, tell)
        files = {motion: motion_csv(excitation)}
        for target in pictures:
            tell("drawing the plot")
            files[target] = picture(excitation, target)
        write_files(files)
    paths = [target.path for target in files]
    report(excitation, paths).print(as_json)
    say_lines([] if as_json else [f"wrote {path}" for path in paths])
