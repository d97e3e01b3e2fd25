"""Checks of the inertia that a quantity needs: the principal moments about the centre of mass must
not be negative, or the mass matrix must be positive definite in sampled states.

Quantities that need no inertial constants, such as poses, Jacobians and regressors, are not
checked, and neither are those that depend only on masses and their centres, such as gravity."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from symgen.algorithms.composite import coupled_mass_matrix
from symgen.algorithms.controllers import CONTROLLERS
from symgen.algorithms.registry import Quantity
from symgen.errors import OptionError
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.inertia_checks import principal_moments
from symgen.mechanics.model import Limits, Link
from symgen.mechanics.parameters import WHOLE, canonical_model
from symgen.numbers.scalar import Numbers, plain
from symgen.text import shown
from symgen.tracing.robot import ParametricModel

Interval = tuple[float, ...]

SAMPLED_STATES: Final = 200
"""The number of sampled states, the one with all coordinates at 0 included."""
LARGEST_COORDINATE: Final = 3.0
"""Coordinates are sampled between minus and plus this (rad or m)."""
MIN_EIGENVALUE: Final = 1e-10
"""The smallest eigenvalue, with 1 on the diagonal, that is not merely rounding."""


def sampled_mass_matrices(robot: ParametricModel) -> Numbers:
    """The mass matrices (SAMPLED_STATES, n, n) at the state 0 and at random ones.

    The states depend only on the number of coordinates. Parameters that are inputs have the values
    of the robot's file."""
    mechanism = canonical_model(robot.model)
    interval = (-LARGEST_COORDINATE, LARGEST_COORDINATE)
    states = _sampled_states(mechanism, [interval] * mechanism.coupling.positions)
    return np.array([mass_matrix_at(mechanism, q) for q in states])


def _sampled_states(mechanism: CanonicalModel, intervals: Sequence[Interval]) -> list[list[float]]:
    """The state 0 and random ones with coordinates in some spans."""
    rng, states = random.Random(0), [[0.0] * len(intervals)]
    while len(states) < SAMPLED_STATES:
        states.append([rng.uniform(*interval) for interval in intervals])
    for quaternion in mechanism.coupling.quaternions:  # no rotation
        states[0][quaternion.stop - 1] = 1.0
    return states


def mass_matrix_at(mechanism: CanonicalModel, q: Sequence[float]) -> Numbers:
    """The mass matrix at positions, whose quaternions may have any length."""
    state, positions, _ = mechanism.at_state(mechanism.coupling.normalized(q))
    entries = coupled_mass_matrix(state, positions)
    return np.array([plain(x) for x in entries]).reshape(mechanism.dof, mechanism.dof)


def indefinite_posture(robot: ParametricModel) -> list[float] | None:
    """A sampled posture within the limits of the joints at which the mass matrix is not positive
    definite; None if there is none."""
    mechanism, limits = canonical_model(robot.model), robot.model.limits
    interval = (-LARGEST_COORDINATE, LARGEST_COORDINATE)
    intervals: list[Interval] = [interval] * mechanism.coupling.positions
    if len(intervals) == robot.model.dof:
        rows = (limits.get(name, Limits()) for name in robot.model.joint_names)
        ends = (zip((row.lower, row.upper), interval, strict=True) for row in rows)
        intervals = [tuple(x if end is None else end for end, x in pair) for pair in ends]
    states = _sampled_states(mechanism, intervals)
    return next((q for q in states if not _is_definite(mass_matrix_at(mechanism, q))), None)


def _is_definite(matrix: Numbers) -> bool:
    """Whether a mass matrix is positive definite beyond rounding."""
    diagonal = np.diag(matrix)
    if not (diagonal > 0).all():
        return False
    scale = 1 / np.sqrt(diagonal)
    return bool(np.linalg.eigvalsh(matrix * np.outer(scale, scale))[0] > MIN_EIGENVALUE)


def is_positive_definite(robot: ParametricModel) -> bool:
    """Whether the mass matrix is positive definite in all sampled states."""
    return all(map(_is_definite, sampled_mass_matrices(robot)))


def largest_relative_change(robot: ParametricModel, other: ParametricModel) -> float:
    """The largest change of the mass matrix from a robot to another with the same joints over the
    sampled states, relative to its own size (Frobenius norms)."""
    before, after = sampled_mass_matrices(robot), sampled_mass_matrices(other)
    sizes = np.linalg.norm(before, axis=(1, 2))
    changes = np.linalg.norm(after - before, axis=(1, 2))
    return float((changes / np.where(sizes > 0, sizes, np.inf)).max())


MAX_NAMED_LINKS: Final = 20


class ImpossibleInertia(OptionError):
    """A quantity needs the inertia of `links` that no body has; `fault` says so of them."""

    def __init__(self, links: list[str], fault: str) -> None:
        self.links, self.fault = links, fault
        names = ", ".join(f"link '{shown(name)}'" for name in links[:MAX_NAMED_LINKS])
        super().__init__(f"{names}: {fault}")


