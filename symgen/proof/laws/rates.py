"""Laws of rates along a motion: differences in time of the textbook's terms, in many digits."""

from typing import Any

from symgen.proof.laws.dynamics import at_rest, coriolis, mass, tau
from symgen.proof.laws.registry import law
from symgen.proof.states import States, Term, rate, second_rate

Array = Any
TERMS: dict[str, tuple[str, Term, int]] = {
    "mass_matrix": ("the reference M", mass, 0),
    "coriolis_matrix": ("C from Christoffel symbols", coriolis, 1),
    "gravity": ("the reference tau", at_rest, 0),
    "inverse_dynamics": ("the reference tau", tau, 0),
}
"""The terms that have a rate and a second rate, by quantity: in words, the term, derivatives nested
in it."""


def _register(quantity: str, words: str, term: Term, order: int) -> None:
    source = f"finite differences in time of {words} in 75 digits"

    @law(f"{quantity}_rate", source, order)
    def first(x: States) -> Array:
        return rate(term, x)

    @law(f"{quantity}_second_rate", source, order)
    def second(x: States) -> Array:
        return second_rate(term, x)


for _quantity, _row in TERMS.items():
    _register(_quantity, *_row)


@law("elastic_feedforward", "finite differences in time of the reference tau in 75 digits", 1)
def elastic_feedforward(x: States) -> tuple[Array, Array, Array]:
    """Motor torques, deflections and their rates."""
    g = x.given
    stiffness, inertia = g["joint_stiffness"], g["motor_inertia"]
    joint, change = tau(x), rate(tau, x)
    second = second_rate(tau, x)
    motor = joint + inertia * (g["qdd"] + second / stiffness)
    return motor, joint / stiffness, change / stiffness
