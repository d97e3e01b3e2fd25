"""SDFormat (Gazebo's), versions 1.4 to 1.12: models, nested and included ones, frames, joints."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from symgen.errors import OptionError
from symgen.mechanics.inertia_checks import tensor_trouble
from symgen.mechanics.spatial import Pose
from symgen.reading.description import (
    EARTH,
    TENSOR,
    Inertial,
    JointElement,
    LinkElement,
    LoopElement,
    RobotDescription,
)
from symgen.reading.joint_kinds import has_several_coordinates
from symgen.reading.plausibility import check
from symgen.reading.rotations import origin_from_pose
from symgen.reading.sdf.hydrodynamics import fluids, is_hydrodynamics
from symgen.reading.sdf.joint_elements import (
    CONSTANTS,
    SdfJoint,
    axes,
    drives,
    joint_elements,
    loop_element,
    with_gearboxes,
)
from symgen.reading.sdf.scopes import (
    WORLD,
    Frames,
    Scope,
    flag,
    number,
    pose,
    scopes,
    text,
    version_of,
)
from symgen.reading.xml_reader import (
    LINKS_WITHOUT_GRAVITY,
    IgnoredElement,
    XmlNode,
    loops_left_open,
    notice_ignored,
    notice_unknown,
)
from symgen.text import hint, quoted, shown

KNOWN_ELEMENTS: Final = {
    "model": "link joint frame model include pose static self_collide allow_auto_disable "
    "enable_wind",
    "link": "inertial pose visual collision sensor light self_collide gravity kinematic "
    "enable_wind must_be_base_link velocity_decay audio_source audio_sink battery projector "
    "particle_emitter",
    "joint": "parent child axis axis2 pose physics sensor thread_pitch screw_thread_pitch "
    "gearbox_ratio gearbox_reference_body drake:rotor_inertia drake:gear_ratio",
    "axis": "xyz limit dynamics use_parent_model_frame mimic initial_position",
    "inertial": "pose mass inertia density fluid_added_mass",
}
"""Elements that need no note, by their parent element, separated by blanks."""


def notice_ignored_elements(root: XmlNode, models: Sequence[Scope]) -> None:
    """Add one notice for each kind of element without effect, and for each unknown element."""
    notice_ignored(root.with_label("<sdf>"), IGNORED, models)
    unknown = (
        (part, child)
        for part, node in _examined_elements(models)
        for child in node
        if child.tag not in KNOWN_ELEMENTS[part].split() and not is_hydrodynamics(child)
    )
    notice_unknown(unknown, KNOWN_ELEMENTS)


def _examined_elements(models: Sequence[Scope]) -> Iterator[tuple[str, XmlNode]]:
    for model in models:
        yield "model", model.node
        for node in model.node:
            if node.tag in ("link", "joint"):
                yield node.tag, node
                parts = {"axis": "axis", "axis2": "axis", "inertial": "inertial"}
                yield from ((parts[n.tag], n) for n in node if n.tag in parts)


def _links(models: Sequence[Scope]) -> Iterator[tuple[str, XmlNode]]:
    for model in models:
        for node in model.node.children("link"):
            yield model.prefix + node.text("name"), node


def _axis_elements(
    models: Sequence[Scope], tag: str, is_included: Callable[[str], bool] = bool
) -> Iterator[tuple[str, XmlNode]]:
    """The elements that the axes of joints have under a tag, for joints whose word
    `is_included`."""
    for model in models:
        for joint in model.node.children("joint"):
            kind = joint.element.get("type", "").strip()
            if kind in CONSTANTS and is_included(kind):
                for axis in axes(joint):
                    yield from ((model.prefix + joint.text("name"), n) for n in axis.children(tag))


def _joints_with_friction(models: Sequence[Scope]) -> list[str]:
    """The joints with damping or friction."""
    tags = ("damping", "friction")
    nodes = _axis_elements(models, "dynamics")
    return [*dict.fromkeys(n for n, node in nodes if any(number(node, t, 0.0) for t in tags))]


IGNORED: Final[tuple[IgnoredElement[Sequence[Scope]], ...]] = (
    IgnoredElement(
        "warning",
        lambda models: (name for name, node in _links(models) if not node.children("inertial")),
        "links without <inertial> ({names}) have the default inertia of SDFormat: a mass "
        "of 1 kg and moments of inertia of 1 kg m^2",
    ),
    IgnoredElement(
        "warning",
        lambda models: (
            name for name, node in _links(models) if text(node, "gravity", "true") in ("0", "false")
        ),
        LINKS_WITHOUT_GRAVITY,
    ),
    IgnoredElement(
        "warning",
        lambda models: (name for name, node in _links(models) if flag(node, "kinematic")),
        "kinematic links ({names}) are treated as dynamic links",
    ),
    IgnoredElement(
        "note",
        lambda models: dict.fromkeys(
            name for name, _ in _axis_elements(models, "limit", has_several_coordinates)
        ),
        "limits of joints with several coordinates ({names}) are ignored",
    ),
    IgnoredElement(
        "warning",
        lambda models: (
            name
            for name, node in _links(models)
            if any(inertial.children("fluid_added_mass") for inertial in node.children("inertial"))
            or any(map(is_hydrodynamics, models[0].node))
        ),
        "the fluid around links ({names}) is ignored; add --fluid to include its forces",
        ("fluid",),
        "the forces of the fluid around {names} (--fluid)",
    ),
    IgnoredElement(
        "note",
        _joints_with_friction,
        "damping and friction ({counted}) are ignored; add --friction to include them",
        ("friction",),
        "damping and friction of {counted} (--friction)",
    ),
)
"""The elements of SDFormat without effect."""


DEFAULT_INERTIA: Final = (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
"""SDFormat's moments of inertia where a file is silent (kg m²); its mass is 1 kg."""


