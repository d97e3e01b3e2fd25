"""The models of an SDFormat file, each a scope of names, and the frames in them.

A model may nest and include other models. Every link, joint, frame and model has a frame, whose
pose is given relative to another frame."""

import hashlib
import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final

from symgen.mechanics.spatial import Pose
from symgen.reading.rotations import rotation_from_quaternion, rotation_from_rpy
from symgen.reading.xml_reader import XML_SPACE, XmlFile, XmlNode, parse_xml
from symgen.reading.xml_text import file_bytes
from symgen.text import shown

NO_LIMIT: Final = 1e16
"""SDFormat's number for no limit; so is inf."""


def text(node: XmlNode, tag: str, default: str | None = None) -> str:
    """The text of the child `tag`. Raises RobotError where it is missing or blank and there is no
    default."""
    child = node.single_child(tag)
    content = (child.element.text or "").strip(XML_SPACE) if child is not None else ""
    if content or default is not None:
        return content or str(default)
    raise node.error(f"has no <{tag}>; add <{tag}>...</{tag}>")


def flag(node: XmlNode, tag: str) -> bool:
    """Whether a child says true; no without it."""
    return text(node, tag, "false").lower() in ("1", "true")


def number(node: XmlNode, tag: str, default: float) -> float:
    """The number in the child `tag`."""
    child = node.single_child(tag)
    return default if child is None else child.text_number()


def bound(node: XmlNode, tag: str) -> float | None:
    """A limit, None for none: SDFormat says 1e16, inf, or -1 where it cannot be negative."""
    value_text = text(node, tag, "inf").lower().lstrip("+-")
    if value_text in ("inf", "infinity"):
        return None
    value = number(node, tag, 0.0)
    return None if abs(value) >= NO_LIMIT else value


def pose(owner: XmlNode) -> tuple[Pose, str]:
    """The pose of an element, and the frame that it is in (empty: the default of its owner).

    Before SDFormat 1.7 the attribute is called ``frame``. Raises RobotError."""
    node = owner.single_child("pose")
    if node is None:
        return Pose(), ""
    frame = node.element.get("relative_to") or node.element.get("frame") or ""
    if not (node.element.text or "").strip(XML_SPACE):
        return Pose(), frame
    if node.element.get("rotation_format") == "quat_xyzw":
        x, y, z, *quaternion = node.text_numbers(7)
        i, j, k, w = quaternion
        if not any(quaternion):
            raise node.error("the quaternion of <pose> is zero; write 0 0 0 1 for no rotation")
        return Pose(rotation_from_quaternion(w, i, j, k), (x, y, z)), frame
    x, y, z, *angles = node.text_numbers(6)
    scale = math.pi / 180 if node.element.get("degrees") in ("true", "1") else 1.0
    roll, pitch, yaw = (angle * scale for angle in angles)
    return Pose(rotation_from_rpy((roll, pitch, yaw)), (x, y, z)), frame


MAX_NESTING: Final = 16
"""The most levels of models that include each other."""
MODEL_FRAME: Final = "__model__"
"""SDFormat's name for the frame of the model around an element."""
MERGED_MODEL_FRAME: Final = "_merged__{}__model__"
"""SDFormat's name for the frame of a model whose elements are merged into the model around it."""
WORLD: Final = "world"
MODEL_PATH_VARIABLES: Final = (
    "GZ_SIM_RESOURCE_PATH",
    "SDF_PATH",
    "GAZEBO_MODEL_PATH",
    "IGN_GAZEBO_RESOURCE_PATH",
)
"""Where Gazebo looks for models, beside the folders above the file."""


