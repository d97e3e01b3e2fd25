"""Predictions of a log: the steps of ``symgen predict`` (a model, a log, and what is written), with
tables, data and pictures, also for ``symgen identify --validation``."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path, PurePath
from typing import Any, Final

from symgen import __version__, output
from symgen.errors import OptionError
from symgen.identification.data.log_options import LogOptions
from symgen.identification.data.open_log import LogSource
from symgen.identification.diagnostics.cutoffs import open_with_best_cutoff
from symgen.identification.estimation.run import Identified
from symgen.identification.model.problem import problem_for
from symgen.identification.model.settings import Settings
from symgen.identification.prediction.prediction_errors import (
    LOADS,
    SLOW,
    VIEWS,
    JointLoads,
    Prediction,
    Predictor,
    WrenchModel,
    of_robot,
    predict,
    predictor,
)
from symgen.identification.report.plots import PNG, ForcePanel, encoded, over_time, residuals
from symgen.inspection.rendering import Report, ReportTable
from symgen.jobs.job import Job
from symgen.jobs.publish import publish
from symgen.reading.assemble import LoadedRobot
from symgen.text import shown

VIEW_TITLES: Final = ("all rows", "moving", "filtered", "moving, filtered")
"""Of VIEWS."""


def report(prediction: Prediction) -> Report:
    """The errors of each channel in a table, and the loads of the joints."""
    sentence = (
        f"The errors are relative to the rms of the measured values. moving: faster than {SLOW:g} "
        "rad/s or m/s. filtered: measured and predicted values pass the filter of the velocities."
    )
    loads = [joint_load_table(prediction.joints)] if prediction.joints else []
    return Report([error_table(prediction), sentence, *loads], json_data(prediction))


def joint_load_table(joints: Sequence[JointLoads]) -> ReportTable:
    """The table of the loads of joints, the largest value and the root mean square of each."""
    rows = []
    for joint in joints:
        loads = (joint.loads.get(name) for name in LOADS)
        cells = ("" if x is None else f"{x.maximum:.4g}, {x.rms:.4g}" for x in loads)
        rows.append([shown(joint.joint), *cells])
    heads = [f"{name.replace('_', ' ')} ({unit})" for name, unit in LOADS.items()]
    return ReportTable("Loads of the joints: largest, rms", ["joint"], heads, rows)


def error_table(prediction: Prediction) -> ReportTable:
    """The table of errors."""
    name = shown(PurePath(prediction.dataset.log.file).name)
    count = max((c.views["all"].rows for c in prediction.channels), default=0)
    rows = []
    for c in prediction.channels:
        share, parts = c.views["all"], (c.views[view].relative for view in VIEWS)
        cells = ("" if part is None else f"{100 * part:.2f} %" for part in parts)
        first = f"{share.measured_rms:.4g}", f"{share.error_rms:.4g}", f"{c.bias:+.2g}"
        rows.append([c.name, c.unit, *first, *cells])
    return ReportTable(
        f"Prediction of {name}: {count}" + " held-out" * prediction.held_out + " rows",
        ["measured"],
        ["unit", "rms", "error", "bias", *VIEW_TITLES],
        rows,
    )


def json_data(prediction: Prediction) -> dict[str, Any]:
    """The errors, for JSON (documented in docs/reference/identification.md)."""
    channels = [
        {"name": c.name, "unit": c.unit, "bias": c.bias}
        | {view: {**asdict(share), "relative": share.relative} for view, share in c.views.items()}
        for c in prediction.channels
    ]
    loads = {
        row.joint: {name: asdict(load) for name, load in row.loads.items()}
        for row in prediction.joints
    }
    return {
        "format": 1,
        "generator": f"symgen {__version__}",
        "log": PurePath(prediction.dataset.log.file).name,
        "rows": prediction.dataset.survey.usable,
        "channels": channels,
    } | ({"joints": loads} if loads else {})


def pictures(prediction: Prediction, kind: str = PNG) -> dict[str, bytes]:
    """Pictures of a kind by the names of their files. Raises SymgenError where matplotlib is
    missing."""
    strips = []
    for j, channel in enumerate(prediction.channels):
        share = channel.views["filtered"].relative or channel.views["all"].relative
        label = "" if share is None else f"error {100 * share:.1f} %"
        strips.append(ForcePanel(j, channel.name, channel.unit, label))
    figures = {
        "predicted": over_time(prediction.points, strips),
        "residuals": residuals(prediction.points, strips),
    }
    return {f"{name}.{kind}": encoded(figure, kind) for name, figure in figures.items()}


def with_file_hashes(data: Mapping[str, Any], files: Mapping[str, bytes]) -> dict[str, Any]:
    """The data with the SHA-256 of the files beside it, by which the next run knows them."""
    return {
        **data,
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
    }


# -- steps -----------------------------------------------------------------------------------------


RESULT_FILE: Final = "prediction.json"


def predict_log(
    robot_file: str,
    log: str,
    joint_wrenches: bool,
    options: LogOptions,
    robot_options: Mapping[str, Any],
    progress: Callable[[str], None],
) -> Prediction:
    """The prediction of a log by the robot's file or a model file, with the loads of the joints if
    they are asked for. Raises SymgenError."""
    if joint_wrenches and robot_options.get("estimate"):
        raise OptionError(
            "--joint-wrenches: the base parameters of --estimate do not determine the wrenches in "
            "joints; use the file that symgen identify --urdf wrote instead of --estimate"
        )
    progress("reading the robot")
    job = Job.of(robot_file, **robot_options)
    loaded = job.load(every_motor=True)
    progress("preparing regressors")
    problem = problem_for(job, loaded, Settings())
    wrenches = WrenchModel.of(job, loaded) if joint_wrenches else None
    progress("reading the log")
    dataset = open_with_best_cutoff(log, problem, loaded, options)
    return predict(dataset, of_robot(problem), progress, wrenches=wrenches)


def with_validation(
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
        seen = predict(identified.dataset, fitted, progress, held_out=True)
        return replace(identified, prediction=seen)
    if identified.settings.wrenches:
        raise OptionError("--validation needs joint forces; remove it or --sensor wrench")
    progress("preparing the validation")
    settings = identified.settings
    problem = problem_for(job, loaded, settings)
    drives, estimate = identified.equations.drives, identified.estimate
    model = predictor(
        problem,
        estimate.base,
        drives.columns if drives else (),
        estimate.values[len(estimate.base) :].tolist(),
    )
    validation = open_with_best_cutoff(log, problem, loaded, settings)
    return replace(identified, prediction=predict(validation, model, progress))


def write_prediction(prediction: Prediction, folder: Path, kind: str) -> list[Path]:
    """Writes prediction.json and pictures of a kind. Raises SymgenError, and then nothing was
    written."""
    drawn = pictures(prediction, kind)
    text = output.as_json(with_file_hashes(json_data(prediction), drawn)) + "\n"
    return publish({RESULT_FILE: text, **drawn}, folder, RESULT_FILE)
