"""The options of a job, in the order that a job file has them."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from symgen.languages import DEFAULT, LANGUAGES
from symgen.languages.release import Release
from symgen.options import Option, group, option, rows
from symgen.options.kinds import TEXT, TEXTS
from symgen.reading.options import RobotOptions, XacroOptions
from symgen.tracing.options import FunctionOptions


def _folder(text: str) -> Path:
    if not text:
        raise ValueError(text)
    return Path(text)


@group
class NameOptions:
    """The name of the module."""

    prefix: str | None = option(
        "--prefix",
        "NAME",
        "Begin of all C names and files; the robot's name by default.",
        default=None,
    )


@group
class WriteOptions:
    """Where files go, and in which languages."""

    out: Path | None = option(
        "--out",
        "DIR",
        "Folder for the files; those of an earlier run for the same robot are replaced.",
        replace(TEXT, parsed=_folder),
        give="give a folder, . for this one",
        short="-o",
        path=True,
        required=True,
        default=None,
    )
    languages: tuple[str, ...] = option(
        "--lang",
        "LANG",
        f"{', '.join(LANGUAGES)}; {' and '.join(DEFAULT)} by default. Repeatable.",
        TEXTS.like('["c", "python"]'),
        default=(),
        names=tuple(LANGUAGES),
    )


OF_LANGUAGES: Final = tuple(x.options for x in LANGUAGES.values() if x.options is not None)

MODULE: Final = (RobotOptions, XacroOptions, FunctionOptions, *OF_LANGUAGES, NameOptions, Release)
"""What shapes a module."""

JOB: Final[tuple[Option, ...]] = rows(
    WriteOptions, *OF_LANGUAGES, NameOptions, Release, FunctionOptions, RobotOptions, XacroOptions
)
"""What a job file can say beside the robot's file; a key is the name of an option."""
