"""The command ``symgen identify``."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symgen.errors import OptionError
from symgen.options import FILE, IDENTIFY_OPTIONS, JSON_OPTION, ROBOT_OPTIONS, with_options

if TYPE_CHECKING:
    from symgen.identification.run import Identified

OF_JOB = ("friction", "friction_width")
"""Options of the command that belong to the robot's job."""


@click.command()
@FILE
@click.argument("log", metavar="LOG", type=click.Path())
@with_options(IDENTIFY_OPTIONS, ROBOT_OPTIONS, JSON_OPTION)
def identify(file: str, log: str, out: Path | None, as_json: bool, **options: Any) -> None:
    """Identify inertial parameters and friction from a log.

    LOG is CSV, NPZ or Parquet with columns t (s), q_JOINT, qd_JOINT, qdd_JOINT and tau_JOINT; velocities and
    accelerations may be missing. It may be larger than memory. docs/identification.md has the columns, the methods
    and what is written.

    \b
    symgen identify robots/panda_arm.urdf log.csv
    symgen identify robots/ur5.urdf log.parquet --friction viscous,coulomb,offset -o build/identified
    symgen identify robots/ur5.urdf log.npz --sensor wrench:wrist_3_joint --full
    """
    from symgen.progress import progress

    with progress() as tell:
        found = run(file, log, options, tell)
        if out is not None:
            tell("drawing")
            written(found, out)
    for note in found.notes:
        click.echo(note, err=True)
    _say(found, as_json)
    if out is not None and not as_json:
        click.echo(f"wrote {out}")


def run(file: str, log: str, options: dict[str, Any], progress: Callable[[str], None]) -> "Identified":
    """Identify with the options of the command. Raises SymgenError."""
    from symgen.identification.run import identify as identified
    from symgen.identification.settings import Settings
    from symgen.job import Job

    names = [str(option.name) for option in _own_options() if option.name not in (*OF_JOB, "out")]
    settings = Settings(**{name: options.pop(name) for name in names})
    job = Job(file, **{**options, "friction": at_runtime(options["friction"])})
    progress("reading the robot")
    return identified(job, job.load(), log, settings, progress)


def _own_options() -> tuple[click.Option, ...]:
    from symgen.options import options_of

    return options_of(IDENTIFY_OPTIONS)


def at_runtime(friction: str) -> str:
    """The kinds of friction as unknowns; no file need give them. Raises OptionError."""
    from symgen.mechanics.system import FRICTION_COLUMNS

    kinds = friction.removeprefix("runtime:").split(",") if friction else []
    if len(set(kinds)) < len(kinds) or not set(kinds) <= set(FRICTION_COLUMNS):
        raise OptionError(f"--friction {friction}: use some of {', '.join(FRICTION_COLUMNS)}")
    return f"runtime:{','.join(kinds)}" if kinds else ""


def _say(found: "Identified", as_json: bool) -> None:
    from symgen.identification.report import data, on_terminal

    if as_json:
        click.echo(json.dumps(data(found), indent=1))
    else:
        on_terminal(found)


def written(found: "Identified", folder: Path) -> list[Path]:
    """Write identification.json and pictures into a folder. Raises SymgenError, and then nothing was written."""
    from symgen.identification.plots import pictures
    from symgen.identification.report import LISTING, data, listed
    from symgen.publish import publish

    if not str(folder):
        raise OptionError("--out '': give a folder, . for this one")
    drawn = pictures(found)
    text = json.dumps(listed(data(found), drawn), indent=1) + "\n"
    return publish({LISTING: text, **drawn}, folder, LISTING)
