"""Options and arguments of commands: click's view of the rows of `symgen.options`, and the options
and arguments that several commands share."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

from symgen.cli import progress
from symgen.cli.completion import completer
from symgen.cli.help import option
from symgen.errors import OptionError
from symgen.inspection.pictures import KINDS
from symgen.options import Option, rows
from symgen.reading.options import RobotOptions, SourceOptions
from symgen.tracing.options import FunctionOptions

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]

ROBOT: Final = rows(RobotOptions, SourceOptions)
"""The options of every command that reads a robot."""

_FIRST: Final = ("quantities", "controllers")
FUNCTIONS: Final = tuple(sorted(rows(FunctionOptions), key=lambda row: row.name not in _FIRST))
"""The options of functions in the order of the help: what to compute comes first."""

REPEATABLE: Final = " Can be given several times."


def with_options(*groups: Iterable[Option | Decorator]) -> Decorator:
    """A decorator that adds options to a command: rows of groups, or click's own."""

    def decorate(command: Function) -> Function:
        for entry in reversed([entry for group in groups for entry in group]):
            command = (click_option(entry) if isinstance(entry, Option) else entry)(command)
        return command

    return decorate


def click_option(row: Option) -> Decorator:
    """A row as an option of click."""
    names = [*filter(None, [row.short]), row.flag, row.name]
    more: dict[str, Any] = {
        "help": row.help + REPEATABLE * row.kind.repeatable,
        "required": row.required,
        "section": row.section,
        "rare": row.rare,
    }
    if row.kind.flag:
        return option(*names, is_flag=True, **more)
    text = row.default
    if isinstance(text, tuple):  # as the command line spells it
        text = ",".join(x if isinstance(x, str) else f"{x:g}" for x in text)
    if not row.kind.repeatable and text is not None:
        more |= {"default": text, "show_default": bool(text) or text == 0}
    if row.shown_default:
        more["show_default"] = row.shown_default
    return option(
        *names,
        metavar=row.metavar,
        multiple=row.kind.repeatable,
        type=row.kind.click_type,
        callback=lambda ctx, param, text: None if text is None else row.from_text(text),
        shell_complete=completer(row),
        **more,
    )


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Of the options of the command that runs, those that the user has set: on the command line, or
    in a job file to another value than the default, because a job file lists every option."""
    from symgen.jobs.options import JOB_OPTIONS

    source, typed = click.get_current_context().get_parameter_source, ParameterSource.COMMANDLINE
    defaults = {row.name: row.default for row in JOB_OPTIONS}
    listed = {k for k, x in options.items() if k in defaults and x == defaults[k]}
    return {
        name: value
        for name, value in options.items()
        if source(name) is typed or name not in listed
    }


PICTURES: Final = option(
    "--pictures",
    metavar="KIND",
    type=click.Choice(KINDS),
    default="png",
    show_default=True,
    help=f"Format of the pictures in the folder of -o: {', '.join(KINDS)}.",
    section="Output",
    rare=True,
)
JSON: Final = (
    option(
        "--json",
        "as_json",
        is_flag=True,
        help="Print the result as JSON (see symgen docs formats).",
        section="Output",
    ),
)


def out(metavar: str, help: str, *, name: str = "out", **more: Any) -> Decorator:
    """The option ``-o``, a file or a folder to write. With another `name`, the key ``out`` of a job
    file has no effect on it."""
    return option("-o", "--out", name, metavar=metavar, help=help, section="Output", **more)


def path_option(flag: str, metavar: str, help: str) -> Decorator:
    """An option for a file to write."""
    return option(
        flag, metavar=metavar, type=click.Path(path_type=Path), help=help, section="Output"
    )


VERBOSE: Final = (
    option(
        "--verbose",
        is_flag=True,
        expose_value=False,
        callback=lambda ctx, param, given: ctx.meta.update({progress.VERBOSE: given}),
        help="Print each note separately instead of one line for each kind.",
    ),
)


def folder(ctx: click.Context, param: click.Parameter, text: str | None) -> Path | None:
    """A folder to write into. Raises OptionError for an empty name."""
    if text == "":
        raise OptionError("--out '': give a folder, . for the current one")
    return None if text is None else Path(text)


def _path_of_job_file(
    key: str, kind: type[Any] = str
) -> Callable[[click.Context, click.Parameter, str], Any]:
    """The callback of a path: the path itself or, for a job file, the path at its `key`, as a str
    or a Path. The options of the job file become the defaults of the command."""

    def path(ctx: click.Context, param: click.Parameter, text: str) -> Any:
        from symgen.jobs.jobfile import followed

        return kind(followed(ctx, text, key))

    return path


PROCESSES: Final = option(
    "-j",
    "--processes",
    "count",
    metavar="N",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Number of parallel processes. The generated files do not depend on it.",
)

FILE = click.argument(
    "file", metavar="FILE", type=click.Path(), is_eager=True, callback=_path_of_job_file("file")
)
FOLDER = click.argument(
    "folder", metavar="DIR", type=click.Path(), callback=_path_of_job_file("out", Path)
)