def impossible_links(robot: ParametricModel) -> list[Link]:
    """The links with inertia that no body has, in bodies that as a whole have none either."""
    impossible = list[Link]()
    for body in robot.lumped.bodies:
        constant = [link for link in body.links if link.name not in robot.blocks]
        if any(link.parameters for link in constant) and _has_negative_moment(constant):
            impossible += [x for x in constant if x.parameters and _has_negative_moment([x])]
    return impossible


def check_physical_inertia(
    robot: ParametricModel,
    quantities: Iterable[Quantity],
    reads: Callable[[Quantity, ParametricModel], bool],
) -> None:
    """Refuses quantities that need the constants of a body with an impossible inertia, all of these
    at once, unless the robot allows it and its mass matrix is positive definite. `reads` tells of a
    quantity whether it is another one for a robot that differs from this one in the moments of
    inertia of those bodies. Raises ImpossibleInertia."""
    if robot.estimated:
        _check_estimated(robot, [*quantities])
        return
    inertial = [q for q in quantities if q.needs_inertia]
    bad = impossible_links(robot) if inertial else []
    names = {link.name for link in bad}
    dependent = next(
        (q.name for q in inertial if bad and reads(q, _with_other_moments(robot, names))),
        None,
    )
    if dependent is None:
        return
    definite = is_positive_definite(robot)
    if robot.allow_unphysical and definite:
        return
    link_names = ",".join(shown(link.name) for link in bad[:MAX_NAMED_LINKS])
    raise ImpossibleInertia(
        [link.name for link in bad],
        f"{negative_moments(bad)}, which is physically impossible, and {dependent} depends "
        "on it; correct its inertia, make it an input with --parameters "
        f"runtime:{link_names}, or replace it by the nearest possible one with "
        f"--repair-inertia nearest{_allow_unphysical_advice(robot, definite)}",
    )


def _check_estimated(robot: ParametricModel, quantities: Sequence[Quantity]) -> None:
    """Refuses what base parameters do not determine, and what needs a positive definite mass matrix
    where that of the estimate is not. Raises OptionError."""
    of_whole_bodies = (q for q in quantities if all(f.regrouping == WHOLE for f in q.formulations))
    of_link = next((q.name for q in of_whole_bodies if q.needs_inertia), None)
    if of_link is not None:
        raise OptionError(
            f"--estimate: {of_link} depends on the parameters of single links, which joint forces "
            "do not determine; use the file of symgen identify --urdf instead"
        )
    dependent = next(
        (q.name for q in quantities if q.needs_inverse or q.name.partition(":")[0] in CONTROLLERS),
        None,
    )
    posture = None if dependent is None else indefinite_posture(robot)
    if posture is not None:
        numbers = ", ".join(f"{x:.3g}" for x in posture)
        raise OptionError(
            f"--estimate: {dependent} needs a positive definite mass matrix, but that of the "
            f"estimate is not positive definite at q = ({numbers}); identify it from a log with "
            "more motion, or use the file of symgen identify --urdf instead"
        )


def negative_moments(links: Sequence[Link]) -> str:
    """The sentence on the principal moments of links."""
    moments = "; ".join(
        ", ".join(f"{x:.4g}" for x in principal_moments([link])) for link in links[:MAX_NAMED_LINKS]
    )
    return f"inertia has a negative principal moment (the three are {moments} kg m^2)"


def _allow_unphysical_advice(robot: ParametricModel, definite: bool) -> str:
    """What --allow-unphysical can do for a robot, or why it does nothing."""
    if definite:
        return (
            "; --allow-unphysical uses it as written, because the mass matrix is positive definite "
            f"in all of {SAMPLED_STATES} sampled states"
        )
    if robot.allow_unphysical:
        return (
            "; --allow-unphysical has no effect, because the mass matrix is not positive definite "
            f"in all of {SAMPLED_STATES} sampled states"
        )
    return ""


def _with_other_moments(robot: ParametricModel, names: set[str]) -> ParametricModel:
    """The robot with other moments of inertia of some links, masses and their centres as they
    are. The changes have the size of the moments: much smaller ones count as rounding errors."""

    def changed(link: Link) -> Link:
        ten = link.parameters
        if link.name not in names or ten is None:
            return link
        size = max(1.0, *map(abs, ten[4:]))
        moments = (x + size * (1.0 + k) for k, x in enumerate(ten[4:]))
        return replace(link, parameters=(*ten[:4], *moments))

    bodies = tuple(
        replace(body, links=tuple(map(changed, body.links))) for body in robot.model.bodies
    )
    return replace(robot, model=replace(robot.model, bodies=bodies))


def _has_negative_moment(links: list[Link]) -> bool:
    return bool(principal_moments(links)[0] < 0)
