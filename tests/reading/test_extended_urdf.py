"""Extended URDF: a YAML file with closed loops beside a URDF, compared with URDF+ and with
Pinocchio's constrained dynamics of a ball joint."""

import re
from pathlib import Path

import numpy as np
import pytest

import symgen
from symgen.errors import RobotError
from symgen.mechanics.coupling import coupling_of
from tests.support.constrained import expanded
from tests.support.oracles import oracle
from tests.support.tools import robot_file

INERTIAL = (
    '<inertial><origin xyz="0.05 0.01 0.02"/><mass value="{m}"/><inertia ixx="0.002" iyy="0.003" '
    'izz="0.0035" ixy="0.0001" ixz="0" iyz="0.0002"/></inertial>'
)
JOINT = (
    '<joint name="{}" type="{}"><origin xyz="{}"/><parent link="{}"/><child link="{}"/>'
    '<axis xyz="{}"/><limit effort="9" velocity="9" lower="-3" upper="3"/></joint>'
)
JOINTS = (
    ("crank_motor", "revolute", "0 0 0.1", "base", "crank", "0 1 0"),
    ("ball", "revolute", "0.1 0 0.02", "crank", "rod", "0 0 1"),
    ("slide", "prismatic", "0.4 0.05 0", "base", "slider", "1 0 0"),
    ("to_tip", "fixed", "0.32 0 0", "rod", "tip", "1 0 0"),
    ("to_pin", "fixed", "0.01 0.02 0.03", "slider", "pin", "1 0 0"),
)
LINKS = {"crank": 1.0, "rod": 0.6, "slider": 0.8}
ENGINE = "".join(
    (
        '<robot name="engine">',
        *(f'<link name="{name}"/>' for name in ("base", "tip", "pin")),
        *(f'<link name="{n}">{INERTIAL.format(m=m)}</link>' for n, m in LINKS.items()),
        *(JOINT.format(*row) for row in JOINTS),
        "</robot>",
    )
)
YAML = """closed_loop: [['tip', 'to_pin']]
type: ['3D']
name_mot: ['crank_motor']
joint_name: ['ball']
joint_type: ['SPHERICAL']
"""


def written(folder: Path, urdf: str, yaml: str) -> Path:
    (folder / "robot.urdf").write_text(urdf, encoding="utf-8")
    (folder / "robot.yaml").write_text(yaml, encoding="utf-8")
    return folder / "robot.yaml"


def test_a_closed_loop_is_that_of_urdf_plus(tmp_path: Path) -> None:
    text = Path(robot_file("five_bar")).read_text(encoding="utf-8")
    tree = re.sub(r"<loop .*?</loop>", "", text, flags=re.DOTALL)
    tips = "".join(
        f'<link name="{side}_tip"/>'
        + JOINT.format(f"{side}_end", "fixed", "0.09 0 0", f"{side}_lower", f"{side}_tip", "1 0 0")
        for side in ("left", "right")
    )
    yaml = "closed_loop: [['left_tip',\n  'right_end']]\ntype: ['3d']\nname_mot: ['left_motor']\n"
    path = written(tmp_path, tree.replace("</robot>", f"{tips}</robot>"), yaml)
    (closure,) = symgen.Robot(path).model.closures
    (wanted,) = symgen.Robot(robot_file("five_bar")).model.closures
    assert closure.dependent == wanted.dependent and closure.points == wanted.points


