"""The choices of a run of identification, valid from construction."""

from dataclasses import dataclass
from typing import Final

from symgen.errors import OptionError

METHODS: Final = ("acceleration", "momentum", "energy")
ENGINES: Final = ("serial", "dask")
WRENCH: Final = "wrench:"


@dataclass(frozen=True)
class Settings:
    """How to identify; the fields are the options of ``symgen identify`` that no other command has.

    `cutoff` in Hz, `interval` in s; `validate` is the part of the log that is held out. Raises
    OptionError."""

    sensor: str = "torque"
    method: str = "acceleration"
    cutoff: float = 20.0
    interval: float = 0.1
    validate: float = 0.2
    full: bool = False
    prior: str = "urdf"
    prior_deviation: float = 0.3
    max_condition: float = 1e4
    engine: str = "serial"
    scheduler: str | None = None
    trust_units: bool = False

    def __post_init__(self) -> None:
        self._among("--method", self.method, METHODS)
        self._among("--engine", self.engine, ENGINES)
        if self.sensor != "torque" and not self.joint:
            raise OptionError(f"--sensor {self.sensor!r}: use torque or wrench:JOINT")
        if self.joint and self.method != "acceleration":
            raise OptionError(
                f"--method {self.method}: a wrench needs accelerations; use --method acceleration"
            )
        self._number("--cutoff", self.cutoff, 0, 1e6, "a frequency in Hz, such as 20")
        self._number("--interval", self.interval, 0, 1e6, "a time in s, such as 0.1")
        self._number(
            "--validate", self.validate + 1e-300, 0, 0.9, "a part of the log from 0 to 0.9"
        )
        self._number(
            "--prior-deviation",
            self.prior_deviation,
            1e-9,
            1e6,
            "a relative deviation, such as 0.3",
        )
        self._number(
            "--max-condition", self.max_condition, 1, 1e16, "a number above 1, such as 1e4"
        )

    @property
    def joint(self) -> str:
        """The joint whose wrench is measured; none with ``torque``."""
        return self.sensor.removeprefix(WRENCH) if self.sensor.startswith(WRENCH) else ""

    @property
    def dask(self) -> bool:
        """Whether the reduction runs on Dask."""
        return self.engine == "dask" or self.scheduler is not None

    @staticmethod
    def _among(option: str, value: str, known: tuple[str, ...]) -> None:
        if value not in known:
            raise OptionError(f"{option} {value!r}: use one of {', '.join(known)}")

    @staticmethod
    def _number(option: str, value: float, low: float, high: float, give: str) -> None:
        if not low < value <= high:
            raise OptionError(f"{option} {value:g}: give {give}")
