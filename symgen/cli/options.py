"""Options and arguments of commands: click's view of the rows of `symgen.options`, and the options
and arguments that several commands share."""

import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from click.core import ParameterSource

from symgen import output
from symgen.algorithms.controllers import CONTROLLERS
from symgen.certified.certificate import CertifyOptions
from symgen.cli.help import JSON_OPTION, completer, option
from symgen.errors import Notice, OptionError, summarized
from symgen.identification.excitation.motion_limits import KINDS as LIMIT_KINDS
from symgen.identification.excitation.motion_limits import ExcitationPlan
from symgen.inspection.rendering import KINDS
from symgen.options import Option, rows
from symgen.options.kinds import FLAG, NUMBER, TEXTS, finite
from symgen.reading.options import RobotOptions, SourceOptions, moving_joints
from symgen.text import shown
from symgen.tracing.options import FunctionOptions

VERBOSE_KEY: Final = "symgen.verbose"
"""Where a context remembers that people asked for every note."""


KERNEL_VARIABLE: Final = "JPY_PARENT_PID"
"""What the environment of a notebook's kernel has, and of what it starts."""
NOTEBOOK_INTERVAL: Final = 2.0
"""Seconds from a line to the next, in a notebook."""


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Tells what is going on, on a terminal only; gone when it is over, and before anything else is
    printed."""
    if not sys.stderr.isatty():
        yield lambda step: None
    elif KERNEL_VARIABLE in os.environ:
        yield from _in_notebook()
    else:
        status = output.console(error=True).status("")
        status.start()
        output.end_before_printing(status.stop)
        try:
            yield lambda step: status.update(f"{step} ...")
        finally:
            output.end_progress()


def _in_notebook() -> Iterator[Callable[[str], None]]:
    """A line now and then: what a cell shows of a command cannot be written over."""
    last_time, last_step = time.monotonic(), ""

    def tell(step: str) -> None:
        nonlocal last_time, last_step
        if step != last_step and time.monotonic() - last_time > NOTEBOOK_INTERVAL:
            last_time, last_step = time.monotonic(), step
            sys.stderr.write(f"{shown(step)} ...\n")
            sys.stderr.flush()

    yield tell


def say_written(
    paths: Sequence[object], notices: Sequence[Notice], as_json: bool, *lines: str
) -> None:
    """Report written files: their paths and the notices as JSON, or the notices and some lines."""
    if as_json:
        output.say(output.as_json(output.written(paths, notices)))
        return
    say(notices)
    say_lines(lines)


def say(notices: Sequence[Notice]) -> None:
    """Notes and warnings on stderr, a line for each kind, or for each with --verbose."""
    verbose = click.get_current_context().meta.get(VERBOSE_KEY, False)
    say_lines(notices if verbose else summarized(notices), error=True)


Function = Callable[..., Any]
Decorator = Callable[[Function], Function]

ROBOT: Final = rows(RobotOptions, SourceOptions)
"""The options of every command that reads a robot."""

_FIRST: Final = ("quantities", "controllers")
FUNCTIONS: Final = tuple(sorted(rows(FunctionOptions), key=lambda row: row.name not in _FIRST))
"""The options of functions in the order of the help: what to compute comes first."""

REPEATABLE: Final = " Can be given several times."


def with_options(*groups: type | Iterable[Option | Decorator]) -> Decorator:
    """A decorator that adds options to a command: groups, rows of groups, or click's own."""
    listed = [rows(group) if isinstance(group, type) else group for group in groups]

    def decorate(command: Function) -> Function:
        for entry in reversed([entry for group in listed for entry in group]):
            command = (click_option(entry) if isinstance(entry, Option) else entry)(command)
        return command

    return decorate


Group = TypeVar("Group")


def taken(group: type[Group], options: dict[str, Any]) -> Group:
    """A group of options from the values of a command, from which they are removed."""
    return group(**{row.name: options.pop(row.name) for row in rows(group)})


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


def set_by_user(options: Mapping[str, Any]) -> dict[str, Any]:
    """Of the options of the command that runs, those that the user has set: on the command line, or
    in a job file to another value than the default, because a job file lists every option."""
    from symgen.jobs.jobfile import JOB_OPTIONS

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
JSON: Final = (JSON_OPTION,)


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
        callback=lambda ctx, param, given: ctx.meta.update({VERBOSE_KEY: given}),
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
        from symgen.jobs.jobfile import path_in_job

        return kind(path_in_job(ctx, text, key))

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


