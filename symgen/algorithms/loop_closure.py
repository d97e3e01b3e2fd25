"""Positions of closed loops that have no closed form, by fixed steps of Newton's method.

Two steps and a third one with the Jacobian of the second, which costs little, leave 2e-8 rad from
the last sample at 1 kHz and 15 rad/s of a crank."""

from symgen.algorithms.registry import JOINTS, Array, quantity
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.parameters import WHOLE
from symgen.numbers.operations import sqrt
from symgen.numbers.scalar import ZERO, Coordinates, Scalar, dot


@quantity(
    "loop_closure",
    "q of closed loops after steps of Newton's method",
    inputs=("q",),
    outputs=(
        Array("q_closed", "joint positions at which loops close", "rad | m", ("nq",)),
        Array("loop_gap", "norm of the gaps of loops before the last step", "m", (1,)),
    ),
    source="Newton's method on the cut joints' equations, Featherstone (2008), section 8.8",
    needs_gravity=False,
    needs_inertia=False,
    coordinates=JOINTS,
    closed_loops=True,
    regroupings=(WHOLE,),
)
def loop_closure(system: CanonicalModel, q: Coordinates) -> tuple[list[Scalar], list[Scalar]]:
    """The positions after two steps of Newton's method and one with the Jacobian of the second, and
    the norm of the gaps before that; q itself where no position is found by Newton's method."""
    if not system.coupling.newton_positions:
        return [*q], [ZERO]
    first, _ = system.coupling.newton_step(q)
    second, _ = system.coupling.newton_step(first)
    third, gaps = system.coupling.newton_step(second, first)
    return third, [sqrt(dot(gaps, gaps))]
