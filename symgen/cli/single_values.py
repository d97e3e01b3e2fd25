"""Refusal of two different values for an option that has one value."""

from collections.abc import Sequence

import click

from symgen.errors import OptionError
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
