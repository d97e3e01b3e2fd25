"""The robot library seen by Pinocchio, and its files as they are."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from math import cos, pi, sin
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symgen.numbers.scalar import Numbers

pin: Any = pytest.importorskip("pinocchio")


Table = list[tuple[float, float, float]]


ROBOTS = Path(__file__).resolve().parents[2] / "robots"


# Modified DH rows (alpha, d, r): turn by alpha and shift by d about and along x, then shift by r
# along z.
H = pi / 2


def load(name: str) -> Any:
    return pin.buildModelFromUrdf(str(ROBOTS / f"{name}.urdf"))


def links(name: str) -> dict[str, ET.Element]:
    root = ET.parse(ROBOTS / f"{name}.urdf").getroot()
    return {link.attrib["name"]: link for link in root.findall("link")}


def inertial(link: ET.Element) -> tuple[float, Numbers, Numbers] | None:
    """Mass, centre of mass, and inertia tensor about it; None for a massless link."""
    element = link.find("inertial")
    if element is None:
        return None
    origin, mass, tensor = (element.find(tag) for tag in ("origin", "mass", "inertia"))
    assert origin is not None and mass is not None and tensor is not None
    assert origin.attrib["rpy"] == "0 0 0"
    i = {key: float(value) for key, value in tensor.attrib.items()}
    rows = [
        [i["ixx"], i["ixy"], i["ixz"]],
        [i["ixy"], i["iyy"], i["iyz"]],
        [i["ixz"], i["iyz"], i["izz"]],
    ]
    com = np.array([float(x) for x in origin.attrib["xyz"].split()])
    return float(mass.attrib["value"]), com, np.array(rows)


def about_origin(mass: float, com: Numbers, tensor: Numbers) -> Numbers:
    """The inertia tensor about the origin of the link frame."""
    moved: Numbers = tensor + mass * (com @ com * np.eye(3) - np.outer(com, com))
    return moved


def turn_z(q: float) -> Numbers:
    return np.array([[cos(q), -sin(q), 0, 0], [sin(q), cos(q), 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def turn_x(q: float) -> Numbers:
    return np.array([[1, 0, 0, 0], [0, cos(q), -sin(q), 0], [0, sin(q), cos(q), 0], [0, 0, 0, 1]])


def shift(x: float, y: float, z: float) -> Numbers:
    out = np.eye(4)
    out[:3, 3] = x, y, z
    return out


def placements(model: Any, q: Numbers) -> Any:
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    return data


def frame_pose(model: Any, name: str, q: Numbers) -> Numbers:
    pose: Numbers = placements(model, q).oMf[model.getFrameId(name)].homogeneous
    return pose


def postures(count: int, variables: int, seed: int) -> list[Numbers]:
    """The zero posture and some random ones."""
    rng = np.random.default_rng(seed)
    return [np.zeros(variables), *rng.uniform(-2, 2, size=(count, variables))]
