"""The steps of ``symgen predict``: a model, a log, and what is written."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from symgen import output
from symgen.errors import OptionError
from symgen.identification.data.log_options import LogOptions
from symgen.identification.data.open_log import LogSource
from symgen.identification.diagnostics.cutoffs import tuned
from symgen.identification.estimation.run import Identified
from symgen.identification.model.problem import problem
from symgen.identification.model.settings import Settings
from symgen.identification.prediction.bearing_loads import WrenchModel
from symgen.identification.prediction.prediction_errors import (
    Prediction,
    Predictor,
    of_robot,
    predict,
    predictor,
)
from symgen.identification.report.identification_report import listed
from symgen.identification.report.prediction_report import data, pictures
from symgen.jobs.job import Job
from symgen.jobs.publish import publish
from symgen.reading.assemble import LoadedRobot

LISTING: Final = "prediction.json"


def predicted(
    file: str,
    log: str,
    joint_wrenches: bool,
    options: LogOptions,
    robot: Mapping[str, Any],
    progress: Callable[[str], None],
) -> Prediction:
    """The prediction of a log by the robot's file or a model file, with the loads of the joints if
    they are asked for. Raises SymgenError."""
    if joint_wrenches and robot.get("estimate"):
        raise OptionError(
            "--joint-wrenches: the base parameters of --estimate do not determine the wrenches in "
            "joints; use the file that symgen identify --urdf wrote instead of --estimate"
        )
    progress("reading the robot")
    job = Job.of(file, **robot)
    loaded = job.load(every_motor=True)
    progress("preparing regressors")
    sought = problem(job, loaded, Settings())
    wrenches = WrenchModel.of(job, loaded) if joint_wrenches else None
    progress("reading the log")
    reading = tuned(log, sought, loaded, options)
    return predict(reading, of_robot(sought), progress, wrenches=wrenches)


def validated(
    job: Job,
    loaded: LoadedRobot,
    identified: Identified,
    log: LogSource | None,
    progress: Callable[[str], None],
) -> Identified:
    """The result of identification with its prediction of another log, or of the rows of its own
    that were held out. Raises SymgenError."""
    if log is None:
        if not identified.held_out:
            return identified
        channels = tuple((c.name, c.unit) for c in identified.estimate.channels)
        fitted = Predictor(identified.equations, identified.estimate.values, channels)
        seen = predict(identified.reading, fitted, progress, held_out=True)
        return replace(identified, prediction=seen)
    if identified.settings.wrenches:
        raise OptionError("--validation needs joint forces; remove it or --sensor wrench")
    progress("preparing the validation")
    settings = identified.settings
    sought = problem(job, loaded, settings)
    drives, estimate = identified.equations.drives, identified.estimate
    model = predictor(
        sought,
        estimate.base,
        drives.columns if drives else (),
        estimate.values[len(estimate.base) :].tolist(),
    )
    validation = tuned(log, sought, loaded, settings)
    return replace(identified, prediction=predict(validation, model, progress))


def written(prediction: Prediction, folder: Path, kind: str) -> list[Path]:
    """Writes prediction.json and pictures of a kind. Raises SymgenError, and then nothing was
    written."""
    drawn = pictures(prediction, kind)
    text = output.as_json(listed(data(prediction), drawn)) + "\n"
    return publish({LISTING: text, **drawn}, folder, LISTING)
