"""Conversion of a robot file of any supported format to URDF (``symgen convert``)."""

from pathlib import Path

from symgen.errors import Notice, OptionError
from symgen.jobs.publish import write_new
from symgen.reading.description_changes import repair_inertias, rerooted
from symgen.reading.options import NO_SOURCE_OPTIONS, SourceOptions
from symgen.reading.sources import RobotSource, describe
from symgen.reading.subtree import extract_subtree
from symgen.reading.urdf.urdf_writer import urdf_bytes
from symgen.reading.validation import symbols
from symgen.text import quoted


def convert(
    source: RobotSource,
    out: str,
    options: SourceOptions = NO_SOURCE_OPTIONS,
    repair: str | None = None,
    root: str | None = None,
    tip: str | None = None,
    reroot: str | None = None,
) -> tuple[Notice, ...]:
    """Write the robot of a `source` to a new URDF file `out`. With `root` and `tip`, only the part
    from link `root` out to link `tip` is written; `reroot` is the link that becomes the root of
    that part, `repair` repairs impossible inertias (`symgen.reading.description_changes`). Returns
    the notices of reading and of properties that URDF cannot represent. Raises SymgenError; then
    nothing is written."""
    if Path(out).suffix.lower() != ".urdf":
        raise OptionError(f"--out {out!r}: the name of a URDF file must end in .urdf")
    robot = repair_inertias(describe(source, options), repair)
    if reroot is not None:
        robot, root = rerooted(extract_subtree(robot, root, None), reroot), reroot
    robot = extract_subtree(robot, root, tip)
    names = symbols(robot)
    if names:
        raise OptionError(
            f"a URDF file contains numbers only, and the robot has the symbols {quoted(names)}; "
            "replace them by values with robot.subs({...})"
        )
    data, unsaid = urdf_bytes(robot)
    write_new(Path(out), data)
    return (*(n for n in robot.notices if "fluid" not in n.unless), *unsaid)
