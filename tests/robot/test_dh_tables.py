"""Robots from tables of Denavit and Hartenberg, with numbers or symbols."""

import math

import numpy as np
import pytest
import sympy

import symgen
from symgen.errors import OptionError, SymgenError
from tests.support.built import BODIES, TABLE, planar, pose, run
from tests.support.oracles import oracle
from tests.support.states import close
from tests.support.tools import invoke

pin = oracle("pinocchio")


def _x(angle, length):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1, 0, 0, length], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])


def _z(angle, length):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, length], [0, 0, 0, 1]])


def forward(convention, q):
    """The frames of `TABLE` by the textbooks' matrices."""
    pose, found = np.eye(4), []
    for row, x in zip(TABLE, q, strict=True):
        slide = row.get("type") == "prismatic"
        z = _z(row["theta"] + (0 if slide else x), row["d"] + (x if slide else 0))
        across = _x(row["alpha"], row["a"])
        pose = pose @ z @ across if convention == "standard" else pose @ across @ z
        found.append(pose)
    return found


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_frames_of_a_table_are_the_textbooks(convention):
    robot, q = symgen.from_dh(TABLE, convention), [0.3, -0.1, 0.7, 1.1]
    for k, there in enumerate(forward(convention, q), 1):
        close(pose(robot, f"link{k}", q), there[:3], 1e-14)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_inertia_of_a_table_is_in_its_frames(convention):
    rows = [row | body for row, body in zip(TABLE, BODIES, strict=True)]
    robot, model, at = symgen.from_dh(rows, convention), pin.Model(), 0
    q, rest = [0.3, -0.1, 0.7, 1.1], np.eye(4)
    for k, body in enumerate(BODIES):
        row, slide = TABLE[k], TABLE[k].get("type") == "prismatic"
        z, across = _z(row["theta"], row["d"]), _x(row["alpha"], row["a"])
        standard = convention == "standard"
        before, after = (rest @ z, across) if standard else (rest @ across @ z, np.eye(4))
        kind = pin.JointModelPZ() if slide else pin.JointModelRZ()
        at = model.addJoint(at, kind, pin.SE3(before), f"j{k}")
        xx, xy, xz, yy, yz, zz = body["inertia"]
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        inertia = pin.Inertia(body["mass"], np.array(body["center_of_mass"]), tensor)
        model.appendBodyToJoint(at, inertia, pin.SE3(after))
        rest = after
    tau = pin.rnea(model, model.createData(), np.array(q), np.array(q) * 2, np.array(q) + 1)
    found = run(robot, "inverse_dynamics", q=q, qd=np.array(q) * 2, qdd=np.array(q) + 1)
    close(found, tau, 1e-13)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([(0, 1, 2, 3)], "tables differ in the order"),
        ([{"A": 1}], "unknown key 'A'"),
        ([{"alpha": sympy.Symbol("x")}], "alpha is x; give a number in rad"),
        ([{"type": "ball"}], "use revolute or prismatic"),
        ([], "one row per joint"),
    ],
)
def test_rows_that_are_none_are_refused(rows, said):
    with pytest.raises(OptionError, match=said):
        symgen.from_dh(rows, "modified")


TOML = """
name = "two"
convention = "modified"
[[joint]]
mass = 1.0
inertia = [0.1, 0.0, 0.0, 0.1, 0.0, 0.1]
[[joint]]
name = "elbow"
alpha = "-pi/2"
a = 0.5
mass = 2.0
center_of_mass = [0.25, 0.0, 0.0]
"""


def test_a_table_as_a_file(tmp_path):
    path = tmp_path / "two.toml"
    path.write_text(TOML, encoding="utf-8")
    robot = symgen.Robot(path)
    assert robot.name == "two" and robot.velocities == ("joint1", "elbow")
    result = invoke("check", path)
    assert result.exit_code == 0 and "elbow" in result.stdout
    path.write_text(TOML.replace("modified", "craig"), encoding="utf-8")
    result = invoke("check", path)
    assert result.exit_code == 2 and "two.toml:3: error: convention" in result.stderr


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("alpha", "alfa", "two.toml:9: error: joint.2.alfa: no key is called 'alfa'; near names"),
        ("a = 0.5", 'a = "x"', "two.toml:10: error: joint.2.a: is a text (x)"),
        ("a = 0.5", "a = true", "two.toml:10: error: joint.2.a: is a boolean"),
        ('"-pi/2"', '"pi/0"', "two.toml:7: error: joint.2: row 2: alpha is 'pi/0'; give"),
        ('"elbow"', "5", "two.toml:7: error: joint.2: a joint is called 5; give it a name"),
        ('"elbow"', '"joint1"', "two.toml:7: error: joint 'joint1': the name is already used by"),
        ("mass = 2.0", "mass = -2.0", "two.toml:7: error: joint.2: link 'link2': mass is negative"),
        (
            "mass = 2.0",
            "inertia = 5",
            "two.toml:7: error: joint.2: link 'link2': inertia is 5; give",
        ),
        (
            "mass = 2.0",
            "mass = 2.0\nratio = 0",
            "two.toml:7: error: joint.2: joint 'elbow': give a ratio other than 0",
        ),
        ("mass = 2.0", "mass = 2.0\narmature = -1", "joint.2: joint 'elbow': give a ratio"),
        (
            "mass = 2.0",
            "",
            "joint.2: link 'link2': center_of_mass is given for a link without mass",
        ),
        ("[[joint]]", "[joint]", "two.toml:"),
    ],
)
def test_what_is_wrong_in_a_table_is_said_with_its_line(tmp_path, old, new, said):
    path = tmp_path / "two.toml"
    path.write_text(TOML.replace(old, new), encoding="utf-8")
    done = invoke("check", path)
    assert done.exit_code == 2 and done.stderr.count("\n") == 1 and said in done.stderr, done.stderr


def test_a_missing_job_file_is_said_to_be_one(tmp_path):
    assert "symgen init writes one" in invoke("check", tmp_path / "none.toml").stderr


def test_symbols_need_values_before_code_is_made():
    robot = planar()
    assert robot.symbols == ("a1", "a2", "m1", "m2")
    with pytest.raises(SymgenError, match=r"give it one with robot.subs"):
        robot.trace("mass_matrix")
    part = robot.subs({"m1": 1, sympy.Symbol("m2"): 2.5})
    assert part.symbols == ("a1", "a2")
    with pytest.raises(OptionError, match="has no symbol 'm1'"):
        part.subs({"m1": 2})
    rows = [{"a": 0.3, "mass": 1, "alpha": math.pi / 2}, {"a": 0.4, "mass": 2.5, "d": 0.3 / 3}]
    numbers = symgen.from_dh(rows, "standard", "planar")
    whole, q = part.subs({"a1": 0.3, "a2": 0.4}), [0.4, 0.9]
    close(run(whole, "mass_matrix", q=q), run(numbers, "mass_matrix", q=q), 1e-15)
