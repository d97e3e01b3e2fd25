"""How to read a log: the options that ``symgen log`` and every command that reads one share."""

from typing import Any, Final

from symgen.errors import OptionError
from symgen.options import group, option
from symgen.options.kinds import FLAG, NAMES, NUMBER, NUMBER_PAIRS, PAIRS, finite
from symgen.reading.options import joint_values, moving_joints
from symgen.text import cited

AUTO: Final = "auto"
"""What is to be found."""

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
"""By name: the unit that it is a multiple of, and how many of that it is."""
GROUPS: Final = {
    "t": ("s",),
    "q": ("rad", "m"),
    "qd": ("rad", "m"),
    "qdd": ("rad", "m"),
    "tau": ("N m", "N"),
    "current": ("A",),
    "wrench": ("N", "N m"),
    "ref": ("rad", "m"),
}
"""The groups of columns, with the units that theirs are multiples of."""


@group
class LogOptions:
    """How to read a log.

    `columns` is a TOML file; `column` has patterns by group, `unit` names of units by group,
    `scale` factors by column; `rate` in Hz, 0 where the log has its own time; `cutoff` in Hz, 0
    where it is chosen. Raises OptionError."""

    columns: str | None = option(
        "--columns",
        "MAP.toml",
        "What the log's columns mean: t, q, qd, qdd, tau, current, ref, each a pattern or a list "
        "of names, and the options below by name.",
        default=None,
        path=True,
    )
    column: tuple[tuple[str, str], ...] = option(
        "--column",
        "GROUP=PATTERN",
        "Where t, q, qd, qdd, tau, current, wrench or ref (commanded positions) stand: "
        "q=actual_q_{} with the joint's name or number (from 0 or 1) for {}, q=a,b,c, q=2-7 by "
        "number; or of one joint, tau_JOINT=NAME. May be repeated.",
        PAIRS,
        give="give GROUP=PATTERN, as in q=actual_q_{}",
        default=(),
    )
    joints: tuple[str, ...] = option(
        "--joints",
        "J,J,...",
        "The joints that numbered columns belong to, in their order, where it is not the robot's.",
        NAMES,
        names=moving_joints,
        parted=",",
        default=(),
    )
    unit: tuple[tuple[str, str], ...] = option(
        "--unit",
        "GROUP=UNIT",
        f"Unit of a group where it is not SI: q=deg, qd=rpm, t=ms, tau=Ncm ({', '.join(UNITS)}; "
        "of velocities by second). May be repeated.",
        PAIRS,
        give="give GROUP=UNIT, as in q=deg",
        default=(),
    )
    scale: tuple[tuple[str, float], ...] = option(
        "--scale",
        "COLUMN=X",
        "Multiply a column, as in tau_joint2=-1. May be repeated.",
        NUMBER_PAIRS,
        give="give COLUMN=X, as in tau_joint2=-1",
        default=(),
    )
    rate: float = option(
        "--rate",
        "HZ",
        "Rows are even, so many a second, whatever time stamps say; the log needs none.",
        NUMBER,
        default=0.0,
        shown_default="by time stamps",
    )
    torque_constant: tuple[tuple[str, float], ...] = option(
        "--torque-constant",
        "JOINT=K",
        "Force of a joint by its motor's current, N m/A or N/A, times --gear-ratio. Currents are "
        "read where these are given. May be repeated; 'symgen gains' finds them.",
        NUMBER_PAIRS,
        give="give JOINT=K, as in elbow=11.1",
        names=joint_values,
        parted="=",
        default=(),
    )
    gear_ratio: tuple[tuple[str, float], ...] = option(
        "--gear-ratio",
        "JOINT=N",
        "Where --torque-constant is the motor's own. May be repeated.",
        NUMBER_PAIRS,
        give="give JOINT=N, as in elbow=101",
        names=joint_values,
        parted="=",
        default=(),
    )
    delay: str = option(
        "--delay",
        "S|J=S,...|auto",
        "Forces are recorded so many seconds after the motion that they belong to, all of them or "
        "by joint; negative where they come before it. auto: an unknown of each joint (symgen "
        "identify).",
        default="0",
    )
    cutoff: float = option(
        "--cutoff",
        "HZ",
        "Of the symmetric filter that gives velocities and accelerations where the log has none; "
        "by default ten times the bandwidth of the motion.",
        NUMBER,
        default=0.0,
        shown_default="by the motion",
    )
    trust_units: bool = option(
        "--trust-units", None, "Do not suspect wrong units.", FLAG, default=False
    )

    def validate(self) -> None:
        """Raises OptionError."""
        if self.cutoff:
            check_number("--cutoff", self.cutoff, 0, 1e6, "a frequency in Hz, such as 20")
        if self.rate:
            check_number("--rate", self.rate, 1e-3, 1e7, "rows a second, such as 500")
        for value in self.delays.values():
            check_number("--delay", abs(value) + 1e-300, 0, 1, "a time in s, such as 0.002")
        for name, unit in self.unit:
            check_unit(name, unit, "--unit")

    @property
    def delays(self) -> dict[str, float]:
        """The delays by joint, or of all under the empty name; none where they are to be found.
        Raises OptionError."""
        if self.delay == AUTO:
            return {}
        pairs = [part.rpartition("=") for part in self.delay.split(",")]
        try:
            return {name: finite(value) for name, _, value in pairs}
        except ValueError:
            raise OptionError(
                f"--delay {cited(self.delay)}: give a time in s as 0.002, JOINT=S,..., or auto"
            ) from None


def check_number(option: str, value: float, low: float, high: float, give: str) -> None:
    """Raises OptionError for a value that is not above `low` and at most `high`."""
    if not low < value <= high:
        raise OptionError(f"{option} {value:g}: give {give}")


def check_unit(name: str, unit: Any, where: str) -> None:
    """Raises OptionError for what is no unit of a group."""
    known = [u for u, (base, _) in UNITS.items() if base in GROUPS.get(name, ())]
    if not known:
        raise OptionError(f"{where} {name}={unit}: a group is one of {', '.join(GROUPS)}")
    plain = str(unit).removesuffix("^2").removesuffix("²")
    if plain.split("/s")[0] not in known:
        raise OptionError(f"{where} {name}={unit}: use one of {', '.join(known)}")


def factor(units: tuple[tuple[str, str], ...], name: str, base: str) -> float:
    """How many of a base unit the numbers of a group are, where they are told to be multiples of
    it."""
    for group_, unit in reversed(units):
        known, value = UNITS[unit.split("/s")[0]]
        if group_ == name and known == base:
            return value
    return 1.0
