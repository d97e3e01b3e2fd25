"""Which inertial parameters are independent, by the rank of a regressor at random states.

What regrouping (Gautier & Khalil, T-RA 1990) leaves may still be dependent, first joints with
restricted motion for instance (Gautier, J. Robotic Systems 1991). The regressor is that of momentum
and gravity: it has the null space of the one of joint forces and needs no accelerations."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from symgen.mechanics.canonical_frames import pose_of_steps
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.coupling import Coupling
from symgen.mechanics.inertia import NO_INERTIA, NO_SECOND, Inertia, SecondMoment
from symgen.mechanics.placement import Placement
from symgen.mechanics.spatial import ZERO_VECTOR, Vector
from symgen.numbers.scalar import ZERO, Numbers, Scalar, plain

Key = tuple[int, int]
"""A parameter of a body in its canonical frame: the body's number and an index into MOMENTS."""

MOMENTS: Final = ("m", "hx", "hy", "hz", "Sxx", "Sxy", "Sxz", "Syy", "Syz", "Szz", "J", "Jo")
"""Mass, first and second moments, the ten of a pseudo-inertia; and Sxx + Syy, the inertia of a
rotor about its axis, or (Jo) that of a body with the same inertia about all axes."""

LINK_MOMENT_COUNT: Final = MOMENTS.index("J")
"""The number of those that a body of links has."""

STATE_COUNT: Final = 16
"""Random states; each gives two equations a joint."""


def moment_values(inertia: Inertia) -> tuple[Scalar, ...]:
    """The moments of an inertia, in the order of MOMENTS."""
    return (inertia.m, *inertia.h, *inertia.s, inertia.s.polar, inertia.s.polar)


def remaining_parameters(system: CanonicalModel) -> Iterator[Key]:
    """The parameters that regrouping leaves: the entries that do not vanish for general inertias of
    links."""
    full = Inertia(1.0, Vector(1.0, 1.0, 1.0), SecondMoment(1.0, 1.0, 1.0, 1.0, 1.0, 1.0))
    inertias = regrouped(system, dict.fromkeys(system.link_bodies, full))
    for i in range(1, system.size + 1):
        if i in system.rotors:
            yield i, MOMENTS.index(system.body(i).joint.rotor_moment)
        else:
            yield from (
                (i, k)
                for k, x in enumerate(moment_values(inertias[i])[:LINK_MOMENT_COUNT])
                if x is not ZERO
            )


def regrouped(system: CanonicalModel, inertias: Mapping[int, Inertia]) -> dict[int, Inertia]:
    """What regrouping leaves of the inertias of bodies, those of others none."""
    total = {i: inertias.get(i, NO_INERTIA) for i in range(system.size + 1)}
    for i in system.inward:
        body = system.body(i)
        total[i], handed = split_body_inertia(system, i, total[i])
        total[body.parent] = total[body.parent] + body.placement.to_parent(handed, ZERO)
    return total


def split_body_inertia(system: CanonicalModel, i: int, inertia: Inertia) -> tuple[Inertia, Inertia]:
    """Split an inertia into the part that regrouping leaves on body `i`, and the part for the
    parent. A prismatic coordinate without links, inside a joint, keeps its mass and first moment,
    because its parent has no parameters that they could merge with."""
    body = system.body(i)
    kept, handed = body.split_inertia(inertia)
    linked = body.parent in (0, *system.link_bodies, *system.joint_bodies)
    if linked or system.body(body.parent).joint.turn is not ZERO:
        return kept, handed
    stays = Inertia(handed.m, handed.h, NO_SECOND)
    return kept + stays, Inertia(ZERO, ZERO_VECTOR, handed.s)


@dataclass(frozen=True, slots=True)
class IndependentParameters:
    """The independent parameters after regrouping, in body order. `grouped` has for each the
    dependent parameters that act with it, and their factors. `smallest_kept` and `largest_dropped`
    are the diagonal entries of R on both sides of its widest gap, relative to the largest."""

    keys: tuple[Key, ...]
    grouped: Mapping[Key, tuple[tuple[Key, float], ...]]
    smallest_kept: float
    largest_dropped: float


