"""The command ``symgen identify``."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from symgen import output
from symgen.cli.completion import naming
from symgen.cli.help import command, option
from symgen.cli.options import FILE, JSON, PICTURES, ROBOT, folder, path_option, with_options
from symgen.cli.options import out as out_option
from symgen.errors import OptionError
from symgen.identification.model.settings import Settings
from symgen.options import rows
from symgen.reading.options import MODEL_FILE, links
from symgen.text import shown

if TYPE_CHECKING:
    from symgen.identification.estimation.run import Identified
    from symgen.identification.report.shaping import EstimateOutputs

RESULTS: Final = (
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
)
"""The options for the results of an estimate."""

REMOVED: Final = {
    "--consistent": "the bodies of --urdf are physically consistent, and least squares without "
    "constraints predicted logs of real robots as well",
    "--entropic": "it made predictions worse; --urdf writes the physically consistent bodies that "
    "are nearest to the robot file and predict almost as well",
    "--method": "identify fits the joint force of every sample; the momentum, energy and "
    "instrumental methods predicted no log of a real robot better",
    "--interval": "it belonged to --method momentum and --method energy, which were removed",
    "--refine": "the refinement by simulation predicted no log of a real robot better; compare "
    "estimates with --validation LOG2",
    "--engine": "logs are reduced in blocks in one process, in memory that does not grow with them",
    "--scheduler": "it belonged to --engine dask, which was removed",
}
"""Options of earlier versions: why they were removed and what replaces them."""


def _refused(ctx: click.Context, param: click.Parameter, given: Any) -> None:
    """Raises OptionError for an option that was removed."""
    flag = param.opts[0]
    if given:
        raise OptionError(f"{flag}: this option was removed: {REMOVED[flag]}; remove {flag}")


def _removed(flag: str) -> Callable[..., Any]:
    """The hidden option that refuses `flag`."""
    return click.option(
        flag,
        is_flag=flag in ("--refine", "--consistent"),
        hidden=True,
        expose_value=False,
        callback=_refused,
    )


@dataclass(frozen=True)
class ExtraOutputs:
    """Requested outputs besides the estimate: the path of a URDF, the link of a payload, a second
    log for validation."""

    urdf: Path | None = None
    payload: str | None = None
    validation: str | None = None
    actuators: Path | None = None
    """The path of an actuator file."""
    force: bool = False
    """Write the URDF even if the estimate is implausible."""
    html: Path | None = None
    """The path of an HTML report."""
    folder: Path | None = None
    """The folder for the estimate."""


@command()
@FILE
@click.argument("log", metavar="LOG", type=click.Path())
@with_options(RESULTS, rows(Settings), ROBOT, map(_removed, REMOVED))
def identify(
    file: str,
    log: str,
    out: Path | None,
    pictures: str,
    as_json: bool,
    urdf: Path | None,
    payload: str | None,
    validation: str | None,
    force: bool,
    actuators_out: Path | None,
    html: Path | None,
    **options: Any,
) -> None:
    """Identify inertial parameters and friction from a log.

    LOG is a CSV, NPZ or Parquet file or a ROS bag with columns t (s), q_JOINT, qd_JOINT, qdd_JOINT
    and tau_JOINT. Velocities and accelerations may be missing. symgen docs identification
    describes the steps, the friction terms and the results.

    \b
    symgen identify robots/panda_arm.urdf log.csv
    symgen identify robots/ur5.urdf log.parquet --friction viscous,coulomb,offset -o DIR
    symgen identify robots/ur5.urdf log.npz --sensor wrench:joint6 --full
    symgen identify robots/panda_arm.urdf log.csv --payload flange
    symgen identify robots/panda_arm.urdf log.csv --friction viscous,coulomb,offset \\
        --urdf identified.urdf --actuators-out drives.toml
    """
    from symgen.cli.progress import progress
    from symgen.jobs.publish import check_folder, write_files

    with progress() as tell:
        if out is not None:
            check_folder(out)
        wishes = ExtraOutputs(urdf, payload, validation, actuators_out, force, html, out)
        identified, extra = run(file, log, options, tell, wishes)
        if out is not None:
            tell("drawing the plots")
            written(identified, out, extra, pictures)
        else:
            write_files(extra.files)
    if not as_json:
        output.say(extra.summary)
    for verdict in extra.verdicts:
        output.say(f"{shown(log)}: warning: {verdict.text}", error=True)
    for note in identified.notes:
        if note not in identified.reading.doubts:
            output.say(note, error=True)
    _say(identified, extra, as_json)
    _end((out, html, urdf, actuators_out), extra, as_json)


def _end(paths: tuple[Path | None, ...], extra: "EstimateOutputs", as_json: bool) -> None:
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
    log: str,
    options: dict[str, Any],
    progress: Callable[[str], None],
    wishes: ExtraOutputs = ExtraOutputs(),
) -> tuple["Identified", "EstimateOutputs"]:
    """The estimate for the options of the command and the requested outputs. Raises
    SymgenError."""
    from symgen.identification.consistency.payload_estimate import check_link
    from symgen.identification.estimation.run import identify as identified
    from symgen.identification.report.predicting import validated
    from symgen.identification.report.shaping import estimate_outputs
    from symgen.jobs.job import Job

    settings = Settings(**{row.name: options.pop(row.name) for row in rows(Settings)})
    job = Job.of(file, **options)
    progress("reading the robot")
    loaded = job.load(every_motor=True)
    extra = estimate_outputs(
        job,
        loaded,
        wishes.urdf,
        wishes.payload,
        wishes.force,
        wishes.actuators,
        wishes.html,
        wishes.folder,
    )
    carrying = (check_link(loaded.model, wishes.payload)[0],) if wishes.payload else ()
    result = identified(job, loaded, log, settings, progress, carrying)
    result = validated(job, loaded, result, wishes.validation, progress)
    return result, extra.of(result, progress)


def _say(identified: "Identified", extra: "EstimateOutputs", as_json: bool) -> None:
    from symgen.identification.report.identification_tables import data, on_terminal

    if as_json:
        output.say(output.as_json({**data(identified), **extra.data}))
    else:
        on_terminal(identified)
        for line in extra.lines:
            output.say(line)


def written(
    identified: "Identified", folder: Path, extra: "EstimateOutputs", kind: str
) -> list[Path]:
    """Write identification.json, the model file and pictures of a kind into a folder, and the other
    requested files. Raises SymgenError; then nothing was written."""
    from symgen.identification.report.identification_tables import LISTING, data, listed
    from symgen.identification.report.plots import pictures
    from symgen.jobs.publish import publish

    drawn = pictures(identified, kind)
    if extra.model is not None:
        drawn[MODEL_FILE] = extra.model
    text = output.as_json(listed({**data(identified), **extra.data}, drawn)) + "\n"
    return publish({LISTING: text, **drawn}, folder, LISTING, extra.files)
