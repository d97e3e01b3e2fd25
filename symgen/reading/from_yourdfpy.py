"""Robots of yourdfpy: its URDF is read as any other."""

import hashlib
from pathlib import Path
from typing import Any

from symgen.reading import urdf
from symgen.reading.description import Description
from symgen.reading.xml_reader import parsed

NAME = "yourdfpy's URDF"


def description(robot: Any) -> Description:
    """The robot in a ``yourdfpy.URDF``. Raises RobotError, with lines of the text that yourdfpy
    writes."""
    data: bytes = robot.write_xml_string()
    return urdf.described(parsed(data, NAME), Path(NAME), hashlib.sha256(data).hexdigest())
