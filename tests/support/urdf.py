"""Files of URDF of a few lines, and what they are refused with."""

import json
from pathlib import Path

import pytest

from symgen.errors import RobotError
from symgen.reading.description import RobotDescription
from symgen.reading.urdf import parse

CASES = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((Path(__file__).resolve().parents[1] / "cases").glob("*.json"))
}


INERTIAL = (
    '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" '
    'izz="1"/></inertial>'
)


LINKS = f'<link name="a"/><link name="b">{INERTIAL}</link>'


ENDS = '<parent link="a"/><child link="b"/>'


def case_file(name: str) -> str:
    return str(Path(__file__).resolve().parents[1] / "cases" / f"{name}.urdf")


def robot(body: str) -> RobotDescription:
    return parse(f'<robot name="r">{body}</robot>'.encode(), "r.urdf")


def joint(inside: str = "", kind: str = "revolute", name: str = "j", ends: str = ENDS) -> str:
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>'


def refusal(body: str) -> str:
    with pytest.raises(RobotError) as caught:
        robot(body)
    return str(caught.value)
