"""Options that several commands share, and how their texts become values; a job file's keys are
these too."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from symgen.errors import OptionError

Command = Callable[..., Any]


def _pairs(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[str, float], ...]:
    return tuple(_pair(text) for text in values)


def _pair(text: str) -> tuple[str, float]:
    name, _, value = text.rpartition("=")
    try:
        return name, _finite(value)
    except ValueError:
        raise OptionError(
            f"--lock {text!r}: give JOINT=VALUE (rad or m), as in finger_joint1=0.02"
        ) from None


def _finite(text: str) -> float:
    number = float(text)
    if number - number != 0:
        raise ValueError(text)
    return number


def _folder(ctx: click.Context, param: click.Parameter, text: str) -> Path:
    if not text:
        raise OptionError("--out '': give a folder, . for this one")
    return Path(text)


def _optional_folder(ctx: click.Context, param: click.Parameter, text: str | None) -> Path | None:
    return None if text is None else _folder(ctx, param, text)


def _links(ctx: click.Context, param: click.Parameter, text: str) -> tuple[str, ...]:
    return tuple(text.split(",")) if text else ()


def _choices(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    return _split(
        "--formulation", "give QUANTITY=NAME, as in mass_matrix=composite/minimal", values
    )


def _arguments(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    return _split("--xacro-arg", "give NAME=VALUE, as in hand=true", values)


def _split(option: str, form: str, values: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Texts NAME=VALUE in their parts. Raises OptionError."""
    pairs = [text.partition("=") for text in values]
    bad = next(
        (text for text, (name, sign, _) in zip(values, pairs, strict=True) if not sign), None
    )
    if bad is not None:
        raise OptionError(f"{option} {bad!r}: {form}")
    return tuple((name, value) for name, _, value in pairs)


def _gravity(ctx: click.Context, param: click.Parameter, text: str | None) -> Any:
    if text in (None, "runtime"):
        return text
    try:
        x, y, z = (_finite(part) for part in text.split(","))
    except ValueError:
        raise OptionError(
            f"--gravity {text!r}: give three numbers X,Y,Z (m/s^2) or runtime"
        ) from None
    return x, y, z


class FileOption(click.Option):
    """An option that is a path: in a job file it is relative to that file."""


