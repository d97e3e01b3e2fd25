"""A job: a robot's file and every option that shapes the result, and the module made from it."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import PurePath
from typing import Any, Final, Literal

from symgen.algorithms import QUANTITIES
from symgen.algorithms.registry import unknown_quantity
from symgen.compiler.passes import used
from symgen.errors import Notice, OptionError, Place
from symgen.languages.c.glue import check as check_glue
from symgen.languages.c.text import KEYWORDS, MODULES, identifier
from symgen.languages.module import Module, Source
from symgen.mechanics.system import FRICTION_COLUMNS
from symgen.numbers.operations import OPS
from symgen.reading.assemble import Loaded, load
from symgen.text import quoted, shown
from symgen.tracing.robot import Robot
from symgen.tracing.trace import Function, Wanted, every_formulation, trace_all

CORE: Final = ("inverse_dynamics", "gravity", "bias", "mass_matrix")
"""What is computed where nothing else is asked for: a module small enough to be read."""

SNAPPED: Final = 1e-9
"""How near (rad) to a right angle an angle is taken for one where nothing else is said."""
SCALARS: Final = ("double", "float")
TRIG: Final = ("libm", "inline")
ZEROS: Final = ("always", "once")
NARROWEST: Final = 1e-9
"""Coulomb friction with a narrower step (rad/s or m/s) is better a sign."""

Gravity = tuple[float, float, float] | Literal["runtime"] | None
"""In the axes of the root link; None for the file's own, see `symgen.reading.fall`."""


