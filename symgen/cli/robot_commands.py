"""The commands on a robot file: ``check``, ``init``, ``inspect``, ``view``, ``convert``; and
``robots``."""

import math
import sys
from pathlib import Path
from typing import Any

import click

from symgen import output
from symgen.cli.help import command, naming, option
from symgen.cli.options import (
    CHECK_OPTIONS,
    FILE,
    JSON,
    ROBOT,
    VERBOSE,
    path_option,
    progress,
    say,
    say_lines,
    say_written,
    with_options,
)
from symgen.cli.options import out as out_option
from symgen.errors import Notice, OptionError
from symgen.options import rows
from symgen.reading.options import RobotOptions, SourceOptions
from symgen.reading.sources import example, examples
from symgen.text import cited, repeated
from symgen.tracing.options import complete_quantities


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


def _check_controller_options(controller: str, rate: float | None, gains: tuple[str, ...]) -> None:
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
@with_options(JSON, CHECK_OPTIONS, ROBOT, VERBOSE)
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
    from symgen.inspection.command_reports import robot
    from symgen.inspection.rendering import Report, ReportTable
    from symgen.jobs.job import Job
    from symgen.robot.results import check_robot, checked_data
    from symgen.robot.robot import Robot
    from symgen.robot.sampled_loop import sampled_loop

    _check_controller_options(controller, rate, gains)
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
        say_lines(result.rotor_lines)
        if loop and loop.limits:
            Report([ReportTable("", loop.head[:2], loop.head[2:], loop.rows())]).print()
        say_lines(loop.sentences() if loop else ())
    if loop and not loop.stable:
        sys.exit(1)


@command()
@click.argument("file", metavar="FILE", type=click.Path())
@out_option("JOB.toml", "Job file to write.", show_default="ROBOT.toml in the current folder")
@with_options(JSON, rows(SourceOptions))
def init(file: str, out: str | None, as_json: bool, **options: Any) -> None:
    """Write a job file for a robot, with all options, their defaults and descriptions.

    Every command that takes FILE also takes a job file. Options on the command line override those
    of the job file. An existing file is never replaced.

    \b
    symgen init robots/ur5.urdf -o ur5.toml
    symgen generate ur5.toml
    """
    from symgen.jobs.jobfile import init as run

    path = run(file, out, SourceOptions(**options))
    say_written([path], [], as_json, f"wrote {path}")


@command()
@FILE
@path_option("--html", "OUT.html", "Write a self-contained HTML page.")
@path_option(
    "--plot",
    "OUT.png|svg|pdf",
    "Plot which entries of the regressor, the mass matrix and the Christoffel symbols are nonzero.",
)
@with_options(JSON)
@option(
    "--groupings",
    is_flag=True,
    help="Print every base parameter as a combination of the parameters of the file, with "
    "--symbolic lengths in closed form.",
    section="Display",
)
@option(
    "--entry",
    metavar="QUANTITY[:OUTPUT][:I,J]",
    shell_complete=naming(complete_quantities, ":"),
    help="Print an entry (indices from 1) or an array of a quantity in closed form.",
    section="Display",
)
@option(
    "--symbolic",
    metavar="KINDS",
    shell_complete=naming(("masses", "lengths"), ","),
    help="Use symbols instead of numbers: masses, lengths or masses,lengths for --entry; lengths "
    "for --groupings.",
    section="Display",
)
@option(
    "--latex",
    is_flag=True,
    help="Print the groupings of base parameters, or the entry, as LaTeX.",
    section="Display",
)
@with_options(ROBOT, VERBOSE)
def inspect(file: str, entry: str | None, symbolic: str | None, **options: Any) -> None:
    """Analyse a robot: bodies, frames, base parameters, closed forms.

    \b
    symgen inspect panda.urdf
    symgen inspect panda.urdf --html panda.html --plot panda.png
    symgen inspect arm.urdf --entry mass_matrix:1,1 --symbolic masses,lengths
    symgen inspect arm.urdf --entry frame_pose:tool0:p --latex
    symgen inspect arm.urdf --groupings --symbolic lengths
    """
    from symgen.inspection.closed_forms import entry_command, grouping_command
    from symgen.inspection.inspect_command import inspect_command
    from symgen.jobs.job import Job

    display = {
        name: options.pop(name) for name in ("as_json", "latex", "html", "plot", "groupings")
    }
    _check_display_options(entry, symbolic, display)
    legend: list[str] = []
    notices: tuple[Notice, ...] = ()
    with progress() as tell:
        tell("reading the robot")
        if entry is not None:
            forms = bool(display["latex"]), bool(display["as_json"])
            text, legend = entry_command(Job.of(file, **options), entry, symbolic, *forms)
        elif symbolic is not None:
            forms = bool(display["latex"]), bool(display["as_json"])
            text = grouping_command(Job.of(file, **options), symbolic, *forms)
        else:
            text, notices = inspect_command(file, options, tell, **display)
    say(notices)
    say_lines(legend, error=True)
    if text:
        output.say(text)


