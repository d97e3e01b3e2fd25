"""SDFormat (Gazebo's), versions 1.4 to 1.12: models, nested and included ones, frames, joints."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from symgen.errors import OptionError
from symgen.mechanics.pose import Pose
from symgen.reading.description import (
    EARTH,
    TENSOR,
    Inertial,
    JointElement,
    LinkElement,
    RobotDescription,
    check,
)
from symgen.reading.ignored_elements import loops_left_open
from symgen.reading.inertia_tensors import tensor_trouble
from symgen.reading.rotations import origin_from_pose
from symgen.reading.sdf.ignored_elements import notice_ignored_elements
from symgen.reading.sdf.joint_elements import SdfJoint, drives, geared, joint_elements
from symgen.reading.sdf.scopes import WORLD, Frames, Scope, number, pose, scopes, triple, version_of
from symgen.reading.xml_reader import XmlNode
from symgen.text import hint, quoted, shown

DEFAULTS: Final = (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
"""SDFormat's moments of inertia where a file is silent (kg m²); its mass is 1 kg."""


def link_elements(scope: Scope) -> Iterator[LinkElement]:
    """The links of a model. Raises RobotError."""
    for node in scope.node.children("link"):
        name = scope.prefix + node.text("name")
        called = node.with_label(f"link '{shown(name)}'")
        yield LinkElement(name, called.line, _inertial(called))


def _inertial(link: XmlNode) -> Inertial:
    node = link.only("inertial")
    if node is None:
        return Inertial(link.line, origin_from_pose(Pose(), link.line), 1.0, DEFAULTS)
    if node.element.get("auto") in ("true", "1"):
        raise link.error("inertia from geometry (auto) is not supported yet; write its numbers")
    mass, inertia = number(node, "mass", 1.0), node.only("inertia")
    if mass < 0:
        raise link.error(f"mass is negative ({mass:g} kg); give 0 or more")
    tensor: tuple[float, ...] = DEFAULTS
    if inertia is not None:
        pairs = zip(TENSOR, DEFAULTS, strict=True)
        tensor = tuple(number(inertia, name, default) for name, default in pairs)
    line, trouble = node.line, tensor_trouble(tensor, mass)
    place, frame = pose(node)
    if frame:
        raise link.error(
            f"<pose> of its <inertial> is relative to '{shown(frame)}', but SDFormat "
            "allows only the link frame; write the pose in the link frame"
        )
    return Inertial(line, origin_from_pose(place, line), mass, tensor, trouble)


def described(root: XmlNode, path: Path, digest: str, model: str | None = None) -> RobotDescription:
    """The model of an SDF file, or of the one world in it; the one called `model` of several.

    Names of nested models are preceded by theirs, as in ``arm::elbow``; between a joint and a child
    link whose frame is not the joint's there is a link without mass called CHILD.JOINT. Joints to
    the world make `world` the first link; without one the model floats in SDFormat, which a note
    says. Raises RobotError for what is no such file."""
    outer, top, name = _top(root, path, model)
    inside = list(scopes(top))
    frames = Frames(inside)
    if pose(top.placed)[1]:
        frames.add_world(outer)
    links = [link for scope in inside for link in link_elements(scope)]
    joints, tied = _tree(root, inside, frames)
    links += tied
    if any(joint.parent == WORLD for joint in joints):
        links.insert(0, LinkElement(WORLD, root.line))
    notice_ignored_elements(root, inside)
    outside = outer.node.children("joint") if outer.node.tag == "world" else []
    if outside:
        names = quoted(node.element.get("name") or "" for node in outside)
        root.with_label("<world>").notice("warning", f"joints of the world ({names}) are ignored")
    everything = digest
    if top.digests:
        everything = hashlib.sha256(" ".join((digest, *top.digests)).encode()).hexdigest()
    rotors = tuple(drives(inside, {joint.name for joint in joints}))
    gravity = outer.node.only("gravity") if outer.node.tag == "world" else None
    robot = RobotDescription(
        name, root.source.file, everything, root.line, tuple(links), tuple(joints), drives=rotors,
        gravity=EARTH if gravity is None else triple(gravity), tag="<sdf>",
    )  # fmt: skip
    check(robot)
    return _noted(robot, root, frames)


