"""Links of SDFormat with their inertia."""

from collections.abc import Iterator
from typing import Final

from symgen.mechanics.pose import Pose
from symgen.reading.description import TENSOR, Inertial, LinkElement
from symgen.reading.quaternions import origin_from_pose
from symgen.reading.sdf.scopes import Scope
from symgen.reading.sdf.values import number, pose
from symgen.reading.tensors import tensor_trouble
from symgen.reading.xml_reader import XmlNode
from symgen.text import shown

DEFAULTS: Final = (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
"""SDFormat's moments of inertia where a file is silent (kg m²); its mass is 1 kg."""


def link_elements(scope: Scope) -> Iterator[LinkElement]:
    """The links of a model. Raises RobotError."""
    for node in scope.node.children("link"):
        name = scope.prefix + node.text("name")
        called = node.called(f"link '{shown(name)}'")
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
