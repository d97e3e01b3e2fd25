"""The command line's view of options: what is defined in groups (`symgen.options`) as click has
it, and the arguments that several commands share."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import click

from symgen.cli import progress
from symgen.cli.completion import completer
from symgen.errors import OptionError
from symgen.inspection.pictures import KINDS
from symgen.options import Option, rows
from symgen.reading.options import RobotOptions, XacroOptions

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]

ROBOT: Final = rows(RobotOptions, XacroOptions)
"""The options of every command that reads a robot."""


def with_options(*groups: Iterable[Option | Decorator]) -> Decorator:
    """Adds options to a command: rows of groups, or click's own."""

    def decorate(command: Command) -> Command:
        for entry in reversed([entry for group in groups for entry in group]):
            command = (clicked(entry) if isinstance(entry, Option) else entry)(command)
        return command

    return decorate


def clicked(row: Option) -> Decorator:
    """A row as click's option."""
    names = [*filter(None, [row.short]), row.flag, row.name]
    more: dict[str, Any] = {"help": row.help, "required": row.required}
    if row.kind.flag:
        return click.option(*names, is_flag=True, **more)
    text = _text(row)
    if not row.kind.repeatable and text is not None:
        more |= {"default": text, "show_default": bool(text) or text == 0}
    if row.shown_default:
        more["show_default"] = row.shown_default
    return click.option(
        *names,
        metavar=row.metavar,
        multiple=row.kind.repeatable,
        type=row.kind.click_type,
        callback=_parser(row),
        shell_complete=completer(row),
        **more,
    )


def _text(row: Option) -> Any:
    """The default as the command line would have it."""
    value = row.default
    if isinstance(value, tuple):
        return ",".join(map(_number, value))
    return value


def _number(x: Any) -> str:
    return x if isinstance(x, str) else f"{x:g}"


def _parser(row: Option) -> Callable[[click.Context, click.Parameter, Any], Any]:
    def parsed(ctx: click.Context, param: click.Parameter, given: Any) -> Any:
        return None if given is None else row.parsed(given)

    return parsed


PICTURES: Final = click.option(
    "--pictures",
    metavar="KIND",
    type=click.Choice(KINDS),
    default="png",
    show_default=True,
    help=f"Format of the pictures of -o: {', '.join(KINDS)}.",
)
JSON: Final = (
    click.option(
        "--json", "as_json", is_flag=True, help="Print JSON (stable, see symgen docs formats)."
    ),
)


def _remembered(ctx: click.Context, param: click.Parameter, given: bool) -> None:
    ctx.meta[progress.VERBOSE] = given


VERBOSE: Final = (
    click.option(
        "--verbose",
        is_flag=True,
        expose_value=False,
        callback=_remembered,
        help="Print every note by itself, not one line for each kind.",
    ),
)


def folder(ctx: click.Context, param: click.Parameter, text: str | None) -> Path | None:
    """A folder to write into. Raises OptionError for none."""
    if text == "":
        raise OptionError("--out '': give a folder, . for this one")
    return None if text is None else Path(text)


def _robot_file(ctx: click.Context, param: click.Parameter, text: str) -> str:
    """The robot's file itself, or that of a job, whose options then stand where the command line
    has none."""
    from symgen.jobs.jobfile import followed

    return followed(ctx, text, "file")


def _made_folder(ctx: click.Context, param: click.Parameter, text: str) -> Path:
    from symgen.jobs.jobfile import followed

    return Path(followed(ctx, text, "out"))


PROCESSES: Final = click.option(
    "-j",
    "--processes",
    "count",
    metavar="N",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Compute functions in so many processes at once; the files are the same.",
)

FILE = click.argument(
    "file", metavar="FILE", type=click.Path(), is_eager=True, callback=_robot_file
)
FOLDER = click.argument("folder", metavar="DIR", type=click.Path(), callback=_made_folder)
