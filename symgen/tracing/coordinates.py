"""Between the coordinates of the user and those of the bodies, which all algorithms but a few work
with.

The few are those that need the inverse of M (`Quantity.needs_inverse`): what they take as forces
and what they return is the user's own. Those that are `of_user` take all as the user has it."""

from collections.abc import Sequence
from itertools import combinations_with_replacement, product
from math import prod

from symgen.algorithms.registry import INPUTS, PACKED_PAIRS, Array, Quantity
from symgen.mechanics.coupling import Coupling
from symgen.numbers.scalar import Scalar


def of_bodies(
    coupling: Coupling, quantity: Quantity, name: str, values: Sequence[Scalar]
) -> Sequence[Scalar]:
    """An input as algorithms take it: what is a motion of joints, body by body."""
    array = INPUTS[name]
    if quantity.of_user:
        return values
    if name == "q":
        return coupling.places(values)
    return coupling.rates(values) if array.shape == ("n",) and not array.force else values


def of_user(
    coupling: Coupling, quantity: Quantity, out: Array, values: Sequence[Scalar]
) -> Sequence[Scalar]:
    """An output as the user gets it: what belongs to the joints of the bodies, by the user's
    coordinates."""
    if quantity.needs_inverse or quantity.of_user or coupling.trivial:
        return values
    if out.layout == PACKED_PAIRS:
        return _packed(coupling, values)
    return coupling.projected(values, _axes(coupling, out, len(values)))


def _axes(coupling: Coupling, out: Array, size: int) -> list[int | None]:
    """The sizes of an output's axes, None where it is that of the bodies; one of the others may
    have to be found."""
    bodies = len(coupling.drives)
    known = prod(
        bodies if axis == "n" else axis if isinstance(axis, int) else 1 for axis in out.shape
    )
    return [
        None if axis == "n" else axis if isinstance(axis, int) else size // known
        for axis in out.shape
    ]


def _packed(coupling: Coupling, values: Sequence[Scalar]) -> list[Scalar]:
    """X_ijk = X_ikj, of which j <= k are given."""
    bodies, n = range(len(coupling.drives)), range(coupling.velocities)
    rest = iter(values)
    given = {
        (i, j, k): next(rest) for i in bodies for j, k in combinations_with_replacement(bodies, 2)
    }
    every = [given[i, min(j, k), max(j, k)] for i, j, k in product(bodies, repeat=3)]
    projected = coupling.projected(every, (None, None, None))
    return [
        projected[(i * len(n) + j) * len(n) + k]
        for i in n
        for j, k in combinations_with_replacement(n, 2)
    ]
