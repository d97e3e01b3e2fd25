"""What people see of floating, planar and mimic joints and of rotors, and the formulas of
docs/conventions.md."""

import json
import re

import numpy as np
import pytest

import symgen
from symgen.algorithms import INPUTS, LINK_QUANTITIES, QUANTITIES
from symgen.languages.joint_documentation import (
    NOT_BY_JOINT_TYPE,
    SYMMETRIC,
    UNIT_CHOICES,
    choose_units,
    robot_meaning,
    robot_unit,
)
from symgen.mechanics.joint_listing import listed_joints
from symgen.mechanics.spatial import IDENTITY
from tests.support.tools import ROOT, invoke, robot_file

HEAD = '<?xml version="1.0"?><robot name="r"><link name="base"/>'
LINK = (
    '<link name="{0}"><inertial><origin xyz="0.1 0.2 0.3"/><mass value="2"/><inertia ixx="1" '
    'ixy="0" ixz="0" '
    'iyy="1" iyz="0" izz="1"/></inertial></link>'
)
JOINT = (
    '<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/><axis xyz="0 0 1"/>'
    '<limit effort="1" velocity="1" lower="-1" upper="1"/>{4}</joint>'
)
MIXED = (
    HEAD
    + "".join(LINK.format(n) for n in "abcd")
    + "".join(
        (
            JOINT.format("slab", "planar", "base", "a", ""),
            JOINT.format("near", "prismatic", "a", "b", ""),
            JOINT.format(
                "far", "revolute", "b", "c", '<mimic joint="near" multiplier="-2" offset="0.5"/>'
            ),
            JOINT.format("loose", "floating", "c", "d", ""),
        )
    )
    + "</robot>"
)
ROTOR = "[joints.joint2]\ngear_ratio = 50.0\nrotor_inertia = 1e-4\n"