def _check_display_options(
    entry: str | None, symbolic: str | None, display: dict[str, Any]
) -> None:
    """Raise OptionError for options that would have no effect."""
    idle = [f"--{name}" for name in ("html", "plot", "groupings") if display[name]]
    if entry is not None and idle:
        raise OptionError(f"{idle[0]}: has no effect with --entry; remove one of the two options")
    if entry is None and symbolic is not None and not display["groupings"]:
        raise OptionError(
            f"--symbolic {cited(symbolic)}: has an effect only with --entry or --groupings; add "
            "one of them"
        )


@command()
@FILE
@path_option("--motion", "FILE.csv", "Play a motion: columns t and q_JOINT, as excite writes them.")
@with_options(JSON, ROBOT)
def view(file: str, motion: Path | None, as_json: bool, **options: Any) -> None:
    """Show a robot in the browser, with sliders for its joints.

    The page is the same as that of symgen inspect --html. It is written to the folder for
    temporary files, and its path is printed. With --json no browser is opened.

    \b
    symgen view robots/panda.urdf
    symgen view robots/ur5.urdf --motion motion.csv
    """
    import tempfile
    import webbrowser

    from symgen.inspection.inspect_command import inspect_command

    page = Path(tempfile.mkdtemp(prefix="symgen-view-")) / "robot.html"
    with progress() as tell:
        tell("reading the robot")
        _, notices = inspect_command(file, options, tell, False, False, page, None, False, motion)
    say_written([page], notices, as_json, str(page))
    if not as_json and not webbrowser.open(page.as_uri()):
        output.say("no browser was found; open the file above in a browser", error=True)


@command()
@FILE
@out_option("OUT.urdf", "The URDF file to write.", required=True)
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
    from symgen.jobs.generating import convert as run

    notices = run(file, out, SourceOptions(**options), repair_inertia, root, tip, reroot)
    say_written([out], notices, as_json, f"wrote {out}")


@command()
@click.argument("name", metavar="[NAME]", required=False, shell_complete=naming(tuple(examples())))
@out_option(
    "DIR", "Copy the URDF files into this folder. Files of the same name are never replaced."
)
@with_options(JSON)
def robots(name: str | None, out: str | None, as_json: bool) -> None:
    """List the example robots, or copy their files.

    With NAME, only that robot. Each line has the name of a robot and the path of its URDF file,
    which every command takes.

    \b
    symgen robots -o robots
    symgen check robots/ur5.urdf
    """
    from symgen.jobs.publish import write_new_files

    chosen = examples() if name is None else {name: example(name)}
    if out is not None:
        copies = {key: Path(out) / path.name for key, path in chosen.items()}
        write_new_files({copies[key]: path.read_bytes() for key, path in chosen.items()})
        chosen = copies
    if as_json:
        output.say(output.as_json({"robots": {key: str(path) for key, path in chosen.items()}}))
        return
    width = max(map(len, chosen))
    output.say("\n".join(f"{key:{width}}  {path}" for key, path in chosen.items()))