def link_elements(scope: Scope) -> Iterator[LinkElement]:
    """The links of a model. Raises RobotError."""
    for node in scope.node.children("link"):
        name = scope.prefix + node.text("name")
        labelled = node.with_label(f"link '{shown(name)}'")
        yield LinkElement(name, labelled.line, _inertial(labelled))


def _inertial(link: XmlNode) -> Inertial:
    node = link.single_child("inertial")
    if node is None:
        return Inertial(link.line, origin_from_pose(Pose(), link.line), 1.0, DEFAULT_INERTIA)
    if node.element.get("auto") in ("true", "1"):
        raise link.error("inertia from geometry (auto) is not supported yet; write its numbers")
    mass, inertia = number(node, "mass", 1.0), node.single_child("inertia")
    if mass < 0:
        raise link.error(f"mass is negative ({mass:g} kg); give 0 or more")
    tensor: tuple[float, ...] = DEFAULT_INERTIA
    if inertia is not None:
        pairs = zip(TENSOR, DEFAULT_INERTIA, strict=True)
        tensor = tuple(number(inertia, name, default) for name, default in pairs)
    line, trouble = node.line, tensor_trouble(tensor, mass)
    place, frame = pose(node)
    if frame:
        raise link.error(
            f"<pose> of its <inertial> is relative to '{shown(frame)}', but SDFormat "
            "allows only the link frame; write the pose in the link frame"
        )
    return Inertial(line, origin_from_pose(place, line), mass, tensor, trouble)


def read_root(root: XmlNode, path: Path, digest: str, model: str | None = None) -> RobotDescription:
    """The model of an SDF file, or of the one world in it; the one called `model` of several.

    Names of nested models are preceded by theirs, as in ``arm::elbow``; between a joint and a child
    link whose frame is not the joint's there is a link without mass called CHILD.JOINT. Joints to
    the world make `world` the first link; without one the model floats in SDFormat, which a note
    says. Raises RobotError for what is no such file."""
    outer, top, name = _chosen_model(root, path, model)
    all_scopes = list(scopes(top))
    frames = Frames(all_scopes)
    if pose(top.at_location)[1]:
        frames.add_world(outer)
    fluids_by_link = fluids(outer.node, all_scopes)
    links = [
        replace(link, fluids=fluids_by_link.get(link.name, ()))
        for scope in all_scopes
        for link in link_elements(scope)
    ]
    joints, intermediate_links, loops = _joints_and_loops(root, all_scopes, frames)
    links += intermediate_links
    if any(joint.parent == WORLD for joint in joints):
        links.insert(0, LinkElement(WORLD, root.line))
    notice_ignored_elements(root, all_scopes)
    world_joints = outer.node.children("joint") if outer.node.tag == "world" else []
    if world_joints:
        names = quoted(node.element.get("name") or "" for node in world_joints)
        root.with_label("<world>").notice("warning", f"joints of the world ({names}) are ignored")
    full_digest = digest
    if top.digests:
        full_digest = hashlib.sha256(" ".join((digest, *top.digests)).encode()).hexdigest()
    rotors = tuple(drives(all_scopes, {joint.name for joint in joints}))
    gravity = outer.node.single_child("gravity") if outer.node.tag == "world" else None
    x, y, z = EARTH if gravity is None else gravity.text_numbers(3)
    robot = RobotDescription(
        name, root.source.file, full_digest, root.line, tuple(links), tuple(joints), drives=rotors,
        gravity=(x, y, z), tag="<sdf>", loops=tuple(loops),
    )  # fmt: skip
    check(robot)
    return _with_root_rotations(robot, root, frames)


