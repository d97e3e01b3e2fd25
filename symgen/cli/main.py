"""The command line. The module of a command is loaded when the command is used."""

import errno
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from io import TextIOWrapper
from typing import Any, Final

import click

from symgen import __version__
from symgen.cli.help import HelpContext
from symgen.errors import OptionError, SymgenError, as_rows
from symgen.text import quoted


def check_single_values(
    ctx: click.Context, command: click.Command, arguments: Sequence[str]
) -> None:
    """Refuse two different values for an option of a command that has one value; click would take
    the last.

    `ctx` is the context of the program. Errors of usage are left to the command itself. Raises
    OptionError."""
    parser = command.make_parser(click.Context(command, parent=ctx))
    options = [p for p in command.params if isinstance(p, click.Option)]
    for option in options:
        if not (option.is_flag or option.multiple or option.count):
            parser.add_option(option, option.opts, option.name, "append", option.nargs)
    try:
        values, _, _ = parser.parse_args([*arguments])
    except click.UsageError:
        return
    for option in options:
        given = values.get(option.name or "")
        different = [*dict.fromkeys(given)] if isinstance(given, list) else []
        if len(different) > 1 and not option.multiple:
            raise OptionError(
                f"{max(option.opts, key=len)}: two values are given, {quoted(different)}; "
                "keep one of them"
            )


CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

SECTIONS: Final = {
    "Start": {
        "init": "Write a job file for a robot, with all options.",
        "check": "Read a robot and check it.",
        "view": "Show a robot in the browser.",
        "inspect": "Analyse a robot: bodies, base parameters, closed forms.",
        "convert": "Convert a robot file to URDF.",
        "robots": "List the example robots, or copy their files.",
        "docs": "Print a page of the documentation.",
    },
    "Code": {
        "generate": "Generate C and Python code for the dynamics of a robot.",
        "build": "Compile a robot's dynamics into a Python package.",
        "verify": "Compile generated files and verify them.",
        "evidence": "Examine generated C and write the findings as a page.",
        "ops": "Count the operations of each function.",
        "dump": "Print the operations of a function, one per line.",
        "list": "List the quantities and languages.",
    },
    "Logs": {
        "log": "Show how a log is interpreted.",
        "gains": "Estimate motor torque constants with a known load.",
        "stiffness": "Estimate the springs of elastic joints.",
        "excite": "Optimize an exciting motion for identification.",
        "identify": "Identify inertial parameters and friction from a log.",
        "predict": "Predict the joint forces of a log and report the error.",
    },
}
"""The commands and their summaries by section."""

MODULES: Final = {
    "robot_commands": ("init", "check", "view", "inspect", "convert", "robots"),
    "code_commands": ("generate", "build", "verify", "evidence", "ops", "dump", "list"),
    "help": ("docs",),
    "log_commands": ("log", "gains", "stiffness", "excite"),
    "identify": ("identify", "predict"),
}
"""The commands of each module. A module is loaded when one of its commands is used."""

COMMANDS: Final = {name: text for section in SECTIONS.values() for name, text in section.items()}
"""The summaries of all commands by name."""


NO_ARGUMENTS_HELP: Final[Any] = getattr(click.exceptions, "NoArgsIsHelpError", ())
"""The exception of click 8.2 that prints the help of a program without arguments."""

INTERRUPTED: Final = 128 + 2
"""The exit status of a program that SIGINT has interrupted, as in shells."""


