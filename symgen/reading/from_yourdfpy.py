"""Robots of yourdfpy: its URDF is read as any other."""

import hashlib
from pathlib import Path
from typing import Any

from lxml import etree

from symgen.reading import urdf
from symgen.reading.description import RobotDescription
from symgen.reading.xml_reader import parsed

NAME = "yourdfpy's URDF"
FIELDS = ("joint", "multiplier", "offset")
"""The attributes of a <mimic>, as yourdfpy calls them too."""


def description(robot: Any) -> RobotDescription:
    """The robot in a ``yourdfpy.URDF``. Raises RobotError, with lines of the text that yourdfpy
    writes; TypeError for another object of that package."""
    if not hasattr(robot, "write_xml_string"):
        kind = type(robot).__qualname__
        raise TypeError(f"a yourdfpy.{kind} is not a robot; give its yourdfpy.URDF")
    data = _with_mimics(robot)
    return urdf.described(parsed(data, NAME), Path(NAME), hashlib.sha256(data).hexdigest())


def _with_mimics(robot: Any) -> bytes:
    """The URDF that yourdfpy writes, with the <mimic> that it leaves out."""
    root = etree.fromstring(robot.write_xml_string())
    for element, joint in zip(root.findall("joint"), robot.robot.joints, strict=True):
        if joint.mimic is not None:
            values = {name: getattr(joint.mimic, name) for name in FIELDS}
            texts = {name: str(x) for name, x in values.items() if x is not None}
            etree.SubElement(element, "mimic", attrib=texts)
    written: bytes = etree.tostring(root)
    return written
