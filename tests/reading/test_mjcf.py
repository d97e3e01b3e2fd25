"""MJCF files against MuJoCo: what is read moves as MuJoCo's own compilation of it does."""

import sys

import numpy as np
import pytest

from benchmarks import oracle_mjcf
from symgen.errors import RobotError
from symgen.reading import joint_kinds as joints
from symgen.reading.assemble import load
from symgen.reading.mjcf import IGNORED
from tests.support.oracles import oracle

mujoco = oracle("mujoco")

TILTED = """<mujoco model="tilted">
  <compiler angle="degree" eulerseq="zyx"/>
  <option gravity="0.5 -1 -9"/>
  <default>
    <joint armature="0.02" damping="0.1"/>
    <default class="slides"><joint type="slide" axis="1 1 0"/></default>
  </default>
  <worldbody>
    <body name="post" pos="0 0 1" euler="10 20 30">
      <geom type="box" size=".1 .1 .5"/>
      <body name="a" pos="0.1 0.2 0.3" quat="0.8 0.1 0.3 0.5">
        <joint name="a1" axis="0 0 1" pos="0.05 0 0.02" ref="30" range="-90 90"/>
        <joint name="a2" axis="0 1 1" pos="0 0.1 0"/>
        <joint name="a3" class="slides" ref="0.2" pos="0 0 0.3"/>
        <geom type="capsule" fromto="0 0 0 0.3 0.1 0" size="0.04"/>
        <body name="b" pos="0.3 0.1 0" axisangle="1 0 0 40">
          <joint name="b1" axis="1 0 0" frictionloss="0.3"/>
          <inertial pos="0.01 0.02 0.1" mass="1.5"
            fullinertia="0.03 0.02 0.025 0.001 -0.002 0.003"/>
        </body>
        <body name="c" pos="0.3 -0.1 0">
          <joint name="c1" axis="0 1 0" ref="20" armature="0.1"/>
          <geom size="0.05" pos="0.1 0 0"/>
        </body>
      </body>
    </body>
  </worldbody>
  <equality><joint joint1="c1" joint2="b1" polycoef="0.1 -0.5 0 0 0"/></equality>
</mujoco>"""

FLOATING = """<mujoco>
  <worldbody>
    <body pos="0 0 3">
      <freejoint/>
      <geom type="box" size=".1 .2 .3" pos=".1 0 0"/>
      <body name="leg" pos="0.1 0 0">
        <joint name="leg" axis="0 1 0" pos="0 0 0.1"/><geom size="0.1" pos="0 0 -0.3"/>
      </body>
    </body>
  </worldbody>
</mujoco>"""

BALL = """<mujoco>
  <worldbody>
    <body pos="0 0 1" euler="20 0 30">
      <joint name="shoulder" type="ball" pos="0 0.1 0.2"/>
      <geom type="box" size=".1 .2 .3" pos=".1 0 0"/>
      <body name="fore" pos="0.1 0 0"><joint name="elbow"/><geom size="0.1" pos="0 .2 -0.3"/></body>
    </body>
  </worldbody>
</mujoco>"""

ONE = '<mujoco><option %s/><worldbody><body name="a"><joint name="j" axis="0 1 0" %s/>'
ONE += '<inertial pos="0.1 0 0" mass="1" diaginertia="0.05 0.05 0.05"/>%s</body></worldbody>%s'


def written(folder, text):
    path = folder / "robot.xml"
    path.write_text(text)
    return path


def said(path):
    return [f"{notice.level}: {notice.message}" for notice in load(path).notices]


@pytest.mark.parametrize("text", [TILTED, FLOATING])
def test_mujoco_agrees(tmp_path, text):
    """Joints beside the origin, several of a body, at a reference other than 0; defaults; inertia
    of geometry; a linear equality; gravity and Euler angles of the file; a free body."""
    result = oracle_mjcf.compare(written(tmp_path, text))
    assert set(result.errors) == {"tau", "M", "tau_b", "tau_g"} and result.agrees, result


