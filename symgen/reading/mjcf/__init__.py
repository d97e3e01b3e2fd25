"""MJCF, MuJoCo's format, read as MuJoCo compiles it: what is read is the robot that it simulates,
with includes, defaults and the inertia that it infers from geometry.

Positions are MuJoCo's `qpos`, `ref` included, with two differences: quaternions are x, y, z, w
here and w, x, y, z there, and the linear velocity of a free joint is along the body's axes here
and along the world's there."""

import hashlib
from pathlib import Path
from typing import Any

from symgen.reading.description import RobotDescription
from symgen.reading.mjcf.bodies import CompiledMjcf, elements
from symgen.reading.mjcf.compiling import compiled
from symgen.reading.mjcf.coupling import coupled
from symgen.reading.mjcf.motors import transmissions
from symgen.reading.mjcf.unread import note_unread
from symgen.reading.tree import check
from symgen.reading.xml_reader import XmlNode

NO_GRAVITY = (0.0, 0.0, 0.0)


def described(root: XmlNode, path: Path, digest: str) -> RobotDescription:
    """The robot in an MJCF file.

    Its links are the bodies, the first of them `world`; between several joints of a body, and at a
    joint beside its body's origin, there are links without mass called BODY.JOINT. Armature counts
    as what is reflected of a rotor. The digest is of the file and of what MuJoCo made of it, so
    that it changes with included files and meshes. Raises RobotError for what MuJoCo refuses, and
    where the package `mujoco` is not installed."""
    mujoco, model = compiled(root, path)
    return of_compiled(mujoco, model, root, root.element.get("model", ""), digest)


def of_compiled(mujoco: Any, model: Any, root: XmlNode, name: str, digest: str) -> RobotDescription:
    """The robot of a model that MuJoCo compiled, from the root element of its file and the digest
    of that. Raises RobotError."""
    robot = CompiledMjcf(mujoco, model, root)
    links, joints, drives = elements(robot)
    joints = coupled(robot, joints)
    note_unread(robot)
    off = model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    x, y, z = NO_GRAVITY if off else (float(g) + 0.0 for g in model.opt.gravity)
    everything = hashlib.sha256(f"{digest} {links!r} {joints!r} {drives!r}".encode()).hexdigest()
    notices = tuple(sorted(root.source.notices, key=lambda notice: notice.place.line))
    description = RobotDescription(
        name.strip() or "robot", root.source.file, everything, root.line, links, joints, notices,
        drives, gravity=(x, y, z), tag="<mujoco>", transmissions=transmissions(robot),
    )  # fmt: skip
    check(description)
    return description
