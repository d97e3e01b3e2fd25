"""The command ``symgen dump``."""

from typing import Any

from symgen import output
from symgen.cli.completion import completer
from symgen.cli.help import command, option
from symgen.cli.options import FILE, JSON, ROBOT, with_options
from symgen.options import rows
from symgen.tracing.options import FunctionOptions


@command()
@FILE
@option(
    "--quantity",
    metavar="NAME",
    required=True,
    shell_complete=completer(rows(FunctionOptions, only=["quantities"])[0]),
    help="Quantity (see symgen list), or NAME=A+B for a function that computes A and B.",
    section="Functions",
)
@with_options(rows(FunctionOptions, only=["parameters", "optimize"]), JSON, ROBOT)
def dump(file: str, quantity: str, as_json: bool, **options: Any) -> None:
    """Print the operations of a function, one per line.

    \b
    symgen dump robots/ur5.urdf --quantity gravity
    """
    from symgen.api import trace
    from symgen.compiler.dump import dump as dumped

    function = trace(file, quantity, **options)
    lines = dumped(function.program)
    if as_json:
        data = {"quantity": function.name, **function.counts.as_dict()}
        output.say(output.as_json(data | {"lines": lines.splitlines()}))
    else:
        output.say(lines)
