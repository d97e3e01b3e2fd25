"""The steps of ``symgen predict``: a model, a log, and what is written."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from symgen import output
from symgen.errors import OptionError
from symgen.identification.data.dataset import Reading
from symgen.identification.data.log_options import LogOptions
from symgen.identification.data.open_log import LogSource
from symgen.identification.diagnostics.cutoffs import tuned
from symgen.identification.estimation.run import Identified
from symgen.identification.model.problem import Problem, problem
from symgen.identification.model.settings import Settings
from symgen.identification.prediction.bearing_loads import WrenchModel
from symgen.identification.prediction.prediction_errors import Prediction, Predictor, predict
from symgen.identification.prediction.predictors import (
    columns_of_files,
    of_file,
    of_robot,
    predictor,
)
from symgen.identification.report.identification_report import LISTING as IDENTIFICATION
from symgen.identification.report.identification_report import listed
from symgen.identification.report.prediction_report import data, pictures
from symgen.jobs.job import Job
from symgen.jobs.publish import publish
from symgen.reading.assemble import LoadedRobot
from symgen.reading.options import MODEL_FILE
from symgen.text import shown

LISTING: Final = "prediction.json"


def predicted(
    file: str,
    log: str,
    joint_wrenches: bool,
    options: LogOptions,
    robot: Mapping[str, Any],
    progress: Callable[[str], None],
) -> Prediction:
    """The prediction of a log by the robot's file or an estimate, with the loads of the joints if
    they are asked for. Raises SymgenError."""
    estimate = robot.get("estimate")
    if joint_wrenches and estimate:
        raise OptionError(
            "--joint-wrenches: the base parameters of --estimate do not determine the wrenches in "
            "joints; use the file that symgen identify --urdf wrote instead of --estimate"
        )
    progress("reading the robot")
    listing = _listing(estimate) if estimate else None
    job = Job.of(file, **robot if listing is None else {**robot, "estimate": None})
    loaded = job.load(every_motor=True)
    progress("preparing regressors")
    sought = problem(job, loaded, Settings())
    if listing is not None and robot.get("actuators") and columns_of_files(sought):
        raise OptionError(
            f"--actuators: its friction and springs have no effect with --estimate "
            f"{shown(listing)}, which has the laws of joint forces; remove them from the file"
        )
    model = of_robot(sought) if listing is None else of_file(sought, listing)
    wrenches = WrenchModel.of(job, loaded) if joint_wrenches else None
    progress("reading the log")
    reading = read(log, sought, loaded, options)
    return predict(reading, model, progress, wrenches=wrenches)


def _listing(estimate: str) -> str | None:
    """The identification.json that an estimate is, or is in; None for a model file."""
    if os.path.isdir(estimate):
        has_model = Path(estimate, MODEL_FILE).exists()
        return None if has_model else str(Path(estimate, IDENTIFICATION))
    return None if Path(estimate).suffix == ".toml" else estimate


def validated(
    job: Job,
    loaded: LoadedRobot,
    identified: Identified,
    log: LogSource | None,
    progress: Callable[[str], None],
) -> Identified:
    """The result of identification with its prediction of another log, or of the rows of its own
    that were held out. Raises SymgenError."""
    fitted = Predictor(identified.equations, identified.estimate.values, _channels(identified))
    if log is None:
        if not identified.held_out:
            return identified
        return replace(
            identified, prediction=predict(identified.reading, fitted, progress, held_out=True)
        )
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
    validation = read(log, sought, loaded, settings)
    return replace(identified, prediction=predict(validation, model, progress))


def _channels(identified: Identified) -> tuple[tuple[str, str], ...]:
    return tuple((channel.name, channel.unit) for channel in identified.estimate.channels)


def read(log: LogSource, sought: Problem, loaded: LoadedRobot, options: LogOptions) -> Reading:
    """A log with all that a prediction needs. Raises LogError."""
    return tuned(log, sought, loaded, options)


def written(prediction: Prediction, folder: Path, kind: str) -> list[Path]:
    """Writes prediction.json and pictures of a kind. Raises SymgenError, and then nothing was
    written."""
    drawn = pictures(prediction, kind)
    text = output.as_json(listed(data(prediction), drawn)) + "\n"
    return publish({LISTING: text, **drawn}, folder, LISTING)
