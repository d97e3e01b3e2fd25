"""The options for reading a log, shared by all commands that read one."""

from typing import Any, ClassVar, Final

from symgen.errors import OptionError
from symgen.options import group, option
from symgen.options.kinds import FLAG, NAMES, NUMBER, NUMBER_PAIRS, PAIRS, finite
from symgen.reading.options import joint_values, moving_joints
from symgen.text import cited

AUTO: Final = "auto"
"""The value of an option whose value is to be estimated."""

UNITS: Final[dict[str, tuple[str, float]]] = {
    "rad": ("rad", 1.0),
    "deg": ("rad", 3.141592653589793 / 180),
    "rev": ("rad", 2 * 3.141592653589793),
    "rpm": ("rad", 3.141592653589793 / 30),
    "m": ("m", 1.0),
    "cm": ("m", 1e-2),
    "mm": ("m", 1e-3),
    "s": ("s", 1.0),
    "ms": ("s", 1e-3),
    "us": ("s", 1e-6),
    "ns": ("s", 1e-9),
    "Nm": ("N m", 1.0),
    "Ncm": ("N m", 1e-2),
    "mNm": ("N m", 1e-3),
    "kNm": ("N m", 1e3),
    "N": ("N", 1.0),
    "mN": ("N", 1e-3),
    "kN": ("N", 1e3),
    "A": ("A", 1.0),
    "mA": ("A", 1e-3),
}
"""The base unit and the factor to it, by the name of a unit."""
COLUMN_GROUPS: Final = {
    "t": ("s",),
    "q": ("rad", "m"),
    "qd": ("rad", "m"),
    "qdd": ("rad", "m"),
    "theta": ("rad", "m"),
    "tau": ("N m", "N"),
    "current": ("A",),
    "wrench": ("N", "N m"),
}
"""The groups of columns with their base units."""


