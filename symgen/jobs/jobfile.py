"""Job files: the options of a robot in TOML. They are read into the options of the command line,
and ``symgen init`` writes them.

The keys are the names of options (`JOB_OPTIONS`) and ``file``, the robot's file. A value is
converted to the text of the command line, so that the same parser reads both."""

import os
import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Final

import click

from symgen.certified.certificate import CertifyOptions
from symgen.errors import Notice, OptionError, SymgenError
from symgen.jobs.publish import Mark, OutputFile, write_files, write_new
from symgen.languages import DEFAULT_LANGUAGES, LANGUAGES
from symgen.languages.c.options import Release
from symgen.languages.language import identifier
from symgen.options import Option, group, option, rows
from symgen.options.kinds import PAIRS, TEXT, TEXTS, ValueKind, quoted
from symgen.reading import checked_values
from symgen.reading.checked_values import Table, described_type
from symgen.reading.denavit_hartenberg import is_table
from symgen.reading.options import NO_SOURCE_OPTIONS, RobotOptions, SourceOptions
from symgen.reading.sources import read as read_robot
from symgen.reading.xml_text import STANDARD_INPUT
from symgen.text import reason, shown
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
        TEXTS.with_example('["c", "python"]'),
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


CONTEXT_KEY: Final = "symgen.jobfile"
"""The key of the job in the ``meta`` of a context."""

ROBOT_KEY: Final = "file"


# -- reading ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JobFile:
    """A job file: its path, its table, and the values of its options, with `file`, as texts of the
    command line."""

    path: Path
    table: Table
    values: Mapping[str, Any]


def read(path: str | os.PathLike[str]) -> JobFile:
    """The job in a file. Paths in it are relative to its folder; a leading ``~`` is the user's home
    folder.

    Raises RobotError with file and line for an unknown key, for a value of another type and for
    the home folder of an unknown user."""
    table, _ = checked_values.read_toml(path, "a job file (symgen init writes one)")
    kinds = {ROBOT_KEY: TEXT} | {row.name: row.kind for row in JOB_OPTIONS}
    table.check_keys(kinds)
    values = {key: _value(table, key, kinds[key]) for key in table.data}
    paths = [ROBOT_KEY, *(row.name for row in JOB_OPTIONS if row.path)]
    located = {
        key: [_path(table, key, x) for x in values[key]]
        if isinstance(values[key], list)
        else _path(table, key, values[key])
        for key in paths
        if values.get(key)
    }
    return JobFile(Path(path), table, values | located)


def _path(table: Table, key: str, text: str) -> str:
    expanded = os.path.expanduser(text)  # noqa: PTH111 (Path would make ~ of ./~)
    if text.startswith("~") and expanded == text:
        user = text.split("/", 1)[0]
        raise table.error(key, f"the home folder of {shown(user)} is not known; give the full path")
    return os.fspath(Path(table.file).parent / expanded)


def _value(table: Table, key: str, of: ValueKind) -> Any:
    value = table.data[key]
    try:
        return of.from_toml(value)
    except TypeError:
        container = {"[": list, "{": dict}.get(of.example[0])
        found = (
            "it has other entries" if type(value) is container else f"found {described_type(value)}"
        )
        text = f"expected {of.description}, but {found}; write it as in {of.example}"
        raise table.error(key, text) from None


def path_in_job(ctx: click.Context, path: str, key: str) -> str:
    """The path itself or, for a job file, the path at its `key`. The options of a job file become
    the defaults of the command. Raises RobotError."""
    if ctx.resilient_parsing or Path(path).suffix.lower() != ".toml" or is_table(path):
        return path
    job = read(path)
    if key not in job.values:
        raise job.table.error(None, f'has no {key}; add {key} = "..."')
    ctx.default_map = {
        **(ctx.default_map or {}),
        **{k: v for k, v in job.values.items() if k != ROBOT_KEY},
    }
    ctx.meta[CONTEXT_KEY] = job, ctx
    return str(job.values[key])


def job_in(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any]]:
    """The robot's file and the options that a job file changes, as values; for another file the
    file itself and no options. Raises SymgenError."""
    if is_table(path):
        return os.fspath(path), {}
    job = read(path)
    if ROBOT_KEY not in job.values:
        raise job.table.error(None, f'has no {ROBOT_KEY}; add {ROBOT_KEY} = "..."')
    rows = {row.name: row for row in JOB_OPTIONS}
    values = {
        key: rows[key].from_text(tuple(x) if isinstance(x, list) else x)
        for key, x in job.values.items()
        if key in rows
    }
    changed = {key: value for key, value in values.items() if value != rows[key].default}
    return str(job.values[ROBOT_KEY]), changed


