"""Random robots by seed (`tree_energies` has their energies)."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from symgen.mechanics.model import Body, Joint, Link, RigidBodyModel
from symgen.mechanics.spatial import Pose, Triple
from symgen.reading.assemble import load

Array = Any
ROBOTS = Path(__file__).resolve().parents[2] / "robots"
QUARTERS = (0.0, 0.5, 1.0, -0.5)
STEP = 1e-30
"""Of the complex step: far below rounding, so derivatives are exact to it."""


# -- robots ----------------------------------------------------------------------------------------


def rotation(axis: Array, angle: complex | float) -> Array:
    """Rodrigues' formula about a unit axis."""
    k = cross(axis)
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * (k @ k)


def cross(v: Array) -> Array:
    """The matrix of v × ."""
    x, y, z = v
    return np.array([[0 * x, -z, y], [z, 0 * x, -x], [-y, x, 0 * x]])


def pose(turn: Array, position: Sequence[float]) -> Pose:
    """A pose of plain floats, exact zeros without sign."""
    a, b, c = (tuple(float(x) + 0.0 for x in row) for row in turn)
    x, y, z = (float(p) + 0.0 for p in position)
    return Pose((a, b, c), (x, y, z))


def unit(rng: Random) -> Triple:
    v = np.array([rng.gauss(0, 1) for _ in range(3)])
    x, y, z = (float(a) for a in v / np.linalg.norm(v))
    return x, y, z


def anywhere(rng: Random) -> Pose:
    """A generic pose."""
    return pose(rotation(unit(rng), rng.uniform(-3, 3)), [rng.uniform(-0.5, 0.5) for _ in range(3)])


def square(rng: Random) -> Pose:
    """Whole right angles and offsets along one or two axes, as most robots are built."""
    axis = np.eye(3)[rng.randrange(3)]
    offset = [rng.choice((0.0, 0.0, rng.uniform(-0.5, 0.5))) for _ in range(3)]
    return pose(np.rint(rotation(axis, rng.choice(QUARTERS) * np.pi)), offset)


def level(rng: Random) -> Pose:
    """Parallel to the parent, up to a turn about z and a flip."""
    flip = np.diag([1.0, rng.choice((-1.0, 1.0)), 1.0])
    flip[2, 2] = flip[1, 1]
    about = rng.choice((0.0, 0.0, rng.uniform(-3, 3)))
    return pose(flip @ rotation(np.eye(3)[2], about), [rng.uniform(-0.5, 0.5) for _ in range(3)])


def tilted(rng: Random) -> Pose:
    """Off parallel by 1e-9 to 1e-2 rad."""
    about = np.array([np.cos(t := rng.uniform(-3, 3)), np.sin(t), 0.0])
    tilt = rotation(about, 10 ** rng.uniform(-9, -2))
    return pose(
        tilt @ rotation(np.eye(3)[2], rng.uniform(-3, 3)),
        [rng.uniform(-0.5, 0.5) for _ in range(3)],
    )


def roughly_square(rng: Random) -> Pose:
    """Right angles and vanishing offsets written with a few digits too few, off by 1e-14 to
    1e-3."""
    meant = square(rng)
    off = rotation(unit(rng), 10 ** rng.uniform(-14, -3))
    position = [x + rng.choice((-1, 1)) * 10 ** rng.uniform(-14, -3) for x in meant.position]
    return pose(np.array(meant.rotation) @ off, position)


def wrist(rng: Random) -> Pose:
    """Turned by a right angle about x, at arm's length or with the axes almost meeting."""
    length = rng.choice((rng.uniform(0.2, 0.5), 10 ** rng.uniform(-12, -3)))
    offset = rng.choice(((length, 0.0, 0.0), (0.0, length, 0.0), (0.3 * length, length, 0.0)))
    return pose(np.rint(rotation(np.eye(3)[0], rng.choice((0.5, -0.5)) * np.pi)), offset)


