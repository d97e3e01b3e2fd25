"""Base inertial parameters: the fewest combinations of the users' parameters that the joint forces depend on.

Regrouping (Gautier & Khalil, T-RA 1990) is done on symbols, so that its relations come in closed form. What is
still dependent, first joints with restricted motion for instance, is found by the rank of a regressor at random
states (Gautier, J. Robotic Systems 1991): that of momentum and gravity, which has the null space of the one of
joint forces and needs no accelerations.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final

import numpy as np
import sympy

from symgen.mechanics.canonical import ROUNDING, pose_of
from symgen.mechanics.model import PARAMETER_NAMES, Model
from symgen.mechanics.parameters import WHOLE, Parameters, pseudo_inertia, seen_from, system
from symgen.mechanics.spatial import NO_INERTIA, NULL, Inertia, Second, Vector
from symgen.mechanics.system import Placement, System
from symgen.scalar import ZERO, Scalar

Numbers = np.ndarray[Any, np.dtype[np.float64]]
Key = tuple[int, int]
"""A parameter of a body in its canonical frame: the body's number and an index into MOMENTS."""

MOMENTS: Final = ("m", "hx", "hy", "hz", "Sxx", "Sxy", "Sxz", "Syy", "Syz", "Szz")
"""Mass, first and second moments: the ten of a pseudo-inertia."""

STATES: Final = 16
"""Random states; each gives two equations a joint."""


def moments(inertia: Inertia) -> tuple[Scalar, ...]:
    """The ten of MOMENTS."""
    return (inertia.m, *inertia.h, *inertia.s)


# -- regrouping -------------------------------------------------------------------------------------------------


def regrouped(system: System, tens: Sequence[Parameters]) -> dict[Key, Scalar]:
    """What each body keeps of the users' ten a body (body order, any scalars) after the handing to parents."""
    total = {i: seen_from(pseudo_inertia(ten), system.own(i)) for i, ten in enumerate(tens, 1)} | {0: NO_INERTIA}
    for i in system.inward:
        body = system.body(i)
        total[i], handed = body.joint.regrouped(total[i])
        total[body.parent] = total[body.parent] + body.placement.carried_in(handed, ZERO)
    return {(i, k): moments(total[i])[k] for i, k in _kept(system)}


def _kept(system: System) -> Iterator[Key]:
    """The parameters that regrouping leaves."""
    every = Inertia(1.0, Vector(1.0, 1.0, 1.0), Second(1.0, 1.0, 1.0, 1.0, 1.0, 1.0))
    for i in range(1, system.dof + 1):
        kept, _ = system.body(i).joint.regrouped(every)
        yield from ((i, k) for k, x in enumerate(moments(kept)) if x is not ZERO)


def base_values(system: System, tens: Sequence[Parameters]) -> list[Scalar]:
    """The base parameters of the users' ten a body (body order), on any scalars."""
    values, found = regrouped(system, tens), independent(system)
    return [
        sum((coefficient * values[other] for other, coefficient in found.grouped[key]), values[key])
        for key in found.keys
    ]


# -- rank -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Independent:
    """The independent ones of the parameters that regrouping leaves, in body order.

    `grouped` has for each the others that act with it, and their factors. `smallest_kept` and `largest_dropped`
    are the entries of the diagonal of R on both sides of its widest gap, relative to the largest.
    """

    keys: tuple[Key, ...]
    grouped: Mapping[Key, tuple[tuple[Key, float], ...]]
    smallest_kept: float
    largest_dropped: float


@dataclass(frozen=True, slots=True)
class Geometry:
    """What the rank depends on; `falls` has free fall by joint on the base, none where it comes at run time."""

    parents: tuple[int, ...]
    order: tuple[int, ...]
    placements: tuple[Placement, ...]
    keys: tuple[Key, ...]
    falls: tuple[tuple[int, tuple[float, ...]], ...]

    @classmethod
    def of(cls, system: System) -> "Geometry":
        falls = {} if system.any_gravity else {i: tuple(map(float, g)) for i, g in system.gravity.items()}
        parents, places = zip(*((b.parent, b.placement) for b in system.bodies), strict=True)
        return cls(parents, system.order, places, tuple(_kept(system)), tuple(sorted(falls.items())))


def independent(system: System, seed: int = 0) -> Independent:
    """Which of the parameters that regrouping leaves are independent; the result does not depend on `seed`."""
    return _independent(Geometry.of(system), seed)


