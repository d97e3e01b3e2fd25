"""The axes that external wrenches are given in."""

from collections.abc import Sequence
from typing import Final

from symgen.errors import OptionError
from symgen.tracing.wanted import Wanted

ROOT_AXES: Final = ("inverse_dynamics", "forward_dynamics", "step:euler", "step:rk4")
"""What feels wrenches in the root's axes: all that differentiates nothing."""


def check_axes(axes: str, wrenches: Sequence[str], functions: Sequence[Wanted]) -> None:
    """Refuses root axes without wrenches, and for what holds them constant in link axes. Raises
    OptionError."""
    if axes != "root":
        return
    if not wrenches:
        raise OptionError("--wrench-axes root has no effect without --external-wrench LINK")
    for q in (q for f in functions for q in f.quantities):
        if q.feels_wrench and q.name not in ROOT_AXES:
            raise OptionError(
                f"--wrench-axes root: {q.name} holds wrenches constant in the axes of their links; "
                "leave it out, or give link axes"
            )
