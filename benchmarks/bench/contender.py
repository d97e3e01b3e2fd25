"""One function of one tool: how it is called, what it costs, and how its result reads in symgen's
order."""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.bench.plain import Plain

Array = Any
STATES = 64
"""Different states that a timed loop goes through: a power of two."""

INPUTS = {"q": 0, "qd": 1, "qdd": 2, "tau": 2}
"""Which of the three blocks of a state an input is."""


@dataclass(frozen=True)
class Contender:
    """`address` is a C function of a state (q, qd, qdd or tau) and a result; `read` gives the
    result in symgen's order from that in the tool's own; `facts` are counts and costs."""

    tool: str
    quantity: str
    address: int
    order: "Order"
    size: int
    read: Callable[[Array], Array]
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Order:
    """Where symgen's k-th velocity and position are in a tool's."""

    velocities: tuple[int, ...]
    positions: tuple[int, ...]

    @classmethod
    def same(cls, plain: Plain) -> "Order":
        """For symgen itself."""
        return cls(tuple(range(plain.nv)), tuple(range(plain.nq)))

    @classmethod
    def of(cls, plain: Plain, names: Sequence[str]) -> "Order":
        """Of Pinocchio, by the joints' names in symgen's order; a floating joint comes first in
        both."""
        first = 6 if plain.joints[0].kind == "FF" else 0
        free = list(range(first))
        moved = [plain.places[name] for name in names if name in plain.places]
        positions = list(range(first + 1)) if first else []
        return cls(tuple(free + [v for v, _ in moved]), tuple(positions + [q for _, q in moved]))

    def states(self, given: Array) -> Array:
        """States in the tool's order from those in symgen's, row by row."""
        nq, nv = len(self.positions), len(self.velocities)
        out = np.empty_like(given)
        out[:, list(self.positions)] = given[:, :nq]
        for start in (nq, nq + nv):
            out[:, [start + v for v in self.velocities]] = given[:, start : start + nv]
        return out

    def result(self, quantity: str, flat: Array) -> Array:
        """A result in symgen's order from one in Pinocchio's, matrices row-major one after the
        other."""
        nv, rows = len(self.velocities), list(self.velocities)
        if quantity == "regressor":
            columns = [10 * k + p for k in self._bodies() for p in (0, 1, 2, 3, 4, 5, 7, 6, 8, 9)]
            return flat.reshape(nv, -1)[np.ix_(rows, columns)].ravel()
        if flat.size == nv:
            return flat[rows]
        return np.concatenate([m[np.ix_(rows, rows)].ravel() for m in flat.reshape(-1, nv, nv)])

    def _bodies(self) -> list[int]:
        """The place of each of symgen's bodies among Pinocchio's."""
        free = len(self.positions) - len(self.velocities)
        return [0, *(v - 5 for v in self.velocities[6:])] if free else list(self.velocities)


def states(plain: Plain, seed: int = 0) -> Array:
    """Random states in symgen's order, quaternions of unit length."""
    random = np.random.default_rng(seed)
    found = random.uniform(-2, 2, (STATES, plain.nq + 2 * plain.nv))
    if plain.joints[0].kind == "FF":
        found[:, 3:7] /= np.linalg.norm(found[:, 3:7], axis=1, keepdims=True)
    return found


def address(library: ctypes.CDLL, name: str) -> int:
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
