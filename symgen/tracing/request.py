"""Functions wanted: their quantities, as they are asked for by name."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from symgen.algorithms.registry import LINK_QUANTITIES, QUANTITIES, Quantity, unknown_quantity
from symgen.errors import OptionError
from symgen.text import cited


@dataclass(frozen=True, slots=True)
class FunctionRequest:
    """A function to generate: its name and the quantities it computes together."""

    name: str
    quantities: tuple[Quantity, ...]

    @classmethod
    def parse(cls, text: str) -> "FunctionRequest":
        """From ``QUANTITY`` or ``NAME=QUANTITY+QUANTITY``, each ``QUANTITY:LINK`` if it is that of
        a link.

        Raises OptionError.
        """
        name, _, sum_ = text.partition("=")
        parts = (sum_ or name).split("+")
        quantities = tuple(find_quantity(part) for part in parts)
        if len(set(parts)) != len(parts):
            raise OptionError(f"{cited(text)} contains a quantity twice")
        if not sum_ and len(parts) > 1:
            raise OptionError(f"{cited(text)} needs a name for the function, as in terms={text}")
        _check_arrays(text, quantities)
        return cls(name if sum_ else re.sub(r"\W", "_", name, flags=re.ASCII).lower(), quantities)


def _check_arrays(text: str, quantities: Sequence[Quantity]) -> None:
    """One function cannot read an array and write it; an array that two quantities give is given
    once."""
    read = {name for q in quantities for name in q.inputs}
    clashing = [out.name for q in quantities for out in q.outputs if out.name in read]
    if clashing:
        raise OptionError(
            f"{cited(text)} would read and write {clashing[0]}; request two functions instead"
        )


def find_quantity(text: str) -> Quantity:
    """The quantity of that name, ``QUANTITY:LINK`` where it is that of a link. Raises
    OptionError."""
    name, _, link = text.partition(":")
    if name in LINK_QUANTITIES and link:
        return LINK_QUANTITIES[name].of(link)
    if name in LINK_QUANTITIES:
        raise OptionError(f"{name} is a quantity of a link; name the link, as in {name}:LINK")
    if text not in QUANTITIES:
        raise unknown_quantity(text)
    return QUANTITIES[text]