XACRO_OPTION = (
    click.option(
        "--xacro-arg",
        "xacro_args",
        metavar="NAME=VALUE",
        multiple=True,
        callback=_arguments,
        help="An argument of a .xacro file, which is expanded first. Repeatable.",
    ),
)
ROBOT_OPTIONS = (
    click.option(
        "--root",
        metavar="LINK",
        help="Take this link as the base; what it does not carry is left out.",
    ),
    click.option("--tip", metavar="LINK", help="Keep only the links from the base to this one."),
    click.option(
        "--lock",
        metavar="JOINT=VALUE",
        multiple=True,
        callback=_pairs,
        help="Hold a joint at a value (rad or m). Repeatable.",
    ),
    click.option(
        "--gravity",
        metavar="X,Y,Z|runtime",
        show_default="0,0,-9.81 in the axes of the file's root",
        callback=_gravity,
        help="Free fall in the axes of the root link, or of the world where the base floats "
        "(m/s^2); or an input of the functions. By default it keeps the direction that it has in "
        "the whole file.",
    ),
    click.option(
        "--snap-angles",
        metavar="TOL",
        type=float,
        default=1e-9,
        show_default=True,
        help="Make rpy angles this near (rad) to a multiple of pi/2 exact; 0 turns it off.",
    ),
    click.option(
        "--actuators",
        metavar="FILE.toml",
        cls=FileOption,
        help="Rotors and friction of the joints (see docs/formats.md), before those of the "
        "robot's file.",
    ),
    click.option(
        "--base",
        metavar="KIND",
        default="fixed",
        show_default=True,
        help="fixed, or floating: the root link moves freely, a unit quaternion in q and its "
        "twist in its "
        "own axes as the first six velocities.",
    ),
    click.option(
        "--rotors",
        metavar="KIND",
        default="exact",
        show_default=True,
        help="What is taken of rotors: exact (all they do), reflected (gear ratio squared times "
        "inertia, on "
        "the joint's own) or none.",
    ),
    *XACRO_OPTION,
)
TRACE_OPTIONS = (
    click.option(
        "--parameters",
        metavar="KIND",
        default="constant",
        show_default=True,
        help="Inertial parameters: constant, runtime (ten inputs for every body) or "
        "runtime:LINK[,LINK...] (for these only, such as a payload).",
    ),
    click.option(
        "--external-wrench",
        metavar="LINK[,LINK...]",
        callback=_links,
        default="",
        help="Add an input of force and moment on these links to inverse and forward dynamics "
        "and their "
        "derivatives: force x y z, moment x y z about the link's origin, in its axes.",
    ),
    click.option(
        "--friction",
        metavar="KINDS",
        default="",
        help="Add joint friction, viscous and coulomb of the file and offset of --actuators, to "
        "inverse and "
        "forward dynamics and their derivatives, and its columns to regressors; "
        "runtime:viscous,coulomb,offset makes the coefficients an input. sign(0) is 0.",
    ),
    click.option(
        "--friction-width",
        metavar="W",
        type=float,
        default=0.0,
        show_default=True,
        help="Make the step of Coulomb friction smooth, tanh(qd / W) with W in rad/s or m/s; 0 "
        "takes sign.",
    ),
    click.option(
        "--quantity",
        "quantities",
        metavar="NAME",
        multiple=True,
        help="What to compute (see symgen list), or NAME=A+B for one function that computes A "
        "and B "
        "together; all means every one, by default the four of inverse dynamics. Repeatable.",
    ),
    click.option(
        "--formulation",
        "formulations",
        metavar="QUANTITY=NAME",
        multiple=True,
        callback=_choices,
        help="How to compute a quantity (see symgen ops --all); the cheapest by default. "
        "Repeatable.",
    ),
)
SCALAR = click.option(
    "--scalar",
    metavar="TYPE",
    default="double",
    show_default=True,
    help="Scalar type of C: double or float.",
)
BATCH = click.option(
    "--batch",
    metavar="W|auto",
    help="Add C functions for many states at once, in blocks of W states (2, 4, 8, ...), or of 64 "
    "bytes an entry (auto), on vectors as long as the processor has. Needs --trig inline.",
)
CHUNK = click.option(
    "--chunk",
    metavar="N",
    type=int,
    default=100,
    show_default=True,
    help="Cut C functions of more than 2.5 N assignments into static ones of at most N; "
    "100 keeps their stack below 1 kB.",
)
PREFIX = click.option(
    "--prefix", metavar="NAME", help="Begin of all C names and files; the robot's name by default."
)
WRITE_OPTIONS = (
    click.option(
        "-o",
        "--out",
        metavar="DIR",
        required=True,
        callback=_folder,
        cls=FileOption,
        help="Folder for the files; those of an earlier run are replaced.",
    ),
    click.option(
        "--lang",
        "languages",
        metavar="LANG",
        multiple=True,
        help="c or python; both by default. Repeatable.",
    ),
    SCALAR,
    click.option(
        "--trig",
        metavar="KIND",
        default="libm",
        show_default=True,
        help="Sine and cosine of C: libm, or inline for code of their own that needs no C library, "
        "within 2 ulp up to 65536 rad (double) or 1024 rad (float).",
    ),
    click.option(
        "--zeros",
        metavar="WHEN",
        default="always",
        show_default=True,
        help="Entries of C outputs that vanish in every state: written always, or once by the "
        "caller, who "
        "sets the array to zero before the first call (up to 40 % faster for large regressors).",
    ),
    BATCH,
    click.option(
        "--glue",
        metavar="NAME[,NAME...]",
        callback=_links,
        default="cmake",
        show_default=True,
        help="Files for build systems: cmake, zephyr, arduino, pkgconfig, esp-idf, and cpp for a "
        "C++ header.",
    ),
    click.option(
        "--target",
        metavar="NAME",
        help="Let the report tell stack and code size: cortex-m4f, cortex-m7, cortex-m0plus or "
        "host.",
    ),
    CHUNK,
    PREFIX,
)
BUILD_OPTIONS = (
    click.option(
        "-o",
        "--out",
        "package_out",
        metavar="DIR",
        required=True,
        callback=_folder,
        help="Folder for the package NAME and its wheel.",
    ),
    click.option(
        "--cflags",
        metavar="FLAGS",
        default="-O2 -march=native -ffp-contract=off",
        show_default=True,
        help="What the C compiler is told. With -ffp-contract=fast results come sooner and their "
        "last bits "
        "differ; without -march=native they run on other processors.",
    ),
    SCALAR,
    BATCH,
    CHUNK,
    PREFIX,
)
IDENTIFY_OPTIONS = (
    click.option(
        "--sensor",
        metavar="KIND",
        default="torque",
        show_default=True,
        help="What was measured: torque (columns tau_JOINT), or wrench:JOINT, which goes through "
        "a joint "
        "(wrench_fx to wrench_tz, on the link that it moves, in its frame).",
    ),
    click.option(
        "--method",
        metavar="NAME",
        default="acceleration",
        show_default=True,
        help="acceleration: forces at every row; momentum or energy: their balance over "
        "intervals, which "
        "needs no accelerations.",
    ),
    click.option(
        "--friction",
        metavar="KINDS",
        default="",
        help="Identify joint friction too: some of viscous,coulomb,offset.",
    ),
    click.option(
        "--friction-width",
        metavar="W",
        type=float,
        default=0.0,
        show_default=True,
        help="Make the step of Coulomb friction smooth, tanh(qd / W) with W in rad/s or m/s; 0 "
        "takes sign.",
    ),
    click.option(
        "--cutoff",
        metavar="HZ",
        type=float,
        default=20.0,
        show_default=True,
        help="Of the symmetric filter that gives velocities and accelerations where the log has "
        "none.",
    ),
    click.option(
        "--interval",
        metavar="S",
        type=float,
        default=0.1,
        show_default=True,
        help="Length of the intervals of --method momentum and energy.",
    ),
    click.option(
        "--validate",
        metavar="FRACTION",
        type=float,
        default=0.2,
        show_default=True,
        help="Hold out the end of the log for validation, this part of it.",
    ),
    click.option(
        "--full",
        is_flag=True,
        help="Give standard parameters of every body too: the prior decides what the log does "
        "not. Without it "
        "base parameters alone, which the log decides.",
    ),
    click.option(
        "--prior",
        metavar="urdf|FILE",
        default="urdf",
        show_default=True,
        help="Standard parameters known beforehand: those of the robot's file, or of a JSON or "
        "TOML file.",
    ),
    click.option(
        "--prior-deviation",
        metavar="X",
        type=float,
        default=0.3,
        show_default=True,
        help="How far --full takes the prior to be off: standard deviation relative to each "
        "body's own size.",
    ),
    click.option(
        "--max-condition",
        metavar="X",
        type=float,
        default=1e4,
        show_default=True,
        help="Refuse a log whose regressor, columns scaled to unit length, has a larger "
        "condition number.",
    ),
    click.option("--trust-units", is_flag=True, help="Do not suspect wrong units."),
    click.option(
        "--engine",
        metavar="NAME",
        default="serial",
        show_default=True,
        help="Who computes: serial, or dask (threads of this process unless --scheduler is given).",
    ),
    click.option(
        "--scheduler", metavar="ADDRESS", help="A running Dask scheduler, as in tcp://host:8786."
    ),
    click.option(
        "-o",
        "--out",
        metavar="DIR",
        callback=_optional_folder,
        help="Folder for identification.json and plots; those of an earlier run are replaced.",
    ),
    click.option(
        "--urdf",
        metavar="OUT.urdf",
        type=click.Path(path_type=Path),
        help="Write the robot's file with consistent inertias that have the base parameters "
        "found, the "
        "nearest to the prior; nothing but <inertial> is altered, friction neither.",
    ),
    click.option(
        "--payload",
        metavar="LINK",
        help="Give what this link carries beyond the prior, with standard errors; all else is "
        "taken to be "
        "as the prior says.",
    ),
)
EXCITE_OPTIONS = (
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
        metavar="OUT.png",
        type=click.Path(path_type=Path),
        help="Draw positions, velocities and forces with their limits.",
    ),
    click.option(
        "--harmonics",
        metavar="N",
        type=int,
        default=5,
        show_default=True,
        help="Of the Fourier series of each joint.",
    ),
    click.option(
        "--period",
        metavar="S",
        type=float,
        default=10.0,
        show_default=True,
        help="After which the motion repeats; the highest frequency is harmonics / period.",
    ),
    click.option(
        "--rate", metavar="HZ", type=float, default=1000.0, show_default=True, help="Rows a second."
    ),
    click.option(
        "--margin",
        metavar="FRACTION",
        type=float,
        default=0.1,
        show_default=True,
        help="The part of every limit that is left alone.",
    ),
    click.option(
        "--limit",
        "limits",
        metavar="JOINT.KIND=VALUE",
        multiple=True,
        help="A limit before that of the file; KIND is lower, upper, velocity or effort. A "
        "continuous joint "
        "goes half a turn to either side where nothing is said. Repeatable.",
    ),
    click.option("--rest", is_flag=True, help="Start and end with zero velocity and acceleration."),
    click.option(
        "--friction",
        metavar="KINDS",
        default="",
        help="Tell joint friction apart too: some of viscous,coulomb,offset; the file's friction "
        "counts "
        "in the forces.",
    ),
    click.option(
        "--friction-width",
        metavar="W",
        type=float,
        default=0.0,
        show_default=True,
        help="As of symgen identify: the width of the step of Coulomb friction; 0 takes sign.",
    ),
    click.option(
        "--seed",
        metavar="N",
        type=int,
        default=0,
        show_default=True,
        help="Of the random motions to begin with.",
    ),
    click.option(
        "--budget",
        metavar="N",
        type=int,
        default=300,
        show_default=True,
        help="How many motions to evaluate, with gradients, in the search.",
    ),
)
JSON_OPTION = (
    click.option(
        "--json", "as_json", is_flag=True, help="Print JSON (stable, see docs/formats.md)."
    ),
)


