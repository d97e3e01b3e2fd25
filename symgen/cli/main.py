"""The command line: one file a command, loaded when it is asked for."""

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from io import TextIOWrapper
from typing import Any, Final

import click

from symgen import __version__
from symgen.cli.help import HelpContext, with_help
from symgen.errors import SymgenError, as_rows

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

COMMANDS: Final = {
    "init": "Write a job file for a robot: every option with its default and what it means.",
    "check": "Read a robot and judge it, without writing anything.",
    "generate": "Write C and Python for a robot's dynamics.",
    "build": "Compile a robot's dynamics into a Python package for many states at once.",
    "verify": "Compile generated files and prove them.",
    "ops": "Count operations per quantity.",
    "dump": "Print a quantity as a program, one operation a line.",
    "inspect": "Look at a robot: bodies, canonical frames, base parameters, closed forms.",
    "view": "Show a robot in the browser: sliders move it, numbers follow.",
    "excite": "Find a periodic motion that tells a robot's parameters apart.",
    "log": "Show what is understood of a log of a robot's motion.",
    "gains": "Find the force by ampere of each joint from runs with and without a load.",
    "identify": "Identify inertial parameters and friction from a log.",
    "predict": "Predict the joint forces of a log and tell how far they are off.",
    "convert": "Write a robot's file, in any format that is read, as a URDF.",
    "list": "List the quantities and languages.",
    "docs": "Print a page of the documentation, or list the pages.",
}
"""What each command does, by its name. Each is the command NAME in the file NAME.py of this
room."""


HELP: Final[Any] = getattr(click.exceptions, "NoArgsIsHelpError", ())
"""What click 8.2 raises with the help, lines and all, of a program that is given nothing."""

INTERRUPTED: Final = 128 + 2
"""The exit status of what SIGINT has ended, as a shell has it."""


class Group(click.Group):
    """Prints an error of the input in one line on stderr and exits with status 2."""

    context_class = HelpContext

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of work."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, loaded; None where there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"symgen.cli.{cmd_name}")
        return with_help(getattr(module, f"{cmd_name}_" if cmd_name == "list" else cmd_name))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """The command of the first word; one that is none is told the near ones."""
        if args and args[0] not in COMMANDS and not ctx.resilient_parsing:
            from symgen.text import hint

            ctx.fail(f"No such command {args[0]!r}; {hint(args[0], COMMANDS, len(COMMANDS))}.")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands in ``symgen --help``, without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        """The context of the command line of the program itself."""
        with _echo_of_usage():
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """The command's result; an error of the input ends it, with --json as JSON too."""
        as_json = "--json" in ctx.args
        try:
            with _echo_of_usage(ctx):
                return super().invoke(ctx)
        except SymgenError as error:
            from symgen import output
            from symgen.jobs.jobfile import placed

            output.say_error(error, placed(error, ctx))
            if as_json:
                output.say(output.as_json({"errors": as_rows(error)}))
            ctx.exit(2)
        except KeyboardInterrupt:
            from symgen import output

            output.say("interrupted; nothing has been left half written", error=True)
            ctx.exit(INTERRUPTED)

    def main(self, *args: Any, **options: Any) -> Any:
        """The whole program; what the system refuses ends it in one line too."""
        try:
            try:
                return super().main(*args, **options)
            finally:
                sys.stdout.flush()
        except (OSError, MemoryError, RecursionError) as error:
            sys.exit(_refused(error))


@contextmanager
def _echo_of_usage(program: click.Context | None = None) -> Iterator[None]:
    """The command line as click echoes it in an error: like every other text escaped, and not too
    long, below the usage of its command, which click leaves out for an option without its value."""
    try:
        yield
    except click.UsageError as error:
        if isinstance(error, HELP):
            raise
        from symgen.output import LONGEST
        from symgen.text import shown

        if error.ctx is None and program is not None and program.invoked_subcommand is not None:
            command = main.get_command(program, program.invoked_subcommand)
            assert command is not None, "click has found it"
            error.ctx = click.Context(command, program, program.invoked_subcommand)
        text = shown(error.message, LONGEST)
        if isinstance(error, click.NoSuchOption) and error.option_name[1:2].isdigit():
            text += " Several numbers are one word: 0,0,-9.81."
        vars(error)["message"] = text  # which click declares final
        raise


def _refused(error: Exception) -> int:
    """Say in one line what the system has refused; the exit status. Raises what is no matter of
    output or of the machine's size."""
    from symgen import output

    if isinstance(error, OSError):
        if error.filename is not None:
            raise error
        output.abandon()
        if error.errno == errno.EPIPE:  # whoever reads has seen enough
            return 1
        output.say(f"error: cannot print the rest: {error.strerror}", error=True)
    else:
        lacking = "memory" if isinstance(error, MemoryError) else "depth of calls"
        output.say(f"error: out of {lacking}; the input is too large for this machine", error=True)
    return 2


@click.group(cls=Group, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="symgen")
def main() -> None:
    """A compiler for robot dynamics: from a robot's file (URDF, xacro, MJCF, SDF, DH table) to
    small, verified C and Python.

    \b
    symgen init robots/ur5.urdf -o ur5.toml         all options in one file, for the robot's place
    symgen check robots/ur5.urdf                    is the robot sound?
    symgen generate robots/ur5.urdf -o build/ur5    write C and Python
    symgen verify build/ur5                         compile and prove them
    symgen ops robots/ur5.urdf                      how many operations
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a robot's names must not fail to print anywhere
            stream.reconfigure(errors="backslashreplace")
