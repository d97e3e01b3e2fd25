"""The axes that external wrenches are given in."""

from collections.abc import Sequence

from symgen.errors import OptionError


def check_axes(axes: str, wrenches: Sequence[str]) -> None:
    """Refuses root axes without wrenches. Raises OptionError."""
    if axes == "root" and not wrenches:
        raise OptionError("--wrench-axes root has no effect without --external-wrench LINK")