def with_options(*groups: tuple[Callable[[Command], Command], ...]) -> Callable[[Command], Command]:
    """Adds groups of options to a command."""

    def decorate(command: Command) -> Command:
        for option in reversed([option for group in groups for option in group]):
            command = option(command)
        return command

    return decorate


def options_of(*groups: tuple[Callable[[Command], Command], ...]) -> tuple[click.Option, ...]:
    """The options of some groups, in order."""
    command = click.command()(with_options(*groups)(lambda: None))
    return tuple(option for option in command.params if isinstance(option, click.Option))


JOB_OPTIONS: Final = options_of(WRITE_OPTIONS, TRACE_OPTIONS, ROBOT_OPTIONS)
"""What a job file can say beside the robot's file, by option; a key is its parameter's name."""


def _robot_file(ctx: click.Context, param: click.Parameter, text: str) -> str:
    """The robot's file itself, or that of a job, whose options then stand where the command line
    has none."""
    from symgen.jobs.jobfile import followed

    return followed(ctx, text, "file")


def _made_folder(ctx: click.Context, param: click.Parameter, text: str) -> Path:
    from symgen.jobs.jobfile import followed

    return Path(followed(ctx, text, "out"))


FILE = click.argument(
    "file", metavar="FILE.urdf", type=click.Path(), is_eager=True, callback=_robot_file
)
FOLDER = click.argument("folder", metavar="DIR", type=click.Path(), callback=_made_folder)
