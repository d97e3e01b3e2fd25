"""A robot as a plain list of joints in Pinocchio's order, with fixed joints merged: what all
competitors are given."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

Array = Any
SNAP = 1e-9
"""Entries of rotations this near to 0 or 1 are exact for all tools, as they are for symgen."""


@dataclass(frozen=True)
class Joint:
    """A joint and the body it moves; the inertia is about the centre of mass, in the joint's
    axes."""

    name: str
    kind: str
    parent: int
    axis: Array
    rotation: Array
    position: Array
    mass: float
    centre: Array
    inertia: Array

    @property
    def line(self) -> str:
        """As model.hpp reads it."""
        i = self.inertia
        six = (i[0, 0], i[0, 1], i[1, 1], i[0, 2], i[1, 2], i[2, 2])
        numbers = (
            *self.axis,
            *self.rotation.ravel(),
            *self.position,
            self.mass,
            *self.centre,
            *six,
        )
        return f"{self.kind} {self.parent} {' '.join(repr(float(x)) for x in numbers)}"


@dataclass(frozen=True)
class Plain:
    """The joints, numbers of positions and velocities, and where each joint's velocity and position
    begin."""

    joints: tuple[Joint, ...]
    nq: int
    nv: int
    places: dict[str, tuple[int, int]]

    @classmethod
    def of(cls, file: Path, locked: Sequence[str], floating: bool) -> "Plain":
        """As Pinocchio reads the file; continuous joints are revolute here, an angle."""
        built = (
            pin.buildModelFromUrdf(str(file), pin.JointModelFreeFlyer())
            if floating
            else pin.buildModelFromUrdf(str(file))
        )
        still = [built.getJointId(name) for name in locked]
        model = pin.buildReducedModel(built, still, pin.neutral(built)) if still else built
        joints = tuple(_joint(model, k) for k in range(1, model.njoints))
        ends = np.cumsum([7 if joint.kind == "FF" else 1 for joint in joints])
        starts = [0, *ends[:-1].tolist()]
        places = {
            joint.name: (int(model.joints[k].idx_v), starts[k - 1])
            for k, joint in enumerate(joints, 1)
        }
        return cls(joints, int(ends[-1]), model.nv, places)

    @property
    def text(self) -> str:
        return "".join(f"{joint.line}\n" for joint in self.joints)

    @property
    def serial(self) -> bool:
        return all(joint.parent == k and joint.kind != "FF" for k, joint in enumerate(self.joints))


def _joint(model: Any, k: int) -> Joint:
    name, about = model.joints[k].shortname(), model.inertias[k]
    kind, axis = _kind(model.joints[k], name)
    place = model.jointPlacements[k]
    return Joint(
        model.names[k],
        kind,
        model.parents[k],
        axis,
        _snapped(place.rotation),
        place.translation.copy(),
        about.mass,
        about.lever.copy(),
        about.inertia.copy(),
    )


def _kind(joint: Any, name: str) -> tuple[str, Array]:
    """The kind as in model.hpp, and the axis."""
    short = name.removeprefix("JointModel")
    if short == "FreeFlyer":
        return "FF", np.zeros(3)
    letter = "P" if short.startswith("P") else "R"
    if short.endswith("Unaligned"):
        return f"{letter}U", np.array(
            joint.extract().axis if hasattr(joint, "extract") else joint.axis
        )
    return f"{letter}{short[-1]}", np.eye(3)["XYZ".index(short[-1])]


def _snapped(rotation: Array) -> Array:
    nearest = np.round(rotation)
    return np.where(np.abs(rotation - nearest) < SNAP, nearest, rotation) + 0.0


def chain_urdf(joints: Sequence[Joint], name: str = "chain") -> str:
    """A URDF of a chain of joints, for tools that read no plain text."""
    bodies = "".join(_element(k, joint) for k, joint in enumerate(joints, 1))
    return f'<robot name="{name}">\n<link name="link0"/>\n{bodies}</robot>\n'


def _element(k: int, joint: Joint) -> str:
    kind = "prismatic" if joint.kind.startswith("P") else "revolute"
    i, limit = joint.inertia, '<limit lower="-3" upper="3" effort="100" velocity="10"/>'
    tensor = " ".join(
        f'{n}="{float(i[a, b])!r}"'
        for n, a, b in (
            ("ixx", 0, 0),
            ("ixy", 0, 1),
            ("ixz", 0, 2),
            ("iyy", 1, 1),
            ("iyz", 1, 2),
            ("izz", 2, 2),
        )
    )
    return (
        f'<joint name="joint{k}" type="{kind}"><parent link="link{k - 1}"/><child link="link{k}"/>'
        f'<origin xyz="{_words(joint.position)}" '
        f'rpy="{_words(pin.rpy.matrixToRpy(joint.rotation))}"/>'
        f'<axis xyz="{_words(joint.axis)}"/>{limit}</joint>\n'
        f'<link name="link{k}"><inertial><origin xyz="{_words(joint.centre)}" rpy="0 0 0"/>'
        f'<mass value="{joint.mass!r}"/><inertia {tensor}/></inertial></link>\n'
    )


def _words(numbers: Array) -> str:
    return " ".join(repr(float(x)) for x in numbers)
