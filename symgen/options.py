"""Options that several commands share, and how their texts become values."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from symgen.errors import OptionError

Command = Callable[..., Any]


def _pairs(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[tuple[str, float], ...]:
    return tuple(_pair(text) for text in values)


def _pair(text: str) -> tuple[str, float]:
    name, _, value = text.rpartition("=")
    try:
        return name, _finite(value)
    except ValueError:
        raise OptionError(f"--lock {text!r}: give JOINT=VALUE (rad or m), as in finger_joint1=0.02") from None


def _finite(text: str) -> float:
    number = float(text)
    if number - number != 0:
        raise ValueError(text)
    return number


def _folder(ctx: click.Context, param: click.Parameter, text: str) -> Path:
    if not text:
        raise OptionError("--out '': give a folder, . for this one")
    return Path(text)


def _links(ctx: click.Context, param: click.Parameter, text: str) -> tuple[str, ...]:
    return tuple(text.split(",")) if text else ()


def _choices(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    pairs = [text.partition("=") for text in values]
    bad = next((text for text, (_, sign, _) in zip(values, pairs, strict=True) if not sign), None)
    if bad is not None:
        raise OptionError(f"--formulation {bad!r}: give QUANTITY=NAME, as in mass_matrix=composite/minimal")
    return tuple((quantity, name) for quantity, _, name in pairs)


def _gravity(ctx: click.Context, param: click.Parameter, text: str) -> Any:
    if text == "runtime":
        return text
    try:
        x, y, z = (_finite(part) for part in text.split(","))
    except ValueError:
        raise OptionError(f"--gravity {text!r}: give three numbers X,Y,Z (m/s^2) or runtime") from None
    return x, y, z


ROBOT_OPTIONS = (
    click.option("--root", metavar="LINK", help="Take this link as the base; what it does not carry is left out."),
    click.option("--tip", metavar="LINK", help="Keep only the links from the base to this one."),
    click.option("--lock", metavar="JOINT=VALUE", multiple=True, callback=_pairs,
                 help="Hold a joint at a value (rad or m). Repeatable."),
    click.option("--gravity", metavar="X,Y,Z|runtime", default="0,0,-9.81", show_default=True, callback=_gravity,
                 help="Free fall in the axes of the root link (m/s^2), or an input of the functions."),
    click.option("--snap-angles", metavar="TOL", type=float, default=1e-9, show_default=True,
                 help="Make rpy angles this near (rad) to a multiple of pi/2 exact; 0 turns it off."),
)
TRACE_OPTIONS = (
    click.option("--parameters", metavar="KIND", default="constant", show_default=True,
                 help="Inertial parameters: constant, runtime (ten inputs for every body) or "
                      "runtime:LINK[,LINK...] (for these only, such as a payload)."),
    click.option("--external-wrench", metavar="LINK[,LINK...]", callback=_links, default="",
                 help="Add an input of force and moment on these links to inverse and forward dynamics and their "
                      "derivatives: force x y z, moment x y z about the link's origin, in its axes."),
    click.option("--friction", metavar="KINDS", default="",
                 help="Add joint friction, viscous and coulomb of the file, to inverse and forward dynamics and their "
                      "derivatives, and its columns to regressors; runtime:viscous,coulomb,offset makes the "
                      "coefficients an input. sign(0) is 0."),
    click.option("--quantity", "quantities", metavar="NAME", multiple=True,
                 help="What to compute (see symgen list), or NAME=A+B for one function that computes A and B "
                      "together. Repeatable; all means every one, by default the four of inverse dynamics."),
    click.option("--formulation", "formulations", metavar="QUANTITY=NAME", multiple=True, callback=_choices,
                 help="How to compute a quantity (see symgen ops --all); the cheapest by default. Repeatable."),
)
WRITE_OPTIONS = (
    click.option("-o", "--out", metavar="DIR", required=True, callback=_folder,
                 help="Folder for the files; those of an earlier run are replaced."),
    click.option("--lang", "languages", metavar="LANG", multiple=True,
                 help="c or python. Repeatable; both by default."),
    click.option("--scalar", metavar="TYPE", default="double", show_default=True,
                 help="Scalar type of C: double or float."),
    click.option("--trig", metavar="KIND", default="libm", show_default=True,
                 help="Sine and cosine of C: libm, or inline for code of their own that needs no C library, "
                      "within 2 ulp up to 65536 rad (double) or 1024 rad (float)."),
    click.option("--glue", metavar="NAME[,NAME...]", callback=_links, default="cmake", show_default=True,
                 help="Files for build systems: cmake, zephyr, arduino, pkgconfig, esp-idf, and cpp for a C++ header."),
    click.option("--target", metavar="NAME",
                 help="Let the report tell stack and code size: cortex-m4f, cortex-m7, cortex-m0plus or host."),
    click.option("--chunk", metavar="N", type=int, default=100, show_default=True,
                 help="Cut C functions of more than 2.5 N assignments into static ones of at most N; "
                      "100 keeps their stack below 1 kB."),
    click.option("--prefix", metavar="NAME", help="Begin of all C names and files; the robot's name by default."),
)
JSON_OPTION = (click.option("--json", "as_json", is_flag=True, help="Print JSON (stable, see docs/formats.md)."),)


def with_options(*groups: tuple[Callable[[Command], Command], ...]) -> Callable[[Command], Command]:
    """Adds groups of options to a command."""
    def decorate(command: Command) -> Command:
        for option in reversed([option for group in groups for option in group]):
            command = option(command)
        return command

    return decorate


FILE = click.argument("file", metavar="FILE.urdf", type=click.Path())