@pytest.mark.skipif("ball" not in joints.JOINTS, reason="ball joints are still to come")
def test_mujoco_agrees_on_ball_joints(tmp_path):
    result = oracle_mjcf.compare(written(tmp_path, BALL))
    assert result.errors and result.agrees, result


def test_links_are_where_mujoco_has_its_bodies(tmp_path):
    from symgen.mechanics.spatial import Pose

    path = written(tmp_path, TILTED.replace("ref=", "user="))
    model = load(path, snap_angles=0).model
    reference = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(reference)
    mujoco.mj_forward(reference, data)
    poses = [Pose()]
    found = {link.name: link.pose for link in model.base}
    for body in model.bodies:
        poses.append(poses[body.parent] @ body.pose)
        found |= {link.name: poses[-1] @ link.pose for link in body.links}
    for name in ("post", "a", "b"):  # c follows with an offset
        place = data.body(name)
        assert np.allclose(found[name].position, place.xpos, rtol=0, atol=1e-12)
        assert np.allclose(np.ravel(found[name].rotation), place.xmat, rtol=0, atol=1e-12)


def test_armature_damping_friction_limits(tmp_path):
    model = load(written(tmp_path, TILTED)).model
    joints = {joint.name: joint for _, joint in model.joints}
    assert joints["c1"].armature == 0.1 and joints["b1"].friction == 0.3
    assert joints["a1"].damping == 0.1
    assert model.limits["a1"].upper == pytest.approx(np.pi / 2) and model.limits["a2"].upper is None
    assert model.gravity == (0.5, -1, -9)
    still = load(written(tmp_path, TILTED), rotors="none").model
    assert all(joint.armature == 0 for _, joint in still.joints)


@pytest.mark.parametrize(
    ("option", "joint", "body", "rest", "words"),
    [
        ("", 'stiffness="3"', "", "", "warning: spring of 'j' is ignored; add --springs to include it"),
        ('density="1.2"', "", "", "", "warning: the drag of links in the medium ('density') is ignored"),
        ("", "", '<site name="s"/><geom name="g" size=".1"/>', '<tendon><fixed name="t" stiffness="2"><joint joint="j" coef="1"/></fixed></tendon>', "friction of tendons ('t') are ignored"),
        ("", "", "", '<equality><connect body1="a" anchor="0 0 0"/></equality>', "closes a loop, which is left open"),
        ("", "", "", '<equality><joint joint1="j" polycoef="0.5 0 0 0 0"/></equality>', "--lock 'j=0.5' to lock it"),
        ("", "", "", '<equality><joint joint1="j" active="false"/></equality>', "note: 1 constraints of <equality> are inactive"),
        ("", 'damping="3"', "", "", "note: damping and frictionloss (1 joint) are ignored"),
    ],
)  # fmt: skip
def test_what_is_not_read_is_said(tmp_path, option, joint, body, rest, words):
    path = written(tmp_path, ONE % (option, joint, body, rest) + "</mujoco>")
    assert any(words in line for line in said(path)), said(path)


ARM = ONE % ("", "", "", "") + "</mujoco>"
CLOTH = (
    '<flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" pos="0 0 1" dim="2" mass="0.1" '
    'radius="0.01"><pin id="0 1 2 3 4 5 6 7 8"/></flexcomp></worldbody>'
)
FIXED_TENDON = '<tendon><fixed %s><joint joint="j" coef="1"/></fixed></tendon>'
MODELS = [
    (ONE % ("", 'stiffness="3 0.5"', "", ""), "'j'"),
    (ONE % ("", "", "", "") + '<worldbody><body name="b"><joint name="s" type="free" frictionloss="1"/><geom size="1"/></body></worldbody>', "'s'"),
    (ONE % ("", "", "", FIXED_TENDON % 'stiffness="2"'), "'number 0'"),
    (ONE % ("", "", "", FIXED_TENDON % 'armature="2"'), "'number 0'"),
    (ARM.replace('<body name="a"', '<body name="a" gravcomp="1"'), "'a'"),
    (ARM.replace("</worldbody>", CLOTH), "'cloth'"),
    (ONE % ('viscosity="1"', "", "", ""), "'viscosity'"),
    (ONE % ("", "", "", '<extension><plugin plugin="mujoco.pid"/></extension><actuator><plugin plugin="mujoco.pid" joint="j"/></actuator>'), "'number 0'"),
    (ONE % ("", 'damping="3 0.5"', "", ""), "'j'"),
    (ARM.replace("</worldbody>", '<body name="hand" mocap="true"/></worldbody>'), "'hand'"),
    (ONE % ("", "", "", '<option><flag gravity="disable"/></option>'), "'gravity'"),
    (ONE % ("", 'frictionloss="3"', "", ""), "1 joint"),
]  # fmt: skip
"""A model with the element of each row of IGNORED, and the name in its notice."""