def inertia(rng: Random) -> tuple[float, ...]:
    """The ten of a physically possible link; now and then with symmetries that make entries
    vanish."""
    m, c = (
        rng.uniform(0.5, 3),
        np.array([rng.choice((0.0, rng.uniform(-0.2, 0.2))) for _ in range(3)]),
    )
    spread = np.array([[rng.uniform(-0.2, 0.2) for _ in range(3)] for _ in range(3)])
    if rng.random() < 0.3:
        spread = np.diag(np.diag(spread))
    s = m * (spread @ spread.T + 0.01 * np.eye(3) + np.outer(c, c))
    i = np.trace(s) * np.eye(3) - s
    return tuple(
        float(x) + 0.0 for x in (m, *(m * c), i[0, 0], i[0, 1], i[0, 2], i[1, 1], i[1, 2], i[2, 2])
    )


def links(rng: Random, name: str) -> tuple[Link, ...]:
    """The link at the joint and up to two that are fixed to it, one of which may have no
    inertia."""
    fixed = [
        Link(f"{name}_{k}", anywhere(rng), rng.choice((None, inertia(rng))))
        for k in range(rng.randrange(3))
    ]
    return (Link(name, Pose(), inertia(rng)), *fixed)


Choice = Callable[[Random], Any]
Z: Triple = (0.0, 0.0, 1.0)


def tree(
    seed: int,
    place: Choice,
    axis: Choice,
    kind: Choice,
    parents: Callable[[Random, int], int],
    sizes: Sequence[int],
) -> RigidBodyModel:
    """A robot of bodies numbered at random: parents may come after their children, as in a file."""
    rng = Random(seed)
    n = rng.choice(sizes)
    number = [0, *rng.sample(range(1, n + 1), n)]
    bodies: dict[int, Body] = {}
    for k in range(1, n + 1):
        i = number[k]
        joint = Joint(f"joint{i}", kind(rng), axis(rng))
        bodies[i] = Body(joint, number[parents(rng, k)], place(rng), links(rng, f"link{i}"))
    pull = rng.choice(((0.0, 0.0, -9.81), tuple(9.81 * x for x in unit(rng))))
    return RigidBodyModel(
        f"random{seed}", tuple(bodies[i] for i in sorted(bodies)), (Link("root"),), pull
    )


def chain(rng: Random, k: int) -> int:
    return k - 1


def branch(rng: Random, k: int) -> int:
    return rng.randrange(k)


def any_kind(rng: Random) -> str:
    return rng.choice(("prismatic", "revolute"))


def turning(rng: Random) -> str:
    return "revolute"


def mostly_turning(rng: Random) -> str:
    return "revolute" if rng.random() < 0.8 else any_kind(rng)


def sliding(rng: Random) -> str:
    return "prismatic" if rng.random() < 0.8 else "revolute"


def straight(rng: Random) -> Triple:
    return rng.choice(((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), Z))


def up(rng: Random) -> Triple:
    return Z


def up_or_down(rng: Random) -> Triple:
    return rng.choice((Z, (0.0, 0.0, -1.0)))


SMALL, LARGE = range(2, 6), range(5, 9)
FAMILIES: dict[str, Callable[[int], RigidBodyModel]] = {
    "chain": lambda seed: tree(seed, anywhere, unit, any_kind, chain, SMALL),
    "tree": lambda seed: tree(seed, anywhere, unit, any_kind, branch, LARGE),
    "square chain": lambda seed: tree(seed, square, straight, any_kind, chain, SMALL),
    "square tree": lambda seed: tree(seed, square, straight, any_kind, branch, LARGE),
    "roughly square": lambda seed: tree(
        seed, roughly_square, straight, mostly_turning, chain, SMALL
    ),
    "wrist": lambda seed: tree(seed, wrist, up, turning, chain, range(4, 7)),
    "parallel": lambda seed: tree(seed, level, up_or_down, mostly_turning, chain, SMALL),
    "parallel tree": lambda seed: tree(seed, level, up, turning, branch, LARGE),
    "nearly parallel": lambda seed: tree(seed, tilted, up_or_down, mostly_turning, chain, SMALL),
    "prismatic": lambda seed: tree(seed, anywhere, unit, sliding, chain, SMALL),
    "square prismatic": lambda seed: tree(seed, square, straight, sliding, branch, SMALL),
}


