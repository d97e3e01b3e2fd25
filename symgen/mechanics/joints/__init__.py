"""The joint types: one file each has all that is known of how a joint moves, what it feels, what
inertia it hides, its coordinates, and what people are told of them.

A new type is a file here, a row of the reader (`symgen.reading.joints`) and a row of the judge
(`symgen.proof.motion`). What all have in common is in `joint_type`, what one coordinate is in
`freedom`, joints with a quaternion in `body_axes`. Knows no robots and no algorithms."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from symgen.mechanics.joints.freedom import Freedom
from symgen.mechanics.joints.joint_type import Coordinate, JointPart, JointType


def _types() -> list[JointType]:
    """One of each class with a name in the files of this folder, by file."""
    files = sorted(module.name for module in iter_modules(__path__))
    variables = (vars(import_module(f"{__name__}.{file}")).values() for file in files)
    classes = (x for names in variables for x in names if isinstance(x, type))
    return [kind() for kind in dict.fromkeys(classes) if issubclass(kind, JointType) and kind.name]


JOINT_TYPES: Final[dict[str, JointType]] = {joint.name: joint for joint in _types()}

__all__ = ["JOINT_TYPES", "Coordinate", "Freedom", "JointPart", "JointType"]