def _joints_and_loops(
    root: XmlNode, all_scopes: Sequence[Scope], frames: Frames
) -> tuple[list[JointElement], list[LinkElement], list[LoopElement]]:
    """The joints, the links that come with them, and the loops that joints to a link close that an
    earlier joint carries. A loop that is not supported is left open with a warning."""
    joints, links, open_loops = list[JointElement](), list[LinkElement](), list[str]()
    gearboxes, loops = list[SdfJoint](), list[LoopElement]()
    for scope in all_scopes:
        for node in scope.node.children("joint"):
            name = scope.prefix + node.text("name")
            labelled = node.with_label(f"joint '{shown(name)}'")
            sdf_joint = SdfJoint(labelled, scope, frames)
            gearboxes += [sdf_joint] if sdf_joint.is_gearbox else []
            elements = list(joint_elements(sdf_joint))
            joints_of_node = [element for element in elements if isinstance(element, JointElement)]
            if joints_of_node and joints_of_node[-1].child in {joint.child for joint in joints}:
                loop = loop_element(joints_of_node)
                loops += [loop] if loop else []
                open_loops += [] if loop else [name]
                continue
            joints += joints_of_node
            links += [element for element in elements if isinstance(element, LinkElement)]
    if open_loops:
        root.with_label("<sdf>").notice("warning", loops_left_open(open_loops, len(open_loops)))
    return with_gearboxes(joints, links, gearboxes, frames), links, loops


def _chosen_model(root: XmlNode, path: Path, name: str | None) -> tuple[Scope, Scope, str]:
    """The scope around the model, the model without a prefix, and its name."""
    label = root.with_label("<sdf>")
    worlds = root.children("world")
    if len(worlds) > 1:
        raise label.error("has several <world>; keep one")
    node = worlds[0].with_label("<world>") if worlds else label
    outer = Scope(node, "::", path.parent, version_of(root), node)
    top = _single_model(label, outer) if name is None else _model_called(outer, name)
    others = [model for model in outer.models if model is not top]
    if others:
        kind = "static models" if all(model.static for model in others) else "models"
        label.notice("note", f"{len(others)} {kind} are ignored")
    if top.static:
        label.notice(
            "warning", f"model '{shown(top.name)}' is static, but is read as a moving model"
        )
    return outer, replace(top, prefix=""), top.name


def _single_model(label: XmlNode, outer: Scope) -> Scope:
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


def _model_called(outer: Scope, name: str) -> Scope:
    """The model with a name. Raises OptionError."""
    found = next((model for model in outer.models if model.name == name), None)
    if found is None:
        names = [model.name for model in outer.models]
        raise OptionError(
            f"--model '{shown(name)}': the file has no such model; {hint(name, names)}"
        )
    return found


def _with_root_rotations(
    robot: RobotDescription, root: XmlNode, frames: Frames
) -> RobotDescription:
    """The description with the rotations of its roots in the world, and all notices."""
    label = root.with_label("<sdf>")
    floating_roots = [name for name in robot.roots if name != WORLD]
    if floating_roots and robot.roots[0] != WORLD:
        label.notice(
            "note",
            f"link '{shown(floating_roots[0])}' has no joint to the world, so it floats in "
            "SDFormat; give --base floating or --base fixed",
        )
    tilts = tuple((name, frames.pose(name).rotation) for name in floating_roots)
    notices = tuple(sorted(root.source.notices, key=lambda notice: notice.location.line))
    return replace(robot, tilts=tilts, notices=notices)
