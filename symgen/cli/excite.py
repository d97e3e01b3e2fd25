"""The command ``symgen excite``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from symgen import output
from symgen.cli.identify import at_runtime
from symgen.cli.options import FILE, JSON, ROBOT, with_options
from symgen.errors import OptionError
from symgen.identification.plan import ExcitationPlan
from symgen.options import Option, rows
from symgen.options.kinds import FLAG, NUMBER, TEXTS
from symgen.reading.options import RobotOptions, moving_joints
from symgen.text import cited

if TYPE_CHECKING:
    from symgen.identification.excitation_task import ExcitationTask
    from symgen.mechanics.model import Model

WRITTEN: Final = (
    click.option(
        "-o",
        "--out",
        metavar="OUT.csv",
        required=True,
        type=click.Path(path_type=Path),
        help="The motion: columns t, q_JOINT, qd_JOINT, qdd_JOINT, as symgen identify reads them.",
    ),
    click.option(
        "--plot",
        metavar="OUT.png|svg|pdf",
        type=click.Path(path_type=Path),
        help="Draw positions, velocities and forces with their limits.",
    ),
)


def _limits(robot: Any, start: str) -> list[str]:
    """A joint; after it what is limited."""
    from symgen.identification.bounds import KINDS

    if not start:
        return [f"{name}." for name in moving_joints(robot, start)]
    return [f"{kind}=" for kind in KINDS] if start.endswith(".") else []


ASKED: Final = (
    Option(
        "--limit",
        "JOINT.KIND=VALUE",
        "A limit before that of the file; KIND is lower, upper, velocity or effort. A continuous "
        "joint goes half a turn to either side where nothing is said. Repeatable.",
        TEXTS,
        name="limits",
        names=_limits,
        parted=".=",
    ),
    Option(
        "--friction",
        "KINDS",
        "Tell joint friction apart too: some of viscous,coulomb,offset; the file's friction counts "
        "in the forces.",
        name="friction",
        default="",
    ),
    Option(
        "--friction-width",
        "W",
        "As of symgen identify: the width of the step of Coulomb friction; 0 takes sign.",
        NUMBER,
        name="friction_width",
        default=0.0,
    ),
    Option(
        "--springs",
        None,
        "Tell springs apart too; those of the file count in the forces.",
        FLAG,
        name="springs",
        default=False,
    ),
)
"""What is asked of the robot, in the words of this command."""


@click.command()
@FILE
@with_options(WRITTEN, rows(ExcitationPlan), ASKED, ROBOT, JSON)
def excite(file: str, out: Path, plot: Path | None, as_json: bool, **options: Any) -> None:
    """Find a periodic motion that tells a robot's parameters apart.

    The motion of each joint is a Fourier series (Swevers 1997) that keeps position, velocity and
    force within the limits of the file; forces are those of inverse dynamics with the file's
    parameters. It lowers the condition number of the base regressor, rows divided by each joint's
    effort limit and columns scaled to unit length. Out of scope: collisions of the robot with
    itself or its surroundings are NOT checked; look at the motion before it is run.

    \b
    symgen excite robots/panda_arm.urdf -o motion.csv --plot motion.png
    symgen excite robots/ur5.urdf -o motion.csv --harmonics 4 --rest --friction viscous,coulomb
    symgen excite arm.urdf -o motion.csv --limit slide.velocity=0.5 --limit slide.effort=200
    """
    from symgen.cli.progress import progress
    from symgen.identification.excitation import excite as excited
    from symgen.identification.excite_report import csv, data, on_terminal, picture, targets
    from symgen.jobs.publish import write_files

    with progress() as tell:
        tell("reading the robot")
        sought = task(file, options)
        motion, *pictures = targets(sought, out, plot, file)
        excitation = excited(sought, tell)
        files = {motion: csv(excitation)}
        for target in pictures:
            tell("drawing")
            files[target] = picture(excitation, target)
        write_files(files)
    if as_json:
        output.say(output.as_json(data(excitation, [target.path for target in files])))
        return
    on_terminal(excitation)
    for target in files:
        output.say(f"wrote {target.path}")


def task(file: str, options: dict[str, Any]) -> "ExcitationTask":
    """The task to excite, by the options of the command. Raises SymgenError."""
    import numpy as np

    from symgen.identification.bounds import bounds
    from symgen.identification.dynamics import dynamics
    from symgen.identification.excitation_task import ExcitationTask
    from symgen.identification.methods import friction, torque_mapping
    from symgen.jobs.job import Job

    plan = ExcitationPlan(**{row.name: options.pop(row.name) for row in rows(ExcitationPlan)})
    limits = [_limit(text) for text in options.pop("limits")]
    job = Job.of(file, **{**options, "friction": at_runtime(options["friction"])})
    if job[RobotOptions].gravity == "runtime":
        raise OptionError("--gravity runtime: a motion is made under one gravity; give it as X,Y,Z")
    loaded = job.load()
    bound, mapping = bounds(loaded, limits), torque_mapping(loaded.model)
    drives = friction(job, loaded.model)
    values = np.array([*mapping.base(mapping.prior), *drives.values()])
    return ExcitationTask(
        loaded.model.joint_names, dynamics(job, loaded), values, bound, plan,
        _lengths(loaded.model), tuple(drives),
    )  # fmt: skip


def _limit(text: str) -> tuple[str, str, float]:
    """The joint, the kind and the value of JOINT.KIND=VALUE. Raises OptionError."""
    name, _, value = text.rpartition("=")
    joint, dot, kind = name.rpartition(".")
    try:
        number = float(value)
        if not dot or number - number != 0:
            raise ValueError
    except ValueError:
        raise OptionError(
            f"--limit {cited(text)}: give JOINT.KIND=VALUE, as in elbow.velocity=1.5"
        ) from None
    return joint, kind, number


def _lengths(model: "Model") -> tuple[bool, ...]:
    """Of which velocities the coordinates are lengths."""
    from symgen.mechanics.coupling import velocities

    return tuple(row.unit.startswith("m") for row in velocities(model))
