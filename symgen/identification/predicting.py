"""The steps of ``symgen predict``: a model, a log, and what is written."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from symgen import output
from symgen.errors import OptionError
from symgen.identification.cutoffs import tuned
from symgen.identification.log_options import LogOptions
from symgen.identification.method_rows import METHODS
from symgen.identification.methods import Problem, problem
from symgen.identification.prediction import Prediction, Predictor, predict
from symgen.identification.prediction_plots import pictures
from symgen.identification.prediction_report import data
from symgen.identification.predictors import of_file, of_robot, predictor
from symgen.identification.recording import Reading, Wish
from symgen.identification.report import listed
from symgen.identification.run import Identified
from symgen.identification.settings import Settings
from symgen.jobs.job import Job
from symgen.jobs.publish import publish
from symgen.reading.assemble import Loaded

LISTING: Final = "prediction.json"


def model_of(
    file: str,
    log: str,
    estimate: str | None,
    options: LogOptions,
    robot: Mapping[str, Any],
    progress: Callable[[str], None],
) -> tuple[Predictor, Reading]:
    """The model that predicts and the log. Raises SymgenError."""
    progress("reading the robot")
    job = Job.of(file, **robot)
    loaded = job.load()
    progress("preparing regressors")
    sought = problem(job, loaded, Settings())
    model = of_file(sought, estimate) if estimate else of_robot(sought)
    progress("looking at the log")
    return model, read(log, sought, loaded, options)


def validated(
    job: Job, loaded: Loaded, found: Identified, log: str | None, progress: Callable[[str], None]
) -> Identified:
    """What was identified with its prediction of another log, or of the rows of its own that were
    held out. Raises SymgenError."""
    own = Predictor(found.equations, found.estimate.values, _channels(found))
    if log is None:
        if METHODS[found.settings.method].equations != "forces" or not found.held_out:
            return found
        return replace(found, prediction=predict(found.reading, own, progress, held_out=True))
    if found.settings.wrenches:
        raise OptionError("--validation: predicts joint forces; leave it out with --sensor wrench")
    progress("preparing the validation")
    late = found.reading.delays
    delay = "0" if found.delays else found.settings.delay
    settings = replace(
        found.settings, method="acceleration", interval=Settings().interval, delay=delay
    )
    sought = problem(job, loaded, settings)
    drives, estimate = found.equations.drives, found.estimate
    model = predictor(
        sought,
        estimate.base,
        drives.columns if drives else (),
        estimate.values[len(estimate.base) :].tolist(),
    )
    again = read(log, sought, loaded, settings)
    again = replace(again, delays=late) if found.delays else again
    return replace(found, prediction=predict(again, model, progress))


def _channels(found: Identified) -> tuple[tuple[str, str], ...]:
    return tuple((channel.name, channel.unit) for channel in found.estimate.channels)


def read(log: str, sought: Problem, loaded: Loaded, options: LogOptions) -> Reading:
    """A log with all that a prediction needs. Raises LogError."""
    return tuned(log, sought, loaded, options, Wish())


def written(found: Prediction, folder: Path, kind: str) -> list[Path]:
    """Writes prediction.json and pictures of a kind. Raises SymgenError, and then nothing was
    written."""
    drawn = pictures(found, kind)
    text = output.as_json(listed(data(found), drawn)) + "\n"
    return publish({LISTING: text, **drawn}, folder, LISTING)
