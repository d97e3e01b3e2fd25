"""The commands ``identify`` and ``predict``."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from symgen import output
from symgen.cli.help import command, naming, option
from symgen.cli.options import (
    FILE,
    JSON,
    PICTURES,
    ROBOT,
    folder,
    named_logs,
    path_option,
    progress,
    say_lines,
    taken,
    with_options,
)
from symgen.cli.options import out as out_option
from symgen.identification.data.log_options import LogOptions
from symgen.identification.model.settings import Settings
from symgen.reading.options import MODEL_FILE, links
from symgen.text import shown

if TYPE_CHECKING:
    from symgen.identification.estimation.run import Identified
    from symgen.identification.report.shaping import EstimateOutputs, OutputRequest

IDENTIFY_OUTPUTS: Final = (
    out_option(
        "DIR",
        "Folder for identification.json, model.toml (for --estimate) and plots. Files of an "
        "earlier run are replaced.",
        callback=folder,
    ),
    path_option(
        "--urdf",
        "OUT.urdf",
        "Write a copy of the robot's file with the physically consistent inertias nearest to those "
        "of the file that predict the log almost as well as the estimate. Only <inertial> elements "
        "are changed.",
    ),
    path_option(
        "--actuators-out",
        "OUT.toml",
        "Write the identified friction, springs and rotor inertias to an actuator file for "
        "--actuators.",
    ),
    path_option(
        "--html",
        "OUT.html",
        "Write an HTML report with the log, errors, forces and parameters.",
    ),
    PICTURES,
    option(
        "--force",
        is_flag=True,
        help="Write the URDF even if warnings say that the estimate is implausible.",
        section="Output",
        rare=True,
    ),
    *JSON,
    option(
        "--payload",
        metavar="LINK",
        shell_complete=naming(links),
        help="Estimate the payload of this link relative to the prior, with standard errors. All "
        "other parameters keep their prior values.",
        section="Model and method",
    ),
    option(
        "--validation",
        metavar="LOG2",
        help="Predict the forces of a second log with the estimate and report the error.",
        section="Model and method",
    ),
    option(
        "--workers",
        metavar="N|ADDRESS",
        default="",
        help="Reduce several logs on N processes of this machine, or on the workers of the Dask "
        "scheduler at this address (tcp://HOST:PORT). The default is this process alone.",
        section="Log",
        rare=True,
    ),
)
"""The options for the results of an estimate."""


@command()
@FILE
@click.argument("log", metavar="LOG...", type=click.Path(), nargs=-1, required=True)
@with_options(IDENTIFY_OUTPUTS, Settings, ROBOT)
def identify(
    file: str,
    log: tuple[str, ...],
    out: Path | None,
    pictures: str,
    as_json: bool,
    urdf: Path | None,
    payload: str | None,
    validation: str | None,
    force: bool,
    actuators_out: Path | None,
    html: Path | None,
    workers: str,
    **options: Any,
) -> None:
    """Identify inertial parameters and friction from a log or several.

    LOG is a CSV, NPZ or Parquet file or a ROS bag with columns t (s), q_JOINT, qd_JOINT, qdd_JOINT
    and tau_JOINT, or a folder or URL whose Parquet files are the logs. Velocities and accelerations
    may be missing. Several logs of one robot give one estimate, with an offset of each log. With
    ROBOT_NAME=LOG for every log, the logs are those of several robots of one type, which have the
    bodies in common and separate friction. symgen docs identification describes the steps, the
    friction terms and the results.

    \b
    symgen identify robots/panda_arm.urdf log.csv
    symgen identify robots/ur5.urdf log.parquet --friction viscous,coulomb,offset -o DIR
    symgen identify robots/ur5.urdf monday.csv tuesday.csv wednesday.csv
    symgen identify robots/ur5.urdf left=monday.csv left=tuesday.csv right=logs/ -o DIR
    symgen identify robots/ur5.urdf log.npz --sensor wrench:joint6 --full
    symgen identify robots/panda_arm.urdf log.csv --payload flange
    symgen identify robots/panda_arm.urdf log.csv --friction viscous,coulomb,offset \\
        --urdf identified.urdf --actuators-out drives.toml
    """
    from symgen.identification.report.identification_report import report
    from symgen.identification.report.shaping import OutputRequest
    from symgen.jobs.publish import check_folder, write_files

    with progress() as tell:
        if out is not None:
            check_folder(out)
        request = OutputRequest(urdf, actuators_out, html, out, payload, force)
        identified, extra = run(file, log, options, request, validation, workers, tell)
        if out is not None:
            tell("drawing the plots")
            write_identification(identified, out, extra, pictures)
        else:
            write_files(extra.files)
    if not as_json:
        output.say(extra.summary)
    for verdict in extra.verdicts:
        output.say(f"{shown(log[0])}: warning: {verdict.text}", error=True)
    reported = identified.dataset.warnings
    say_lines((note for note in identified.notes if note not in reported), error=True)
    report(identified, extra.lines, extra.data).print(as_json)
    _print_written_files((out, html, urdf, actuators_out), extra, as_json)


def _print_written_files(
    paths: tuple[Path | None, ...], extra: "EstimateOutputs", as_json: bool
) -> None:
    """Print the files that were written; exit with status 1 if a requested file was not."""
    withheld = extra.withheld
    for path in paths:
        if path is not None and path not in withheld and not as_json:
            output.say(f"wrote {path}")
    for path, reason in withheld.items():
        output.say(f"error: {shown(str(path))} was not written because {reason}", error=True)
    if withheld:
        raise SystemExit(1)


def run(
    file: str,
    log: str | Sequence[str],
    options: dict[str, Any],
    request: "OutputRequest",
    validation: str | None,
    workers: str,
    progress: Callable[[str], None],
) -> tuple["Identified", "EstimateOutputs"]:
    """The estimate for the options of the command and the requested outputs. Raises
    SymgenError."""
    from symgen.identification.consistency.payload_estimate import body_and_pose_of_link
    from symgen.identification.estimation.run import identify as identified
    from symgen.identification.report.prediction_report import with_validation
    from symgen.identification.report.shaping import estimate_outputs
    from symgen.jobs.job import Job

    settings = taken(Settings, options)
    job = Job.of(file, **options)
    progress("reading the robot")
    loaded = job.load(every_motor=True)
    request.targets(job)
    link = request.payload
    carrying = () if link is None else (body_and_pose_of_link(loaded.model, link)[0],)
    logs, robots = named_logs([log] if isinstance(log, str) else log)
    result = identified(job, loaded, logs, settings, progress, carrying, workers, robots)
    result = with_validation(job, loaded, result, validation, progress)
    return result, estimate_outputs(request, job, loaded, result, progress)


def write_identification(
    identified: "Identified", folder: Path, extra: "EstimateOutputs", kind: str
) -> list[Path]:
    """Write identification.json, the model file and pictures of a kind (none if it is empty) into a
    folder, those of each of several robots into a folder in it, and the other requested files.
    Raises SymgenError; then nothing was written."""
    from symgen.identification.report.identification_report import RESULT_FILE, report
    from symgen.identification.report.plots import pictures
    from symgen.identification.report.prediction_report import with_file_hashes
    from symgen.jobs.publish import publish

    drawn = pictures(identified, kind) if kind else {}
    if extra.model is not None:
        drawn[MODEL_FILE] = extra.model
    text = output.as_json(with_file_hashes(report(identified, data=extra.data).data, drawn)) + "\n"
    done = publish({RESULT_FILE: text, **drawn}, folder, RESULT_FILE, extra.files)
    for name, of_robot in extra.robots.items():
        done += write_identification(identified.robots[name], folder / name, of_robot, "")
    return done


# -- predict -------------------------------------------------------------------------------------

PREDICTION_OUTPUTS: Final = (
    out_option(
        "DIR",
        "Folder for prediction.json and plots. Files of an earlier run are replaced.",
        callback=folder,
    ),
    PICTURES,
    *JSON,
    option(
        "--joint-wrenches",
        is_flag=True,
        help="Also report the largest and root-mean-square force and moment in each joint, from "
        "the inertial parameters of the robot's file.",
        section="Prediction",
    ),
)


@command()
@FILE
@click.argument("log", metavar="LOG", type=click.Path())
@with_options(PREDICTION_OUTPUTS, LogOptions, ROBOT)
def predict(
    file: str,
    log: str,
    joint_wrenches: bool,
    out: Path | None,
    pictures: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Predict the joint forces of a log and report the error.

    The model is the robot's file with friction, springs and rotors of --actuators, or the estimate
    of --estimate: a model.toml, or the folder that symgen identify -o wrote. LOG is a log as for
    symgen identify.

    \b
    symgen predict robots/ur5.urdf log.csv
    symgen predict robots/ur5.urdf log.csv --estimate DIR -o PICTURES
    symgen predict identified.urdf log.csv --actuators identified.toml
    """
    from symgen.identification.report.prediction_report import predict_log, write_prediction
    from symgen.identification.report.prediction_report import report as prediction_report
    from symgen.jobs.publish import check_folder

    log_options = taken(LogOptions, options)
    with progress() as tell:
        if out is not None:
            check_folder(out)
        prediction = predict_log(file, log, joint_wrenches, log_options, options, tell)
        if out is not None:
            tell("drawing the plots")
            write_prediction(prediction, out, pictures)
    say_lines(prediction.dataset.notes, error=True)
    prediction_report(prediction).print(as_json)
    if out is not None and not as_json:
        output.say(f"wrote {out}")
