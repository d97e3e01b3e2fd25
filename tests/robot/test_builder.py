"""Robots built in Python, joint by joint."""

from pathlib import Path

import numpy as np
import pytest
import sympy

import symgen
from symgen.errors import OptionError, RobotError
from symgen.reading.joint_kinds import JOINTS as JOINTS_OF_FILES
from tests.support.built import built_zoo, run
from tests.support.joint_kinds import in_python, of_axis
from tests.support.joint_zoo import INERTIA, urdf
from tests.support.joint_zoo import pinocchio as zoo_model
from tests.support.oracles import oracle
from tests.support.states import close

pin = oracle("pinocchio")


def test_a_built_robot_is_the_one_in_a_file():
    built, text = symgen.Robot(built_zoo()), symgen.Robot(urdf(drake=False))
    assert built.model.bodies == text.model.bodies
    assert len(INERTIA) == 6 and built.velocities == text.velocities


def test_any_joint_type_against_pinocchio():
    robot, model = symgen.Robot(built_zoo()), zoo_model()
    data, random = model.createData(), np.random.default_rng(3)
    q = pin.integrate(model, pin.neutral(model), random.uniform(-2, 2, model.nv))
    qd, qdd = random.uniform(-2, 2, (2, model.nv))
    tau = pin.rnea(model, data, q, qd, qdd)
    close(run(robot, "inverse_dynamics", q=q, qd=qd, qdd=qdd), tau)


COUPLED = """<robot name="r"><link name="a"/>
<link name="b"><inertial><origin xyz="0.1 0 0"/><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<link name="c"><inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="1"/></inertial></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="2" velocity="3" effort="4"/><dynamics damping="0.5" friction="0.25"/></joint>
<joint name="k" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/><origin xyz="0 0 1"/>
<limit velocity="1" effort="1"/><mimic joint="j" multiplier="0.5" offset="0.1"/></joint>
<transmission name="t"><joint name="j"/><actuator name="m"><drake:rotor_inertia xmlns:drake="http://drake.mit.edu" value="0.01"/>
<drake:gear_ratio xmlns:drake="http://drake.mit.edu" value="50"/></actuator></transmission></robot>"""


def test_limits_friction_mimics_and_rotors_are_those_of_a_file():
    made = symgen.Builder("r").link("a")
    made.link("b", 1, (0.1, 0, 0), (1, 0, 0, 1, 0, 1)).link("c", 2, inertia=np.diag([1, 2, 1]))
    limits = {"lower": -1, "upper": 2, "velocity": 3, "effort": 4}
    drive = {"ratio": 50, "rotor_inertia": 0.01}
    losses = {"damping": 0.5, "friction": 0.25}
    made.joint("j", "revolute", "a", "b", axis=(0, 2, 0), **limits, **losses, **drive)
    follows = {"mimic": "j", "multiplier": 0.5, "offset": 0.1}
    made.joint("k", "prismatic", "b", "c", (0, 0, 1), velocity=1, effort=1, **follows)
    assert symgen.Robot(made).model == symgen.Robot(COUPLED).model


@pytest.mark.parametrize("kind", JOINTS_OF_FILES)
def test_every_joint_type_can_be_built(kind):
    row = JOINTS_OF_FILES[kind]
    more = in_python(row, of_axis(row.kind, (0.0, 0.0, 1.0)))
    made = symgen.Builder(kind).link("a").link("b", 1.0, (0.1, 0.2, 0), (1, 0, 0, 1, 0, 1))
    robot = symgen.Robot(made.joint("j", kind, "a", "b", axis=(0, 0, 1), **more))
    assert robot.joints[0].type == row.kind
    assert len(robot.neutral) == len(robot.positions)


