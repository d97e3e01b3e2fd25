"""A robot with the joints that URDF has not, as Drake and SDFormat write them, and the same robot
built in Pinocchio."""

from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree

from tests.support.oracles import oracle

pin = oracle("pinocchio")

PITCH = 0.3
INERTIA = ["ixx", "ixy", "ixz", "iyy", "iyz", "izz"]
LINKS = {
    "a": ((0.1, 0.02, -0.05), (0.1, 0.2, 0.3), 1.5, (0.02, 0.001, -0.002, 0.03, 0.0005, 0.025)),
    "b": ((-0.1, 0.05, 0.15), (0.4, -0.2, 0.3), 1.1, (0.012, 0.001, -0.002, 0.013, 0.0, 0.015)),
    "c": ((0.07, 0.05, 0.1), (0.4, -0.2, 1.3), 0.9, (0.011, 0.0004, -0.001, 0.012, 0.0, 0.013)),
    "d": ((0.03, -0.05, 0.12), (-0.4, 0.2, 0.3), 0.7, (0.009, 0.0, -0.001, 0.01, 0.0005, 0.011)),
}
JOINTS = {
    "shoulder": ("ball", "base", "a", (0.1, 0.2, 0.3), (0.3, 0.2, 0.1), None),
    "cardan": ("universal", "a", "b", (0.2, -0.1, 0.3), (0.5, -0.2, 0.4), None),
    "lead": ("screw", "b", "c", (0.1, 0.15, 0.05), (-0.5, 0.3, 0.7), (0.6, 0.0, 0.8)),
    "tube": ("cylindrical", "c", "d", (-0.1, 0.15, 0.25), (0.5, 0.3, -0.7), (0.0, 0.6, 0.8)),
}


def text(numbers: Any) -> str:
    return " ".join(map(repr, numbers))


def urdf(drake: bool, pitch: str | None = None) -> str:
    """With ``<drake:joint>`` for the types that Drake has, or with plain joints."""
    links = "".join(
        f'<link name="{name}"><inertial><origin xyz="{text(xyz)}" rpy="{text(rpy)}"/>'
        f'<mass value="{mass}"/><inertia '
        + " ".join(f'{key}="{x}"' for key, x in zip(INERTIA, tensor, strict=True))
        + "/></inertial></link>"
        for name, (xyz, rpy, mass, tensor) in LINKS.items()
    )
    joints = []
    for name, (kind, parent, child, xyz, rpy, axis) in JOINTS.items():
        own = drake and kind != "cylindrical"
        tag, more = "drake:joint" if own else "joint", ""
        if axis is not None:
            more = f'<axis xyz="{text(axis)}"/>'
        attribute = ""
        if kind == "screw" and pitch is None:
            more += f'<drake:screw_thread_pitch value="{PITCH}"/>' if own else ""
            attribute = "" if own else f' pitch="{PITCH}"'
        elif kind == "screw":
            more += pitch or ""
        joints.append(
            f'<{tag} name="{name}" type="{kind}"{attribute}><parent link="{parent}"/>'
            f'<child link="{child}"/><origin xyz="{text(xyz)}" rpy="{text(rpy)}"/>{more}</{tag}>'
        )
    space = ' xmlns:drake="http://drake.mit.edu"' if drake else ""
    return f'<robot name="zoo"{space}><link name="base"/>{links}{"".join(joints)}</robot>'


def written(folder: Path, **options: Any) -> Path:
    """The file of that robot."""
    path = folder / "zoo.urdf"
    path.write_text(urdf(**options), encoding="utf-8")
    etree.parse(str(path))
    return path


def _joint(kind: str, axis: Any) -> Any:
    along = None if axis is None else np.array(axis)
    if kind == "ball":
        return pin.JointModelSpherical()
    if kind == "universal":
        return pin.JointModelUniversal(np.eye(3)[0], np.eye(3)[1])
    if kind == "screw":
        return pin.JointModelHelicalUnaligned(along, PITCH / (2 * np.pi))
    joint = pin.JointModelComposite(pin.JointModelPrismaticUnaligned(along))
    joint.addJoint(pin.JointModelRevoluteUnaligned(along))
    return joint


def _pose(xyz: Any, rpy: Any) -> Any:
    return pin.SE3(pin.rpy.rpyToMatrix(*rpy), np.array(xyz))


def pinocchio() -> Any:
    """Pinocchio's model of it."""
    model, at = pin.Model(), {"base": 0}
    for name, (kind, parent, child, xyz, rpy, axis) in JOINTS.items():
        k = model.addJoint(at[parent], _joint(kind, axis), _pose(xyz, rpy), name)
        at[child] = k
        place, turn, mass, (xx, xy, xz, yy, yz, zz) = LINKS[child]
        pose = _pose(place, turn)
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        inertia = pin.Inertia(mass, pose.translation, pose.rotation @ tensor @ pose.rotation.T)
        model.appendBodyToJoint(k, inertia, pin.SE3.Identity())
    return model