@pytest.mark.parametrize(
    ("row", "model"),
    list(zip(IGNORED, MODELS, strict=True)),
    ids=[row.message.split("{")[0] + str(k) for k, row in enumerate(IGNORED)],
)
def test_every_row_of_what_is_not_read_has_a_model(tmp_path, row, model):
    """The accessors of MuJoCo's models change from version to version: each is used here."""
    text, named = model
    path = written(tmp_path, text if text.endswith("</mujoco>") else text + "</mujoco>")
    beginning = f"{row.level}: {row.message.partition('{')[0]}"
    assert any(line.startswith(beginning) and named in line for line in said(path)), said(path)


def test_elements_without_names_are_numbered(tmp_path):
    tied = FIXED_TENDON % 'name="t"' + '<equality><tendon tendon1="t"/></equality>'
    path = written(tmp_path, ONE % ("", "", "", tied) + "</mujoco>")
    assert any("tendon 't' is coupled" in line for line in said(path)), said(path)
    loop = '<equality><connect body1="a" anchor="0 0 0"/></equality>'
    path = written(tmp_path, ONE % ("", "", "", loop) + "</mujoco>")
    assert any("'number 0' closes a loop" in line for line in said(path)), said(path)


def test_nothing_is_said_where_all_is_read(tmp_path):
    assert said(written(tmp_path, ONE % ("", "", "", "") + "</mujoco>")) == []


def test_lost_meshes_do_not_matter_where_inertia_is_stated(tmp_path):
    mesh = '<asset><mesh name="m" file="lost.stl"/></asset></mujoco>'
    geom = '<geom type="mesh" mesh="m"/>'
    path = written(tmp_path, ONE % ("", "", geom, "") + mesh)
    assert "lost.stl" in said(path)[0] and "read without tendons" in said(path)[0]
    text = (ONE % ("", "", geom, "") + mesh).replace("<inertial", "<!-- ").replace("/>%s", "-->")
    bare = text.replace('pos="0.1 0 0" mass="1" diaginertia="0.05 0.05 0.05"/>', "-->")
    with pytest.raises(RobotError, match="MuJoCo cannot compile it"):
        load(written(tmp_path, bare))


def test_without_mujoco_one_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(RobotError, match="install it: pip install mujoco"):
        load(written(tmp_path, ONE % ("", "", "", "") + "</mujoco>"))


def test_includes_whatever_the_file_is_called(tmp_path):
    pytest.importorskip("mujoco")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.inc").write_text(
        '<mujoco><include file="parts/body.inc"/></mujoco>', encoding="utf-8"
    )
    (tmp_path / "parts" / "body.inc").write_text(
        '<mujoco><worldbody><body name="a"><joint name="j" axis="0 1 0"/><inertial pos="0.1 0 0" '
        'mass="1" diaginertia="0.05 0.05 0.05"/></body></worldbody></mujoco>',
        encoding="utf-8",
    )
    models = []
    for name in ("robot.xml", "robot.mjcf"):
        path = tmp_path / name
        path.write_text('<mujoco model="m"><include file="parts/arm.inc"/></mujoco>')
        models.append(load(path).model)
    assert models[0] == models[1] and models[0].joint_names == ("j",)