@dataclass(frozen=True, slots=True)
class Geometry:
    """The geometry that the rank depends on; `falls` has free fall by joint on the base, but of
    those on the robot none where it comes at run time."""

    parents: tuple[int, ...]
    order: tuple[int, ...]
    placements: tuple[Placement, ...]
    keys: tuple[Key, ...]
    falls: tuple[tuple[int, tuple[float, ...]], ...]
    coupling: Coupling

    @classmethod
    def of(cls, system: CanonicalModel) -> "Geometry":
        """The geometry of a system."""
        falls = {
            i: tuple(map(plain, g))
            for i, g in system.gravity.items()
            if not (system.gravity_is_input and system.body(i).on_robot)
        }
        parents, places = zip(*((b.parent, b.placement) for b in system.bodies), strict=True)
        keys, coupling = (
            tuple(remaining_parameters(system)),
            system.coupling.general or system.coupling,
        )
        return cls(parents, system.order, places, keys, tuple(sorted(falls.items())), coupling)


def independent_parameters(system: CanonicalModel, seed: int = 0) -> IndependentParameters:
    """Which of the parameters after regrouping are independent; the result does not depend on
    `seed`."""
    return _independent(Geometry.of(system), seed)


@cache
def _independent(geometry: Geometry, seed: int) -> IndependentParameters:
    columns = independent_columns(_regressor(geometry, np.random.default_rng(seed)))
    keys = [geometry.keys[c] for c in columns.chosen]
    grouped = {
        key: tuple((other, float(x)) for other, x in zip(geometry.keys, row, strict=True) if x)
        for key, row in zip(keys, columns.factors, strict=True)
    }
    return IndependentParameters(
        tuple(keys), grouped, columns.smallest_kept, columns.largest_dropped
    )


@dataclass(frozen=True)
class Columns:
    """The independent columns of a regressor: the first ones from the left, b of p.

    `factors` (b x p) has the others in terms of those chosen; the sizes are as in
    `IndependentParameters`."""

    chosen: tuple[int, ...]
    factors: Numbers
    smallest_kept: float
    largest_dropped: float


def independent_columns(rows: Numbers) -> Columns:
    """Which columns of a regressor at many states (m x p) are independent, from the widest gap of
    the diagonal of R."""
    regressor = np.asarray(np.linalg.qr(rows, mode="r"))
    smallest_kept, largest_dropped = _gap(regressor)
    threshold = math.sqrt(smallest_kept * largest_dropped) * float(
        np.linalg.norm(regressor, axis=0).max(initial=0.0)
    )
    chosen = _first_independent(regressor, threshold)
    return Columns(
        tuple(chosen), _factors(regressor, chosen, threshold), smallest_kept, largest_dropped
    )


def _gap(regressor: Numbers) -> tuple[float, float]:
    """The entries of R on both sides of its widest gap, by QR with column pivoting; what is below
    rounding counts as rounding. Without any gap nothing is dropped."""
    residual, diagonal = regressor.copy(), []
    for _ in range(min(residual.shape)):
        norms = np.linalg.norm(residual, axis=0)
        best = int(norms.argmax())
        diagonal.append(norms[best])
        if norms[best] <= 0:
            break
        unit = residual[:, best] / norms[best]
        residual -= np.outer(unit, unit @ residual)
    size = max(diagonal) if diagonal and max(diagonal) > 0 else 1.0
    rounding = len(regressor) * np.finfo(float).eps
    levels = np.maximum([*(d / size for d in diagonal), 0.0], rounding)
    widest = int((levels[:-1] / levels[1:]).argmax())
    return float(levels[widest]), float(levels[widest + 1])


def _first_independent(regressor: Numbers, threshold: float) -> list[int]:
    """The columns that are independent of the columns before them, from the base outward."""
    residual, chosen = regressor.copy(), []
    for c in range(residual.shape[1]):
        norm = np.linalg.norm(residual[:, c])
        if norm > threshold:
            chosen.append(c)
            unit = residual[:, c] / norm
            residual[:, c + 1 :] -= np.outer(unit, unit @ residual[:, c + 1 :])
    return chosen