def say_lines(lines: Iterable[object], error: bool = False) -> None:
    """Some lines on standard output, or on stderr."""
    for line in lines:
        output.say(line, error=error)


# -- options of single commands --------------------------------------------------------------------

ROBOT_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
"""The name of a robot, which is that of its folder too."""


def named_logs(given: Sequence[str]) -> tuple[list[str], list[str]]:
    """The logs, and the robot of each if they are given as ROBOT_NAME=LOG. Raises OptionError."""
    parts = [one.partition("=") for one in given]
    named = [
        bool(ROBOT_NAME.fullmatch(name) and log) and not Path(one).exists()
        for one, (name, _, log) in zip(given, parts, strict=True)
    ]
    if not any(named):
        return [*given], []
    if not all(named):
        raise OptionError(
            f"{shown(given[named.index(False)])}: give the name of the robot (ROBOT_NAME=LOG) for "
            "every log or for none"
        )
    return [log for _, _, log in parts], [name for name, _, _ in parts]


CHECK_OPTIONS: Final = (
    Option(
        "--certify",
        None,
        "Also search for the largest forces of inverse dynamics within the limits of the robot's "
        "file and of --limit, and compare them with the efforts of the file.",
        FLAG,
        section=CertifyOptions.SECTION,
        name="certify",
        default=False,
    ),
    *(row for row in rows(CertifyOptions) if row.name == "certify_limits"),
    Option(
        "--controller",
        "NAME[:LINK]",
        "Also examine the stability of a controller at the sample rate --rate.",
        section="Functions",
        name="controller",
        default="",
        names=tuple(CONTROLLERS),
    ),
    Option(
        "--rate",
        "HZ",
        "Sample rate of --controller in Hz.",
        NUMBER,
        section="Functions",
        name="rate",
        default=None,
    ),
    Option(
        "--gain",
        "NAME=VALUE[,VALUE...]",
        "A gain of --controller to examine, one number or one for each entry. Without gains the "
        "command proposes some.",
        TEXTS,
        section="Functions",
        name="gains",
        names=("k_p=", "k_d=", "k_i=", "k_x=", "d_x=", "damping="),
        separators="=",
    ),
)


def _limits(robot: Any, start: str) -> list[str]:
    """The joints; after a joint the kinds of limits."""
    if not start:
        return [f"{name}." for name in moving_joints(robot, start)]
    return [f"{kind}=" for kind in LIMIT_KINDS] if start.endswith(".") else []


def _parsed_limits(texts: tuple[str, ...]) -> tuple[tuple[str, str, float], ...]:
    """The joint ("" for all), the kind and the value of each [JOINT.]KIND=VALUE. Raises
    ValueError."""
    limits = []
    for text in texts:
        name, _, value = text.rpartition("=")
        joint, _, kind = name.rpartition(".")
        if not kind:
            raise ValueError(text)
        limits.append((joint, kind, finite(value)))
    return tuple(limits)


EXCITE_OPTIONS: Final = (
    Option(
        "--limit",
        "[JOINT.]KIND=VALUE",
        "Override a limit of the robot's file. KIND is lower, upper, velocity or effort; without "
        "JOINT the value is that of all joints of which the file gives none. A "
        "continuous joint without limits moves by half a turn to either side.",
        replace(TEXTS, from_text=_parsed_limits),
        give="give JOINT.KIND=VALUE or KIND=VALUE, as in elbow.velocity=1.5",
        section=ExcitationPlan.SECTION,
        name="limits",
        names=_limits,
        separators=".=",
    ),
    Option(
        "--friction",
        "KINDS",
        "Also excite joint friction. KINDS is a list as for symgen generate, of the laws that "
        "depend on the velocity alone. The friction of the robot's file is part of the forces.",
        section=ExcitationPlan.SECTION,
        name="friction",
        default="",
    ),
    Option(
        "--friction-width",
        "W",
        "Smooth Coulomb friction: use tanh(qd / W) instead of sign(qd), as in symgen identify.",
        NUMBER,
        section=ExcitationPlan.SECTION,
        rare=True,
        name="friction_width",
        default=0.0,
    ),
    Option(
        "--springs",
        None,
        "Also excite joint springs. The springs of the robot's file are part of the forces.",
        FLAG,
        section=ExcitationPlan.SECTION,
        name="springs",
        default=False,
    ),
)
"""The options of the robot whose meaning differs from that in other commands."""
