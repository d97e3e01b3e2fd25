"""The command ``symgen excite``."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click

from symgen import output
from symgen.cli.help import command
from symgen.cli.options import FILE, JSON, ROBOT, path_option, with_options
from symgen.cli.options import out as out_option
from symgen.identification.excitation.motion_limits import ExcitationPlan
from symgen.options import Option, rows
from symgen.options.kinds import FLAG, NUMBER, TEXTS, finite
from symgen.reading.options import moving_joints

EXCITE_OUTPUTS: Final = (
    out_option(
        "OUT.csv",
        "File for the motion, with the columns t, q_JOINT, qd_JOINT and qdd_JOINT.",
        required=True,
        type=click.Path(path_type=Path),
    ),
    path_option(
        "--plot", "OUT.png|svg|pdf", "Plot positions, velocities and forces with their limits."
    ),
)


def _limits(robot: Any, start: str) -> list[str]:
    """The joints; after a joint the kinds of limits."""
    from symgen.identification.excitation.motion_limits import KINDS

    if not start:
        return [f"{name}." for name in moving_joints(robot, start)]
    return [f"{kind}=" for kind in KINDS] if start.endswith(".") else []


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


SECTION: Final = ExcitationPlan.SECTION

EXCITE_OPTIONS: Final = (
    Option(
        "--limit",
        "[JOINT.]KIND=VALUE",
        "Override a limit of the robot's file. KIND is lower, upper, velocity or effort; without "
        "JOINT the value is that of all joints of which the file gives none. A "
        "continuous joint without limits moves by half a turn to either side.",
        replace(TEXTS, from_text=_parsed_limits),
        give="give JOINT.KIND=VALUE or KIND=VALUE, as in elbow.velocity=1.5",
        section=SECTION,
        name="limits",
        names=_limits,
        parted=".=",
    ),
    Option(
        "--friction",
        "KINDS",
        "Also excite joint friction. KINDS is a list as for symgen generate, of the laws that "
        "depend on the velocity alone. The friction of the robot's file is part of the forces.",
        section=SECTION,
        name="friction",
        default="",
    ),
    Option(
        "--friction-width",
        "W",
        "Smooth Coulomb friction: use tanh(qd / W) instead of sign(qd), as in symgen identify.",
        NUMBER,
        section=SECTION,
        rare=True,
        name="friction_width",
        default=0.0,
    ),
    Option(
        "--springs",
        None,
        "Also excite joint springs. The springs of the robot's file are part of the forces.",
        FLAG,
        section=SECTION,
        name="springs",
        default=False,
    ),
)
"""The options of the robot whose meaning differs from that in other commands."""


@command()
@FILE
@with_options(EXCITE_OUTPUTS, JSON, rows(ExcitationPlan), EXCITE_OPTIONS, ROBOT)
def excite(file: str, out: Path, plot: Path | None, as_json: bool, **options: Any) -> None:
    """Optimize an exciting motion for the identification of a robot.

    The motion of each joint is a Fourier series (Swevers 1997) within the limits of position,
    velocity and force. Forces are computed by inverse dynamics with the parameters of the robot's
    file. The optimization minimizes the condition number of the base regressor. With --around,
    --keep-above, --workspace and --self-clearance, the motion and a straight approach from its
    centre stay in a free space. Other objects are NOT checked: review the motion before you run
    it on a robot. symgen view FILE --motion OUT.csv plays it.

    \b
    symgen excite robots/panda_arm.urdf -o motion.csv --plot motion.png
    symgen excite robots/ur5.urdf -o motion.csv --harmonics 4 --rest --friction viscous,coulomb
    symgen excite arm.urdf -o motion.csv --limit slide.velocity=0.5 --limit slide.effort=200
    symgen excite robots/ur5.urdf -o motion.csv --around joint2=-1.6 --keep-above 0.1
    symgen view robots/ur5.urdf --motion motion.csv
    """
    from symgen.cli.progress import progress
    from symgen.identification.excitation.optimizer import excite as excited
    from symgen.identification.report.excite_report import motion_csv, output_files, picture, report
    from symgen.jobs.job import Job
    from symgen.jobs.publish import write_files
    from symgen.robot.identification import at_runtime, excitation_task

    with progress() as tell:
        tell("reading the robot")
        plan = ExcitationPlan(**{row.name: options.pop(row.name) for row in rows(ExcitationPlan)})
        limits = options.pop("limits")
        job = Job.of(file, **{**options, "friction": at_runtime(options["friction"])})
        task = excitation_task(job, plan, limits)
        motion, *pictures = output_files(task, out, plot, file)
        excitation = excited(task, tell)
        files = {motion: motion_csv(excitation)}
        for target in pictures:
            tell("drawing the plot")
            files[target] = picture(excitation, target)
        write_files(files)
    paths = [target.path for target in files]
    report(excitation, paths).print(as_json)
    for path in [] if as_json else paths:
        output.say(f"wrote {path}")
