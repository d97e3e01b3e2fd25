"""Which joints follow which, as URDF files say it: in ``<mimic>``, one for each joint that is
followed, and in ``<ros2_control>``, where a joint has the parameters ``mimic``, ``multiplier`` and
``offset``."""

from collections.abc import Iterator
from dataclasses import replace

from symgen.reading.description import JointElement, Mimic
from symgen.reading.joints import FIXED
from symgen.reading.xml_reader import XML_SPACE, XmlNode
from symgen.text import shown


def mimic_of(joint: XmlNode) -> Mimic | None:
    """The law by which a joint follows others by its own tags, the sum of what they say. Raises
    RobotError."""
    mimic: Mimic | None = None
    for node in joint.children("mimic"):
        multiplier, offset = node.optional("multiplier"), node.optional("offset") or 0.0
        factor, leader = 1.0 if multiplier is None else multiplier, node.text("joint")
        if mimic is None:
            mimic = Mimic(node.line, leader, factor, offset)
        elif leader in (name for name, _ in mimic.terms):
            raise node.error(f"a second <mimic> of joint '{shown(leader)}'; keep one of them")
        else:
            terms = (*mimic.also, (leader, factor))
            mimic = replace(mimic, also=terms, offset=mimic.offset + offset)
    return mimic


def controlled(root: XmlNode, joints: tuple[JointElement, ...]) -> tuple[JointElement, ...]:
    """The joints with what ``<ros2_control>`` says of them. Raises RobotError."""
    controls: dict[str, tuple[XmlNode, Mimic]] = {}
    for node, name, mimic in _controls(root):
        known = controls.setdefault(name, (node, mimic))[1]
        if replace(known, line=0) != replace(mimic, line=0):
            raise node.error(
                "follows a different joint in another mimic parameter of <ros2_control> "
                f"(line {known.line}); keep one of them"
            )
    coupled = []
    for joint in joints:
        control = controls.get(joint.name) if joint.kind != FIXED else None
        coupled.append(joint if control is None else _with(control[0], joint, control[1]))
    return tuple(coupled)


def _with(node: XmlNode, joint: JointElement, mimic: Mimic) -> JointElement:
    known = joint.mimics
    if known is None:
        return replace(joint, mimics=mimic)
    if replace(known, line=0) != replace(mimic, line=0):
        node.notice(
            "warning",
            f"<ros2_control> differs from its <mimic> (line {known.line}); the <mimic> is used",
        )
    return joint


def _controls(root: XmlNode) -> Iterator[tuple[XmlNode, str, Mimic]]:
    for control in root.children("ros2_control"):
        for joint in control.children("joint"):
            name = joint.element.get("name") or ""
            parameters = {child.element.get("name"): child for child in joint.children("param")}
            if "mimic" in parameters:
                node = joint.called(f"joint '{shown(name)}'")
                yield node, name, _mimic(node, parameters)


def _mimic(joint: XmlNode, parameters: dict[str | None, XmlNode]) -> Mimic:
    leader = (parameters["mimic"].element.text or "").strip(XML_SPACE)
    if not leader:
        raise joint.error(
            "its parameter mimic names no joint; write the name of the joint that it follows"
        )
    multiplier, offset = (
        parameters[name].called(joint.label).content() if name in parameters else otherwise
        for name, otherwise in (("multiplier", 1.0), ("offset", 0.0))
    )
    return Mimic(joint.line, leader, multiplier, offset)
