"""The models of an SDFormat file, each a scope of names, with those that it nests and includes."""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from symgen.reading.sdf.values import flag, text
from symgen.reading.xml_reader import XmlFile, XmlNode, file_bytes, parsed
from symgen.text import shown

DEEPEST: Final = 16
"""How deep models may include each other."""
PATHS: Final = ("GZ_SIM_RESOURCE_PATH", "SDF_PATH", "GAZEBO_MODEL_PATH", "IGN_GAZEBO_RESOURCE_PATH")
"""Where Gazebo looks for models, beside the folders above the file."""


@dataclass(frozen=True)
class Scope:
    """A model (or the world): its element, what its names are preceded by, its file, the version of
    that, and the element that places it, which is its own or its <include>."""

    node: XmlNode
    prefix: str
    folder: Path
    version: tuple[int, int]
    placed: XmlNode
    name: str = ""
    depth: int = 0
    digests: list[str] = field(default_factory=list)
    """The digests of all included files."""

    def absolute(self, name: str) -> str:
        """A name of this scope, as it is called in the whole file."""
        return "world" if name == "world" else self.prefix + name

    def models(self) -> Iterator["Scope"]:
        """The models directly inside, in file order."""
        for child in self.node:
            if child.tag == "model":
                name = child.text("name")
                yield self._inner(child.called(f"model '{shown(name)}'"), child, name)
            elif child.tag == "include":
                yield self._included(child.called("<include>"))

    def _inner(self, node: XmlNode, placed: XmlNode, name: str) -> "Scope":
        return replace(
            self, node=node, placed=placed.called(node.label), name=name,
            prefix=f"{self.prefix}{name}::", depth=self.depth + 1,
        )  # fmt: skip

    def _included(self, include: XmlNode) -> "Scope":
        if self.depth > DEEPEST:
            raise include.error("models include each other without end")
        if include.element.get("merge") in ("true", "1"):
            raise include.error("merge is not supported yet; remove it, or copy the model's parts")
        path = _file_of(include, self.folder)
        data = file_bytes(path)
        self.digests.append(hashlib.sha256(data).hexdigest())
        top = parsed(data, shown(os.fspath(path)))
        shared = XmlFile(top.source.file, top.source.lines, include.source.notices)
        node = XmlNode(top.element, shared, "<sdf>")
        if node.tag != "sdf" or len(node.children("model")) != 1:
            raise include.error(f"'{shown(path.name)}' is no SDF file with one model")
        model = node.children("model")[0]
        name = text(include, "name", model.text("name"))
        inner = self._inner(model.called(f"model '{shown(name)}'"), include, name)
        placed = include if include.only("pose") is not None else model
        return replace(inner, folder=path.parent, version=version_of(node), placed=placed)

    @property
    def static(self) -> bool:
        """Whether the model does not move at all."""
        return flag(self.node, "static") or (
            self.placed.tag == "include" and flag(self.placed, "static")
        )


def version_of(root: XmlNode) -> tuple[int, int]:
    """The version of a file: 1.4 to 1.12 are read."""
    word = root.element.get("version", "").strip()
    parts = word.split(".")
    if len(parts) not in (2, 3) or not all(part.isdecimal() for part in parts):
        raise root.called("<sdf>").error(
            f"version '{shown(word)}' is none of SDFormat; write the version, as in 1.7"
        )
    version = int(parts[0]), int(parts[1])
    if version[0] != 1:
        raise root.called("<sdf>").error(f"SDFormat {shown(word)} is not known; 1.4 to 1.12 are")
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
        f"'{shown(uri)}' is not found in the folders above the file; put its folder, with a "
        f"model.sdf, beside the file, or its parent folder into {PATHS[0]}"
    )


def scopes(top: Scope) -> Iterator[Scope]:
    """A scope and all inside, outer ones first."""
    yield top
    for inner in top.models():
        yield from scopes(inner)
