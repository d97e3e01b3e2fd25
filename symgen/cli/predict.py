"""The command ``symgen predict``."""

from pathlib import Path
from typing import Any

import click

from symgen import output
from symgen.cli.help import command, option
from symgen.cli.options import FILE, JSON, PICTURES, ROBOT, folder, with_options
from symgen.cli.options import out as out_option
from symgen.identification.data.log_options import LogOptions
from symgen.options import rows

RESULTS = (
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
@with_options(RESULTS, rows(LogOptions), ROBOT)
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
    from symgen.cli.progress import progress
    from symgen.identification.report.predicting import predicted, written
    from symgen.identification.report.prediction_report import report
    from symgen.jobs.publish import check_folder

    log_options = LogOptions(**{row.name: options.pop(row.name) for row in rows(LogOptions)})
    with progress() as tell:
        if out is not None:
            check_folder(out)
        prediction = predicted(file, log, joint_wrenches, log_options, options, tell)
        if out is not None:
            tell("drawing the plots")
            written(prediction, out, pictures)
    for note in prediction.reading.notes:
        output.say(note, error=True)
    report(prediction).print(as_json)
    if out is not None and not as_json:
        output.say(f"wrote {out}")
