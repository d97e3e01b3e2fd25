"""The settings of an identification, valid from construction."""

from collections.abc import Iterable
from typing import Any, ClassVar, Final

from symgen.errors import OptionError
from symgen.identification.data.log_options import AUTO, LogOptions, check_number
from symgen.identification.model.drive_columns import DEFAULT_LAWS
from symgen.mechanics.joint_forces import FRICTION, LAWS, SPRINGS
from symgen.options import group, option
from symgen.options.kinds import FLAG, NUMBER, choice, finite
from symgen.reading.options import moving_joints
from symgen.text import cited

LOSSES: Final = ("huber", "squares")
NONE: Final = "none"
WRENCH: Final = "wrench:"
RUNTIME: Final = "runtime:"
GIVE_WIDTH: Final = "give a velocity (rad/s or m/s) such as 0.01, 0 for sign(qd), or auto"


def _sensors(robot: Any, start: str) -> Iterable[str]:
    """The kinds of sensors; after ``wrench:`` the joints."""
    return moving_joints(robot, start) if start else ("torque", "wrench:", "torque+wrench:")


@group
class Settings(LogOptions):
    """The options of ``symgen identify`` that no other command has.

    `held_out` is the fraction of the log that is held out. Raises OptionError."""

    SECTION: ClassVar[str] = "Model and method"

    sensor: str = option(
        "--sensor",
        "KIND",
        "Measured forces: torque (columns tau_JOINT), wrench:JOINT (columns wrench_fx to "
        "wrench_tz: the wrench that the joint transmits to the link that it moves, in that link's "
        "frame), "
        "wrench:JOINT,JOINT (columns wrench_JOINT_fx, ...) or torque+wrench:JOINT.",
        default="torque",
        rare=True,
        names=_sensors,
        separators=":,",
    )
    friction: str = option(
        "--friction",
        "auto|none|LAWS",
        "Joint friction to identify: auto (the laws that predict logs of real robots best, and "
        f"the inertia of rotors), none, or a list of {', '.join(FRICTION)} (see symgen docs "
        "identification).",
        default=AUTO,
        names=(AUTO, NONE, *FRICTION),
        separators=",",
    )
    friction_width: str = option(
        "--friction-width",
        "W|auto",
        "Smooth Coulomb friction: use tanh(qd / W) instead of sign(qd), with W in rad/s or m/s. 0 "
        "uses sign(qd); auto uses a part of the largest velocity.",
        default="",
        shown_default="auto with --friction auto, otherwise 0",
    )
    springs: bool = option(
        "--springs",
        None,
        "Also identify the stiffness and the preload (stiffness times reference) of each joint's "
        "spring.",
        FLAG,
        default=False,
    )
    armature: bool = option(
        "--armature",
        None,
        "Also identify the inertia of each joint's rotor, reflected to the joint.",
        FLAG,
        default=False,
    )
    loss: str = option(
        "--loss",
        "NAME",
        "Loss function: huber, which limits the effect of outliers, or squares.",
        choice(*LOSSES),
        default="huber",
    )
    slowest: float | None = option(
        "--slowest",
        "V",
        "Joint velocity (rad/s or m/s) below which the sign of the velocity is taken as unknown; "
        "samples with slower joints are left out if friction depends on the sign.",
        NUMBER,
        default=None,
        shown_default="from the noise of the velocities",
        rare=True,
    )
    held_out: float = option(
        "--validate",
        "FRACTION",
        "Fraction at the end of the log that is held out for validation.",
        NUMBER,
        default=0.2,
    )
    full: bool = option(
        "--full",
        None,
        "Also estimate the standard parameters of every body. The prior determines those that the "
        "log does not. Without this option only base parameters are estimated.",
        FLAG,
        default=False,
    )
    prior: str = option(
        "--prior",
        "urdf|FILE",
        "Prior standard parameters: urdf (those of the robot's file) or a JSON or TOML file.",
        default="urdf",
    )
    prior_deviation: float = option(
        "--prior-deviation",
        "X",
        "Standard deviation of the prior of --full, relative to the size of each body. --friction "
        "auto also tries 3 and 10 times this value and no prior.",
        NUMBER,
        default=0.3,
        rare=True,
    )
    max_condition: float = option(
        "--max-condition",
        "X",
        "Reject a log whose regressor has a larger condition number (columns scaled to unit "
        "length).",
        NUMBER,
        default=1e4,
        rare=True,
    )

    def validate(self) -> None:
        """Raises OptionError."""
        LogOptions.validate(self)
        given = self.friction.removeprefix(RUNTIME)
        names = [] if given in ("", AUTO, NONE) else given.split(",")
        if len({*names}) < len(names) or not {*names} <= {*FRICTION}:
            raise OptionError(f"--friction {given}: use some of {', '.join(FRICTION)}")
        if "offset" in names and self.springs:
            raise OptionError(
                "--friction offset and --springs: an offset and the preload of a spring cannot be "
                "distinguished; remove one of them"
            )
        if self.width is not None and not 0 <= self.width < 1e6:
            raise OptionError(f"--friction-width {self.friction_width}: {GIVE_WIDTH}")
        if self.slowest is not None and not 0 <= self.slowest < 1e6:
            raise OptionError(
                f"--slowest {self.slowest:g}: give a velocity (rad/s or m/s), such as 0.02"
            )
        if self.sensor != "torque" and not self.wrenches:
            raise OptionError(
                f"--sensor {cited(self.sensor)}: use torque, wrench:JOINT,JOINT or "
                "torque+wrench:JOINT"
            )
        check_number(
            "--validate", self.held_out + 1e-300, 0, 0.9, "a fraction of the log from 0 to 0.9"
        )
        check_number(
            "--prior-deviation",
            self.prior_deviation,
            1e-9,
            1e6,
            "a relative deviation, such as 0.3",
        )
        check_number(
            "--max-condition", self.max_condition, 1, 1e16, "a number above 1, such as 1e4"
        )

    @property
    def automatic(self) -> bool:
        """True if the laws of friction are the default ones."""
        return self.friction == AUTO

    @property
    def laws(self) -> tuple[str, ...]:
        """The laws of joint forces that are to be identified: viscous friction, then the others in
        the order of the registry. A spring's preload replaces the offset."""
        named = {*self.friction.removeprefix(RUNTIME).split(",")}
        if self.automatic:
            named = {name for name in DEFAULT_LAWS if name != "offset" or not self.springs}
        named |= {*(SPRINGS if self.springs else ()), *(("armature",) if self.armature else ())}
        return tuple(law for law in dict.fromkeys(("viscous", *LAWS)) if law in named)

    @property
    def width(self) -> float | None:
        """The width of the direction of friction (rad/s or m/s), None if it is chosen from the log.
        Raises OptionError."""
        if self.friction_width == AUTO or (self.automatic and not self.friction_width):
            return None
        try:
            return finite(self.friction_width or "0")
        except ValueError:
            given = cited(self.friction_width)
            raise OptionError(f"--friction-width {given}: {GIVE_WIDTH}") from None

    @property
    def torque(self) -> bool:
        """True if joint forces are measured."""
        return self.sensor.partition("+")[0] == "torque"

    @property
    def wrenches(self) -> tuple[str, ...]:
        """The joints whose transmitted wrenches are measured."""
        sensor = self.sensor.removeprefix("torque+")
        named = sensor.removeprefix(WRENCH).split(",") if sensor.startswith(WRENCH) else []
        return tuple(dict.fromkeys(name for name in named if name))