@dataclass(frozen=True)
class Scope:
    """A model, or the world: a set of elements whose names refer to each other.

    `prefix` precedes the names of its elements in the whole file, `at_location` is the element
    whose <pose> places the model (its own, or its <include>), and `around` is the scope that
    contains it (None for the world). The elements of a `merged` model belong to the model around
    it: they have its prefix, and only ``__model__`` still means a frame of their own."""

    node: XmlNode
    prefix: str
    folder: Path
    version: tuple[int, int]
    at_location: XmlNode
    name: str = ""
    around: "Scope | None" = None
    merged: bool = False
    digests: list[str] = field(default_factory=list)
    """The digests of all included files."""

    @property
    def frame(self) -> str:
        """The name of the model's own frame in the whole file."""
        if self.around is None:
            return WORLD
        return self.prefix + (MERGED_MODEL_FRAME.format(self.name) if self.merged else MODEL_FRAME)

    def absolute(self, name: str) -> str:
        """The name in the whole file of what this scope calls `name`."""
        if name == MODEL_FRAME:
            return self.frame
        return WORLD if name == WORLD else self.prefix + name

    @property
    def parts(self) -> Iterator["Scope"]:
        """The model itself and those that are merged into it."""
        yield self
        for inner in self.models:
            if inner.merged:
                yield from inner.parts

    @cached_property
    def models(self) -> tuple["Scope", ...]:
        """The models directly inside, merged ones too, in file order. Raises RobotError."""
        return tuple(self._models())

    def _models(self) -> Iterator["Scope"]:
        for child in self.node:
            if child.tag == "model":
                name = child.text("name")
                yield self._inner(child.with_label(f"model '{shown(name)}'"), child, name)
            elif child.tag == "include":
                yield self._included(child.with_label("<include>"))

    def _inner(self, node: XmlNode, placed: XmlNode, name: str) -> "Scope":
        return replace(
            self, node=node, at_location=placed.with_label(node.label), name=name,
            prefix=f"{self.prefix}{name}::", around=self, merged=False,
        )  # fmt: skip

    @property
    def _depth(self) -> int:
        return 0 if self.around is None else self.around._depth + 1

    def _included(self, include: XmlNode) -> "Scope":
        if self._depth > MAX_NESTING:
            raise include.error("models include each other in a cycle")
        path = _included_file(include, self.folder)
        data = file_bytes(path)
        self.digests.append(hashlib.sha256(data).hexdigest())
        top = parse_xml(data, shown(os.fspath(path)))
        shared = XmlFile(top.source.file, top.source.lines, include.source.notices)
        node = XmlNode(top.element, shared, "<sdf>")
        if node.tag != "sdf" or len(node.children("model")) != 1:
            raise include.error(f"'{shown(path.name)}' is not an SDF file with one model")
        model = node.children("model")[0]
        name = text(include, "name", model.text("name"))
        inner = self._inner(model.with_label(f"model '{shown(name)}'"), include, name)
        placed = include if include.single_child("pose") is not None else model
        found = replace(inner, folder=path.parent, version=version_of(node), at_location=placed)
        is_merged = include.element.get("merge") in ("true", "1")
        if is_merged and self.around is None:
            raise include.error(
                "merge applies only to models inside a model, and this model is in the "
                "world; remove merge"
            )
        return replace(found, prefix=self.prefix, merged=True) if is_merged else found

    @property
    def static(self) -> bool:
        """Whether the model does not move at all."""
        return flag(self.node, "static") or (
            self.at_location.tag == "include" and flag(self.at_location, "static")
        )


def version_of(root: XmlNode) -> tuple[int, int]:
    """The version of a file: 1.4 to 1.12 are read."""
    value_text = root.element.get("version", "").strip()
    parts = value_text.split(".")
    if len(parts) not in (2, 3) or not all(part.isdecimal() for part in parts):
        raise root.with_label("<sdf>").error(
            f"version '{shown(value_text)}' is not a version of SDFormat; write one such as 1.7"
        )
    version = int(parts[0]), int(parts[1])
    if version[0] != 1:
        raise root.with_label("<sdf>").error(
            f"SDFormat {shown(value_text)} is not supported; use 1.4 to 1.12"
        )
    return version


def _included_file(include: XmlNode, folder: Path) -> Path:
    """The file of an included model: in the folder of that name, beside the file, above it, or
    where Gazebo looks."""
    uri = text(include, "uri")
    name = uri.removeprefix("model://")
    is_invalid = "://" in name or ".." in Path(name).parts or Path(name).is_absolute()
    places = [folder, *folder.absolute().parents]
    places += [
        Path(p)
        for key in MODEL_PATH_VARIABLES
        for p in os.environ.get(key, "").split(os.pathsep)
        if p
    ]
    for place in places if not is_invalid else ():
        at = place / name
        file = at / "model.sdf" if os.path.isdir(at) else at
        if os.path.isfile(file):
            return file
    raise include.error(
        f"'{shown(uri)}' is not found in the folders above the file; put its folder with "
        f"a model.sdf next to the file, or add its parent folder to {MODEL_PATH_VARIABLES[0]}"
    )