def written(rng: Random) -> Pose:
    """Offsets of two decimals and angles of as many digits as people write."""
    angles = (0.0, 0.0, 1.5708, -1.57, 3.1416, 3.14159, -1.570796, round(rng.uniform(-3, 3), 2))
    turn = np.eye(3)
    for k in (2, 1, 0):
        turn = turn @ rotation(np.eye(3)[k], rng.choice(angles))
    return pose(turn, [round(rng.uniform(-0.5, 0.5), 2) for _ in range(3)])


def upside(rng: Random) -> Pose:
    """The vertical stays vertical, but for the digits that 3.1416 lacks."""
    turn = rotation(np.eye(3)[2], round(rng.uniform(-3, 3), 2))
    flip = rotation(np.eye(3)[0], rng.choice((0.0, 3.1416, -3.14159, 3.14)))
    return pose(turn @ flip, [round(rng.uniform(-0.5, 0.5), 2) for _ in range(3)])


def mounted(rng: Random) -> Pose:
    """The first joint's axis is all but horizontal, what follows parallel."""
    flip = rotation(np.eye(3)[0], rng.choice((1.5708, -1.57, 1.570796)))
    return pose(flip, [round(rng.uniform(-0.5, 0.5), 2) for _ in range(3)])


def at_root(rng: Random, k: int) -> int:
    return 0


def balanced(robot: RigidBodyModel) -> RigidBodyModel:
    """Links that are symmetric about their joints' axes, as wheels are."""
    bodies = []
    for body in robot.bodies:
        m = body.links[0].parameters[0]
        ten = (m, 0.0, 0.0, 0.0, 0.003 * m, 0.0, 0.0, 0.003 * m, 0.0, 0.005 * m)
        bodies.append(replace(body, links=(Link(body.links[0].name, Pose(), ten),)))
    return replace(robot, bodies=tuple(bodies), gravity=(0.0, 0.0, -9.81))


FEW_JOINTS = range(1, 6)
AS_WRITTEN: dict[str, Callable[[int], RigidBodyModel]] = {
    "written": lambda seed: tree(seed, written, straight, mostly_turning, chain, FEW_JOINTS),
    "written tree": lambda seed: tree(seed, written, straight, mostly_turning, branch, FEW_JOINTS),
    "upside down": lambda seed: tree(seed, upside, up_or_down, mostly_turning, chain, FEW_JOINTS),
    "mounted": lambda seed: tree(seed, mounted, up, turning, at_root, FEW_JOINTS),
    "wheels": lambda seed: balanced(tree(seed, mounted, up, turning, at_root, FEW_JOINTS)),
}
"""Robots whose right angles are off by rounding, where much is zero up to that."""

SEEDS = int(os.environ.get("SYMGEN_SEEDS", "1"))
"""Robots of each family; `make sweep` asks for more."""

RANDOM = [f"{family} {seed}" for family in FAMILIES for seed in range(SEEDS)]
FEW = ["chain 1", "parallel 1", "square prismatic 3"] if SEEDS == 1 else RANDOM
"""For tests that repeat for every quantity, of three joints each."""

REAL = sorted(
    path.stem for path in ROBOTS.glob("*.urdf") if "<loop" not in path.read_text(encoding="utf-8")
)
"""Robots of the package without closed loops: the positions of their bodies are coordinates."""


@cache
def model(name: str) -> RigidBodyModel:
    """A robot by its name in RANDOM or REAL."""
    if name in REAL:
        return load(ROBOTS / f"{name}.urdf").model
    family, seed = name.rsplit(" ", 1)
    return FAMILIES[family](int(seed))
