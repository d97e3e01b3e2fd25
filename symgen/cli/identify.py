"""The command ``symgen identify``."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from symgen import output
from symgen.cli.completion import naming
from symgen.cli.options import FILE, JSON, PICTURES, ROBOT, folder, with_options
from symgen.errors import OptionError
from symgen.identification.settings import Settings
from symgen.options import rows
from symgen.reading.options import links
from symgen.text import shown

if TYPE_CHECKING:
    from symgen.identification.run import Identified
    from symgen.identification.shaping import EstimateOutputs

RESULTS: Final = (
    click.option(
        "--force",
        is_flag=True,
        help="Write the URDF even where warnings say that the estimate is of no use.",
    ),
    click.option(
        "--validation",
        metavar="LOG2",
        help="Predict another log with the estimate and tell how far it is off.",
    ),
    click.option(
        "-o",
        "--out",
        metavar="DIR",
        callback=folder,
        help="Folder for identification.json and plots; those of an earlier run are replaced.",
    ),
    PICTURES,
    click.option(
        "--urdf",
        metavar="OUT.urdf",
        type=click.Path(path_type=Path),
        help="Write the robot's file with consistent inertias that have the base parameters found, "
        "the nearest to the prior; nothing but <inertial> is altered, friction neither.",
    ),
    click.option(
        "--html",
        metavar="OUT.html",
        type=click.Path(path_type=Path),
        help="Write a report as one page: what was read, errors, forces, parameters.",
    ),
    click.option(
        "--actuators-out",
        metavar="OUT.toml",
        type=click.Path(path_type=Path),
        help="Write friction, springs and armatures found as a file that --actuators takes.",
    ),
    click.option(
        "--payload",
        metavar="LINK",
        shell_complete=naming(links),
        help="Give what this link carries beyond the prior, with standard errors; all else is "
        "taken to be as the prior says.",
    ),
)
"""What is made of an estimate."""


@dataclass(frozen=True)
class ExtraOutputs:
    """Outputs asked for beside the estimate: the file of a URDF, the link of a payload, another log
    for validation."""

    urdf: Path | None = None
    payload: str | None = None
    validation: str | None = None
    actuators: Path | None = None
    """A file of actuators."""
    force: bool = False
    """Write the URDF even of an estimate that is refused."""
    html: Path | None = None
    """A page."""


@click.command()
@FILE
@click.argument("log", metavar="LOG", type=click.Path())
@with_options(rows(Settings), RESULTS, ROBOT, JSON)
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

    LOG is CSV, NPZ or Parquet with columns t (s), q_JOINT, qd_JOINT, qdd_JOINT and tau_JOINT;
    velocities and accelerations may be missing. It may be larger than memory.
    symgen docs identification has the columns, the methods and what is written.

    \b
    symgen identify robots/panda_arm.urdf log.csv
    symgen identify robots/ur5.urdf log.parquet --friction viscous,coulomb,offset -o DIR
    symgen identify robots/ur5.urdf log.npz --sensor wrench:wrist_3_joint --full
    symgen identify robots/panda_arm.urdf log.csv --urdf identified.urdf --payload flange
    """
    from symgen.cli.progress import progress
    from symgen.jobs.publish import check_folder, write_files

    with progress() as tell:
        if out is not None:
            check_folder(out)
        wishes = ExtraOutputs(urdf, payload, validation, actuators_out, force, html)
        identified, extra = run(file, log, options, tell, wishes)
        if out is not None:
            tell("drawing")
            written(identified, out, extra, pictures)
        else:
            write_files(extra.files)
    for verdict in extra.verdicts:
        output.say(f"{shown(log)}: warning: {verdict.text}", error=True)
    for note in identified.notes:
        if note not in identified.reading.doubts:
            output.say(note, error=True)
    _say(identified, extra, as_json)
    _end((out, html, urdf, actuators_out), extra, as_json)


def _end(paths: tuple[Path | None, ...], extra: "EstimateOutputs", as_json: bool) -> None:
    """Says what was written; exit status 1 where a file was asked for and is not."""
    for path in paths[:2] if extra.unwritten else paths:
        if path is not None and not as_json:
            output.say(f"wrote {path}")
    if extra.unwritten:
        output.say(
            f"error: {shown(str(extra.unwritten))} is not written, for what speaks against the "
            "estimate (warnings above); --force writes it all the same",
            error=True,
        )
        raise SystemExit(1)


def run(
    file: str,
    log: str,
    options: dict[str, Any],
    progress: Callable[[str], None],
    wishes: ExtraOutputs = ExtraOutputs(),
) -> tuple["Identified", "EstimateOutputs"]:
    """Identify with the options of the command, and what the wishes ask for. Raises
    SymgenError."""
    from symgen.identification.predicting import validated
    from symgen.identification.run import identify as identified
    from symgen.identification.shaping import estimate_outputs
    from symgen.jobs.job import Job

    settings = Settings(**{row.name: options.pop(row.name) for row in rows(Settings)})
    job = Job.of(file, **options)
    progress("reading the robot")
    loaded = job.load()
    extra = estimate_outputs(
        job, loaded, wishes.urdf, wishes.payload, wishes.force, wishes.actuators, wishes.html
    )
    result = identified(job, loaded, log, settings, progress)
    result = validated(job, loaded, result, wishes.validation, progress)
    return result, extra.of(result, progress)


def at_runtime(friction: str) -> str:
    """The kinds of friction as unknowns; no file need give them. Raises OptionError."""
    from symgen.mechanics.passive import FRICTION as KINDS

    kinds = friction.removeprefix("runtime:").split(",") if friction else []
    if len(set(kinds)) < len(kinds) or not set(kinds) <= set(KINDS):
        raise OptionError(f"--friction {friction}: use some of {', '.join(KINDS)}")
    return f"runtime:{','.join(kinds)}" if kinds else ""


def _say(identified: "Identified", extra: "EstimateOutputs", as_json: bool) -> None:
    from symgen.identification.report import data, on_terminal

    if as_json:
        output.say(output.as_json({**data(identified), **extra.data}))
    else:
        on_terminal(identified)
        for line in extra.lines:
            output.say(line)


def written(
    identified: "Identified", folder: Path, extra: "EstimateOutputs", kind: str
) -> list[Path]:
    """Write identification.json and pictures of a kind into a folder, and what else was asked for.
    Raises SymgenError, and then nothing was written."""
    from symgen.identification.plots import pictures
    from symgen.identification.report import LISTING, data, listed
    from symgen.jobs.publish import publish

    drawn = pictures(identified, kind)
    text = output.as_json(listed({**data(identified), **extra.data}, drawn)) + "\n"
    return publish({LISTING: text, **drawn}, folder, LISTING, extra.files)
