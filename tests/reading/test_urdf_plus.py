"""URDF+: couplings are read as joints that follow others, loops are warned of as all loops are."""

import numpy as np
import pytest

import symgen
from symgen.errors import RobotError
from symgen.reading.assemble import load
from tests.support.bars import CLOSED, DRAKE, PLUS
from tests.support.tools import invoke

LINK = (
    '<link name="{0}"><inertial><origin xyz="0.1 0.02 0.05"/><mass value="{1}"/>'
    '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.025"/></inertial></link>'
)
JOINT = (
    '<joint name="{0}" type="continuous"{4}><parent link="{1}"/><child link="{2}"/>'
    '<origin xyz="0.1 0.03 0.2" rpy="0.3 0.1 0"/><axis xyz="{3}"/></joint>'
)
COUPLING = '<coupling name="{0}"><predecessor link="{1}"/><successor link="{2}"/>{3}</coupling>'
FOLLOWS = ' independent="false"'
NAMES = ("base", "thigh", "shank", "r1", "r2")


def leg(*couplings: str, flags: tuple[str, str] = (FOLLOWS, FOLLOWS)) -> str:
    """A hip and a knee, and two rotors on the base."""
    parts = [LINK.format(name, 0.5 + 0.3 * k) for k, name in enumerate(NAMES)]
    parts += [
        JOINT.format("hip", "base", "thigh", "0 1 0", ""),
        JOINT.format("knee", "thigh", "shank", "0 1 0", ' independent="true"'),
        JOINT.format("m1", "base", "r1", "0 1 0", flags[0]),
        JOINT.format("m2", "base", "r2", "0 0 1", flags[1]),
    ]
    return f'<robot name="leg">{"".join((*parts, *couplings))}</robot>'


def coupling(name: str, predecessor: str, successor: str, ratio: float) -> str:
    return COUPLING.format(name, predecessor, successor, f'<ratio value="{ratio}"/>')


BELT = (coupling("c1", "thigh", "r1", 6.0), coupling("c2", "shank", "r2", -9.33))
"""The first rotor turns with the hip; the second with the sum of hip and knee, as by a belt."""
G = np.array([[1, 0], [0, 1], [6.0, 0], [-9.33, -9.33]])


def test_coupled_joints_follow_by_the_ratio():
    model = load(leg(*BELT)).model
    assert model.joint_names == ("hip", "knee")
    rows = {b.joint.name: b.follows.terms for b in model.bodies if b.follows}
    assert rows == {"m1": ((1, 6.0),), "m2": ((1, -9.33), (2, -9.33))}
    assert not [n for n in load(leg(*BELT)).notices if n.level == "warning"]


def test_dynamics_are_those_of_pinocchios_tree_under_the_constraint():
    """τ = Gᵀ τ_tree, M = Gᵀ M_tree G, with G written here."""
    pin = pytest.importorskip("pinocchio")
    tree = pin.buildModelFromXML(leg())
    order = [tree.joints[tree.getJointId(name)].idx_v for name in ("hip", "knee", "m1", "m2")]
    columns = [slice(*(lambda j: (j.idx_q, j.idx_q + j.nq))(tree.joints[k + 1])) for k in range(4)]
    ours, data = symgen.compile(leg(*BELT), "inverse_dynamics", "mass_matrix"), tree.createData()
    g, rng = np.empty((4, 2)), np.random.default_rng(0)
    g[order] = G
    for _ in range(3):
        q, qd, qdd = rng.uniform(-1, 1, (3, 2))
        full = np.zeros(tree.nq)
        for angle, part in zip(g @ q, columns, strict=True):
            full[part] = (np.cos(angle), np.sin(angle)) if part.stop - part.start == 2 else angle
        tau = pin.rnea(tree, data, full, g @ qd, g @ qdd)
        mass = pin.crba(tree, data, full)
        mass = np.triu(mass) + np.triu(mass, 1).T
        assert np.allclose(ours.inverse_dynamics(q, qd, qdd), g.T @ tau, atol=1e-11)
        assert np.allclose(ours.mass_matrix(q), g.T @ mass @ g, atol=1e-11)


def test_couplings_that_share_dependent_joints_are_solved_together():
    """m1 and m2 in a chain: q1 = 2 hip, and q1 + q2 = 3 (hip + knee)."""
    text = leg(coupling("sum", "shank", "r2", 3.0), coupling("one", "thigh", "r1", 2.0))
    text = text.replace(
        '<parent link="base"/><child link="r2"/>', '<parent link="r1"/><child link="r2"/>'
    )
    model = load(text).model
    rows = {b.joint.name: dict(b.follows.terms) for b in model.bodies if b.follows}
    assert rows == {"m1": {1: 2.0}, "m2": {1: 1.0, 2: 3.0}}


def test_what_determines_no_joint_is_warned_of():
    loaded = load(leg(*BELT, flags=("", FOLLOWS)))
    assert loaded.model.joint_names == ("hip", "knee", "m1")
    (said,) = [n.message for n in loaded.notices if n.level == "warning"]
    assert "'c1' determines no joint with independent=\"false\"" in said
    twice = load(leg(BELT[0], BELT[0].replace('"c1"', '"again"')))
    assert any("'again' determines no joint" in n.message for n in twice.notices)


