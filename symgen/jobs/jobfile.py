"""Job files: every option of a robot in TOML, read into the options of the command line, and
written to begin with.

A key is the name of an option's parameter (`JOB_OPTIONS`), beside ``file``, the robot's. Its value
becomes the text that the command line would have, so one way to read options serves both and the
same bytes come out."""

import json
import os
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from symgen.errors import OptionError, SymgenError
from symgen.jobs.options import JOB_OPTIONS, FileOption
from symgen.languages.c.text import identifier
from symgen.reading import toml_reader
from symgen.reading.toml_reader import Table, said
from symgen.reading.urdf import read as read_robot
from symgen.text import shown

META: Final = "symgen.jobfile"
"""Where a context remembers the job that it follows."""

ROBOT: Final = "file"


# -- values: TOML to the texts of the command line -------------------------------------------------


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value: what it is called and shown like, and how it becomes that of the command
    line."""

    name: str
    example: str
    read: Callable[[Any], Any]
    """Raises TypeError for a value of another type."""


def _exact(*types: type) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if type(value) not in types:
            raise TypeError
        return value

    return read


def _width(value: Any) -> str:
    return str(_exact(str, int)(value))


_text, _number = _exact(str), _exact(int, float)


def _texts(value: Any) -> list[str]:
    return [_text(entry) for entry in _exact(list)(value)]


def _pairs(value: Any) -> list[str]:
    return [f"{key}={_scalar(entry)}" for key, entry in _exact(dict)(value).items()]


def _scalar(value: Any) -> str:
    """As the command line spells it: numbers exactly, booleans as xacro does."""
    plain = _exact(str, int, float, bool)(value)
    return plain if isinstance(plain, str) else str(plain).lower()


def _vector(value: Any) -> str:
    return (
        value if isinstance(value, str) else ",".join(repr(_number(x)) for x in _exact(list)(value))
    )


def _names(value: Any) -> str:
    names = _texts(value)
    if any("," in name for name in names):
        raise TypeError
    return ",".join(names)


TEXT: Final = Kind("a text", '"..."', _text)
KINDS: Final[dict[str, Kind]] = {
    "gravity": Kind('three numbers or "runtime"', "[0.0, 0.0, -9.81]", _vector),
    "batch": Kind('a whole number or "auto"', '"auto"', _width),
    "glue": Kind("a list of names without commas", '["cmake", "cpp"]', _names),
    "external_wrench": Kind("a list of names without commas", '["LINK"]', _names),
    "lock": Kind("a table of joints and values", "{ JOINT = 0.0 }", _pairs),
    "formulations": Kind(
        "a table of quantities and names", '{ mass_matrix = "composite/minimal" }', _pairs
    ),
    "xacro_args": Kind("a table of arguments and values", '{ NAME = "VALUE" }', _pairs),
    "quantities": Kind("a list of texts", '["inverse_dynamics", "terms=bias+mass_matrix"]', _texts),
    "languages": Kind("a list of texts", '["c", "python"]', _texts),
}
"""Of the options that are more than one plain value."""


def kind(option: click.Option) -> Kind:
    """The kind of value that an option has in a job file."""
    if option.name in KINDS:
        return KINDS[option.name]
    if option.is_flag:
        return Kind("true or false", "false", _exact(bool))
    if option.multiple:
        return Kind("a list of texts", '["VALUE"]', _texts)
    if option.type is click.INT:
        return Kind("a whole number", "0", _exact(int))
    return Kind("a number", "0.0", _number) if option.type is click.FLOAT else TEXT


# -- reading ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JobFile:
    """A job file: its table, and the values of its options as the command line would have them,
    `file` too."""

    table: Table
    values: Mapping[str, Any]


def read(path: str | os.PathLike[str]) -> JobFile:
    """The job in a file; paths in it are relative to its folder.

    Raises RobotError, one line with file and line, for a key that no option has and for a value of
    another type."""
    table, _ = toml_reader.read(path, "a job file (symgen init writes one)")
    options = {str(option.name): option for option in JOB_OPTIONS}
    table.only([ROBOT, *options])
    values = {
        key: _value(table, key, kind(options[key]) if key in options else TEXT)
        for key in table.data
    }
    paths = [ROBOT, *(name for name, option in options.items() if isinstance(option, FileOption))]
    folder = Path(path).parent
    return JobFile(
        table, values | {key: os.fspath(folder / values[key]) for key in paths if values.get(key)}
    )


def _value(table: Table, key: str, of: Kind) -> Any:
    value = table.data[key]
    try:
        return of.read(value)
    except TypeError:
        container = {"[": list, "{": dict}.get(of.example[0])
        trouble = (
            "holds something else than"
            if type(value) is container
            else f"is {said(value)} in place of"
        )
        raise table.error(key, f"{trouble} {of.name}; write it like {of.example}") from None


def followed(ctx: click.Context, path: str, key: str) -> str:
    """The path itself; of a job file the one that it has at `key`, and its options become the
    command's defaults.

    Raises RobotError.
    """
    if ctx.resilient_parsing or Path(path).suffix.lower() != ".toml":
        return path
    job = read(path)
    if key not in job.values:
        raise job.table.error(None, f'has no {key}; add {key} = "..."')
    ctx.default_map = {
        **(ctx.default_map or {}),
        **{k: v for k, v in job.values.items() if k != ROBOT},
    }
    ctx.meta[META] = job, ctx
    return str(job.values[key])


def placed(error: SymgenError, ctx: click.Context) -> str:
    """The text of an error; where it is about an option that a job file gave, with the place in
    that file."""
    job, command = ctx.meta.get(META, (None, None))
    found = re.match(r"error: (--[a-z-]+)", str(error))
    option = next((o for o in JOB_OPTIONS if found and found[1] in o.opts), None)
    if job is None or option is None or option.name not in job.table.data:
        return str(error)
    if command.get_parameter_source(option.name) is click.core.ParameterSource.COMMANDLINE:
        return str(error)
    return f"{job.table.place(option.name)}: {error}"


# -- writing ---------------------------------------------------------------------------------------

HEAD: Final = """\
# A job of symgen: what is generated from a robot, and how. Paths are relative to this file; options
# on the command line come before those here. Lines that are switched off show how to write what is
# not set by default.
#
#   symgen generate {name}    writes the files
#   symgen verify {name}      compiles and proves them
"""


def init(file: str, out: str | None, xacro_args: Sequence[tuple[str, str]] = ()) -> Path:
    """Write a job file with every option for the robot in `file`, into `out` or ROBOT.toml here.

    Raises SymgenError where that is no robot or the job file exists; then nothing was written.
    """
    robot = read_robot(file, xacro_args)
    path = Path(out if out is not None else f"{Path(file).name.partition('.')[0] or 'robot'}.toml")
    if path.suffix.lower() != ".toml":
        raise OptionError(f"--out {str(path)!r}: a job file ends in .toml")
    set_ = {"out": quoted(f"build/{identifier(robot.name)}")}
    if xacro_args:
        set_["xacro_args"] = (
            "{ " + ", ".join(f"{quoted(k)} = {quoted(v)}" for k, v in xacro_args) + " }"
        )
    try:
        text = written(path.name, os.path.relpath(file, path.parent), set_)
        with path.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except FileExistsError:
        raise OptionError(
            f"{str(path)!r} exists; give another name with -o, or move it away"
        ) from None
    except (OSError, ValueError) as error:
        raise OptionError(
            f"cannot write {str(path)!r}: {getattr(error, 'strerror', None) or error}"
        ) from None
    return path


def written(name: str, file: str, values: Mapping[str, str]) -> str:
    """The text of a job file called `name`: each option with its help, then its value or default or
    an example."""
    file.encode()  # a name that is no text cannot be written; UnicodeEncodeError is a ValueError
    blocks = [
        HEAD.format(name=shown(name)),
        f"# The robot's file: URDF, or .xacro.\nfile = {quoted(file)}\n",
    ]
    return "\n".join(
        [*blocks, *("\n".join(_lines(option, values)) + "\n" for option in JOB_OPTIONS)]
    )


def _lines(option: click.Option, values: Mapping[str, str]) -> Iterator[str]:
    key, help_ = str(option.name), (option.help or "").removesuffix(" Repeatable.")
    yield from textwrap.wrap(
        help_, 100, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False
    )
    default = _default(option)
    if key in values or default is not None:
        yield f"{key} = {values.get(key, default)}"
    else:
        yield f"# {key} = {_example(option)}"


def _default(option: click.Option) -> str | None:
    """The default as TOML, None where nothing is the default."""
    value = option.to_info_dict()["default"]
    if kind(option) is not TEXT and isinstance(value, str):
        entries = map(quoted, value.split(",")) if kind(option).read is _names else value.split(",")
        return f"[{', '.join(entries)}]" if value else None
    if isinstance(value, str):
        return quoted(value)
    return repr(value) if isinstance(value, (int, float)) and not option.is_flag else None


def _example(option: click.Option) -> str:
    of = kind(option)
    return quoted(option.metavar or "") if of is TEXT else of.example


def quoted(text: str) -> str:
    """A TOML string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