def test_accelerations_with_a_ball_joint_are_pinocchios(tmp_path: Path) -> None:
    pin = oracle("pinocchio")
    arm = symgen.Robot(written(tmp_path, ENGINE, YAML))
    names = [body.joint.name for body in arm.model.bodies]
    assert "crank_motor" in arm.velocities and arm.dof == 2
    source, model = pin.buildModelFromUrdf(str(tmp_path / "robot.urdf")), pin.Model()
    for name in list(source.names)[1:]:
        k = source.getJointId(name)
        kind = pin.JointModelSpherical() if name == "ball" else source.joints[k]
        parent = model.getJointId(source.names[source.parents[k]])
        added = model.addJoint(parent, kind, source.jointPlacements[k], name)
        model.appendBodyToJoint(added, source.inertias[k], pin.SE3.Identity())
    ends = [
        (model.getJointId(source.names[f.parentJoint]), f.placement)
        for f in (source.frames[source.getFrameId(n)] for n in ("tip", "to_pin"))
    ]
    local = pin.ReferenceFrame.LOCAL
    closure = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_3D, model, *(x for end in ends for x in end), local
    )
    state = {"q": list(coupling_of(arm.model).closing_positions([0.4, 0.2])), "qd": [0.7, -0.5]}
    x, rates, g, k = expanded(coupling_of(arm.model), state["q"], state["qd"])
    at, speed = dict(zip(names, x, strict=True)), dict(zip(names, rates, strict=True))
    turns = [pin.utils.rotate(axis, at[f"ball_{axis.upper()}"]) for axis in "xyz"]
    spin = np.zeros(3)
    for axis, turn in zip("XYZ", turns, strict=True):
        spin = turn.T @ spin + np.eye(3)["XYZ".index(axis)] * speed[f"ball_{axis}"]
    q, v = pin.neutral(model), np.zeros(model.nv)
    for name in ("crank_motor", "slide"):
        row = model.joints[model.getJointId(name)]
        q[row.idx_q], v[row.idx_v] = at[name], speed[name]
    row = model.joints[model.getJointId("ball")]
    q[row.idx_q : row.idx_q + 4] = pin.Quaternion(turns[0] @ turns[1] @ turns[2]).coeffs()
    v[row.idx_v : row.idx_v + 3] = spin
    data, closures = model.createData(), pin.StdVec_RigidConstraintModel()
    closures.append(closure)
    work = pin.StdVec_RigidConstraintData()
    work.append(closure.createData())
    pin.forwardKinematics(model, data, q, v)
    first, second = (data.oMi[joint] * place for joint, place in ends)
    assert first.translation == pytest.approx(second.translation, abs=1e-12)
    pin.initConstraintDynamics(model, data, closures, work)
    settings = pin.ProximalSettings(1e-14, 1e-10, 200)
    forces = np.zeros(model.nv)
    wanted = pin.constraintDynamics(model, data, q, v, forces, closures, work, settings)
    state["tau"] = [0.0, 0.0]
    function = arm.trace("forward_dynamics")
    (qdd,) = function.run(**{name: state[name] for name in function.inputs}).values()
    found = dict(zip(names, g @ np.array(qdd, float) + k, strict=True))
    for name in ("crank_motor", "slide"):
        index = model.joints[model.getJointId(name)].idx_v
        assert found[name] == pytest.approx(wanted[index], rel=1e-9)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("'tip'", "'tep'", "robot.yaml:1: error: closed_loop: 'tep' is not in the URDF"),
        ("'3D'", "'4D'", "robot.yaml:2: error: type: '4d' is no type"),
        ("SPHERICAL", "CARDAN", "robot.yaml:5: error: joint_type: 'CARDAN' is no type"),
        ("['crank_motor']", "*motors", "robot.yaml:3: error: name_mot: give a list"),
        ("name_mot", "name_motor", "robot.yaml:3: error: name_motor: is no key"),
    ],
)
def test_faults_of_the_yaml_have_their_line(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = written(tmp_path, ENGINE, YAML.replace(old, new))
    with pytest.raises(RobotError, match=re.escape(words)):
        _ = symgen.Robot(path).model


def test_a_loop_that_cannot_be_closed_has_the_line_of_the_yaml(tmp_path: Path) -> None:
    path = written(tmp_path, ENGINE, "name_mot: []\n" + YAML.replace("3D", "6D"))
    (text,) = [str(x) for x in symgen.Robot(path).loaded.notices if x.element == "loop 'tip'"]
    assert text.startswith(f"{path}:2: ")


def test_a_yaml_without_its_urdf_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, ENGINE, YAML)
    (tmp_path / "robot.urdf").unlink()
    with pytest.raises(RobotError, match=r"needs 'robot\.urdf' in the same folder"):
        _ = symgen.Robot(path).model
