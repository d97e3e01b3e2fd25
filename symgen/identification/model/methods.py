"""The methods of identification, a row each."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Method:
    """A method: the equations that it forms from a log (``forces`` at each sample, or the balance
    of ``momentum`` or ``energy`` over intervals), and whether it solves them with instrumental
    variables."""

    name: str
    equations: str
    about: str
    instruments: bool = False


METHODS: Final = {
    row.name: row
    for row in (
        Method("acceleration", "forces", "least squares on the joint forces of every sample"),
        Method("momentum", "momentum", "momentum balance over intervals, needs no accelerations"),
        Method("energy", "energy", "energy balance over intervals, needs no accelerations"),
        Method(
            "instrumental",
            "forces",
            "instrumental variables from the commanded positions (columns ref_JOINT), for noise "
            "that biases least squares",
            instruments=True,
        ),
    )
}
"""By name."""


def methods_in_words() -> str:
    """The methods with their descriptions, for the help."""
    return "; ".join(f"{row.name} ({row.about})" for row in METHODS.values())
