"""What the tests know of each joint type by themselves: a row, which `every_joint` makes robots of
and `hamel` judges. It shares nothing with the judge of `symgen.proof`."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from symgen.mechanics.model import Joint
from symgen.mechanics.spatial import cross
from symgen.mechanics.standard_joints import default_second_axis
from symgen.reading.joint_kinds import JOINTS, JointRow

Step = tuple[Any, float, float]
"""An axis in the joint's frame, and what a unit of the coordinate slides (m) and turns (rad)."""
Constants = tuple[float, ...]


@dataclass(frozen=True)
class JointKind:
    """`steps` are the motions of the coordinates, one after the other, each on the axes that the
    one before has moved. Where there are none, the position is `place` coordinates and a unit
    quaternion, and the velocities are along the body's axes. `constants` draws what the type has
    beside, for an axis."""

    steps: Callable[[Joint], list[Step]] | None = None
    place: int = 0
    constants: Callable[[Random, Any], Constants] = lambda rng, axis: ()

    def width(self, joint: Joint) -> tuple[int, int]:
        """Numbers of positions and velocities."""
        if self.steps is None:
            return self.place + 4, self.place + 3
        return (len(self.steps(joint)),) * 2


def second_axis(rng: Random, axis: Any) -> Constants:
    """At right angles to the first, along a coordinate axis where that is."""
    x = default_second_axis(axis)
    y = cross(axis, x)
    t = rng.choice((0.0, np.pi / 2)) if 1.0 in map(abs, axis) else rng.uniform(-3, 3)
    return tuple(float(round(np.cos(t) * a + np.sin(t) * b, 15)) for a, b in zip(x, y, strict=True))


R, P, PLANE, FREE = "revolute", "prismatic", "planar", "floating"
BALL, UNIVERSAL, TUBE, SCREW = "ball", "universal", "cylindrical", "screw"

KINDS: dict[str, JointKind] = {
    R: JointKind(lambda joint: [(joint.axis, 0.0, 1.0)]),
    P: JointKind(lambda joint: [(joint.axis, 1.0, 0.0)]),
    SCREW: JointKind(
        lambda joint: [(joint.axis, *joint.constants, 1.0)],
        constants=lambda rng, axis: (rng.uniform(-0.3, 0.3),),
    ),
    TUBE: JointKind(lambda joint: [(joint.axis, 1.0, 0.0), (joint.axis, 0.0, 1.0)]),
    UNIVERSAL: JointKind(
        lambda joint: [(joint.axis, 0.0, 1.0), (joint.constants, 0.0, 1.0)],
        constants=second_axis,
    ),
    PLANE: JointKind(
        lambda joint: [
            (joint.constants, 1.0, 0.0),
            (cross(joint.axis, joint.constants), 1.0, 0.0),
            (joint.axis, 0.0, 1.0),
        ],
        constants=lambda rng, axis: default_second_axis(axis),
    ),
    BALL: JointKind(),
    FREE: JointKind(place=3),
}


for _missing in {row.kind for row in JOINTS.values()} - KINDS.keys():
    raise ValueError(f"KINDS of {__name__} has no row for the joint type '{_missing}'; add it")


def kind_of(joint: Joint) -> JointKind:
    """The row of a joint's type."""
    return KINDS[joint.kind]


def in_python(row: JointRow, joint: Joint) -> dict[str, Any]:
    """What a builder takes for the constants of a joint, whose numbers are those of files."""
    tags = row.constants_to_xml(joint.axis, joint.constants)
    return {
        taken.word: numbers if taken.size > 1 else numbers[0]
        for taken, (_, _, numbers) in zip(row.parameters, tags, strict=False)
    }


def of_axis(kind: str, axis: Any = (1.0, 0.0, 0.0), seed: int = 0) -> Joint:
    """A joint of a type about an axis."""
    return Joint("j", kind, axis, constants=KINDS[kind].constants(Random(seed), axis))
