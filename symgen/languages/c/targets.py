"""The processors that a report can have figures of."""

from dataclasses import dataclass
from typing import Final

from symgen.compiler.costs import CORTEX_M, HOST, Processor

ARM: Final = "arm-none-eabi-gcc"
HARD: Final = ("-mthumb", "-mfloat-abi=hard")


@dataclass(frozen=True, slots=True)
class Target:
    """A processor: its compiler (that of the host where empty) and what that must be told."""

    compiler: str
    flags: tuple[str, ...]
    single: bool = False
    """Whether its floating-point unit has single precision only."""
    machine: Processor = CORTEX_M
    """How long its operations take."""


TARGETS: Final = {
    "host": Target("", (), machine=HOST),
    "cortex-m0plus": Target(ARM, ("-mcpu=cortex-m0plus", "-mthumb")),
    "cortex-m4f": Target(ARM, ("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", *HARD), single=True),
    "cortex-m33": Target(ARM, ("-mcpu=cortex-m33", "-mfpu=fpv5-sp-d16", *HARD), single=True),
    "cortex-m7": Target(ARM, ("-mcpu=cortex-m7", "-mfpu=fpv5-d16", *HARD)),
}
"""The processors of ``--target`` by name."""
