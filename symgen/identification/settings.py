"""The choices of a run of identification, valid from construction."""

from collections.abc import Iterable
from typing import Any, Final

from symgen.errors import OptionError
from symgen.identification.log_options import AUTO, LogOptions, check_number
from symgen.identification.method_rows import METHODS, methods_in_words
from symgen.identification.terms import ARMATURE, FRICTION, SPRINGS
from symgen.options import group, option
from symgen.options.kinds import FLAG, NUMBER, choice, finite
from symgen.reading.options import moving_joints
from symgen.text import cited

LOSSES: Final = ("squares", "huber")
ENGINES: Final = ("serial", "dask")
WRENCH: Final = "wrench:"
RUNTIME: Final = "runtime:"
GIVE_WIDTH: Final = "give a rate (rad/s or m/s) such as 0.01, 0 for the sign, or auto"


def _sensors(robot: Any, start: str) -> Iterable[str]:
    """The kinds of sensors; after ``wrench:`` the joints."""
    return moving_joints(robot, start) if start else ("torque", "wrench:", "torque+wrench:")


@group
class Settings(LogOptions):
    """How to identify; the fields are the options of ``symgen identify`` that no other command has.

    `interval` in s; `held_out` is the part of the log that is held out. Raises
    OptionError."""

    sensor: str = option(
        "--sensor",
        "KIND",
        "What was measured: torque (columns tau_JOINT), wrench:JOINT, which goes through a joint "
        "(wrench_fx to wrench_tz, on the link that it moves, in its frame), wrench:JOINT,JOINT "
        "(wrench_JOINT_fx, ...), or torque+wrench:JOINT.",
        default="torque",
        names=_sensors,
        parted=":,",
    )
    method: str = option(
        "--method",
        "NAME",
        f"{methods_in_words()}.",
        choice(*METHODS),
        default="acceleration",
    )
    friction: str = option(
        "--friction",
        "TERMS",
        f"Identify friction of the joints too: some of {','.join(FRICTION)} (see "
        "symgen docs identification), or auto, which chooses by cross-validation.",
        default="",
        names=(AUTO, *FRICTION),
        parted=",",
    )
    friction_width: str = option(
        "--friction-width",
        "W|auto",
        "Make the step of Coulomb friction smooth, tanh(qd / W) with W in rad/s or m/s; 0 takes "
        "sign, auto searches.",
        default="0",
    )
    springs: bool = option(
        "--springs",
        None,
        "Identify springs too: stiffness and preload, which is stiffness times reference, of each "
        "joint.",
        FLAG,
        default=False,
    )
    armature: bool = option(
        "--armature",
        None,
        "Identify the inertia of each joint's rotor too, as the joint feels it.",
        FLAG,
        default=False,
    )
    loss: str = option(
        "--loss",
        "NAME",
        "squares; or huber, with which rows that are far off weigh less, as outliers should.",
        choice(*LOSSES),
        default="squares",
    )
    slowest: float | None = option(
        "--slowest",
        "V",
        "The rate of joints (rad/s or m/s) below which the sign of friction counts as unknown, so "
        "that rows are left out; found from the noise without it.",
        NUMBER,
        default=None,
    )
    interval: float = option(
        "--interval",
        "S",
        "Length of the intervals of --method momentum and energy.",
        NUMBER,
        default=0.1,
    )
    held_out: float = option(
        "--validate",
        "FRACTION",
        "Hold out the end of the log for validation, this part of it.",
        NUMBER,
        default=0.2,
    )
    full: bool = option(
        "--full",
        None,
        "Give standard parameters of every body too: the prior decides what the log does not. "
        "Without it base parameters alone, which the log decides.",
        FLAG,
        default=False,
    )
    consistent: bool = option(
        "--consistent",
        None,
        "Least squares among base parameters that bodies can have, with friction, rotors and "
        "springs that are not negative: in one step, by linear matrix inequalities.",
        FLAG,
        default=False,
    )
    entropic: float = option(
        "--entropic",
        "W",
        "With --consistent: keep bodies near the prior, by W times the log-det divergence of their "
        "pseudo-inertias from its, and give standard parameters of every body. 1 weighs like one "
        "observation of each body.",
        NUMBER,
        default=0.0,
        shown_default="no prior",
    )
    refine: bool = option(
        "--refine",
        None,
        "Refine the estimate by multiple shooting: the model, pushed by the measured forces, is to "
        "move as the robot did. Kept only where it foresees motion and forces held out better.",
        FLAG,
        default=False,
    )
    prior: str = option(
        "--prior",
        "urdf|FILE",
        "Standard parameters known beforehand: those of the robot's file, or of a JSON or TOML "
        "file.",
        default="urdf",
    )
    prior_deviation: float = option(
        "--prior-deviation",
        "X",
        "How far --full takes the prior to be off: standard deviation relative to each body's own "
        "size. --friction auto tries this, three and ten times as much, and no prior at all.",
        NUMBER,
        default=0.3,
    )
    max_condition: float = option(
        "--max-condition",
        "X",
        "Refuse a log whose regressor, columns scaled to unit length, has a larger condition "
        "number.",
        NUMBER,
        default=1e4,
    )
    engine: str = option(
        "--engine",
        "NAME",
        "Who computes: serial, or dask (threads of this process unless --scheduler is given).",
        choice(*ENGINES),
        default="serial",
    )
    scheduler: str | None = option(
        "--scheduler",
        "ADDRESS",
        "A running Dask scheduler, as in tcp://host:8786.",
        default=None,
    )

    def validate(self) -> None:
        """Raises OptionError."""
        LogOptions.validate(self)
        self._check_terms("--friction", self.friction.removeprefix(RUNTIME), FRICTION)
        if self.width is not None and not 0 <= self.width < 1e6:
            raise OptionError(f"--friction-width {self.friction_width}: {GIVE_WIDTH}")
        if self.slowest is not None and not 0 <= self.slowest < 1e6:
            raise OptionError(f"--slowest {self.slowest:g}: give a rate, such as 0.02")
        if self.sensor != "torque" and not self.wrenches:
            raise OptionError(
                f"--sensor {cited(self.sensor)}: use torque, wrench:JOINT,JOINT or both with a +"
            )
        self._check_method()
        self._check_refined()
        check_number("--interval", self.interval, 0, 1e6, "a time in s, such as 0.1")
        check_number(
            "--validate", self.held_out + 1e-300, 0, 0.9, "a part of the log from 0 to 0.9"
        )
        check_number(
            "--prior-deviation",
            self.prior_deviation,
            1e-9,
            1e6,
            "a relative deviation, such as 0.3",
        )
        if self.entropic:
            check_number("--entropic", self.entropic, 0, 1e12, "a weight, such as 1")
            if not self.consistent or self.full:
                raise OptionError(
                    "--entropic: a prior of --consistent, and another one than that of --full; "
                    "give --consistent without --full"
                )
        check_number(
            "--max-condition", self.max_condition, 1, 1e16, "a number above 1, such as 1e4"
        )

    def _check_method(self) -> None:
        """Raises OptionError for what a method cannot be used with."""
        if self.wrenches and self.method != "acceleration":
            raise OptionError(
                f"--method {self.method}: a wrench needs accelerations; use --method acceleration"
            )
        if METHODS[self.method].instruments and (self.full or self.loss != "squares"):
            flag = "--full" if self.full else f"--loss {self.loss}"
            raise OptionError(
                f"--method {self.method} and {flag}: instruments solve equations and minimise "
                "nothing; leave out one of them"
            )

    def _check_refined(self) -> None:
        """Raises OptionError for what cannot be refined."""
        unfit = {
            f"--sensor {self.sensor}": bool(self.wrenches),
            f"--method {self.method}": METHODS[self.method].equations != "forces",
            "--full": self.full,
            "--consistent": self.consistent,
        }
        for flag, given in unfit.items():
            if self.refine and given:
                raise OptionError(
                    f"--refine and {flag}: base parameters alone are refined, from forces of "
                    "joints; leave out one of them"
                )

    def _check_terms(self, flag: str, given: str, known: tuple[str, ...]) -> None:
        names = given.split(",") if given and given != AUTO else []
        if len(set(names)) < len(names) or not set(names) <= set(known):
            raise OptionError(f"{flag} {given}: use some of {', '.join(known)}")
        if "offset" in names and self.springs:
            raise OptionError(
                "--friction offset and --springs: an offset and the preload of a spring act alike; "
                "leave out one of them"
            )

    @property
    def automatic(self) -> bool:
        """Whether the terms of friction are to be chosen."""
        return self.friction == AUTO

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms of drives that are asked for by name."""
        friction = "" if self.automatic else self.friction.removeprefix(RUNTIME)
        named = tuple(name for name in friction.split(",") if name)
        return (*named, *(SPRINGS * self.springs), *(ARMATURE * self.armature))

    @property
    def width(self) -> float | None:
        """The width of the step of Coulomb friction (rad/s or m/s), None where it is to be
        searched. Raises OptionError."""
        if self.automatic or self.friction_width == AUTO:
            return None
        try:
            return finite(self.friction_width)
        except ValueError:
            given = cited(self.friction_width)
            raise OptionError(f"--friction-width {given}: {GIVE_WIDTH}") from None

    @property
    def torque(self) -> bool:
        """Whether the forces of joints are measured."""
        return self.sensor.partition("+")[0] == "torque"

    @property
    def wrenches(self) -> tuple[str, ...]:
        """The joints whose wrenches are measured."""
        sensor = self.sensor.removeprefix("torque+")
        named = sensor.removeprefix(WRENCH).split(",") if sensor.startswith(WRENCH) else []
        return tuple(dict.fromkeys(name for name in named if name))

    @property
    def dask(self) -> bool:
        """Whether the reduction runs on Dask."""
        return self.engine == "dask" or self.scheduler is not None
