"""Robots from texts and from objects of other libraries, and what can be done with any robot."""

from pathlib import Path

import numpy as np
import pytest

import symgen
from symgen.errors import OptionError, RobotError, SymgenError
from tests.support.built import BODIES, TABLE, built_zoo, planar, pose, run
from tests.support.oracles import oracle
from tests.support.states import close
from tests.support.tools import ROOT, invoke, robot_file

pin = oracle("pinocchio")

UR5 = robot_file("ur5")


def test_a_text_of_xml_is_a_robot():
    text = Path(UR5).read_text(encoding="utf-8")
    assert symgen.Robot(text).model == symgen.Robot(UR5).model
    assert symgen.trace(text, "gravity").counts == symgen.trace(UR5, "gravity").counts
    with pytest.raises(RobotError, match="XML text:1"):
        symgen.load("<robot name='x'>")
    with pytest.raises(OptionError, match="save it as a"):
        symgen.load('<robot xmlns:x="http://ros.org/wiki/xacro"><x:arg name="a"/></robot>')


def test_what_is_no_robot_is_refused():
    with pytest.raises(TypeError, match="a robot must be the path of a file"):
        symgen.load(42)


def test_generate_from_a_built_robot(tmp_path):
    paths = symgen.Robot(built_zoo()).generate(tmp_path / "zoo", ["python"])
    assert "zoo.py" in {path.name for path in paths}
    assert "zoo (Python)" in (tmp_path / "zoo" / "manifest.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["ur5", "quadruped", "panda"])
def test_a_model_of_pinocchio(name):
    file = robot_file(name)
    root = [pin.JointModelFreeFlyer()] if name == "quadruped" else []
    model = pin.buildModelFromUrdf(file, *root)
    model.armature[:] = [0.0] * (6 * len(root)) + [
        0.1 + 0.01 * k for k in range(model.nv - 6 * len(root))
    ]
    same_as_pinocchio(model)


def test_a_model_of_pinocchio_with_other_joints():
    model = pin.Model()
    turned = pin.SE3(pin.rpy.rpyToMatrix(0.3, 0.2, 0.1), np.array([0.1, 0.2, 0.3]))
    along, at = np.array([0.0, 0.6, 0.8]), 0
    kinds = [
        pin.JointModelSpherical(),
        pin.JointModelUniversal(np.eye(3)[0], np.eye(3)[1]),
        pin.JointModelHelicalUnaligned(along, 0.1),
        pin.JointModelHX(0.2),
        pin.JointModelPrismaticUnaligned(along),
        pin.JointModelPZ(),
        pin.JointModelRevoluteUnaligned(along),
    ]
    for k, kind in enumerate(kinds):
        at = model.addJoint(at, kind, turned, f"joint{k}")
        model.appendBodyToJoint(at, pin.Inertia.Random(), pin.SE3.Identity())
    model.gravity.linear = np.array([1.0, 2.0, -9.0])
    same_as_pinocchio(model)


def same_as_pinocchio(model):
    robot, data, random = symgen.Robot(model), model.createData(), np.random.default_rng(5)
    q = pin.integrate(model, pin.neutral(model), random.uniform(-1, 1, model.nv))
    qd, qdd = random.uniform(-2, 2, (2, model.nv))
    tau = pin.rnea(model, data, q, qd, qdd)
    close(run(robot, "inverse_dynamics", q=q, qd=qd, qdd=qdd), tau)
    mass = pin.crba(model, data, q)
    close(run(robot, "mass_matrix", q=q).reshape(model.nv, -1), np.triu(mass) + np.triu(mass, 1).T)


def test_frames_of_pinocchio_keep_their_places():
    model = pin.buildModelFromUrdf(UR5)
    data, q = model.createData(), np.linspace(-1, 1, 6)
    pin.framesForwardKinematics(model, data, q)
    there = data.oMf[model.getFrameId("flange")].homogeneous[:3]
    close(pose(symgen.Robot(model), "flange", q), there)


def test_a_joint_that_is_not_known_is_refused():
    model = pin.Model()
    model.addJoint(0, pin.JointModelSphericalZYX(), pin.SE3.Identity(), "odd")
    with pytest.raises(RobotError, match="joint 'odd': has the Pinocchio type SphericalZYX"):
        symgen.load(model)


def turning():
    """A link on a joint, in Pinocchio."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "j")
    model.appendBodyToJoint(joint, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    return model


def odd_gravity(model):
    model.gravity.angular = np.ones(3)


def odd_fall(model):
    model.gravity.linear = np.full(3, np.nan)


def odd_mass(model):
    model.inertias[1] = pin.Inertia(-1.0, np.zeros(3), np.eye(3))


def odd_lever(model):
    model.inertias[1] = pin.Inertia(1.0, np.full(3, np.nan), np.eye(3))


def odd_place(model):
    model.jointPlacements[1] = pin.SE3(np.eye(3), np.full(3, np.inf))


def odd_turn(model):
    model.jointPlacements[1] = pin.SE3(2 * np.eye(3), np.zeros(3))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (odd_gravity, "error: pin.Model: gravity has an angular part"),
        (odd_fall, "error: pin.Model: gravity is nan; give a finite number"),
        (odd_mass, "error: pin.Model: link 'j': mass is negative; give 0 or more"),
        (odd_lever, "error: pin.Model: link 'j': center_of_mass is nan; give a finite number"),
        (odd_place, "error: pin.Model: joint 'j': xyz is inf; give a finite number"),
        (odd_turn, "error: pin.Model: joint 'j': rotation is not a rotation matrix"),
    ],
)
def test_numbers_of_pinocchio_that_no_robot_has(spoil, said):
    model = turning()
    assert symgen.load(model).model.dof == 1
    spoil(model)
    with pytest.raises(symgen.SymgenError) as caught:
        symgen.load(model)
    assert str(caught.value).startswith(said)


def test_other_objects_of_these_libraries():
    with pytest.raises(
        TypeError, match=r"a pinocchio.Data is not a robot; give its pinocchio.Model"
    ):
        symgen.load(turning().createData())
    yourdfpy = pytest.importorskip("yourdfpy")
    with pytest.raises(TypeError, match=r"a yourdfpy.Robot is not a robot; give its yourdfpy.URDF"):
        symgen.load(yourdfpy.Robot(name="r"))


def test_what_follows_another_joint_does_so_from_yourdfpy():
    """yourdfpy's own text of a robot has no <mimic>."""
    yourdfpy = pytest.importorskip("yourdfpy")
    file = ROOT / "tests" / "cases" / "mimic_gripper.urdf"
    robot = yourdfpy.URDF.load(str(file), load_meshes=False, build_scene_graph=False)
    own, theirs = symgen.Robot(file), symgen.Robot(robot)
    q = np.linspace(0.1, 0.2, own.dof)
    assert theirs.velocities == own.velocities
    close(run(theirs, "mass_matrix", q=q), run(own, "mass_matrix", q=q))


def test_a_robot_of_yourdfpy():
    yourdfpy = pytest.importorskip("yourdfpy")
    robot = yourdfpy.URDF.load(UR5, load_meshes=False, build_scene_graph=False)
    q = np.linspace(-1, 1, 6)
    ours = run(symgen.Robot(UR5), "mass_matrix", q=q)
    close(run(symgen.Robot(robot), "mass_matrix", q=q), ours)


def test_a_table_becomes_a_urdf(tmp_path):
    rows = [row | body for row, body in zip(TABLE, BODIES, strict=True)]
    robot, out = symgen.from_dh(rows, "modified"), tmp_path / "arm.urdf"
    robot.write_urdf(out)
    model, q = pin.buildModelFromUrdf(str(out)), np.array([0.3, -0.1, 0.7, 1.1])
    tau = pin.rnea(model, model.createData(), q, q, q)
    close(run(robot, "inverse_dynamics", q=q, qd=q, qdd=q), tau, 1e-12)
    with pytest.raises(OptionError, match="'a1', 'a2', 'm1' and 'm2'; replace them by values"):
        planar().write_urdf(tmp_path / "symbols.urdf")
    assert not (tmp_path / "symbols.urdf").exists()


def test_what_robots_say_of_themselves():
    robot = symgen.Robot(UR5)
    assert [joint.name for joint in robot.joints] == list(robot.velocities)
    elbow = robot.joints[2]
    assert (elbow.type, elbow.parent, elbow.positions) == ("revolute", "link2", (2,))
    tip = {link.name: link for link in robot.links}["link2"]
    assert tip.mass == 8.393 and tip.inertia is not None
    assert robot.check().sound and "Robot('ur5'" in repr(robot)
    floating = symgen.Robot(ROOT / "robots" / "ur5.urdf", base="floating")
    assert floating.neutral[:7] == (0, 0, 0, 0, 0, 0, 1) and floating.dof == 12
    assert floating.with_options(base="fixed").dof == 6


def test_a_job_file_is_a_robot(tmp_path):
    job = tmp_path / "job.toml"
    assert invoke("init", UR5, "-o", job).exit_code == 0
    text = job.read_text(encoding="utf-8").replace(
        "# gravity = [0.0, 0.0, -9.81]", 'gravity = "runtime"'
    )
    job.write_text(text, encoding="utf-8")
    robot = symgen.Robot(job)
    assert "g" in robot.trace("gravity").inputs


def test_the_files_of_a_job_go_where_it_says(tmp_path):
    job = tmp_path / "job.toml"
    job.write_text(
        f'file = "{robot_file("pendulum")}"\nout = "made"\nlanguages = ["javascript"]\n'
        'quantities = ["gravity"]\n',
        encoding="utf-8",
    )
    robot = symgen.Robot(job)
    for one in (robot, robot.with_options(gravity="runtime")):
        assert {path.parent for path in one.generate()} == {tmp_path / "made"}
        assert {path.suffix for path in one.generate()} == {".mjs", ".mts", ".json"}
    other = {path.suffix for path in robot.generate(tmp_path / "x", ["python"])}
    assert other == {".py", ".json"}
    with pytest.raises(SymgenError, match="generate: give a folder"):
        symgen.Robot(robot_file("pendulum")).generate()


def test_options_are_what_python_has():
    robot = symgen.Robot(
        robot_file("pendulum"),
        gravity=np.array([0, 0, -1.62]),
        lock={"elbow": np.float32(0.5)},
        external_wrench=["lower"],
        batch=4,
    )
    assert robot.gravity == (0.0, 0.0, -1.62) and robot.velocities == ("shoulder",)
    flat = robot.job.choices.flat()
    assert flat["lock"] == (("elbow", 0.5),) and flat["external_wrench"] == ("lower",)
    assert flat["batch"] == "4"


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"lock": "elbow=0.5"}, "--lock 'elbow=0.5': give JOINT=VALUE"),
        ({"lock": [("elbow", "far")]}, "--lock .*: give JOINT=VALUE"),
        ({"friction": ["viscous"]}, r"--friction \['viscous'\]: give a text"),
        ({"external_wrench": "lower"}, "give a list of names"),
        ({"quantities": "gravity"}, "--quantity 'gravity': give a list of texts"),
        ({"gravity": (0, 0, None)}, "give three numbers X,Y,Z"),
        ({"snap_angles": "1e-3"}, "--snap-angles '1e-3': give a number"),
        ({"chunk": 2.5}, "--chunk 2.5: give a whole number"),
        ({"prefix": 3}, "--prefix 3: give a text"),
    ],
)
def test_options_of_another_type_are_one_sentence(option, said):
    with pytest.raises(OptionError, match=said):
        symgen.Robot(robot_file("pendulum"), **option)