@cache
def _independent(geometry: Geometry, seed: int) -> Independent:
    regressor = _compressed(_regressor(geometry, np.random.default_rng(seed)))
    kept, dropped = _gap(regressor)
    chosen = _first_independent(regressor, np.sqrt(kept * dropped) * _largest(regressor))
    keys = [geometry.keys[c] for c in chosen]
    factors = _factors(regressor, chosen)
    grouped = {
        key: tuple((other, float(x)) for other, x in zip(geometry.keys, row, strict=True) if x and other != key)
        for key, row in zip(keys, factors, strict=True)
    }
    return Independent(tuple(keys), grouped, float(kept), float(dropped))


def _compressed(regressor: Numbers) -> Numbers:
    """As many rows as columns, with the same products of columns."""
    return np.asarray(np.linalg.qr(regressor, mode="r"))


def _largest(regressor: Numbers) -> float:
    return float(np.linalg.norm(regressor, axis=0).max(initial=0.0))


def _gap(regressor: Numbers) -> tuple[float, float]:
    """The entries of R on both sides of its widest gap, by QR with column pivoting; what is below rounding counts
    as rounding. Without any gap nothing is dropped."""
    rest, diagonal = regressor.copy(), []
    for _ in range(min(rest.shape)):
        norms = np.linalg.norm(rest, axis=0)
        best = int(norms.argmax())
        diagonal.append(norms[best])
        if norms[best] <= 0:
            break
        unit = rest[:, best] / norms[best]
        rest -= np.outer(unit, unit @ rest)
    size = max(diagonal) if diagonal and max(diagonal) > 0 else 1.0
    rounding = len(regressor) * np.finfo(float).eps
    levels = np.maximum([*(d / size for d in diagonal), 0.0], rounding)
    widest = int((levels[:-1] / levels[1:]).argmax())
    return float(levels[widest]), float(levels[widest + 1])


def _first_independent(regressor: Numbers, threshold: float) -> list[int]:
    """The columns that are independent of those before them, from the base outward."""
    rest, chosen = regressor.copy(), []
    for c in range(rest.shape[1]):
        norm = np.linalg.norm(rest[:, c])
        if norm > threshold:
            chosen.append(c)
            unit = rest[:, c] / norm
            rest[:, c + 1 :] -= np.outer(unit, unit @ rest[:, c + 1 :])
    return chosen


def _factors(regressor: Numbers, chosen: Sequence[int]) -> Numbers:
    """Every column in terms of the chosen ones, to 13 decimals, which is what rounding leaves."""
    basis = regressor[:, chosen]
    first = np.linalg.lstsq(basis, regressor, rcond=None)[0]
    more = np.linalg.lstsq(basis, regressor - basis @ first, rcond=None)[0]
    return np.asarray(np.round(first + more, 13) + 0.0)


def _regressor(geometry: Geometry, random: np.random.Generator) -> Numbers:
    """Momentum and gravity of every joint at random states, by the parameters that regrouping leaves."""
    n = len(geometry.parents)
    q, qd = random.uniform(-2, 2, (STATES, n)), random.uniform(-2, 2, (STATES, n))
    directions = random.normal(size=(STATES, 3)) * 9.81
    falls, frames = dict(geometry.falls), _frames(geometry, q)
    motions = {j: _motion(geometry.placements[j - 1], frames[j]) for j in geometry.order}
    rows = np.zeros((STATES, n, 2, n, len(MOMENTS)))
    for i in range(1, n + 1):
        path = [*_path(geometry.parents, i)]
        first = path[len(path) - 1]
        fall = np.broadcast_to(falls.get(first, directions), (STATES, 3))
        fields = {j: motions[j] @ frames[i] for j in path}
        whole = sum(qd[:, j - 1, None, None] * fields[j] for j in path)
        for j in path:
            rows[:, j - 1, 0, i - 1] = _by_moments(fields[j].swapaxes(1, 2) @ whole)
            rows[:, j - 1, 1, i - 1, :4] = -np.einsum("sa,sab->sb", fall, fields[j][:, :3])[:, [3, 0, 1, 2]]
    columns = [len(MOMENTS) * (i - 1) + k for i, k in geometry.keys]
    return rows.reshape(STATES * n * 2, -1)[:, columns]


def _path(parents: Sequence[int], i: int) -> Iterator[int]:
    while i:
        yield i
        i = parents[i - 1]


