"""Test inputs that a robot can meet: torques and accelerations that belong together, parameters of
possible bodies."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any, Final

import numpy as np

from symgen.mechanics.coupling import coupling_of, velocity_coordinates
from symgen.mechanics.model import RigidBodyModel
from symgen.numbers.decimals import in_decimals
from symgen.numbers.trig import SINES
from symgen.proof.laws.dynamics import mass, tau
from symgen.proof.states import States
from symgen.tracing.robot import ParametricModel

DIGITS = 4
"""Significant digits of the numbers made here."""

Floats = tuple[float, ...]


def torques_and_accelerations(
    robot: ParametricModel, drawn: Sequence[Mapping[str, Sequence[float]]]
) -> list[tuple[Floats, Floats]]:
    """The joint forces of each state that the drawn accelerations need, within the efforts that the
    file allows, and the accelerations that follow from them.

    Joint friction and springs are left out. Effort limits of 0 say nothing (exporters write them
    for "unknown"). Where a joint needs no force, as without any mass, it keeps the drawn one. The
    textbook runs on decimal numbers, so that every machine makes the same."""
    rows = {name: [state[name] for state in drawn] for name in drawn[0]}
    efforts = _efforts(robot.lumped)
    with in_decimals():
        x = replace(States.of(robot, rows, feels=True), passive={})
        needed = tau(x).astype(float).tolist()
        forces = [
            [
                _within(t or o, limit)
                for t, o, limit in zip(need, drawn_forces, efforts, strict=True)
            ]
            for need, drawn_forces in zip(needed, rows["tau"], strict=True)
        ]
        lacks = [_lack(*pair) for pair in zip(forces, needed, strict=True)]
        matrices = mass(x).astype(float).tolist() if any(map(any, lacks)) else [None] * len(lacks)
    rates = map(_accelerations, rows["qdd"], matrices, lacks)
    return [(_short(f), _short(r)) for f, r in zip(forces, rates, strict=True)]


def _lack(forces: Sequence[float], needed: Sequence[float]) -> list[float]:
    """The torques beyond those that the accelerations need."""
    return [a - b if b else 0.0 for a, b in zip(forces, needed, strict=True)]


def _accelerations(drawn: Sequence[float], m: Any, lack: Sequence[float]) -> Sequence[float]:
    change = _solution(m, lack) if any(lack) else None
    return drawn if change is None else [a + b for a, b in zip(drawn, change, strict=True)]


def _efforts(model: RigidBodyModel) -> list[float | None]:
    """The largest force of each velocity's joint, None where the file has none."""
    limits = model.limits
    return [limits[row.name].effort or None for row in velocity_coordinates(model)]


def _within(x: float, limit: float | None) -> float:
    return x if limit is None else max(-abs(limit), min(abs(limit), x))


def _solution(m: Sequence[Sequence[float]], forces: Sequence[float]) -> list[float] | None:
    """M⁻¹ `forces` by elimination, None where M is singular."""
    rows = np.column_stack([np.array(m, float), np.array(forces, float)])
    for k in range(len(rows)):
        if not rows[k, k] > 0:
            return None
        rows[k] /= rows[k, k]
        factors = rows[:, k].copy()
        factors[k] = 0.0
        rows -= factors[:, None] * rows[k]
    return [float(x) for x in rows[:, -1]]


def _short(values: Sequence[float]) -> Floats:
    return tuple(float(f"{x:.{DIGITS}g}") for x in values)


def varied(rng: random.Random, ten: Floats) -> Floats:
    """Parameters near those of the file, none of them zero: four small masses are put onto the
    link.

    They stay those of a possible body if the file's are, so that the mass matrix can be inverted.
    """
    added = [
        _point_mass((ten[0] or 1.0) * rng.uniform(0.02, 0.1), *_somewhere(rng)) for _ in range(4)
    ]
    return tuple(round(sum(column), 6) for column in zip(ten, *added, strict=True))


def _somewhere(rng: random.Random) -> tuple[float, float, float]:
    x, y, z = (rng.uniform(0.02, 0.2) * rng.choice((-1, 1)) for _ in range(3))
    return x, y, z


def _point_mass(m: float, x: float, y: float, z: float) -> Floats:
    h = (m * x, m * y, m * z)
    return (
        m,
        *h,
        m * (y * y + z * z),
        -m * x * y,
        -m * x * z,
        m * (x * x + z * z),
        -m * y * z,
        m * (x * x + y * y),
    )


SHARE: Final = 0.45
"""The part of the bound of the sines' error that the orientation of a body may take: joint angles,
which are differences of two of them, and sums of consecutive ones stay within the bound."""

GRID: Final = 16.0
"""Angles are multiples of its reciprocal (rad): exact in four decimals and in single precision, and
so are their sums."""


def with_large_angles(
    model: RigidBodyModel, q: Sequence[float], scalar: str, rng: Random
) -> tuple[float, ...]:
    """The positions `q` with random angles of up to 0.9 times the angle to which the sines of the
    scalar type are accurate, wherever a coordinate turns one body and moves no other one.

    Coordinates that slide, drive several bodies or belong to a quaternion keep their values. An
    angle of a screw or of a leader of others would be a large displacement elsewhere."""
    places = _angles(model)
    reach = SHARE * SINES[scalar].bound
    large, orientations = list(q), {0: 0.0}
    for i in model.outward:
        before = orientations[model.body(i).parent]
        orientations[i] = before
        if i in places:
            orientations[i] = round(rng.uniform(-reach, reach) * GRID) / GRID
            large[places[i]] = orientations[i] - before
    return tuple(large)


def _angles(model: RigidBodyModel) -> dict[int, int]:
    """By body the place of its angle among the positions, where nothing else depends on that."""
    drives = coupling_of(model).drives
    rotors = {i for i, body in enumerate(model.bodies, 1) if body.joint.type.is_rotor}
    uses = Counter(
        term.position_index
        for i, drive in enumerate(drives, 1)
        if i not in rotors
        for term in drive.terms
    )
    return {
        i: drive.position_index
        for i, (body, drive) in enumerate(zip(model.bodies, drives, strict=True), 1)
        if i not in rotors
        and not drive.follows
        and not body.joint.type.in_body_axes
        and uses[drive.position_index] == 1
        and body.joint.type.parts(body.joint)[body.at].freedom.is_pure_rotation
    }
