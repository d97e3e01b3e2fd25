"""Algorithms run on any scalars, from the inputs of the user to the outputs of the user.

All algorithms but a few work with the coordinates of bodies. The few are those that need the
inverse of M (`Quantity.needs_inverse`): what they take as forces and what they return is the
user's own. Those whose `coordinates` are `JOINTS` take all inputs as the user has them. With closed
loops, algorithms run on a system whose coupling is that at the state of the inputs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement, product
from math import prod

from symgen.algorithms.registry import INPUTS, JOINTS, PACKED_PAIRS, Array, Formulation, Quantity
from symgen.mechanics.canonical_model import Sections, no_section
from symgen.mechanics.coupling import Coupling
from symgen.mechanics.spatial import Vector
from symgen.numbers.scalar import Scalar
from symgen.tracing.robot import RegroupedModel

Part = tuple[Quantity, Formulation]
"""A quantity of a function, and how it is computed."""


def outputs(
    part: Part,
    regroup: RegroupedModel,
    inputs: Mapping[str, Sequence[Scalar]],
    sections: Sections = no_section,
) -> dict[str, list[Scalar]]:
    """The outputs of one quantity by name, on the scalars of `inputs`."""
    quantity, formulation = part
    free_fall = Vector(*inputs["g"]) if "g" in inputs else None
    system = regroup.system(inputs.get(regroup.input, ()), free_fall, sections)
    if quantity.depends_on_external_forces:
        system = regroup.robot.with_external_forces(system, inputs)
    if regroup.robot.passive_kinds:
        system = system.with_passive(regroup.robot.joint_forces(quantity.passive, inputs))
    system = replace(
        system,
        passive_kinds=regroup.robot.passive_kinds,
        friction_compensation=regroup.robot.friction_compensation,
    )
    positions: Sequence[Scalar] = ()
    if formulation.coordinates != JOINTS and "q" in quantity.inputs:
        rates = (inputs[name] if name in quantity.inputs else None for name in ("qd", "qd_r"))
        system, positions, _ = system.at_state(inputs["q"], *rates)
    result = formulation.algorithm(
        system,
        *(
            positions
            if name == "q" and positions
            else expand_to_bodies(system.coupling, part, name, inputs[name])
            for name in quantity.inputs
        ),
    )
    values = result if len(quantity.outputs) > 1 else (result,)
    arrays = zip(quantity.outputs, values, strict=False)  # the last may depend on external inputs
    return {
        out.name: list(project_to_coordinates(system.coupling, part, out, values))
        for out, values in arrays
    }


def expand_to_bodies(
    coupling: Coupling, part: Part, name: str, values: Sequence[Scalar]
) -> Sequence[Scalar]:
    """An input as algorithms take it: positions, velocities and accelerations by body, not by the
    user's coordinates; all else as it is."""
    array = INPUTS[name]
    if JOINTS in (part[1].coordinates, array.coordinates):
        return values
    if name in ("qdd", "qdd_r"):
        return coupling.body_accelerations(values)
    if array.shape == ("nq",):
        return coupling.body_positions(values)
    return coupling.body_rates(values) if array.shape == ("n",) else values


def project_to_coordinates(
    coupling: Coupling, part: Part, out: Array, values: Sequence[Scalar]
) -> Sequence[Scalar]:
    """An output as the user gets it: what belongs to the joints of the bodies, by the user's
    coordinates."""
    if part[0].needs_inverse or part[1].coordinates == JOINTS or coupling.is_identity:
        return values
    if out.layout == PACKED_PAIRS:
        return _packed(coupling, values)
    return coupling.pull_back(values, _axes(coupling, out, len(values)))


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
    numbers = iter(values)
    ordered = {
        (i, j, k): next(numbers)
        for i in bodies
        for j, k in combinations_with_replacement(bodies, 2)
    }
    symmetric = [ordered[i, min(j, k), max(j, k)] for i, j, k in product(bodies, repeat=3)]
    projected = coupling.pull_back(symmetric, (None, None, None))
    return [
        projected[(i * len(n) + j) * len(n) + k]
        for i in n
        for j, k in combinations_with_replacement(n, 2)
    ]
