"""The command ``symgen predict``."""

from pathlib import Path
from typing import Any

import click

from symgen import output
from symgen.cli.options import FILE, JSON, PICTURES, ROBOT, folder, with_options
from symgen.identification.log_options import LogOptions
from symgen.options import rows

RESULTS = (
    click.option(
        "--estimate",
        metavar="FILE.json",
        help="Predict with the parameters of this identification.json (of symgen identify -o) in "
        "place of those of the robot's files.",
    ),
    click.option(
        "-o",
        "--out",
        metavar="DIR",
        callback=folder,
        help="Folder for prediction.json and pictures; those of an earlier run are replaced.",
    ),
    PICTURES,
)


@click.command()
@FILE
@click.argument("log", metavar="LOG", type=click.Path())
@with_options(RESULTS, rows(LogOptions), ROBOT, JSON)
def predict(
    file: str,
    log: str,
    estimate: str | None,
    out: Path | None,
    pictures: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Predict the joint forces of a log and tell how far they are off.

    The model is that of the robot's files, with friction, springs and rotors of --actuators, or an
    estimate. LOG as for symgen identify.

    \b
    symgen predict robots/ur5.urdf log.csv
    symgen predict robots/ur5.urdf log.csv --estimate DIR/identification.json -o PICTURES
    symgen predict identified.urdf log.csv --actuators identified.toml
    """
    from symgen.cli.progress import progress
    from symgen.identification.predicting import model_of, written
    from symgen.identification.prediction import predict as predicted
    from symgen.identification.prediction_report import data, on_terminal
    from symgen.jobs.publish import check_folder

    log_options = LogOptions(**{row.name: options.pop(row.name) for row in rows(LogOptions)})
    with progress() as tell:
        if out is not None:
            check_folder(out)
        model, reading = model_of(file, log, estimate, log_options, options, tell)
        prediction = predicted(reading, model, tell)
        if out is not None:
            tell("drawing")
            written(prediction, out, pictures)
    for note in reading.notes:
        output.say(note, error=True)
    if as_json:
        output.say(output.as_json(data(prediction)))
    else:
        on_terminal(prediction)
        if out is not None:
            output.say(f"wrote {out}")
