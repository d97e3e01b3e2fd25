"""The command ``symgen list``."""

from symgen.cli.help import command, option
from symgen.cli.options import JSON, with_options


@command("list")
@option(
    "--all",
    "every",
    is_flag=True,
    help="Print the formula, the inputs and the outputs of each quantity.",
    section="Output",
)
@with_options(JSON)
def list_(every: bool, as_json: bool) -> None:
    """List the quantities and languages.

    \b
    symgen list
    symgen list --all
    """
    from symgen.inspection.report_tables import overview, registry

    if as_json or every:
        registry().print(as_json)
    else:
        overview()