class Group(click.Group):
    """The program. An error is printed in one line on stderr; the exit status is 2."""

    context_class = HelpContext

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, loaded; None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        file = next(module for module, names in MODULES.items() if cmd_name in names)
        module = import_module(f"symgen.cli.{file}")
        command = getattr(module, f"{cmd_name}_" if cmd_name == "list" else cmd_name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """The command of the first word. For an unknown command, the error names near ones."""
        if args and args[0] not in COMMANDS and not ctx.resilient_parsing:
            from symgen.text import hint

            ctx.fail(f"no command is called {args[0]!r}; {hint(args[0], COMMANDS, len(COMMANDS))}")
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            check_single_values(ctx, command, rest)
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in sections, without loading them."""
        width = max(map(len, COMMANDS))
        for section, commands in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(name.ljust(width), text) for name, text in commands.items()])

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        """The context of the program's command line."""
        with _usage_errors_in_one_line():
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """The command's result. An error in the input ends the program; with ``--json`` it is also
        printed as JSON."""
        as_json = "--json" in ctx.args
        try:
            with _usage_errors_in_one_line(ctx):
                return super().invoke(ctx)
        except SymgenError as error:
            from symgen import output
            from symgen.jobs.jobfile import located_message

            output.say_error(error, located_message(error, ctx))
            if as_json:
                output.say(output.as_json({"errors": as_rows(error)}))
            ctx.exit(2)
        except KeyboardInterrupt:
            from symgen import output

            output.say("interrupted; no incomplete file was left", error=True)
            ctx.exit(INTERRUPTED)

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the program. Errors of the operating system end it with one line, too."""
        _open_streams()
        try:
            try:
                return super().main(*args, **options)
            finally:
                sys.stdout.flush()
        except (OSError, MemoryError, RecursionError) as error:
            sys.exit(_exit_status(error))


def _open_streams() -> None:
    """Connect closed standard streams to the null device, so that no file that is opened later
    takes their descriptors. Exit with status 2 if standard output is closed: the result could not
    be printed."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:  # it is closed, and os.open takes the lowest free descriptor
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", closefd=False)
    if sys.stdout is None:
        sys.stderr.write("error: standard output is closed; redirect it, as in > /dev/null\n")
        sys.exit(2)


class MisuseError(click.UsageError):
    """A command line that click rejects, printed in one line like every other error."""

    def show(self, file: Any = None) -> None:
        """Print the error on stderr."""
        from symgen import output

        output.say(f"error: {self.message}", error=True)


@contextmanager
def _usage_errors_in_one_line(program: click.Context | None = None) -> Iterator[None]:
    """Turn the errors of click into `MisuseError`: escaped, cut, and with a pointer to the help."""
    try:
        yield
    except click.UsageError as error:
        if isinstance(error, NO_ARGUMENTS_HELP):
            raise
        raise MisuseError(_usage_message(error, program), error.ctx) from None


def _usage_message(error: click.UsageError, program: click.Context | None) -> str:
    """The message of an error of click, with a pointer to the help of the command."""
    from symgen.output import MAX_ERROR_LENGTH
    from symgen.text import shown

    names = ["symgen"]
    if error.ctx is not None and error.ctx.parent is not None:
        names.append(str(error.ctx.info_name))
    elif error.ctx is None and program is not None and program.invoked_subcommand is not None:
        names.append(program.invoked_subcommand)
    text = error.format_message()
    if isinstance(error, click.NoSuchOption):
        text = error.message.removesuffix(".") + _about_option(error)
    text = text[:1].lower() + text[1:].removesuffix(".")
    return f"{shown(text, MAX_ERROR_LENGTH)}; see {' '.join(names)} --help"


def _about_option(error: click.NoSuchOption) -> str:
    """The advice for an unknown option."""
    if error.option_name[1:2].isdigit():
        return "; write several numbers as one word, as in 0,0,-9.81"
    from symgen.text import near_names, quoted

    options = error.ctx.command.get_params(error.ctx) if error.ctx is not None else []
    flags = [name[2:] for option in options for name in option.opts if name.startswith("--")]
    near = [f"--{name}" for name in near_names(error.option_name.lstrip("-"), flags)]
    return f"; near names: {quoted(near)}" if near else ""


def _exit_status(error: Exception) -> int:
    """Print an OSError, MemoryError or RecursionError in one line and return the exit status. An
    OSError about a file is raised again."""
    from symgen import output

    if isinstance(error, OSError):
        if error.filename is not None:
            raise error
        output.discard_standard_output()
        if error.errno == errno.EPIPE:  # the reader of the pipe has finished
            return 1
        output.say(f"error: cannot write to standard output: {error.strerror}", error=True)
    else:
        lacking = "memory" if isinstance(error, MemoryError) else "stack space"
        output.say(f"error: out of {lacking}; the input is too large for this machine", error=True)
    return 2


@click.group(cls=Group, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="symgen")
def main() -> None:
    """Compile robot dynamics: from a robot file (URDF, xacro, MJCF, SDF, DH table) to small,
    verified C and Python code.

    \b
    symgen robots -o robots                         copy the example robots into a folder
    symgen check robots/ur5.urdf                    read the robot and check it
    symgen generate robots/ur5.urdf -o build/ur5    generate C and Python code
    symgen verify build/ur5                         compile and verify the code
    symgen ops robots/ur5.urdf                      count operations
    symgen init robots/ur5.urdf -o ur5.toml         write a job file with all options
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # names of a robot must be printable in any locale
            stream.reconfigure(errors="backslashreplace")