LOOP = (
    '<loop name="closing" type="revolute"><predecessor link="shank"/><successor link="r1"/></loop>'
)


def test_a_loop_is_said_to_be_open_as_all_loops_are():
    loaded = load(leg(LOOP))
    (said,) = [n.message for n in loaded.notices if n.level == "warning"]
    assert said.startswith("'closing' closes a loop, which is left open")
    assert not [n for n in loaded.notices if "unknown" in n.message]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (COUPLING.format("c", "thigh", "r1", ""), "coupling 'c': has no <ratio>"),
        (coupling("c", "thigh", "nowhere", 1), "coupling 'c': link 'nowhere' does not exist"),
        (coupling("c", "thigh", "r1", "x"), "coupling 'c': value of <ratio> holds 'x'"),
        ('<coupling name="c"><ratio value="1"/></coupling>', "coupling 'c': has no <predecessor>"),
    ],
)
def test_couplings_that_are_none_are_refused(tmp_path, text, words):
    path = tmp_path / "leg.urdf"
    path.write_text(leg(text), encoding="utf-8")
    with pytest.raises(RobotError) as caught:
        load(path)
    assert words in str(caught.value)
    done = invoke("check", path)
    assert done.exit_code == 2 and done.stderr.count("\n") == 1


def test_joints_with_several_coordinates_cannot_be_coupled():
    text = leg(*BELT).replace('name="hip" type="continuous"', 'name="hip" type="ball"')
    with pytest.raises(RobotError, match="joint 'hip' on its path is ball"):
        load(text)


@pytest.mark.parametrize("loop", [PLUS.format("revolute", "rocker"), DRAKE])
def test_planar_loops_are_closed(loop):
    """The four-bar linkage has one coordinate; the points of both links coincide."""
    loaded = load(CLOSED.format(axis="0 0 1", loop=loop))
    assert loaded.model.joint_names == ("a",)
    (closure,) = loaded.model.closures
    assert (closure.bodies, closure.dependent) == ((2, 3), (2, 3))
    (said,) = [n for n in loaded.notices if "pin" in n.element]
    assert said.level == "note" and "determines joints 'b' and 'c' from 'a'" in said.message


@pytest.mark.parametrize(
    ("axis", "loop", "reason"),
    [
        ("0 1 0", PLUS.format("revolute", "rocker"), "parallel axes"),
        ("0 0 1", PLUS.format("revolute", "nowhere"), "no link is called 'nowhere'"),
        ("0 0 1", PLUS.format("prismatic", "rocker"), ""),
        ("0 0 1", PLUS.format("revolute", "rocker").replace("0.3 0 0", "0.3 0 1"), "1 m apart"),
        ("0 0 1", PLUS.format("revolute", "rocker").replace("0.3 0 0", "9 0 0"), "too short"),
    ],
)
def test_other_loops_stay_open_with_the_reason(axis, loop, reason):
    loaded = load(CLOSED.format(axis=axis, loop=loop))
    assert loaded.model.joint_names == ("a", "b", "c")
    (said,) = [n.message for n in loaded.notices if n.level == "warning"]
    assert said.startswith("'pin' closes a loop, which is left open") and reason in said


def test_a_second_loop_of_one_name_stays_open():
    loaded = load(CLOSED.format(axis="0 0 1", loop=DRAKE + DRAKE))
    assert loaded.model.joint_names == ("a",)
    (said,) = [n.message for n in loaded.notices if n.level == "warning"]
    assert said.startswith("'pin' closes a loop, which is left open")


def test_loops_are_written_to_urdf(tmp_path):
    source, out = tmp_path / "in.urdf", tmp_path / "out.urdf"
    source.write_text(CLOSED.format(axis="0 0 1", loop=DRAKE), encoding="utf-8")
    done = invoke("convert", source, "--out", out)
    assert done.exit_code == 0 and "closed loops ('pin')" in done.stderr
    assert load(out).model.closures == load(source).model.closures


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("excite", "{}", "--out", "x.csv"), "symgen excite does not support robots with closed"),
        (
            ("inspect", "{}", "--entry", "gravity", "--symbolic", "lengths"),
            "lengths='symbols' is not supported for robots with closed loops",
        ),
        (
            ("generate", "{}", "-o", "x", "--quantity", "joint_wrench:a"),
            "the force in it depends on the closed loop 'pin', whose forces are not computed",
        ),
    ],
)
def test_what_closed_loops_do_not_support_is_refused_in_one_sentence(
    tmp_path, monkeypatch, command, words
):
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "in.urdf"
    source.write_text(CLOSED.format(axis="0 0 1", loop=DRAKE), encoding="utf-8")
    done = invoke(*(part.format(source) for part in command))
    assert done.exit_code == 2
    (line,) = [line for line in done.stderr.splitlines() if "note:" not in line]
    assert words in line