@group
class LogOptions:
    """The options for reading a log.

    `columns` is a TOML file; `column` has patterns by group, `unit` names of units by group,
    `scale` factors by column; `rate` is in Hz, 0 for the time stamps of the log; `cutoff` is in
    Hz, 0 for an automatic choice. Raises OptionError."""

    SECTION: ClassVar[str] = "Log"

    columns: str | None = option(
        "--columns",
        "MAP.toml",
        "TOML file that maps the columns of the log: t, q, qd, qdd, theta, tau and current, each a "
        "pattern or a list of names. It may also set the other options of this section.",
        default=None,
        path=True,
    )
    column: tuple[tuple[str, str], ...] = option(
        "--column",
        "GROUP=PATTERN",
        "Columns of a group: t, q, qd, qdd, theta (motor positions), tau, current or wrench. "
        "Examples: q=actual_q_{} ({} stands for the joint's name, or its number from 0 or 1), "
        "q=a,b,c (names), q=2-7 (numbers), tau_JOINT=NAME (one joint).",
        PAIRS,
        give="give GROUP=PATTERN, as in q=actual_q_{}",
        default=(),
    )
    joints: tuple[str, ...] = option(
        "--joints",
        "J,J,...",
        "Joints of numbered columns, in the order of the columns. The default is the order of the "
        "robot's coordinates.",
        NAMES,
        rare=True,
        names=moving_joints,
        separators=",",
        default=(),
    )
    unit: tuple[tuple[str, str], ...] = option(
        "--unit",
        "GROUP=UNIT",
        "Unit of a group if it is not an SI unit, such as q=deg, qd=rpm, t=ms or tau=Ncm. Units: "
        f"{', '.join(UNITS)}; velocities per second.",
        PAIRS,
        give="give GROUP=UNIT, as in q=deg",
        default=(),
    )
    scale: tuple[tuple[str, float], ...] = option(
        "--scale",
        "COLUMN=X",
        "Multiply a column by a factor, such as tau_joint2=-1.",
        NUMBER_PAIRS,
        rare=True,
        give="give COLUMN=X, as in tau_joint2=-1",
        default=(),
    )
    rate: float = option(
        "--rate",
        "HZ",
        "Assume a constant sample rate (Hz) and ignore time stamps.",
        NUMBER,
        default=0.0,
        shown_default="from the time stamps",
    )
    torque_constant: tuple[tuple[str, float], ...] = option(
        "--torque-constant",
        "JOINT=K",
        "Torque constant (N m/A or N/A) of a joint or, with --gear-ratio, of its motor. Currents "
        "are read for these joints. symgen gains estimates torque constants.",
        NUMBER_PAIRS,
        give="give JOINT=K, as in elbow=11.1",
        names=joint_values,
        separators="=",
        default=(),
    )
    gear_ratio: tuple[tuple[str, float], ...] = option(
        "--gear-ratio",
        "JOINT=N",
        "Gear ratio of a joint, if --torque-constant is that of the motor.",
        NUMBER_PAIRS,
        rare=True,
        give="give JOINT=N, as in elbow=101",
        names=joint_values,
        separators="=",
        default=(),
    )
    delay: str = option(
        "--delay",
        "S|J=S,...",
        "Delay (s) of the recorded forces relative to the motion, for all joints or JOINT=S,... "
        "for each; negative if they are early.",
        default="0",
        rare=True,
    )
    cutoff: float = option(
        "--cutoff",
        "HZ",
        "Cut-off frequency (Hz) of the zero-phase filter that is used to differentiate positions "
        "and velocities.",
        NUMBER,
        default=0.0,
        shown_default="10 times the bandwidth of the motion",
    )
    trust_units: bool = option(
        "--trust-units",
        None,
        "Do not check the plausibility of the units.",
        FLAG,
        default=False,
        rare=True,
    )

    def validate(self) -> None:
        """Raises OptionError."""
        if self.cutoff:
            check_number("--cutoff", self.cutoff, 0, 1e6, "a frequency in Hz, such as 20")
        if self.rate:
            check_number("--rate", self.rate, 1e-3, 1e7, "a sample rate in Hz, such as 500")
        for value in self.delays.values():
            check_number("--delay", abs(value) + 1e-300, 0, 1, "a time in s, such as 0.002")
        for name, unit in self.unit:
            check_unit(name, unit, "--unit")

    @property
    def delays(self) -> dict[str, float]:
        """The delays by joint; the key of a delay of all joints is empty. Raises
        OptionError."""
        pairs = [part.rpartition("=") for part in self.delay.split(",")]
        try:
            return {name: finite(value) for name, _, value in pairs}
        except ValueError:
            raise OptionError(
                f"--delay {cited(self.delay)}: give a time in s such as 0.002, or JOINT=S,..."
            ) from None


def check_number(option: str, value: float, low: float, high: float, expected: str) -> None:
    """Raises OptionError for a value that is not above `low` and at most `high`."""
    if not low < value <= high:
        raise OptionError(f"{option} {value:g}: give {expected}")


def check_unit(group_name: str, unit: Any, where: str) -> None:
    """Raises OptionError for a unit that the group does not have."""
    known = [u for u, (base, _) in UNITS.items() if base in COLUMN_GROUPS.get(group_name, ())]
    if not known:
        raise OptionError(
            f"{where} {group_name}={unit}: unknown group; use one of {', '.join(COLUMN_GROUPS)}"
        )
    plain = str(unit).removesuffix("^2").removesuffix("²")
    if plain.split("/s")[0] not in known:
        raise OptionError(f"{where} {group_name}={unit}: use one of {', '.join(known)}")


def unit_factor(units: tuple[tuple[str, str], ...], group_name: str, base: str) -> float:
    """The factor from the unit of a group to the base unit; 1 if no unit is given."""
    for name, unit in reversed(units):
        known, value = UNITS[unit.split("/s")[0]]
        if name == group_name and known == base:
            return value
    return 1.0
