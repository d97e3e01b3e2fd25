"""Extended URDF: closed loops, motors and joint types in a YAML file beside a URDF of the same name
(Batto, de Matteis & Mansard, Extended URDF, 2025, arXiv 2504.04767).

Of the YAML, a list in brackets with quoted names after each key is read, as the authors' tools
write it."""

import ast
import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from symgen.errors import RobotError, SourceLocation
from symgen.reading.description import (
    JointElement,
    LinkElement,
    LoopElement,
    Origin,
    RobotDescription,
)
from symgen.reading.joint_kinds import FIXED
from symgen.reading.plausibility import check
from symgen.reading.xml_text import file_bytes
from symgen.text import hint, quoted, shown

KEYS: Final = ("closed_loop", "type", "name_mot", "joint_name", "joint_type")
ENTRY: Final = re.compile(r"^(\w+)[ \t]*:(.*(?:\n[ \t\]].*)*)", re.MULTILINE)
"""A key and its value, with the lines that continue it."""
CUT_JOINTS: Final = {"3d": "ball", "6d": "fixed"}
REVOLUTE_AXES: Final = {
    "SPHERICAL": "XYZ",
    "UJOINT_XY": "XY",
    "UJOINT_YZ": "YZ",
    "UJOINT_ZX": "ZX",
}
"""The axes of the revolute joints that take the place of a joint, by its type."""
AXIS_VECTORS: Final = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
ZERO_VECTOR: Final = (0.0, 0.0, 0.0)


def is_extended(path: str | os.PathLike[str]) -> bool:
    """Whether a file is the YAML of a robot with closed loops."""
    path = Path(path)
    if path.suffix.lower() not in (".yaml", ".yml") or not path.is_file():
        return False
    return re.search(rb"^closed_loop[ \t]*:", file_bytes(path), re.MULTILINE) is not None


def urdf_beside(path: str | os.PathLike[str]) -> Path:
    """The URDF that a YAML file extends. Raises RobotError where there is none."""
    urdf = Path(path).with_suffix(".urdf")
    if not urdf.is_file():
        place = SourceLocation(shown(os.fspath(path)), 1)
        raise RobotError(place, "", f"needs '{shown(urdf.name)}' in the same folder; add it")
    return urdf


def extended(robot: RobotDescription, path: str | os.PathLike[str]) -> RobotDescription:
    """The robot of the URDF with what its YAML file adds. Raises RobotError."""
    data = file_bytes(path)
    lists = _YamlLists.of(data.decode("utf-8", "replace"), shown(os.fspath(path)))
    joints, links = list[JointElement](), [*robot.links]
    kinds = dict(zip(lists.names("joint_name"), lists.names("joint_type"), strict=False))
    lists.check_known("joint_name", kinds, [joint.name for joint in robot.joints])
    for joint in robot.joints:
        kind = kinds.get(joint.name)
        if kind is not None and kind != "FIXED" and kind not in REVOLUTE_AXES:
            known = quoted(("FIXED", *REVOLUTE_AXES))
            raise lists.error("joint_type", f"'{shown(kind)}' is no type; give one of {known}")
        if kind in REVOLUTE_AXES:
            *inner, last = _chain(joint, REVOLUTE_AXES[kind])
            joints += [*inner, last]
            links += [LinkElement(x.child, joint.line) for x in inner]
        else:
            joints.append(joint if kind is None else replace(joint, kind=FIXED, mimics=None))
    motors = lists.names("name_mot")
    lists.check_known("name_mot", motors, [joint.name for joint in joints])
    extended_robot = replace(robot, links=tuple(links), joints=tuple(joints))
    loops = (*robot.loops, *_loops(robot, lists, motors))
    digest = hashlib.sha256(robot.sha256.encode() + data).hexdigest()
    return check(replace(extended_robot, loops=loops, sha256=digest))


def _chain(joint: JointElement, axes: str) -> Iterator[JointElement]:
    """Revolute joints in series, with massless links between them."""
    parent, origin = joint.parent, joint.origin
    for axis in axes:
        name = f"{joint.name}_{axis}"
        child = joint.child if axis == axes[len(axes) - 1] else name
        yield JointElement(
            name, joint.line, "continuous", parent, child, origin, AXIS_VECTORS[axis]
        )
        parent, origin = child, Origin(joint.line)


def _loops(
    robot: RobotDescription, lists: "_YamlLists", motors: list[str]
) -> Iterator[LoopElement]:
    """The closures; of a frame that is called as a joint, that of the link that the joint moves."""
    frames = {joint.name: joint.child for joint in robot.joints}
    frames |= {link.name: link.name for link in robot.links}
    kinds = [kind.lower() for kind in lists.names("type")]
    pairs = lists.values.get("closed_loop", [])
    for k, pair in enumerate(pairs):
        if not isinstance(pair, list) or len(pair) != len(CUT_JOINTS):
            raise lists.error("closed_loop", "give two names of frames for each loop")
        lists.check_known("closed_loop", pair, frames)
        kind = kinds[k] if k < len(kinds) else "6d"
        if kind not in CUT_JOINTS:
            raise lists.error("type", f"'{shown(kind)}' is no type; give 3d or 6d")
        first, second = (frames[name] for name in pair)
        yield LoopElement(
            pair[0],
            lists.lines["closed_loop"],
            (first, second),
            (ZERO_VECTOR, ZERO_VECTOR),
            optional=True,
            joint=CUT_JOINTS[kind],
            independent=tuple(motors),
            newton=kind == "6d",
            file=lists.file,
        )


@dataclass(frozen=True)
class _YamlLists:
    """The lists of a YAML file by key, with their lines."""

    file: str
    values: dict[str, list[object]]
    lines: dict[str, int]

    @classmethod
    def of(cls, text: str, file: str) -> "_YamlLists":
        """The lists of a text. Raises RobotError for other values."""
        extended_robot = cls(file, {}, {})
        for match in ENTRY.finditer(text.replace("\r", "")):
            key, value = match[1], match[2]
            extended_robot.lines[key] = text.count("\n", 0, match.start()) + 1
            if key not in KEYS:
                raise extended_robot.error(key, f"is no key of Extended URDF; {hint(key, KEYS)}")
            try:
                extended_robot.values[key] = ast.literal_eval(value.strip() or "[]")
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                extended_robot.values[key] = ()  # type: ignore[assignment]
            if not isinstance(extended_robot.values[key], list):
                raise extended_robot.error(
                    key, "give a list in brackets with quoted names, ['a', 'b']"
                )
        return extended_robot

    def error(self, key: str, message: str) -> RobotError:
        """An error in the value of a key."""
        return RobotError(SourceLocation(self.file, self.lines.get(key, 1)), key, message)

    def names(self, key: str) -> list[str]:
        """A list of names, empty without the key. Raises RobotError for other entries."""
        values = [x for x in self.values.get(key, []) if isinstance(x, str)]
        if len(values) != len(self.values.get(key, [])):
            raise self.error(key, "give a list of quoted names, ['a', 'b']")
        return values

    def check_known(self, key: str, names: Iterable[object], known: Iterable[str]) -> None:
        """Raises RobotError for a name that the URDF does not have."""
        allowed = [*known]
        for name in names:
            if name not in allowed:
                text = f"'{shown(str(name))}' is not in the URDF; {hint(str(name), allowed)}"
                raise self.error(key, text)
