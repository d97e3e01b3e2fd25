"""The options of certified bounds."""

from collections.abc import Sequence
from typing import ClassVar, Final

from symgen.certified.certificate import Certificate, certify
from symgen.certified.domain import KINDS, POSITION, checked_limits, domain
from symgen.certified.enclosures import Arithmetic
from symgen.certified.fixed_types import FIXED
from symgen.errors import OptionError
from symgen.mechanics.model import RigidBodyModel
from symgen.options import group, option
from symgen.options.kinds import FLAG, NUMBER_PAIRS, WHOLE
from symgen.tracing.function import Function

BOXES: Final = 16384
"""Boxes of a function: some seconds for the inverse dynamics of a robot with six joints."""

SOLVED: Final = "forward_dynamics"
RESIDUAL: Final = f"{SOLVED}_residual"
"""The quantity whose bounds stand for those of forward dynamics, which intervals cannot bound."""

MAX_BOXES: Final = 10**9


@group
class CertifyOptions:
    """The options of certified bounds: whether there are any, for which ranges of the inputs, and
    with how much effort."""

    SECTION: ClassVar[str] = "Certified bounds"

    certify: bool = option(
        "--certify",
        None,
        "State for each C function the range of its results and a bound of its rounding errors "
        "that hold for all inputs within the limits of the robot's file and of --limit.",
        FLAG,
        default=False,
        applies_to=("c", "jax", "torch"),
    )
    certify_limits: tuple[tuple[str, float], ...] = option(
        "--limit",
        "NAME=VALUE",
        f"Range of an input for --certify. NAME is JOINT.KIND (KIND is {', '.join(KINDS)} or "
        f"{POSITION}) and has priority over the file; KIND alone, for all joints to which the file "
        "gives no such limit; or another input of a function, such as g.",
        NUMBER_PAIRS.like('{ acceleration = 10.0, "elbow.velocity" = 1.5 }'),
        default=(),
        give="give NAME=VALUE, as in acceleration=10 or elbow.velocity=1.5",
        names=(*KINDS, POSITION),
        applies_to=("c", "jax", "torch"),
    )
    certify_boxes: int = option(
        "--certify-boxes",
        "N",
        "Effort of --certify: the number of boxes into which the inputs of a function are divided, "
        "for all its results together. More boxes give tighter bounds and take longer. It is not a "
        "time, so that the same input gives the same bounds on every machine.",
        WHOLE,
        rare=True,
        default=BOXES,
        applies_to=("c", "jax", "torch"),
    )

    def validate(self) -> None:
        """Raises OptionError for an impossible effort."""
        if not 1 <= self.certify_boxes <= MAX_BOXES:
            raise OptionError(
                f"--certify-boxes {self.certify_boxes}: give a number from 1 to {MAX_BOXES}"
            )

    def check_requested(self, scalar: str) -> None:
        """Raises OptionError for an option that has no effect without ``--certify``; fixed point
        always has bounds."""
        if (
            scalar not in FIXED
            and not self.certify
            and (self.certify_limits or self.certify_boxes != BOXES)
        ):
            flag = "--limit" if self.certify_limits else "--certify-boxes"
            raise OptionError(f"{flag}: has an effect only with --certify; add it")

    def certificates(
        self, model: RigidBodyModel, functions: Sequence[Function], arithmetic: Arithmetic
    ) -> dict[str, Certificate]:
        """The certificates of functions by name. Raises OptionError for a missing limit, and where
        there is no bound. Forward dynamics has none beside a function that has its residual."""
        limits, names = checked_limits(model, self.certify_limits), [*map(_quantities, functions)]
        has_residual = any(RESIDUAL in x for x in names)
        bounded = [
            f for f, x in zip(functions, names, strict=True) if x != [SOLVED] or not has_residual
        ]
        domains = {f.name: domain(model, f.program, limits, f.name) for f in bounded}
        return {
            f.name: certify(f, domains[f.name], arithmetic, self.certify_boxes) for f in bounded
        }


def _quantities(function: Function) -> list[str]:
    return [q.name for q in function.quantities]