@pytest.fixture
def mixed(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(MIXED)
    return path


@pytest.fixture
def geared(tmp_path):
    path = tmp_path / "actuators.toml"
    path.write_text(ROTOR)
    return path


def head(folder, name):
    return (folder / f"{name}.h").read_text(encoding="utf-8").split("#ifndef")[0]


# -- joints as the file has them -------------------------------------------------------------------


def test_a_run_is_one_joint(mixed):
    found = listed_joints(symgen.load(mixed).model)
    assert [(j.name, j.kind, j.positions, j.velocities, j.leader) for j in found] == [
        ("slab", "planar", (0, 1, 2), (0, 1, 2), ""),
        ("near", "prismatic", (3,), (3,), ""),
        ("far", "revolute", (), (), "near"),
        ("loose", "floating", tuple(range(4, 11)), tuple(range(4, 10)), ""),
    ]
    assert found[2].follows == "-2.0 near + 0.5"


def test_check_has_a_row_for_each_joint(mixed):
    done = invoke("check", mixed)
    assert done.exit_code == 0 and "10 velocities, 11 positions" in done.stdout
    for row in (
        r"0 to 2 +0 to 2 +slab +planar +a",
        r"far +revolute +c +.*follows: -2.0 near \+ 0.5",
        r"4 to 10 +4 to 9 +loose +floating +d",
    ):
        assert re.search(row, done.stdout)
    assert "body a" in done.stdout and "slab.x" not in done.stdout


def test_inspect_shows_bodies_with_links_and_rotors(mixed, geared):
    found = json.loads(invoke("inspect", mixed, "--json").stdout)
    assert [(b["index"], b["name"], b["parent"], b["joint"]) for b in found["bodies"]] == [
        (3, "a", "base", "slab"),
        (4, "b", "a", "near"),
        (5, "c", "b", "far"),
        (11, "d", "c", "loose"),
    ]
    assert found["bodies"][2]["follows"] == {"joint": "near", "factor": -2.0, "offset": 0.5}
    assert len(found["positions"]) == 11 and len(found["velocities"]) == found["dof"] == 10
    found = json.loads(invoke("inspect", robot_file("ur5"), "--actuators", geared, "--json").stdout)
    assert [(r["index"], r["name"], r["ratio"]) for r in found["rotors"]] == [
        (7, "joint2.rotor", 50.0)
    ]
    assert "J_7" in found["base_parameters"]["parameters"]


@pytest.mark.parametrize("options", [[], ["--html"], ["--groupings"], ["--latex"]])
def test_inspect_in_every_form(mixed, geared, tmp_path, options):
    more = [*options, tmp_path / "x.html"] if options == ["--html"] else options
    assert invoke("inspect", mixed, *more).exit_code == 0
    more = [*options, tmp_path / "y.html"] if options == ["--html"] else options
    assert invoke("inspect", robot_file("ur5"), "--actuators", geared, *more).exit_code == 0


def test_closed_forms_are_in_the_users_coordinates(mixed):
    done = invoke("inspect", mixed, "--entry", "mass_matrix:1,1", "--symbolic", "masses")
    assert done.stdout.split() == ["m11", "+", "m3", "+", "m4", "+", "m5"]
    assert (
        "4*Izz5"
        in invoke("inspect", mixed, "--entry", "mass_matrix:4,4", "--symbolic", "masses").stdout
    )
    assert invoke("inspect", mixed, "--entry", "mass_matrix:11,1").exit_code == 2


# -- what the generated files say ------------------------------------------------------------------


def test_header_of_a_mixed_robot(mixed, tmp_path):
    symgen.generate(mixed, tmp_path / "out", prefix="r_mixed")
    text = head(tmp_path / "out", "r_mixed")
    for said in (
        "loose.qw",
        "loose.wz",
        "slab.theta",
        "planar",
        "floating",
        "Joint far follows near: far = -2.0 near + 0.5.",
        "axes of the root link",
        "quaternion",
    ):
        assert said in text
    whole = (tmp_path / "out" / "r_mixed.h").read_text()
    assert "R_MIXED_NQ 11\n" in whole and "R_MIXED_NV 10\n" in whole and "R_MIXED_DOF 10\n" in whole
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (manifest["nq"], len(manifest["joints"])) == (11, 11)
    assert [row["velocity"] for row in manifest["velocities"]] == manifest["model"]["joint_names"]
    done = invoke("verify", tmp_path / "out")
    assert done.exit_code == 0, done.stdout


def test_header_of_a_floating_base_and_of_rotors(geared, tmp_path):
    symgen.generate(robot_file("quadruped"), tmp_path / "q", base="floating", languages=("c",))
    text = head(tmp_path / "q", "quadruped")
    assert "axes of the world" in text and "root link" not in text
    for kind, said in (
        ("exact", "0.0001 kg m^2 at ratio 50"),
        ("reflected", "0.25 kg m^2 added to the joint's own"),
    ):
        symgen.generate(
            robot_file("ur5"), tmp_path / kind, actuators=geared, rotors=kind, languages=("c",)
        )
        text = head(tmp_path / kind, "ur5")
        assert f"Rotor of joint joint2: {said}" in text and "without friction." in text
    symgen.generate(
        robot_file("ur5"), tmp_path / "none", actuators=geared, rotors="none", languages=("c",)
    )
    assert "without friction and rotor inertia." in head(tmp_path / "none", "ur5")


def test_a_singular_floating_base_says_what_helps():
    done = invoke("ops", robot_file("ur5"), "--base", "floating", "--quantity", "forward_dynamics")
    assert done.exit_code == 2
    assert all(said in done.stderr for said in ("'floating_base'", "'base'", "--root"))
    assert (
        invoke(
            "ops",
            robot_file("ur5"),
            "--base",
            "floating",
            "--root",
            "link1",
            "--quantity",
            "forward_dynamics",
        ).exit_code
        == 0
    )


def test_units_of_one_type_of_joint():
    rows = [*QUANTITIES.values(), *LINK_QUANTITIES.values()]
    units = {a.unit for q in rows for a in q.outputs} | {a.unit for a in INPUTS.values()}
    for text in {text for text in units if "|" in text} - set(NOT_BY_JOINT_TYPE):
        for own, other in (("rad", None), ("m", "rad")):
            one = choose_units(UNIT_CHOICES[own], text)
            assert "|" not in one and one.count("(") == one.count(")")
            assert other is None or other not in one
    assert choose_units(UNIT_CHOICES["rad"], "N m | N, per (rad | m)^2") == "N m, per rad^2"
    assert choose_units(UNIT_CHOICES["m"], "N m | N, per rad | m") == "N, per m"


OF_ONE_JOINT = {
    "revolute": ("rad", "rad"),
    "prismatic": ("m", "m"),
    "ball": ("1", "rad"),
    "universal": ("rad", "rad"),
    "cylindrical": ("rad | m", "rad | m"),
    "planar": ("rad | m", "rad | m"),
    "floating": ("rad | m | 1", "rad | m"),
}


@pytest.mark.parametrize("kind", OF_ONE_JOINT)
def test_units_of_a_robot_of_one_joint(kind, tmp_path):
    path = tmp_path / "r.urdf"
    links = '<link name="base"/>' + LINK.format("a")
    path.write_text(f'<robot name="r">{links}{JOINT.format("j", kind, "base", "a", "")}</robot>')
    model = symgen.load(path).model
    found = [robot_unit(model, "rad | m", array) for array in ("q", "qd")]
    assert tuple(found) == OF_ONE_JOINT[kind]


# -- MuJoCo ----------------------------------------------------------------------------------------


def test_the_hessian_of_the_potential_is_symmetric_without_floating_joints(mixed):
    """The registry names the exception; a header states what holds for its robot."""
    qualified = [
        out.meaning for q in QUANTITIES.values() for out in q.outputs if SYMMETRIC in out.meaning
    ]
    assert qualified
    fixed, floating = (
        symgen.load(robot_file("ur5")).model,
        symgen.load(mixed, base="floating").model,
    )
    for text in qualified:
        assert "symmetric" not in robot_meaning(floating, text)
        assert robot_meaning(fixed, text).endswith(", symmetric")


def rotation(x, y, z, w):
    """Body axes to world."""
    v = np.array([x, y, z])
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return (w * w - v @ v) * np.array(IDENTITY) + 2 * np.outer(v, v) + 2 * w * cross


def from_mujoco(qpos, qvel, qacc, qfrc):
    """q, qd, qdd and tau of a free joint from MuJoCo's, as in docs/conventions.md."""
    q = np.array([*qpos[:3], *qpos[4:7], qpos[3]])
    back = rotation(*q[3:7]).T
    qd = np.array([*back @ qvel[:3], *qvel[3:]])
    qdd = np.array([*back @ qacc[:3] - np.cross(qd[3:], qd[:3]), *qacc[3:]])
    return q, qd, qdd, np.array([*back @ qfrc[:3], *qfrc[3:]])


def test_formulas_for_mujoco(tmp_path):
    """A free body by Newton and Euler, in MuJoCo's numbers: force on the centre in world axes,
    moment in body axes."""
    path, rng = tmp_path / "r.urdf", np.random.default_rng(0)
    path.write_text(
        '<robot name="r">'
        + LINK.format("a")
        + LINK.format("b")
        + '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>'
        '<limit effort="1" velocity="1"/></joint></robot>'
    )
    own = symgen.compile(path, "inverse_dynamics", "mass_matrix", base="floating")
    quaternion = rng.normal(size=4)
    qpos, qvel, qacc = (
        np.array([*rng.normal(size=3), *quaternion / np.linalg.norm(quaternion)]),
        *rng.normal(size=(2, 6)),
    )
    q, qd, qdd, _ = from_mujoco(qpos, qvel, qacc, np.zeros(6))
    tau = own.inverse_dynamics([*q, 0.0], [*qd, 0.0], [*qdd, 0.0])
    turn, m, c = rotation(*q[3:7]), 4.0, np.array([0.1, 0.2, 0.3])
    w, alpha = qvel[3:], qacc[3:]
    centre = qacc[:3] + turn @ (np.cross(alpha, c) + np.cross(w, np.cross(w, c)))
    force = m * (centre - np.array([0, 0, -9.81]))
    moment = np.cross(c, turn.T @ force) + 2 * alpha
    wanted = from_mujoco(qpos, qvel, qacc, np.array([*force, *moment]))[3]
    assert tau[:6] == pytest.approx(wanted, abs=1e-12)


def test_the_page_says_what_is_tested():
    text = (ROOT / "docs" / "conventions.md").read_text(encoding="utf-8")
    assert "q[3:7]  = qpos[4], qpos[5], qpos[6], qpos[3]" in text and "qd[3:6] × qd[0:3]" in text


CHRISTOFFEL = ("coriolis_matrix", "slotine_li", "momentum_rate_regressor")


@pytest.mark.parametrize(
    "name",
    [name for name in QUANTITIES if name.startswith(CHRISTOFFEL) and "newton_euler" not in name],
)
def test_the_c_of_christoffel_is_not_cited_as_another(name):
    """Eqs. 6b, 13b, 16, 24b, 24c and 25b of Garofalo, Ott and Albu-Schäffer have another C."""
    for way in QUANTITIES[name].formulations:
        assert "Garofalo" not in way.source or "instead of the C of Garofalo" in way.source
