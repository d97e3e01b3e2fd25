"""The methods of identification, a row each."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Method:
    """A method: what equations it makes of a log (``forces`` at instants, or the balance of
    ``momentum`` or ``energy`` over intervals), and whether it solves them with instruments."""

    name: str
    equations: str
    about: str
    instruments: bool = False


METHODS: Final = {
    row.name: row
    for row in (
        Method("acceleration", "forces", "least squares of forces at every row"),
        Method("momentum", "momentum", "of its balance over intervals, without accelerations"),
        Method("energy", "energy", "the same of energy"),
        Method(
            "instrumental",
            "forces",
            "instrumental variables of commanded positions (columns ref_JOINT), for logs whose "
            "noise biases least squares",
            instruments=True,
        ),
    )
}
"""By name."""


def methods_in_words() -> str:
    """The methods with what they are, for help."""
    return "; ".join(f"{row.name}: {row.about}" for row in METHODS.values())
