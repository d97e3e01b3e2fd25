"""The command ``symgen check``."""

import math
import sys
from typing import Any, Final

from symgen.algorithms.controllers import CONTROLLERS
from symgen.certified.options import CertifyOptions
from symgen.cli.help import command
from symgen.cli.options import FILE, JSON, ROBOT, VERBOSE, with_options
from symgen.cli.progress import say
from symgen.errors import OptionError
from symgen.options import Option, rows
from symgen.options.kinds import FLAG, NUMBER, TEXTS
from symgen.text import repeated

EXAMINED: Final = (
    Option(
        "--certify",
        None,
        "Also search for the largest forces of inverse dynamics within the limits of the robot's "
        "file and of --limit, and compare them with the efforts of the file.",
        FLAG,
        section=CertifyOptions.SECTION,
        name="certify",
        default=False,
    ),
    *(row for row in rows(CertifyOptions) if row.name == "certify_limits"),
    Option(
        "--controller",
        "NAME[:LINK]",
        "Also examine the stability of a controller at the sample rate --rate.",
        section="Functions",
        name="controller",
        default="",
        names=tuple(CONTROLLERS),
    ),
    Option(
        "--rate",
        "HZ",
        "Sample rate of --controller in Hz.",
        NUMBER,
        section="Functions",
        name="rate",
        default=None,
    ),
    Option(
        "--gain",
        "NAME=VALUE[,VALUE...]",
        "A gain of --controller to examine, one number or one for each entry. Without gains the "
        "command proposes some.",
        TEXTS,
        section="Functions",
        name="gains",
        names=("k_p=", "k_d=", "k_i=", "k_x=", "d_x=", "damping="),
        parted="=",
    ),
)


def _gains(texts: tuple[str, ...]) -> dict[str, list[float]]:
    """The gains by name. Raises OptionError."""
    gains = dict[str, list[float]]()
    for text in texts:
        name, equals, values = text.partition("=")
        try:
            gains[name] = [float(x) for x in values.split(",")]
        except ValueError:
            gains[name] = [math.nan]
        if not equals or not all(map(math.isfinite, gains[name])):
            raise OptionError(f"--gain {text}: give NAME=VALUE[,VALUE...], as in k_d=2.0")
    twice = repeated(text.partition("=")[0] for text in texts)
    if twice is not None:
        raise OptionError(f"--gain {twice}: two values are given; keep one of them")
    return gains


def _check_together(controller: str, rate: float | None, gains: tuple[str, ...]) -> None:
    """Raises OptionError for options of a controller without the others that they need."""
    if controller and rate is None:
        raise OptionError(
            f"--controller {controller}: also give its sample rate, as in --rate 1000"
        )
    if not controller and (rate is not None or gains):
        flag = "--gain" if rate is None else "--rate"
        raise OptionError(f"{flag}: has an effect only with --controller; add one")


@command()
@FILE
@with_options(JSON, EXAMINED, ROBOT, VERBOSE)
def check(
    file: str,
    as_json: bool,
    controller: str,
    rate: float | None,
    gains: tuple[str, ...],
    **options: Any,
) -> None:
    """Read a robot and check it. No file is written.

    The command prints the joints and states for each body whether its inertia is physically
    possible. With --actuators it also prints the largest error of the reflected-inertia
    approximation of each rotor within the robot's limits. Notes and warnings are printed on
    stderr. The exit status is 2 if the robot cannot be compiled. With --json, errors are printed
    as JSON too.

    With --controller and --rate the command states for each gain the largest value that is stable
    at that sample rate, and examines the gains of --gain or proposes some. The exit status is 1 if
    gains of --gain are unstable.

    With --certify a note lists the joints that need a larger force than the file allows.

    \b
    symgen check robots/ur5.urdf
    symgen check robots/ur5.urdf --controller joint_impedance --rate 1000 --gain k_p=50 --gain k_d=2
    symgen check robots/ur5.urdf --certify --limit acceleration=40
    symgen check robots/ur5.urdf --json
    """
    from symgen import output
    from symgen.inspection.command_reports import gain_limits, robot
    from symgen.jobs.job import Job
    from symgen.robot.results import check_robot, checked_data
    from symgen.robot.robot import Robot
    from symgen.robot.sampled_loop import sampled_loop

    _check_together(controller, rate, gains)
    chosen = _gains(gains)
    job = Job.of(file, **options)
    loaded = job.load()
    result = check_robot(job, loaded, symbolic=False)
    loop = sampled_loop(Robot(job), controller, rate, chosen) if rate is not None else None
    if as_json:
        data = checked_data(loaded, result) | ({"loop": loop.data()} if loop else {})
        output.say(output.as_json(data))
    else:
        say(result.notices)
        robot(loaded, result.verdicts).print()
        for line in result.rotor_lines:
            output.say(line)
        if loop and loop.limits:
            gain_limits(loop.head, loop.rows()).print()
        for line in loop.sentences() if loop else ():
            output.say(line)
    if loop and not loop.stable:
        sys.exit(1)
