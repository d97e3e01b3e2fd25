"""The command ``symgen convert``."""

from typing import Any

from symgen.cli.help import command
from symgen.cli.options import FILE, JSON, VERBOSE, out, with_options
from symgen.cli.progress import say_written
from symgen.options import rows
from symgen.reading.options import RobotOptions, SourceOptions


@command()
@FILE
@out("OUT.urdf", "The URDF file to write.", required=True)
@with_options(
    JSON,
    rows(SourceOptions),
    rows(RobotOptions, only=("root", "reroot", "tip", "repair_inertia")),
    VERBOSE,
)
def convert(
    file: str,
    out: str,
    root: str | None,
    reroot: str | None,
    tip: str | None,
    repair_inertia: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Convert a robot file of any supported format to URDF.

    The URDF contains links, joints, inertias, limits, damping, friction and couplings. It contains
    no geometry. Properties that URDF cannot represent are reported on stderr. An existing file is
    never replaced.

    \b
    symgen convert model.sdf -o model.urdf
    symgen convert robot.urdf --root torso --tip tool -o arm.urdf    one arm only
    """
    from symgen.jobs.convert import convert as run

    notices = run(file, out, SourceOptions(**options), repair_inertia, root, tip, reroot)
    say_written([out], notices, as_json, f"wrote {out}")