@dataclass(frozen=True, slots=True)
class Job:
    """What to compile and how; the fields are the options of ``symgen generate``.

    `parameters` is ``constant``, ``runtime`` or ``runtime:LINK[,LINK...]``; each of `quantities` is
    a quantity or ``NAME=QUANTITY+QUANTITY``; ``all`` means every one, none of them those of CORE.
    """

    file: str
    root: str | None = None
    tip: str | None = None
    lock: tuple[tuple[str, float], ...] = ()
    gravity: Gravity = None
    snap_angles: float = SNAPPED
    parameters: str = "constant"
    external_wrench: tuple[str, ...] = ()
    friction: str = ""
    quantities: tuple[str, ...] = ()
    formulations: tuple[tuple[str, str], ...] = ()
    scalar: str = "double"
    chunk: int = 100
    prefix: str | None = None
    friction_width: float = 0.0
    actuators: str | None = None
    rotors: str = "exact"
    base: str = "fixed"
    xacro_args: tuple[tuple[str, str], ...] = ()
    trig: str = "libm"
    batch: str | None = None
    glue: tuple[str, ...] = ("cmake",)
    target: str | None = None
    zeros: str = "always"

    def load(self) -> Loaded:
        """The robot. Raises SymgenError."""
        return load(
            self.file,
            root=self.root,
            tip=self.tip,
            lock=self.lock,
            gravity=self.gravity,
            snap_angles=self.snap_angles,
            actuators=self.actuators,
            rotors=self.rotors,
            base=self.base,
            xacro_args=self.xacro_args,
        )

    def robot(self, loaded: Loaded) -> Robot:
        """The loaded model with what this job leaves open. Raises OptionError for a link it does
        not have."""
        pushed = (
            _known_links(loaded, list(self.external_wrench), "--external-wrench")
            if self.external_wrench
            else ()
        )
        kinds, at_runtime = self._friction()
        return Robot(
            loaded.model,
            self._runtime_links(loaded),
            self.gravity == "runtime",
            pushed,
            kinds,
            at_runtime,
            self._width(kinds),
        )

    def _friction(self) -> tuple[tuple[str, ...], bool]:
        """The kinds of joint friction, and whether their coefficients are inputs."""
        kind, colon, names = self.friction.partition(":")
        at_runtime = bool(colon) and kind == "runtime"
        kinds = tuple((names if at_runtime else self.friction).split(",")) if self.friction else ()
        if any(name not in FRICTION_COLUMNS for name in kinds) or len(set(kinds)) != len(kinds):
            raise OptionError(
                f"--friction {self.friction}: use some of {', '.join(FRICTION_COLUMNS)}, "
                "with runtime: in front if the coefficients are inputs"
            )
        if "offset" in kinds and not at_runtime and self.actuators is None:
            raise OptionError(
                "--friction offset: a URDF has no offsets; give them in --actuators, or use "
                "runtime:offset for an input"
            )
        return kinds, at_runtime

    def _width(self, kinds: tuple[str, ...]) -> float:
        """The width of the step of Coulomb friction, 0 for the sign."""
        width = self.friction_width
        if width and not NARROWEST <= width <= 1 / NARROWEST:
            raise OptionError(
                f"--friction-width {width:g}: give a rate (rad/s or m/s) such as 0.01, or 0 for "
                f"the sign"
            )
        if width and "coulomb" not in kinds:
            raise OptionError(
                "--friction-width: only Coulomb friction has a width; add --friction coulomb"
            )
        return width

    def wanted(self) -> list[Wanted]:
        """The functions to generate. Raises OptionError."""
        asked = self.quantities or CORE
        texts = [name for text in asked for name in (QUANTITIES if text == "all" else [text])]
        functions = [Wanted.parse(text) for text in texts]
        names = [function.name for function in functions]
        for name in names:
            _check_name("the name of a function", name, FUNCTIONS)
            if names.count(name) > 1:
                raise OptionError(
                    f"two functions would be called {name!r}; name one of them otherwise"
                )
        return functions

    def choice(self) -> dict[str, str]:
        """The formulation by quantity, where given. Raises OptionError."""
        for name, _ in self.formulations:
            if name not in QUANTITIES:
                raise unknown_quantity(name)
        return dict(self.formulations)

    def module(self, loaded: Loaded) -> Module:
        """The traced module. Raises OptionError."""
        if self.scalar not in SCALARS:
            raise OptionError(f"--scalar {self.scalar!r}: use one of {', '.join(SCALARS)}")
        if self.trig not in TRIG:
            raise OptionError(f"--trig {self.trig!r}: use one of {', '.join(TRIG)}")
        if self.zeros not in ZEROS:
            raise OptionError(f"--zeros {self.zeros!r}: use one of {', '.join(ZEROS)}")
        if self.chunk < 1:
            raise OptionError(f"--chunk {self.chunk}: give a number of statements, such as 100")
        _check_batch(self.batch, self.trig, self.zeros)
        name = identifier(loaded.model.name) if self.prefix is None else self.prefix
        _check_name("--prefix", name, MODULES)
        check_glue(self.glue, name)
        robot = self.robot(loaded)
        functions = tuple(trace_all(robot, self.wanted(), self.choice()))
        long = next(
            (joint for joint in loaded.model.joint_names if len(joint.encode()) > LONGEST_NAME),
            None,
        )
        if long is not None:
            raise OptionError(
                f"joint '{shown(long)[:40]}...': a name may have up to {LONGEST_NAME} bytes"
            )
        if self.trig == "inline":
            _check_inline(functions, self.batch)
        if self.batch is not None:
            _check_batch_names([function.name for function in functions])
        source = Source.of(self.file, loaded.sha256, self.actuators, loaded.actuators_sha256)
        return Module(
            name,
            robot,
            functions,
            source,
            self.scalar,
            self.chunk,
            self.trig,
            self.batch,
            self.glue,
            self.target,
            self.options(loaded),
            self.zeros,
        )

    def every_formulation(self, loaded: Loaded) -> list[Function]:
        """Each function in each of its formulations. Raises OptionError."""
        robot = self.robot(loaded)
        return [
            f for wanted in self.wanted() for f in every_formulation(robot, wanted, self.choice())
        ]

    def saving(self, loaded: Loaded, module: Module) -> tuple[Notice, ...]:
        """A hint how many operations a wider snap would save, where the file has angles just beside
        right ones; and what is asked for that the robot does not have."""
        missing = _frictionless(loaded, module.robot)
        near = [angle for angle in loaded.right_angles if not angle.exact]
        if not near:
            return missing
        wider = replace(
            self, snap_angles=_rounded_up(max(SNAPPED, *(abs(angle.offset) for angle in near)))
        )
        now, then = _total(module), _total(wider.module(wider.load()))
        if then >= now:
            return missing
        message = f"--snap-angles {wider.snap_angles:g} would save {now - then} of {now} operations"
        return (*missing, Notice(near[0].place, "note", near[0].element, message))

    def options(self, loaded: Loaded) -> Mapping[str, Any]:
        """The options as plain data, gravity in the axes of the root link; the file is left out,
        because its folder is nobody's business, and so is that of the actuators."""
        said = {name: value for name, value in asdict(self).items() if name != "file"}
        said["gravity"] = self.gravity or loaded.model.gravity
        return said | {"actuators": self.actuators and PurePath(self.actuators).name}

    def _runtime_links(self, loaded: Loaded) -> tuple[str, ...]:
        if self.parameters == "constant":
            return ()
        if self.parameters == "runtime":
            return tuple(body.name for body in loaded.model.moving)
        kind, _, names = self.parameters.partition(":")
        if kind != "runtime" or not names:
            raise OptionError(
                f"--parameters {self.parameters!r}: use constant, runtime or runtime:LINK[,LINK...]"
            )
        return _known_links(loaded, names.split(","))


