"""The work array of a function in banks of as many entries as one instruction reaches.

A Cortex-M with a floating-point unit loads and stores a number up to 1020 bytes behind a pointer in
one instruction (a Cortex-M0+ up to 124); what lies further takes another for its address, each
time. So pieces of a function whose work array is longer get a pointer to each part of it that they
use, and are told that these overlap nothing: what they have read once need not be read again."""

from dataclasses import dataclass
from typing import Final

from symgen.compiler.costs import HOST
from symgen.languages.c.options import COptions, aim_of
from symgen.languages.c.text import BYTES
from symgen.languages.describe import Argument
from symgen.languages.module import Module
from symgen.languages.partition import WORK

ADDRESSING_RANGE_BYTES: Final = 1024
"""Bytes from the first number that an instruction of such a Cortex-M reaches to the end of the
last."""


def addressing_range(module: Module) -> int:
    """How many entries of an array one instruction reaches, 0 where that is no matter: for code
    that is to be small, and on a Cortex-M."""
    c = module[COptions]
    matters = aim_of(module.choices).name == "size" or c.machine is not HOST
    return ADDRESSING_RANGE_BYTES // BYTES[c.scalar] if matters else 0


@dataclass(frozen=True, slots=True)
class WorkArraySegments:
    """A work array of `size` entries in banks of `reach` each, in one where that is 0."""

    size: int
    reach: int

    @property
    def several(self) -> bool:
        """Whether there is more than one."""
        return 0 < self.reach < self.size

    @property
    def apart(self) -> bool:
        """Whether pieces are told that they overlap nothing."""
        return self.size > 0 and self.reach > 0

    def at(self, place: int) -> tuple[str, int]:
        """The bank of an entry, and its place there: entry 300 of `w` is 44 of `w256`."""
        first = place - place % self.reach if self.several else 0
        return f"{WORK}{first or ''}", place - first

    def entry(self, array: str, place: int) -> str:
        """How an entry of an array is written."""
        array, place = self.at(place) if array == WORK else (array, place)
        return f"{array}[{place}]"

    @property
    def arguments(self) -> list[Argument]:
        """The banks as arguments of a piece."""
        step = self.reach if self.several else self.size
        return [
            Argument(
                "work", self.at(k)[0], (min(step, self.size - k),), f"work array from {k} on", ""
            )
            for k in range(0, self.size, step or 1)
        ]


def passed(name: str) -> str:
    """How an array of a piece is named in its caller: a bank by its first entry."""
    first = name.removeprefix(WORK)
    return f"&{WORK}[{first}]" if name.startswith(WORK) and first.isdigit() else name
