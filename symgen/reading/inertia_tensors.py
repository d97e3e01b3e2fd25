"""Inertia tensors: whether a rigid body can have them, and the nearest tensor that one can have.

About the centre of mass the moments of a body are I = tr(S) 1 - S, where the second moments S have
no negative eigenvalue (Wensing, Kim & Slotine, RA-L 2018). The nearest such S in the Frobenius norm
for the same mass and centre of mass has the same eigenvectors, and 0 in place of the negative
eigenvalues (Higham, Linear Algebra Appl. 103, 1988)."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from symgen.errors import Notice
from symgen.mechanics.inertia_checks import negative_moment
from symgen.numbers.named import Named
from symgen.numbers.scalar import sum_in_order
from symgen.reading.description import Inertial, LinkElement, RobotDescription
from symgen.text import shown

MOMENT_ROUNDING: Final = 1e-9
"""A principal moment above minus this times the largest one is rounding in the file."""

SMALLEST: Final = 1e-9
"""So is a principal moment that stands for a radius of gyration below this (m)."""


def tensor_trouble(tensor: tuple[float, ...], mass: float) -> str:
    """Why no body has this tensor; empty where one can, and of symbols, of which nothing is
    known."""
    if any(isinstance(x, Named) for x in (*tensor, mass)):
        return ""
    size = max(map(abs, tensor))
    if not size:
        return ""
    xx, xy, xz, yy, yz, zz = (x / size for x in tensor)
    moments = np.linalg.eigvalsh(np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))))
    if moments[0] >= -max(MOMENT_ROUNDING * max(abs(moments)), mass * SMALLEST**2 / size):
        return ""
    return negative_moment(float(m) * size for m in moments)


NEAREST: Final = "nearest"
EIGENVALUE_ROUNDING: Final = 1e-9
"""An eigenvalue this small next to the sum of all is rounding in the file."""
SWEEPS: Final = 30

Rows = list[list[float]]


def repair_inertias(robot: RobotDescription, kind: str | None) -> RobotDescription:
    """The robot with links whose inertia is possible, and notes of what was changed; itself where
    `kind` is None."""
    if kind != NEAREST:
        return robot
    new = {link.name: possible for link in robot.links if (possible := _possible(link)) is not None}
    links = tuple(replace(link, inertial=new.get(link.name, link.inertial)) for link in robot.links)
    notes = tuple(_note(robot, link, new[link.name]) for link in robot.links if link.name in new)
    return replace(robot, links=links, notices=(*robot.notices, *notes))


def _possible(link: LinkElement) -> Inertial | None:
    """The inertia of a link, where it has to change."""
    inertial = link.inertial
    if inertial is None or not any(inertial.tensor):
        return None
    values, vectors = eigen(_seconds(inertial.tensor))
    if min(values) >= -EIGENVALUE_ROUNDING * abs(sum(values)):
        return None
    moments = [max(value, 0.0) for value in values]
    s = [
        [
            sum_in_order((moments[k] * vectors[i][k] * vectors[j][k] for k in range(3)), 0.0)
            for j in range(3)
        ]
        for i in range(3)
    ]
    trace = s[0][0] + s[1][1] + s[2][2]
    tensor = tuple(trace * (i == j) - s[i][j] + 0.0 for i in range(3) for j in range(i, 3))
    return replace(inertial, tensor=tensor, trouble="")


def _seconds(tensor: tuple[float, ...]) -> Rows:
    xx, xy, xz, yy, yz, zz = map(float, tensor)
    half = (xx + yy + zz) / 2
    return [[half - xx, -xy, -xz], [-xy, half - yy, -yz], [-xz, -yz, half - zz]]


def _note(robot: RobotDescription, link: LinkElement, repaired: Inertial) -> Notice:
    old = link.inertial.tensor if link.inertial else repaired.tensor
    eigenvalues = (eigen(_seconds(tensor))[0] for tensor in (old, repaired.tensor))
    moments = ([sum(s) - x for x in sorted(s, reverse=True)] for s in eigenvalues)
    before, after = (f"({', '.join(f'{x:.4g}' for x in row)})" for row in moments)
    message = (
        f"inertia repaired: the principal moments {before} were replaced by {after} kg "
        "m^2, those of the nearest physically possible inertia"
    )
    return Notice(robot.place(repaired.line), "note", f"link '{shown(link.name)}'", message)


def eigen(rows: Rows) -> tuple[list[float], Rows]:
    """Eigenvalues and eigenvectors (as columns) of a symmetric matrix of 3 rows, by Jacobi's
    rotations in plain floats, so that they are the same on every machine."""
    a = [list(row) for row in rows]
    v: Rows = [[float(i == j) for j in range(3)] for i in range(3)]
    for _ in range(SWEEPS):
        if not any(a[p][q] for p, q in _pairs()):
            break
        for p, q in _pairs():
            if a[p][q]:
                _rotate(a, v, p, q)
    return [a[i][i] for i in range(3)], v


def _pairs() -> Iterator[tuple[int, int]]:
    return ((p, q) for p in range(3) for q in range(p + 1, 3))


def _rotate(a: Rows, v: Rows, p: int, q: int) -> None:
    """Make a[p][q] zero by a turn in the plane of p and q (Golub & Van Loan, section 8.5)."""
    tau = (a[q][q] - a[p][p]) / (2 * a[p][q])
    far = math.inf if math.isinf(tau) else abs(tau) + math.sqrt(1 + tau * tau)
    t = math.copysign(1 / far, tau)
    c = 1 / math.sqrt(1 + t * t)
    s = t * c
    for rows in (a, v):
        for row in rows:
            row[p], row[q] = c * row[p] - s * row[q], s * row[p] + c * row[q]
    a[p], a[q] = (
        [c * x - s * y for x, y in zip(a[p], a[q], strict=True)],
        [s * x + c * y for x, y in zip(a[p], a[q], strict=True)],
    )
    a[p][q] = a[q][p] = 0.0