def test_what_is_wrong_is_said_with_the_line_of_the_call():
    made = symgen.Builder("x").link("a").joint("j", "revolute", "a", "b")
    with pytest.raises(
        RobotError, match=rf"{Path(__file__).name}:\d+: error: joint 'j': child link 'b'"
    ):
        symgen.Robot(made).model  # noqa: B018


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda b: b.link("a", mass="1"), "link 'a': mass is '1'; give a finite number"),
        (lambda b: b.link("a", mass=-1), "mass is negative"),
        (lambda b: b.link("a", 1, inertia=(1, 2)), "has 2 numbers"),
        (lambda b: b.link("a", 1, inertia=np.arange(9.0).reshape(3, 3)), "not symmetric"),
        (lambda b: b.joint("j", "hinge", "a", "b"), "unknown type 'hinge'; use revolute"),
        (lambda b: b.joint("j", "revolute", "a", "b", axis=(0, 0, 0)), "axis is zero"),
        (lambda b: b.joint("j", "revolute", "a", "b", pitch=1.0), "has no pitch"),
        (
            lambda b: b.joint("j", "revolute", "a", "b", lowr=1.0),
            "there is no argument 'lowr'; near names: 'lower'",
        ),
        (lambda b: b.joint("j", "revolute", "a", "b", pitch=1.0), "has no pitch; remove it"),
        (lambda b: b.joint("j", "ball", "a", "b", lower=0.0), "a ball joint has no lower; remove"),
        (lambda b: b.joint("j", "ball", "a", "b", stiffness=1.0), "has no stiffness; remove it"),
        (lambda b: b.joint("j", "cylindrical", "a", "b", ratio=50), "has no ratio; remove it"),
        (lambda b: b.joint("j", "ball", "a", "b", reference=0.1), "has no reference; remove it"),
        (lambda b: b.joint("j", "fixed", "a", "b", damping=1.0), "a fixed joint has no damping"),
        (lambda b: b.joint("j", ["x"], "a", "b"), "unknown type"),
        (lambda b: b.joint("j", "revolute", "a", "b", rotation=5), "rotation is 5; give a list"),
        (lambda b: b.joint("j", "revolute", "a", "b", rpy=5), "rpy is 5; give three numbers"),
        (lambda b: b.joint("j", "universal", "a", "b", axis2=5), "axis2 is 5; give three"),
        (lambda b: b.joint("j", "revolute", "a", "b", mimic=5), "mimic has no joint"),
        (
            lambda b: b.joint("j", "revolute", "a", "b", armature=-1),
            "no negative rotor_inertia or armature",
        ),
        (lambda b: b.link("a", 1, rpy=(0, 0)), "link 'a': rpy is"),
        (lambda b: b.link("a", 1, inertia=(1, 1, 1)), "is not a 3 x 3 matrix; give ixx, ixy"),
        (
            lambda b: b.link("a", center_of_mass=(0, 0, 1)),
            "center_of_mass is given for a link without mass",
        ),
        (lambda b: b.joint("j", "revolute", "a", "b", multiplier=2), "are given without mimic"),
        (lambda b: b.joint("j", "fixed", "a", "b", rotation=[1, 2]), "is not a 3 x 3 matrix"),
        (lambda b: b.link(None), "a link is called None; give it a name"),
        (lambda b: symgen.Builder(5), "a robot is called 5"),
        (lambda b: b.joint("j", "screw", "a", "b"), "needs a pitch"),
        (lambda b: b.joint("j", "revolute", "a", "b", rpy=(sympy.Symbol("x"), 0, 0)), "symbol x"),
        (
            lambda b: b.joint("j", "fixed", "a", "b", rotation=-np.eye(3)),
            "is not a rotation matrix",
        ),
        (lambda b: b.joint("j", "fixed", "a", "b", rpy=(1, 0, 0), quaternion=(0, 0, 0, 1)), "both"),
    ],
)
def test_numbers_that_are_none_are_refused(call, said):
    with pytest.raises(OptionError, match=said):
        call(symgen.Builder())


def test_three_ways_to_say_a_rotation():
    turn = pin.rpy.rpyToMatrix(0.1, -0.4, 2.0)
    quaternion = pin.Quaternion(turn).coeffs()
    ways = ({"rpy": (0.1, -0.4, 2.0)}, {"rotation": turn}, {"quaternion": quaternion})
    poses = []
    for way in ways:
        made = symgen.Builder().link("a").link("b", 1.0).joint("j", "revolute", "a", "b", **way)
        poses.append(np.array(symgen.Robot(made).model.bodies[0].pose.rotation))
    close(poses[0], turn, 1e-15)
    close(poses[1], turn, 1e-15)
    close(poses[2], turn, 1e-15)


def test_the_same_robot_is_the_same_bytes_wherever_it_was_built():
    one, other = symgen.Robot(built_zoo()), symgen.Robot(built_zoo())
    assert one.loaded.sha256 == other.loaded.sha256
    changed = symgen.Robot(built_zoo().frame("tool", "d", (0, 0, 0.1)))
    assert changed.loaded.sha256 != one.loaded.sha256
