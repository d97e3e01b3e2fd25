"""Robots with joints of every type (`hamel` judges them)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any

from symgen.mechanics.model import Joint, Link, RigidBodyModel, Rotor
from symgen.reading.bodies_from_joints import MovingJoint, bodies
from symgen.reading.description import LinearFunction
from tests.support.joint_kinds import (
    BALL,
    FREE,
    KINDS,
    PLANE,
    SCREW,
    TUBE,
    UNIVERSAL,
    P,
    R,
    kind_of,
)
from tests.support.random_trees import anywhere, inertia, links, square, straight, unit

Array = Any
GRAVITY = (1.5, -2.0, -9.0)
Poses = Callable[[Random], Any]


@dataclass(frozen=True)
class Robot:
    """The joints as a file has them, and the model that they become."""

    joints: tuple[MovingJoint, ...]
    model: RigidBodyModel


def joint(rng: Random, name: str, kind: str, geared: bool, axis: Poses) -> Joint:
    """Some with a rotor, of which some have a place and an axis of their own; some with an
    armature."""
    plain = Joint(name, kind, axis(rng))
    plain = replace(plain, constants=kind_of(plain).constants(rng, plain.axis))
    if not geared or kind not in (R, P, SCREW):
        return plain
    own = (
        (unit(rng), tuple(rng.uniform(-0.3, 0.3) for _ in range(3)))
        if rng.random() < 0.5
        else (None, None)
    )
    mass, across = rng.choice(((0.0, 0.0), (rng.uniform(0.1, 0.4), rng.uniform(0, 0.002))))
    rotor = Rotor(
        rng.choice((-1, 1)) * rng.uniform(20, 120), rng.uniform(1e-5, 1e-4), *own, mass, across
    )
    return (
        replace(plain, rotor=rotor)
        if rng.random() < 0.7
        else replace(plain, armature=rng.uniform(0.1, 1.0))
    )


def robot(
    seed: int,
    kinds: Sequence[str],
    parents: Callable[[Random, int], int],
    geared: bool = False,
    mimics: Sequence[tuple[int, int]] = (),
    place: Poses = anywhere,
    axis: Poses = unit,
    shuffled: bool = True,
) -> Robot:
    """Joints of `kinds`, each on an earlier one (-1: the base); `mimics` pairs followers with
    leaders."""
    rng, names = Random(seed), [f"j{k}" for k in range(len(kinds))]
    leaders, joints = dict(mimics), []
    for k, kind in enumerate(kinds):
        parent = parents(rng, k)
        follows = None
        if k in leaders:
            follows = LinearFunction(
                ((names[leaders[k]], rng.choice((-1.0, 1.0, rng.uniform(-2, 2)))),),
                rng.uniform(-1, 1),
            )
        moved = links(rng, f"link{k}") if k else (Link("link0", parameters=inertia(rng)),)
        placed = MovingJoint(
            joint(rng, names[k], kind, geared, axis),
            None if parent < 0 else names[parent],
            place(rng),
            place(rng) if parent < 0 else anywhere(rng),
            moved,
            follows,
        )
        joints.append(placed)
    if shuffled:
        rng.shuffle(joints)
    return Robot(
        tuple(joints), RigidBodyModel(f"every{seed}", bodies(joints), (Link("root"),), GRAVITY)
    )


def chain(rng: Random, k: int) -> int:
    return k - 1


def branch(rng: Random, k: int) -> int:
    return rng.randrange(k) if k else -1


FAMILIES: dict[str, Callable[[int], Robot]] = {
    "planar": lambda seed: robot(seed, (R, PLANE, P, R), branch),
    "planar square": lambda seed: robot(seed, (PLANE, R, R), chain, place=square, axis=straight),
    "floating": lambda seed: robot(seed, (FREE, R, P, R), branch, shuffled=False),
    "floating square": lambda seed: robot(
        seed, (FREE, R, R, R), branch, place=square, axis=straight, shuffled=False
    ),
    "floating inside": lambda seed: robot(seed, (R, FREE, R, P), chain),
    "two floating": lambda seed: robot(seed, (FREE, R, FREE), chain),
    "mimic": lambda seed: robot(seed, (R, P, R, P, R), branch, mimics=((2, 1), (3, 0), (4, 1))),
    "mimic square": lambda seed: robot(
        seed, (R, R, P, R), chain, mimics=((1, 3), (2, 3)), place=square, axis=straight
    ),
    "geared": lambda seed: robot(seed, (R, R, P, R), branch, geared=True),
    "geared square": lambda seed: robot(
        seed, (R, R, R), chain, geared=True, place=square, axis=straight
    ),
    "geared mimic": lambda seed: robot(
        seed, (R, R, P, R), branch, geared=True, mimics=((2, 1), (3, 1))
    ),
    "ball": lambda seed: robot(seed, (BALL, R, P, BALL), branch),
    "ball square": lambda seed: robot(seed, (R, BALL, R), chain, place=square, axis=straight),
    "universal": lambda seed: robot(seed, (UNIVERSAL, R, UNIVERSAL), chain),
    "universal square": lambda seed: robot(
        seed, (R, UNIVERSAL, P, R), branch, place=square, axis=straight
    ),
    "cylindrical": lambda seed: robot(seed, (TUBE, R, TUBE), branch),
    "cylindrical square": lambda seed: robot(
        seed, (R, TUBE, R, R), chain, place=square, axis=straight
    ),
    "screw": lambda seed: robot(seed, (SCREW, R, SCREW, P), branch),
    "screw square": lambda seed: robot(
        seed, (R, SCREW, R, SCREW), chain, place=square, axis=straight
    ),
    "screw geared mimic": lambda seed: robot(
        seed, (SCREW, R, SCREW, R), branch, geared=True, mimics=((2, 1), (3, 0))
    ),
    "new on floating": lambda seed: robot(
        seed, (FREE, BALL, SCREW, UNIVERSAL, TUBE), branch, shuffled=False
    ),
    "everything": lambda seed: robot(
        seed, (FREE, R, PLANE, P, R), branch, geared=True, mimics=((4, 1),)
    ),
}
ALONE = tuple(kind for kind in KINDS if kind not in (R, P, *FAMILIES))
"""Types without a family of their name get one: as a joint on and below others."""
FAMILIES |= {
    kind: lambda seed, kind=kind: robot(seed, (R, kind, P, kind), branch) for kind in ALONE
}
EVERY = list(FAMILIES)
FAMILIES |= {
    "few planar": lambda seed: robot(seed, (PLANE, R), chain, place=square, axis=straight),
    "few floating": lambda seed: robot(
        seed, (FREE, R), chain, place=square, axis=straight, shuffled=False
    ),
    "few inside": lambda seed: robot(seed, (R, FREE), chain),
    "few ball on floating": lambda seed: robot(seed, (FREE, BALL), branch, shuffled=False),
    "few geared mimic": lambda seed: robot(seed, (R, P, R), branch, geared=True, mimics=((2, 0),)),
    "few ball on universal": lambda seed: robot(seed, (UNIVERSAL, BALL), chain),
    "few screw on tube": lambda seed: robot(seed, (TUBE, SCREW), chain, geared=True),
    "few ball and screw": lambda seed: robot(
        seed, (SCREW, BALL), chain, place=square, axis=straight
    ),
}
"""Of as few joints as show what is theirs, for what is dear."""


@cache
def made(name: str) -> Robot:
    """The robot of a family."""
    return FAMILIES[name](len(name))