def scopes(top: Scope) -> Iterator[Scope]:
    """A scope and all inside, outer ones first."""
    yield top
    for inner in top.models:
        yield from scopes(inner)


@dataclass(frozen=True)
class SdfFrame:
    """A frame in the one called `base`, fixed to the link that `holder` leads to (its own name for
    a link). `placement` is the frame of a model that is put there in place of its own."""

    node: XmlNode
    pose: Pose
    base: str
    holder: str
    placement: str = ""


class Frames:
    """The frames of all scopes, by their names in the whole file."""

    def __init__(self, models: Iterable[Scope]) -> None:
        self._frames: dict[str, SdfFrame] = {}
        for scope in models:
            self._add_model(scope)
            self._add_elements(scope)

    def add_world(self, world: Scope) -> None:
        """Add the frames of a world and of all models in it, by their names in the world."""
        self._add_elements(world)
        for model in world.models:
            for scope in scopes(model):
                self._add_model(scope)
                self._add_elements(scope)

    def _add_elements(self, scope: Scope) -> None:
        for node in scope.node:
            if node.tag in ("link", "frame", "joint"):
                name = node.text("name")
                called = node.with_label(f"{node.tag} '{shown(name)}'")
                self._frames.setdefault(scope.prefix + name, _frame_of(scope, called, name))

    def _add_model(self, scope: Scope) -> None:
        around = scope.around
        assert around is not None  # the world has no frame of its own to be placed
        place, frame = pose(scope.at_location)
        base = around.absolute(frame or MODEL_FRAME)
        chosen = (
            text(scope.at_location, "placement_frame", "")
            if scope.at_location.tag == "include"
            else ""
        )
        chosen = chosen or scope.node.element.get("placement_frame", "")
        placement = scope.absolute(chosen) if chosen else ""
        holder = _canonical_link(scope)
        self._frames[scope.frame] = SdfFrame(scope.at_location, place, base, holder, placement)
        if not scope.merged and scope.prefix:
            self._frames[scope.prefix.removesuffix("::")] = SdfFrame(
                scope.at_location, Pose(), scope.frame, scope.frame
            )

    def pose(self, name: str, base: str = WORLD, by: XmlNode | None = None) -> Pose:
        """The pose of a frame in the frame `base`, which is the world or one that it is given in.

        Raises RobotError, at the element `by`, for a frame that does not exist."""
        path, visited = Pose(), [name]
        while name != base and name != WORLD:
            frame = self._frame(name, by)
            place = frame.pose
            if frame.placement and frame.placement != name:
                place = place @ self.pose(frame.placement, name, frame.node).inverse
            path, name, by = place @ path, frame.base, frame.node
            if name in visited:
                raise frame.node.error(f"its pose depends on itself through '{shown(name)}'")
            visited.append(name)
        return path

    def link(self, name: str, by: XmlNode) -> str:
        """The link that a frame is fixed to, or the world. Raises RobotError."""
        visited = [name]
        while name != WORLD:
            frame = self._frame(name, by)
            if frame.holder == name:
                return name
            name = frame.holder
            if name in visited:
                raise by.error(f"frame '{shown(name)}' is attached to itself")
            visited.append(name)
        return name

    def _frame(self, name: str, by: XmlNode | None) -> SdfFrame:
        if name in self._frames:
            return self._frames[name]
        assert by is not None
        raise by.error(
            f"'{shown(name.removeprefix('::'))}' is not a link, joint, frame or model of the file; "
            "correct the name"
        )


def _canonical_link(scope: Scope) -> str:
    """The name, in the whole file, of what a model's own frame is fixed to: its canonical link, by
    default its first link, or the frame of its first model where it has no link."""
    name = scope.node.element.get("canonical_link")
    if name:
        return scope.absolute(name)
    for part in scope.parts:
        for link in part.node.children("link"):
            return part.absolute(link.text("name"))
    return next((inner.frame for inner in scope.models), WORLD)


def _frame_of(scope: Scope, node: XmlNode, name: str) -> SdfFrame:
    """The frame of a link, a joint, which is attached to its child, or a <frame> of a model."""
    place, frame = pose(node)
    if node.tag == "link":
        return SdfFrame(node, place, scope.absolute(frame or MODEL_FRAME), scope.prefix + name)
    attached = node.element.get("attached_to") or MODEL_FRAME
    holder = text(node, "child") if node.tag == "joint" else attached
    return SdfFrame(node, place, scope.absolute(frame or holder), scope.absolute(holder))