def _frictionless(loaded: Loaded, robot: Robot) -> tuple[Notice, ...]:
    """A warning where friction that is asked for is zero in every joint."""
    if not robot.frictionless:
        return ()
    kinds = ", ".join(robot.frictionless)
    message = (
        f"no joint has {kinds} friction, so it is zero; give <dynamics> in the file, "
        "--actuators, or --friction runtime:... for an input"
    )
    return (Notice(Place(loaded.file, 1), "warning", "--friction", message),)


def _known_links(loaded: Loaded, names: list[str], option: str = "--parameters") -> tuple[str, ...]:
    moving = [link.name for body in loaded.model.bodies for link in body.links]
    for name in names:
        if name in (link.name for link in loaded.model.base):
            raise OptionError(
                f"{option}: link '{shown(name)}' does not move, so no term depends on it"
            )
        if name not in moving:
            raise OptionError(
                f"{option}: no link is called '{shown(name)}'; there are {quoted(moving)}"
            )
    return tuple(names)


def _rounded_up(x: float) -> float:
    """The next number of one digit."""
    digit = 10.0 ** math.floor(math.log10(x))
    return float(f"{math.ceil(x / digit) * digit:.0e}")


def _total(module: Module) -> int:
    return sum(function.counts.total for function in module.functions)


WIDTHS: Final = ("auto", "2", "4", "8", "16", "32", "64")
"""What ``--batch`` can be: GNU C has vectors of powers of two."""


def _check_batch(batch: str | None, trig: str, zeros: str) -> None:
    if batch is not None and batch not in WIDTHS:
        raise OptionError(f"--batch {batch!r}: use one of {', '.join(WIDTHS)}")
    if batch is not None and trig != "inline":
        raise OptionError("--batch: vectors need sine and cosine without calls; add --trig inline")
    if batch is not None and zeros == "once":
        raise OptionError("--batch: blocks of states are written whole; leave --zeros once away")


def _check_batch_names(names: Sequence[str]) -> None:
    """The functions for batches have names of their own, which other functions must not have."""
    made = {f"{name}_{end}" for name in names for end in ("batch", "rows")} | {
        "batch",
        "batch_width",
        "lanes",
        "mask",
    }
    bad = next((name for name in names if name in made), None)
    if bad is not None:
        raise OptionError(
            f"--batch: a function for batches would be called {bad!r}, too; name yours otherwise"
        )


def _check_inline(functions: Sequence[Function], batch: str | None) -> None:
    bad = next(
        ((f.name, op) for f in functions for op in sorted(used(f.program)) if not OPS[op].portable),
        None,
    )
    if bad is not None and batch is not None:
        raise OptionError(
            f"--friction-width: vectors of states have no {bad[1]}, which {bad[0]} needs; leave "
            f"it away"
        )
    if bad is not None:
        raise OptionError(f"--trig inline has no {bad[1]}, which {bad[0]} needs; use --trig libm")


LONGEST_NAME: Final = 4000
"""C99 compilers need not take string literals of more than 4095 characters."""

FUNCTIONS: Final = frozenset(
    {
        "selftest",
        "selftest_function",
        "real",
        "info",
        "info_type",
        "joint_type",
        "regroup",
        "parameters",
        "gamma_index",
        "sincos",
        "trig",
        "np",
        *(op.name for op in OPS.values() if not op.symbol),
    }
)
"""Names that the generated files have in use beside their functions."""


def _check_name(what: str, name: str, taken: Collection[str]) -> None:
    """A name becomes code and part of file names, so only plain identifiers pass."""
    if (
        not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name, re.ASCII)
        or name in KEYWORDS
        or name in taken
    ):
        raise OptionError(
            f"{what}: {name!r} is not usable; take a lower-case identifier that no language "
            f"reserves"
        )
