"""The models of an SDFormat file, each a scope of names, with those that it nests and includes."""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final

from symgen.reading.sdf.values import flag, text
from symgen.reading.xml_reader import XmlFile, XmlNode, file_bytes, parsed
from symgen.text import shown

MAX_NESTING: Final = 16
"""The most levels of models that include each other."""
MODEL: Final = "__model__"
"""SDFormat's name for the frame of the model around an element."""
MERGED: Final = "_merged__{}__model__"
"""SDFormat's name for the frame of a model whose elements are merged into the model around it."""
WORLD: Final = "world"
PATHS: Final = ("GZ_SIM_RESOURCE_PATH", "SDF_PATH", "GAZEBO_MODEL_PATH", "IGN_GAZEBO_RESOURCE_PATH")
"""Where Gazebo looks for models, beside the folders above the file."""


@dataclass(frozen=True)
class Scope:
    """A model, or the world: a set of elements whose names refer to each other.

    `prefix` precedes the names of its elements in the whole file, `placed` is the element whose
    <pose> places the model (its own, or its <include>), and `around` is the scope that contains it
    (None for the world). The elements of a `merged` model belong to the model around it: they have
    its prefix, and only ``__model__`` still means a frame of their own."""

    node: XmlNode
    prefix: str
    folder: Path
    version: tuple[int, int]
    placed: XmlNode
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
        return self.prefix + (MERGED.format(self.name) if self.merged else MODEL)

    def absolute(self, name: str) -> str:
        """The name in the whole file of what this scope calls `name`."""
        if name == MODEL:
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
                yield self._inner(child.called(f"model '{shown(name)}'"), child, name)
            elif child.tag == "include":
                yield self._included(child.called("<include>"))

    def _inner(self, node: XmlNode, placed: XmlNode, name: str) -> "Scope":
        return replace(
            self, node=node, placed=placed.called(node.label), name=name,
            prefix=f"{self.prefix}{name}::", around=self, merged=False,
        )  # fmt: skip

    @property
    def _depth(self) -> int:
        return 0 if self.around is None else self.around._depth + 1

    def _included(self, include: XmlNode) -> "Scope":
        if self._depth > MAX_NESTING:
            raise include.error("models include each other in a cycle")
        path = _file_of(include, self.folder)
        data = file_bytes(path)
        self.digests.append(hashlib.sha256(data).hexdigest())
        top = parsed(data, shown(os.fspath(path)))
        shared = XmlFile(top.source.file, top.source.lines, include.source.notices)
        node = XmlNode(top.element, shared, "<sdf>")
        if node.tag != "sdf" or len(node.children("model")) != 1:
            raise include.error(f"'{shown(path.name)}' is not an SDF file with one model")
        model = node.children("model")[0]
        name = text(include, "name", model.text("name"))
        inner = self._inner(model.called(f"model '{shown(name)}'"), include, name)
        placed = include if include.only("pose") is not None else model
        found = replace(inner, folder=path.parent, version=version_of(node), placed=placed)
        return self._merging(include, found) if _is_merge(include) else found

    def _merging(self, include: XmlNode, model: "Scope") -> "Scope":
        """A model whose elements become elements of this one."""
        if self.around is None:
            raise include.error(
                "merge applies only to models inside a model, and this model is in the "
                "world; remove merge"
            )
        return replace(model, prefix=self.prefix, merged=True)

    @property
    def static(self) -> bool:
        """Whether the model does not move at all."""
        return flag(self.node, "static") or (
            self.placed.tag == "include" and flag(self.placed, "static")
        )


def _is_merge(include: XmlNode) -> bool:
    return include.element.get("merge") in ("true", "1")


def version_of(root: XmlNode) -> tuple[int, int]:
    """The version of a file: 1.4 to 1.12 are read."""
    word = root.element.get("version", "").strip()
    parts = word.split(".")
    if len(parts) not in (2, 3) or not all(part.isdecimal() for part in parts):
        raise root.called("<sdf>").error(
            f"version '{shown(word)}' is not a version of SDFormat; write one such as 1.7"
        )
    version = int(parts[0]), int(parts[1])
    if version[0] != 1:
        raise root.called("<sdf>").error(
            f"SDFormat {shown(word)} is not supported; use 1.4 to 1.12"
        )
    return version


def _file_of(include: XmlNode, folder: Path) -> Path:
    """The file of an included model: in the folder of that name, beside the file, above it, or
    where Gazebo looks."""
    uri = text(include, "uri")
    name = uri.removeprefix("model://")
    wrong = "://" in name or ".." in Path(name).parts or Path(name).is_absolute()
    places = [folder, *folder.absolute().parents]
    places += [Path(p) for key in PATHS for p in os.environ.get(key, "").split(os.pathsep) if p]
    for place in places if not wrong else ():
        at = place / name
        file = at / "model.sdf" if os.path.isdir(at) else at
        if os.path.isfile(file):
            return file
    raise include.error(
        f"'{shown(uri)}' is not found in the folders above the file; put its folder with "
        f"a model.sdf next to the file, or add its parent folder to {PATHS[0]}"
    )


def scopes(top: Scope) -> Iterator[Scope]:
    """A scope and all inside, outer ones first."""
    yield top
    for inner in top.models:
        yield from scopes(inner)