def _tree(
    root: XmlNode, inside: Sequence[Scope], frames: Frames
) -> tuple[list[JointElement], list[LinkElement]]:
    """The joints and the links that come with them; one to a link that an earlier joint carries
    closes a loop, which is left open."""
    joints, links, cut = list[JointElement](), list[LinkElement](), list[str]()
    boxes = list[SdfJoint]()
    for scope in inside:
        for node in scope.node.children("joint"):
            name = scope.prefix + node.text("name")
            called = node.with_label(f"joint '{shown(name)}'")
            jointed = SdfJoint(called, scope, frames)
            boxes += [jointed] if jointed.is_gearbox else []
            elements = list(joint_elements(jointed))
            ends = [element.child for element in elements if isinstance(element, JointElement)]
            if ends and ends[-1] in {joint.child for joint in joints}:
                cut.append(name)
                continue
            joints += [element for element in elements if isinstance(element, JointElement)]
            links += [element for element in elements if isinstance(element, LinkElement)]
    if cut:
        root.with_label("<sdf>").notice("warning", loops_left_open(cut, len(cut)))
    return geared(joints, links, boxes, frames), links


def _top(root: XmlNode, path: Path, name: str | None) -> tuple[Scope, Scope, str]:
    """The scope around the model, the model without a prefix, and its name."""
    label = root.with_label("<sdf>")
    worlds = root.children("world")
    if len(worlds) > 1:
        raise label.error("has several <world>; keep one")
    node = worlds[0].with_label("<world>") if worlds else label
    outer = Scope(node, "::", path.parent, version_of(root), node)
    top = _only(label, outer) if name is None else _named(outer, name)
    others = [model for model in outer.models if model is not top]
    if others:
        kind = "static models" if all(model.static for model in others) else "models"
        label.notice("note", f"{len(others)} {kind} are ignored")
    if top.static:
        label.notice(
            "warning", f"model '{shown(top.name)}' is static, but is read as a moving model"
        )
    return outer, replace(top, prefix=""), top.name


def _only(label: XmlNode, outer: Scope) -> Scope:
    """The only model that moves, or the only one. Raises RobotError."""
    candidates = [model for model in outer.models if not model.static] or outer.models
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        raise label.error("has no <model>; add one")
    names = quoted(model.name for model in candidates)
    raise label.error(
        f"has {len(candidates)} models that are not static ({names}); choose one with --model NAME"
        if not candidates[0].static
        else f"has {len(candidates)} models ({names}), all static; choose one with --model NAME"
    )


def _named(outer: Scope, name: str) -> Scope:
    """The model with a name. Raises OptionError."""
    found = next((model for model in outer.models if model.name == name), None)
    if found is None:
        names = [model.name for model in outer.models]
        raise OptionError(
            f"--model '{shown(name)}': the file has no such model; {hint(name, names)}"
        )
    return found


def _noted(robot: RobotDescription, root: XmlNode, frames: Frames) -> RobotDescription:
    """The description with the rotations of its roots in the world, and all notices."""
    label = root.with_label("<sdf>")
    loose = [name for name in robot.roots if name != WORLD]
    if loose and robot.roots[0] != WORLD:
        label.notice(
            "note",
            f"link '{shown(loose[0])}' has no joint to the world, so it floats in "
            "SDFormat; give --base floating or --base fixed",
        )
    tilts = tuple((name, frames.pose(name).rotation) for name in loose)
    notices = tuple(sorted(root.source.notices, key=lambda notice: notice.place.line))
    return replace(robot, tilts=tilts, notices=notices)
