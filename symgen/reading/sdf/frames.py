"""Where the frames of an SDFormat file are: every link, joint, frame and model has one, given in
another."""

from collections.abc import Iterable
from dataclasses import dataclass

from symgen.errors import RobotError
from symgen.mechanics.pose import Pose
from symgen.reading.sdf.scopes import MODEL, WORLD, Scope, scopes
from symgen.reading.sdf.values import pose, text
from symgen.reading.xml_reader import XmlNode
from symgen.text import shown


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
            adding = ADDING.get(node.tag)
            if adding is not None:
                name = node.text("name")
                called = node.called(f"{node.tag} '{shown(name)}'")
                self._frames.setdefault(scope.prefix + name, adding(scope, called, name))

    def _add_model(self, scope: Scope) -> None:
        around = scope.around
        assert around is not None  # the world has no frame of its own to be placed
        place, frame = pose(scope.placed)
        base = around.absolute(frame or MODEL)
        chosen = text(scope.placed, "placement_frame", "") if scope.placed.tag == "include" else ""
        chosen = chosen or scope.node.element.get("placement_frame", "")
        placement = scope.absolute(chosen) if chosen else ""
        holder = _canonical(scope)
        self._frames[scope.frame] = SdfFrame(scope.placed, place, base, holder, placement)
        if not scope.merged and scope.prefix:
            self._frames[scope.prefix.removesuffix("::")] = SdfFrame(
                scope.placed, Pose(), scope.frame, scope.frame
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
        raise self._lost(name, by)

    def _lost(self, name: str, by: XmlNode) -> RobotError:
        short = shown(name.removeprefix("::"))
        return by.error(
            f"'{short}' is not a link, joint, frame or model of the file; correct the name"
        )


def _canonical(scope: Scope) -> str:
    """The name, in the whole file, of what a model's own frame is fixed to: its canonical link, by
    default its first link, or the frame of its first model where it has no link."""
    name = scope.node.element.get("canonical_link")
    if name:
        return scope.absolute(name)
    for part in scope.parts:
        for link in part.node.children("link"):
            return part.absolute(link.text("name"))
    return next((inner.frame for inner in scope.models), WORLD)


def _link(scope: Scope, node: XmlNode, name: str) -> SdfFrame:
    place, frame = pose(node)
    return SdfFrame(node, place, scope.absolute(frame or MODEL), scope.prefix + name)


def _frame(scope: Scope, node: XmlNode, name: str) -> SdfFrame:
    place, frame = pose(node)
    holder = node.element.get("attached_to") or MODEL
    return SdfFrame(node, place, scope.absolute(frame or holder), scope.absolute(holder))


def _joint(scope: Scope, node: XmlNode, name: str) -> SdfFrame:
    place, frame = pose(node)
    child = text(node, "child")
    return SdfFrame(node, place, scope.absolute(frame or child), scope.absolute(child))


ADDING = {"link": _link, "frame": _frame, "joint": _joint}
"""Elements of a model that have a frame, but for models themselves."""
