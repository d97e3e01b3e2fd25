"""The command ``symgen convert``."""

from typing import Any

import click

from symgen.cli.options import FILE, VERBOSE, with_options
from symgen.cli.progress import say
from symgen.options import rows
from symgen.reading.options import RobotOptions, XacroOptions


@click.command()
@FILE
@click.option("-o", "--out", required=True, metavar="OUT.urdf", help="The URDF to write.")
@with_options(rows(XacroOptions), rows(RobotOptions, only=("repair_inertia",)), VERBOSE)
def convert(file: str, out: str, repair_inertia: str | None, **options: Any) -> None:
    """Write a robot's file, in any format that is read, as a URDF.

    The URDF has the links, joints, inertia, limits, damping, friction and couplings that were read;
    geometry, which dynamics do not need, is left out. What a URDF cannot say is said on stderr. An
    existing file is never replaced.

    \b
    symgen convert model.sdf -o model.urdf
    """
    from symgen import output
    from symgen.jobs.convert import convert as run

    say(run(file, out, XacroOptions(**options), repair_inertia))
    output.say(f"wrote {out}")