def _factors(regressor: Numbers, chosen: Sequence[int], threshold: float) -> Numbers:
    """The other columns in terms of the chosen ones, to 12 decimals, which is what rounding
    leaves."""
    dropped = np.linalg.norm(regressor, axis=0) > threshold
    dropped[chosen] = False
    basis, dependent = regressor[:, chosen], regressor[:, dropped]
    first = np.linalg.lstsq(basis, dependent, rcond=None)[0]
    correction = np.linalg.lstsq(basis, dependent - basis @ first, rcond=None)[0]
    factors = np.zeros((len(chosen), regressor.shape[1]))
    factors[:, dropped] = np.round(first + correction, 12) + 0.0
    return factors


def _regressor(geometry: Geometry, random: "np.random.Generator") -> Numbers:
    """Momentum and gravity of every joint at random states, by the parameters that regrouping
    leaves."""
    n, coupling = len(geometry.parents), geometry.coupling
    q, v = (
        random.uniform(-2, 2, (STATE_COUNT, k)) for k in (coupling.positions, coupling.velocities)
    )
    at = [coupling.at(coupling.normalized(row.tolist())) for row in q]
    places = [x for _, x in at]
    g = np.array([coupling.velocity_matrix for coupling, _ in at])
    qd = np.einsum("snu,su->sn", g, v)
    directions = random.normal(size=(STATE_COUNT, 3)) * 9.81
    falls, frames = dict(geometry.falls), _frames(geometry, places)
    motions = {j: _motion(geometry.placements[j - 1], frames[j]) for j in geometry.order}
    rows = np.zeros((STATE_COUNT, n, 2, n, len(MOMENTS)))
    for i in range(1, n + 1):
        path = [*_path(geometry.parents, i)]
        first = path[len(path) - 1]
        fall = np.broadcast_to(falls.get(first, directions), (STATE_COUNT, 3))
        fields = {j: motions[j] @ frames[i] for j in path}
        velocity = sum(qd[:, j - 1, None, None] * fields[j] for j in path)
        for j in path:
            rows[:, j - 1, 0, i - 1] = _by_moments(fields[j].swapaxes(1, 2) @ velocity)
            rows[:, j - 1, 1, i - 1, :4] = -np.einsum("sa,sab->sb", fall, fields[j][:, :3])[
                :, [3, 0, 1, 2]
            ]
    columns = [len(MOMENTS) * (i - 1) + k for i, k in geometry.keys]
    felt = np.einsum("snkbm,snu->sukbm", rows, g)
    shape = STATE_COUNT * coupling.velocities * 2, n * len(MOMENTS)
    return np.asarray(felt.reshape(shape)[:, columns])


def _path(parents: Sequence[int], i: int) -> Iterator[int]:
    while i:
        yield i
        i = parents[i - 1]


def _frames(geometry: Geometry, states: Sequence[Sequence[Any]]) -> dict[int, Numbers]:
    """The 4x4 poses of all bodies at all states, the positions of the bodies' joints."""
    frames = {0: np.eye(4)}
    for i in geometry.order:
        place = geometry.placements[i - 1]
        poses = (pose_of_steps(place.steps(state[i - 1])) for state in states)
        steps = np.array(
            [[(*row, p) for row, p in zip(x.rotation, x.position, strict=True)] for x in poses]
        )
        last = np.broadcast_to([[[0.0, 0.0, 0.0, 1.0]]], (len(states), 1, 4))
        frames[i] = frames[geometry.parents[i - 1]] @ np.concatenate([steps, last], axis=1)
    return frames


def _motion(place: Placement, frames: Numbers) -> Numbers:
    """The 4x4 matrix that takes points of the base to their velocities at unit rate of a joint."""
    turn, slide = plain(place.freedom.turn), plain(place.freedom.slide)
    unit = np.zeros((4, 4))
    unit[0, 1], unit[1, 0], unit[2, 3] = -turn, turn, slide
    return np.asarray(frames @ unit @ np.linalg.inv(frames))


def _by_moments(products: Numbers) -> Numbers:
    """The factors of MOMENTS in the trace of a 4x4 matrix times the pseudo-inertia."""
    sums = products + products.swapaxes(1, 2)
    pairs = ((3, 3), (0, 3), (1, 3), (2, 3), (0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    ten = [sums[:, a, b] / (2 if a == b else 1) for a, b in pairs]
    round_body = 0.5 * (ten[4] + ten[7] + ten[9])
    return np.stack([*ten, 0.5 * (ten[4] + ten[7]), round_body], axis=1)
