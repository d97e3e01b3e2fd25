"""The options of a job, in the order of a job file."""

from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Final

from symgen.certified.certificate import CertifyOptions
from symgen.languages import DEFAULT_LANGUAGES, LANGUAGES
from symgen.languages.c.options import Release
from symgen.options import Option, group, option, rows
from symgen.options.kinds import TEXT, TEXTS
from symgen.reading.options import RobotOptions, SourceOptions
from symgen.tracing.options import FunctionOptions


def _folder(text: str) -> Path:
    if not text:
        raise ValueError(text)
    return Path(text)


@group
class NameOptions:
    """The name of the module."""

    SECTION: ClassVar[str] = "Output"

    prefix: str | None = option(
        "--prefix",
        "NAME",
        "Prefix of all C names and files. The default is the robot's name.",
        default=None,
    )


@group
class WriteOptions:
    """Where files are written, and in which languages."""

    SECTION: ClassVar[str] = "Output"

    out: Path | None = option(
        "--out",
        "DIR",
        "Folder for the files. Files of an earlier run for the same robot are replaced.",
        replace(TEXT, from_text=_folder),
        give="give a folder, . for the current one",
        short="-o",
        path=True,
        required=True,
        default=None,
    )
    languages: tuple[str, ...] = option(
        "--lang",
        "LANG",
        f"Language to generate: {', '.join(LANGUAGES)}. The default is "
        f"{' and '.join(DEFAULT_LANGUAGES)}.",
        TEXTS.like('["c", "python"]'),
        default=(),
        names=tuple(LANGUAGES),
    )


LANGUAGE_OPTIONS: Final = tuple(x.options for x in LANGUAGES.values() if x.options is not None)

MODULE_OPTIONS: Final = (
    RobotOptions,
    SourceOptions,
    FunctionOptions,
    *LANGUAGE_OPTIONS,
    CertifyOptions,
    NameOptions,
    Release,
)
"""The groups of options that determine a module."""

JOB_OPTIONS: Final[tuple[Option, ...]] = rows(
    WriteOptions,
    *LANGUAGE_OPTIONS,
    CertifyOptions,
    NameOptions,
    Release,
    FunctionOptions,
    RobotOptions,
    SourceOptions,
)
"""The options of a job file. A key is the name of an option; the key ``file`` is extra."""
