"""The law of the Coriolis matrix of Newton-Euler equations: the printed equation, body by body,
with everything about the root's origin."""

from decimal import Decimal
from typing import Any

import numpy as np

from symgen.mechanics.spatial import NULL
from symgen.numbers.scalar import ZERO
from symgen.proof.arrays import applied, eye, product
from symgen.proof.laws.dynamics import at_rest, mass
from symgen.proof.laws.registry import law
from symgen.proof.laws.regressors import by_parameters, with_passive
from symgen.proof.mechanism import entries
from symgen.proof.motion import placed, rates
from symgen.proof.states import States, gradient, rate
from symgen.proof.textbook import masses

Array = Any
PRINTED = "sum of J^T (I dJ/dt + v x* I J) as published"


def _jacobians(x: States) -> Array:
    """The Jacobians of all bodies about the root's origin, angular rows first: (..., bodies, 6,
    joints)."""
    robot, bodies = x.mechanism, placed(x.mechanism, x.textbook.course.positions)
    count = len(robot.parts)
    cells: list[Any] = [ZERO] * (count * 6 * count)
    for i in robot.outward:
        for j in robot.path(i):
            w, v = bodies[j].twist(NULL)
            for row, e in enumerate((*w, *v)):
                cells[((i - 1) * 6 + row) * count + j - 1] = e
    return entries(cells, x.shape, Decimal(0)).reshape(*x.shape, count, 6, count)


def _cross(v: Array) -> Array:
    x, y, z = (v[..., k] for k in range(3))
    o = 0 * x
    rows = [[o, -z, y], [z, o, -x], [-y, x, o]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _spatial(link: Any, shape: tuple[int, ...]) -> Array:
    """A link's spatial inertia about the root's origin, angular part first."""
    p, h, m = link.place, link.h, link.m
    flat = entries([*p, *h, m, *(e for row in link.inertia for e in row)], shape, Decimal(0))
    place, first, weight = _cross(flat[..., :3]), _cross(flat[..., 3:6]), flat[..., 6, None, None]
    about = flat[..., 7:].reshape(*shape, 3, 3)
    coupling = first + weight * place
    moment = about - product(first, place) - product(place, first) - weight * product(place, place)
    rows = [
        np.concatenate([moment, coupling], axis=-1),
        np.concatenate([-coupling, weight * eye(3)], axis=-1),
    ]
    return np.concatenate(rows, axis=-2)


def _speeds(x: States) -> Array:
    qd = x.given["qd"]
    return entries(rates(x.mechanism, [qd[..., k] for k in range(x.n)]), x.shape, Decimal(0))


def newton_euler(x: States) -> Array:
    """C, (..., n, n)."""
    robot = x.mechanism
    units, change = _jacobians(x), rate(_jacobians, x)
    speeds = _speeds(x)
    total: Any = np.full((*x.shape, len(robot.parts), len(robot.parts)), Decimal(0), object)
    for i, link in masses(robot, x.textbook):
        inertia, j = _spatial(link, x.shape), units[..., i - 1, :, :]
        v = applied(j, speeds)
        w, o = _cross(v[..., :3]), _cross(v[..., 3:])
        rows = [np.concatenate([w, o], axis=-1), np.concatenate([0 * w, w], axis=-1)]
        force = np.concatenate(rows, axis=-2)  # v ×*, moments first
        inner = product(inertia, change[..., i - 1, :, :]) + product(force, product(inertia, j))
        total = total + product(np.swapaxes(j, -1, -2), inner)
    return robot.coupled(total, 2)


@law("coriolis_matrix_newton_euler", PRINTED, 1)
def coriolis_matrix_newton_euler(x: States) -> Array:
    """C."""
    return newton_euler(x)


@law("coriolis_matrix_newton_euler_rate", f"finite differences in time of the {PRINTED}", 1)
def coriolis_matrix_newton_euler_rate(x: States) -> Array:
    """Ċ."""
    return rate(newton_euler, x)


@law("coriolis_matrix_newton_euler_gradient", f"derivatives of the {PRINTED}", 2)
def coriolis_matrix_newton_euler_gradient(x: States) -> tuple[Array, Array]:
    """∂C/∂q, ∂C/∂q̇."""
    return gradient(newton_euler, x), gradient(newton_euler, x, "qd")


@law("coriolis_matrix_newton_euler_by_parameters", f"unit parameters in the {PRINTED}", 2)
def coriolis_matrix_newton_euler_by_parameters(x: States) -> Array:
    """∂C/∂π."""
    return by_parameters(newton_euler, x)


@law("slotine_li_regressor_newton_euler", f"unit parameters in the {PRINTED}", 2)
def slotine_li_regressor_newton_euler(x: States) -> Array:
    """M q̈_r + C q̇_r + g of unit parameters."""

    def term(y: States) -> Array:
        m, c = mass(y), newton_euler(y)
        moved = applied(m, x.given["qdd_r"])
        return moved + applied(c, x.given["qd_r"]) + at_rest(y)

    return with_passive(by_parameters(term, x), x)