def located_message(error: SymgenError, ctx: click.Context) -> str:
    """The text of an error. If it is about an option of a job file, the location in that file
    comes first."""
    job, command = ctx.meta.get(CONTEXT_KEY, (None, None))
    flag = re.match(r"error: (--[a-z-]+)", str(error))
    row = next((row for row in JOB_OPTIONS if flag and flag[1] == row.flag), None)
    if job is None or row is None or row.name not in job.table.data:
        return str(error)
    if command.get_parameter_source(row.name) is click.core.ParameterSource.COMMANDLINE:
        return str(error)
    return f"{job.table.place(row.name)}: {error}"


def keep_formulations(ctx: click.Context, formulations: Mapping[str, str]) -> list[Notice]:
    """Write formulations by quantity into the job file of the command, if there is one, and leave
    its other lines as they are. Returns a notice about the change. Raises OptionError."""
    job, _ = ctx.meta.get(CONTEXT_KEY, (None, None))
    if job is None or not formulations:
        return []
    text = with_formulations(job.table.source, dict(formulations))
    if text is None:
        sentence = f"add this line to the job file: {formulations_line(dict(formulations))}"
    else:
        mark = Mark("symgen", lambda stream: True)  # it was read as a job file
        write_files({OutputFile(job.path, mark): text.encode()})
        sentence = "the fastest formulations were written into the job file"
    return [Notice(job.table.place(), "note", "--tune", sentence)]


def with_formulations(text: str, formulations: dict[str, str]) -> str | None:
    """The text of a job file with these formulations by quantity; None if that needs more than one
    line to change."""
    value = formulations_line(formulations)
    wanted = {**tomllib.loads(text), "formulations": formulations}
    patterns = ("^formulations *=.*$", "^# formulations =.*$")  # the key, or its commented example
    edits = [re.sub(p, lambda _: value, text, count=1, flags=re.MULTILINE) for p in patterns]
    for changed in (*edits, f"{value}\n{text}"):
        with suppress(tomllib.TOMLDecodeError):
            if tomllib.loads(changed) == wanted:
                return changed
    return None


def formulations_line(formulations: dict[str, str]) -> str:
    """The line of a job file for these formulations."""
    return f"formulations = {PAIRS.toml(formulations.items())}"


# -- writing ---------------------------------------------------------------------------------------

HEADER: Final = """\
# A job file of symgen: the robot and the options of symgen generate. Paths are relative to this
# file. Options on the command line override those of this file. Lines that begin with "# NAME ="
# are examples of options without a default.
#
#   symgen generate {name}    generate the files
#   symgen verify {name}      compile and verify them
"""


def init(file: str, out: str | None, options: SourceOptions = NO_SOURCE_OPTIONS) -> Path:
    """Write a job file with all options for the robot in `file` to `out`, or to ROBOT.toml in the
    current folder.

    Raises SymgenError if the robot cannot be read or the job file exists; then nothing is written.
    """
    if file == STANDARD_INPUT:
        raise OptionError("-: a job file contains the path of the robot's file; give that path")
    robot = read_robot(file, options)
    path = Path(out if out is not None else f"{Path(file).name.partition('.')[0] or 'robot'}.toml")
    if path.suffix.lower() != ".toml":
        raise OptionError(f"--out {str(path)!r}: the name of a job file must end in .toml")
    changed = {"out": quoted(f"build/{identifier(robot.name, LANGUAGES.values())}")}
    try:
        folders = [os.path.relpath(folder, path.parent) for folder in options.package_paths]
        for row in rows(SourceOptions):
            value = folders if row.name == "package_paths" else getattr(options, row.name)
            toml = row.kind.toml(value)
            changed |= {} if toml is None else {row.name: toml}
        text = written(path.name, os.path.relpath(file, path.parent), changed)
    except (OSError, ValueError) as error:
        raise OptionError(f"cannot write {str(path)!r}: {reason(error)}") from None
    write_new(path, text.encode())
    return path


def written(name: str, file: str, values: Mapping[str, str]) -> str:
    """The text of a job file called `name`: the help of each option, then its value, its default or
    an example."""
    file.encode()  # a name that is no text cannot be written; UnicodeEncodeError is a ValueError
    blocks = [
        HEADER.format(name=shown(name)),
        f"# The robot's file: URDF, xacro, MJCF, SDF or a DH table.\nfile = {quoted(file)}\n",
    ]
    return "\n".join([*blocks, *("\n".join(_lines(row, values)) + "\n" for row in JOB_OPTIONS)])


def _lines(row: Option, values: Mapping[str, str]) -> Iterator[str]:
    text = row.help.removesuffix(" Repeatable.")
    yield from textwrap.wrap(
        text, 100, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False
    )
    default = row.kind.toml(row.default)
    if row.name in values or default is not None:
        yield f"{row.name} = {values.get(row.name, default)}"
    else:
        example = (
            quoted(row.metavar or "") if row.kind.from_toml is TEXT.from_toml else row.kind.example
        )
        yield f"# {row.name} = {example}"
