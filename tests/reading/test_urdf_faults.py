"""Independent faults of a file of URDF are said at once."""

import pytest

from symgen.errors import MAX_PRINTED_ERRORS, RobotErrors
from symgen.reading.urdf import KINDS
from tests.support.tools import invoke
from tests.support.urdf import LINKS, joint, robot


def several(body):
    with pytest.raises(RobotErrors) as caught:
        robot(body)
    return str(caught.value).splitlines()


def test_independent_faults_are_said_at_once_in_the_order_of_lines():
    bad = LINKS.replace('mass value="1"', 'mass value="-1"')
    assert several(joint('<axis xyz="0 0 0"/>') + "\n" + bad + "\n" + joint(kind="curly")) == [
        "r.urdf:1: error: joint 'j': axis is zero; give a direction such as xyz=\"0 0 1\"",
        "r.urdf:2: error: link 'b': mass is negative (-1 kg); give 0 or more",
        several(joint(kind="curly") + joint(kind="curly"))[0].replace(":1:", ":3:"),
    ]


def test_faults_of_the_tree_are_said_at_once():
    ends = '<parent link="{}"/><child link="{}"/>'
    lines = several(
        LINKS
        + joint(name="j", ends=ends.format("a", "x"))
        + joint(name="k", ends=ends.format("y", "b"))
    )
    assert ["'x'" in lines[0], "'y'" in lines[1], len(lines)] == [True, True, 2]


def test_of_many_faults_the_first_are_said():
    lines = several(joint(kind="curly") * 30)
    assert len(lines) == MAX_PRINTED_ERRORS + 1
    assert lines[-1] == "r.urdf: error: 10 more errors"


def test_each_fault_is_a_line_on_the_shell(tmp_path):
    path, twice = tmp_path / "r.urdf", joint(kind="a\u202eb") * 2
    path.write_text(f'<robot name="r">{twice}</robot>')
    done = invoke("check", path)
    said = rf"{path}:1: error: joint 'j': unknown type 'a\u202eb'; use one of {', '.join(KINDS)}"
    assert done.exit_code == 2 and done.stdout == "" and done.stderr.splitlines() == [said] * 2


def test_faults_beside_what_urdf_has_are_said_at_once():
    """Springs and rotors that files write all the same."""
    rows = [
        joint("<axis xyz='0 0 1'/><dynamics armature='-1'/>"),
        joint("<axis xyz='0 0 1'/><dynamics stiffness='x'/>").replace('"j"', '"k"'),
    ]
    first, second = several(LINKS + "\n" + "\n".join(rows))
    assert "armature is negative (-1)" in first and "stiffness of <dynamics> holds 'x'" in second