def _frames(geometry: Geometry, q: Numbers) -> dict[int, Numbers]:
    """The 4x4 poses of all bodies at all states."""
    found = {0: np.eye(4)}
    for i in geometry.order:
        place = geometry.placements[i - 1]
        poses = (pose_of(place.steps(float(x))) for x in q[:, i - 1])
        steps = np.array([[(*row, p) for row, p in zip(x.rotation, x.position, strict=True)] for x in poses])
        last = np.broadcast_to([[[0.0, 0.0, 0.0, 1.0]]], (len(q), 1, 4))
        found[i] = found[geometry.parents[i - 1]] @ np.concatenate([steps, last], axis=1)
    return found


def _motion(place: Placement, frames: Numbers) -> Numbers:
    """The 4x4 matrix that takes points of the base to their velocities at unit rate of a joint."""
    (x, y, z), turn = (map(float, place.joint.thrust(NULL, ZERO, 1.0))), float(place.joint.spin(1.0))
    unit = np.array([[0.0, -turn, 0.0, x], [turn, 0.0, 0.0, y], [0.0, 0.0, 0.0, z], [0.0, 0.0, 0.0, 0.0]])
    return np.asarray(frames @ unit @ np.linalg.inv(frames))


def _by_moments(products: Numbers) -> Numbers:
    """The factors of the ten of MOMENTS in the trace of a 4x4 matrix times the pseudo-inertia."""
    sums = products + products.swapaxes(1, 2)
    pairs = ((3, 3), (0, 3), (1, 3), (2, 3), (0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    return np.stack([sums[:, a, b] / (2 if a == b else 1) for a, b in pairs], axis=1)


# -- the result in the users' parameters ------------------------------------------------------------------------


@dataclass(frozen=True)
class BaseParameters:
    """The base parameters of a robot in terms of the users' ten a body.

    `names` are the ten of every body in body order, `columns` the base parameters by canonical body and moment;
    `factors` (b x 10 n) takes the former to the latter.
    """

    model: Model
    found: Independent
    factors: Numbers

    def __len__(self) -> int:
        return len(self.found.keys)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The users' parameters: name and body number, as in hx_2."""
        return tuple(f"{name}_{i}" for i in range(1, self.model.dof + 1) for name in PARAMETER_NAMES)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The base parameters: moment and body number, as in Sxx_2."""
        return tuple(f"{MOMENTS[k]}_{i}" for i, k in self.found.keys)

    @cached_property
    def expressions(self) -> tuple[sympy.Expr, ...]:
        """The base parameters in closed form, in the symbols `names`."""
        symbols = sympy.symbols(self.names, real=True)
        return tuple(
            sympy.Add(*(_number(x) * symbol for x, symbol in zip(row, symbols, strict=True) if x))
            for row in self.factors
        )

    @cached_property
    def reasons(self) -> dict[str, str]:
        """What became of each of the users' parameters, in words."""
        alone = np.einsum("pb,bp->p", np.linalg.pinv(self.factors), self.factors) > 1 - 1e-9
        return {name: self._reason(p, bool(alone[p])) for p, name in enumerate(self.names)}

    def _reason(self, p: int, alone: bool) -> str:
        bodies = sorted({self.found.keys[b][0] for b in np.flatnonzero(self.factors[:, p])})
        if not bodies:
            return "no effect"
        if alone:
            return "identifiable by itself"
        own = 1 + p // len(PARAMETER_NAMES)
        others = ", ".join(self.model.body(i).name for i in bodies if i != own)
        if own not in bodies:
            return f"regrouped into {others}"
        return "identifiable only with others" + (f", also regrouped into {others}" if others else "")


def _number(x: float) -> sympy.Number:
    return sympy.Integer(int(x)) if x == int(x) else sympy.Float(x)


def base_parameters(model: Model, gravity: Vector | None = None, seed: int = 0) -> BaseParameters:
    """The base parameters of a robot; with `gravity` (any vector) those for every direction of free fall."""
    robot, n = system(model, gravity=gravity, regrouping=WHOLE), model.dof
    symbols = np.eye(10 * n).reshape(n, 10, 10 * n)  # a vector of factors stands for a sum of symbols
    found = independent(robot, seed)
    values = base_values(robot, [list(ten) for ten in symbols])
    return BaseParameters(model, found, np.array([_tidied(row) for row in values]).reshape(-1, 10 * n))


def _tidied(row: Numbers) -> list[float]:
    """The factors without what rounding left in them, which shows in the sixteenth digit and in what should vanish."""
    size = float(np.abs(row).max())
    return [float(f"{x:.15g}") if abs(x) > ROUNDING * size else 0.0 for x in row]
