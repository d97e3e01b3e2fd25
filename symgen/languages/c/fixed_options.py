"""What fixed-point C supports: which options and which functions."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from symgen.algorithms.controllers import CONTROLLERS
from symgen.certified.fixed_types import FIXED
from symgen.errors import OptionError
from symgen.options import Option
from symgen.tracing.function import Function

NOT_FIXED_POINT: Final = ("trig", "zeros", "batch", "per_state", "chunk")
"""Options that fixed-point code does not support."""

FIXED_POINT_GLUE: Final = ("cmake", "zephyr", "arduino", "pkgconfig", "esp-idf")
"""Build systems of fixed-point code."""


def check_fixed_point(
    scalar: str, glue: Sequence[str], options: Sequence[Option], values: Mapping[str, Any]
) -> None:
    """Raises OptionError for an option that fixed-point code does not support."""
    if scalar not in FIXED:
        return
    for row in options:
        if row.name in NOT_FIXED_POINT and values[row.name] != row.default:
            raise OptionError(
                f"--scalar {scalar} and {row.flag}: fixed-point code does not support this; remove "
                "one of them"
            )
    other = [name for name in glue if name not in FIXED_POINT_GLUE]
    if other:
        raise OptionError(
            f"--scalar {scalar} and --glue {other[0]}: these files need floating-point code; use "
            f"some of {', '.join(FIXED_POINT_GLUE)}"
        )


def check_fixed_point_functions(scalar: str, functions: Sequence[Function]) -> None:
    """Raises OptionError for functions that are not generated in fixed point."""
    for f in functions if scalar in FIXED else ():
        if any(q.name.partition(":")[0] in CONTROLLERS for q in f.quantities):
            raise OptionError(
                f"--scalar {scalar}: {f.name} is a controller, which fixed point does not support; "
                "use float"
            )
        if "par" in f.inputs or "pi" in f.inputs:
            raise OptionError(
                f"--scalar {scalar}: {f.name} reads inertial parameters at run time, which have no "
                "common scale; remove --parameters runtime or use float"
            )
