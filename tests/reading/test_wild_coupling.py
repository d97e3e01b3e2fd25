"""Public cases of coupled joints: what is right stands beside each."""

import numpy as np
import pytest

from symgen.errors import RobotError
from symgen.reading.assemble import load
from symgen.tracing.robot import ParametricModel
from tests.support.states import run
from tests.support.wild_cases import WILD, case, differential


def test_a_joint_in_gazebo_closes_a_loop():
    """Its pose is in the child link, as SDFormat defines it: 0.4 m along x of the rocker, which is
    (0.8, 0, -0.2) in the coupler with all joints at 0."""
    robot, _, said = case("loop_gazebo")
    assert robot.model.joint_names == ("crank_j",)
    (closure,) = robot.model.closures
    assert closure.points == ((0.8, 0.0, -0.2), (0.4, 0.0, 0.0))
    (line,) = (line for line in said if "loop" in line.rpartition("loop_gazebo.urdf")[2])
    assert ":47: note: loop 'closing': closes a planar loop" in line


def test_a_parallelogram_of_mimics():
    robot, wanted, said = case("parallelogram")
    x = {"q": wanted["q"], "qd": wanted["v"], "qdd": wanted["a"]}
    found = run(robot, "inverse_dynamics", x)["tau"]
    assert np.allclose(found, wanted["tau"], rtol=1e-12, atol=1e-12)
    assert not any("warning" in line for line in said)


def test_a_platform():
    robot, wanted, _ = case("platform")
    x = {"q": wanted["q"], "qd": wanted["v"], "tau": wanted["tau"]}
    found = run(robot, "forward_dynamics", x)["qdd"]
    assert np.allclose(found, wanted["qdd"], rtol=1e-11, atol=1e-12)


def test_a_mimic_of_ros2_control():
    robot, _, said = case("ros2_control_mimic")
    assert robot.model.joint_names == ("lf",)
    m = run(robot, "mass_matrix", {"q": [0.01]})["M"]
    assert m == pytest.approx([0.2])
    assert not any("warning" in line for line in said)


def test_two_leaders():
    """The elbow is the crank less the shoulder: in the world it turns with the crank."""
    robot, _, said = case("two_leaders")
    assert robot.model.joint_names == ("shoulder", "crank")
    assert not any("warning" in line for line in said)
    follow = robot.model.bodies[2].follows
    assert follow.terms == ((2, 1.0), (1, -1.0)) and follow.offset == 0
    s, c, g = 0.4, -0.7, 9.81
    upper, lever, forearm = 2 * 0.2 + 1 * 0.4, 0.3 * 0.05, 1 * 0.2
    found = run(robot, "gravity", {"q": [s, c]})["tau_g"]
    wanted = [-upper * g * np.cos(s), -(lever + forearm) * g * np.cos(c)]
    assert np.allclose(found, wanted, rtol=1e-12)


def test_a_plain_transmission_is_nothing_to_speak_of():
    robot, _, said = case("transmission_plain")
    assert robot.model.joint_names == ("j",) and not said


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"shoulder" multiplier="-1"', '"crank" multiplier="-1"', "a second <mimic> of joint 'crank'"),
        ('"shoulder" multiplier="-1"', '"elbow" multiplier="-1"', "mimics itself through 'elbow'"),
        ('"shoulder" multiplier="-1"', '"nobody"', "mimics joint 'nobody', which does not exist"),
    ],
)  # fmt: skip
def test_leaders_that_lead_nowhere(tmp_path, old, new, words):
    path = tmp_path / "r.urdf"
    path.write_text((WILD / "two_leaders.urdf").read_text().replace(old, new))
    with pytest.raises(RobotError, match=words):
        load(path)


def test_a_held_leader_of_two_is_an_offset():
    robot, _, _ = case("two_leaders", lock=[("shoulder", 0.4)])
    assert robot.model.joint_names == ("crank",)
    follow = next(body.follows for body in robot.model.bodies if body.follows)
    assert follow.terms == ((1, 1.0),) and follow.offset == pytest.approx(-0.4)


def test_motions_that_cancel_are_refused(tmp_path):
    """The elbow follows crank - shoulder, and the crank the shoulder."""
    text = (WILD / "two_leaders.urdf").read_text()
    crank = '<joint name="crank" type="revolute">'
    path = tmp_path / "r.urdf"
    path.write_text(text.replace(crank, crank + '<mimic joint="shoulder" offset="0.25"/>'))
    with pytest.raises(
        RobotError, match=r"motions cancel, so that it does not move; .*elbow=0.25'"
    ):
        load(path)


def test_a_differential_has_motors_for_coordinates():
    """By ros_control's transmission_interface, torques by virtual work."""
    joints, motors = differential().model, differential(coordinates="actuators").model
    assert motors.joint_names == ("left_motor", "right_motor")
    q = np.array([0.9, -0.3])
    theta = np.array([50 * (2 * (q[0] - 0.5) + 2 * q[1]), -50 * (2 * (q[0] - 0.5) - 2 * q[1])])
    by = np.array([[1 / 200, -1 / 200], [1 / 200, 1 / 200]])  # of joints by motors
    rates, changes = np.array([3.0, -7.0]), np.array([20.0, 11.0])
    x = {"q": q, "qd": by @ rates, "qdd": by @ changes}
    tau = run(ParametricModel(joints), "inverse_dynamics", x)["tau"]
    y = {"q": theta, "qd": rates, "qdd": changes}
    found = run(ParametricModel(motors), "inverse_dynamics", y)["tau"]
    assert np.allclose(found, by.T @ tau, rtol=1e-12, atol=1e-14)
    back = run(ParametricModel(motors), "forward_dynamics", y | {"tau": found})["qdd"]
    assert np.allclose(back, changes, rtol=1e-9)


ROTORS = "[motors.left_motor]\nrotor_inertia = 3e-5\n[motors.right_motor]\nrotor_inertia = 5e-5\n"


@pytest.mark.parametrize("rotors", ["exact", "reflected", "none"])
def test_rotors_of_a_differential_are_felt_where_they_turn(tmp_path, rotors):
    path = tmp_path / "drives.toml"
    path.write_text(ROTORS)
    inertia = np.diag([3e-5, 5e-5]) * (rotors != "none")
    by = np.array([[100.0, 100.0], [-100.0, 100.0]])  # of motors by joints
    for coordinates, more in (("joints", by.T @ inertia @ by), ("actuators", inertia)):
        pair = [
            differential(coordinates=coordinates, **options).model
            for options in ({}, {"actuators": path, "rotors": rotors})
        ]
        at = {"q": [0.4, 0.2]}
        without, found = (
            run(ParametricModel(m), "mass_matrix", at)["M"].reshape(2, 2) for m in pair
        )
        assert np.allclose(found - without, more, rtol=1e-12, atol=1e-16)


def test_the_load_of_a_joint_contains_the_rotors_that_it_moves_with_others(tmp_path):
    """In `symgen identify`, too, it is the force of the coordinate."""
    path = tmp_path / "drives.toml"
    path.write_text(
        ROTORS + "".join(f"[joints.{x}]\nload = 0.2\n" for x in differential().model.joint_names)
    )
    model = differential(actuators=path).model
    x = {"q": [0.4, 0.2], "qd": [0.03, 0.05], "qdd": [1.0, 2.0]}
    bare = run(ParametricModel(model), "inverse_dynamics", x)["tau"]
    found = run(ParametricModel(model, friction=("load",)), "inverse_dynamics", x)["tau"]
    assert np.allclose(found, bare + 0.2 * np.abs(bare), rtol=1e-12)


MOTOR_FRICTION = """
[motors.left_motor]
viscous = 2e-3
coulomb = 0.01
saturating = 0.02
saturating_velocity = 8.0
[motors.right_motor]
viscous = 3e-3
offset = 0.005
"""


@pytest.mark.parametrize("rotors", ["exact", "none"])
@pytest.mark.parametrize("coordinates", ["joints", "actuators"])
def test_friction_of_motors_acts_on_their_velocities(tmp_path, coordinates, rotors):
    """At joints it is A^T f(A q̇), at motors f, in joint forces, in regressors, and undone by
    forward dynamics."""
    path = tmp_path / "drives.toml"
    path.write_text(MOTOR_FRICTION)
    by = np.array([[100.0, 100.0], [-100.0, 100.0]])  # of motors by joints
    a = by if coordinates == "joints" else np.eye(2)
    model = differential(coordinates=coordinates, actuators=path, rotors=rotors).model
    laws = ("viscous", "coulomb", "offset", "saturating")
    x = {"q": [0.4, 0.2], "qd": [0.03, -0.05], "qdd": [1.0, 2.0]}
    robot = ParametricModel(model, friction=laws)
    found, bare = (run(r, "inverse_dynamics", x)["tau"] for r in (robot, ParametricModel(model)))
    rates = a @ x["qd"]
    left = 2e-3 * rates[0] + 0.01 * np.sign(rates[0]) + 0.02 * np.tanh(rates[0] / 8)
    wanted = a.T @ [left, 3e-3 * rates[1] + 0.005]
    assert np.allclose(found - bare, wanted, rtol=1e-9, atol=1e-12)
    back = run(robot, "forward_dynamics", x | {"tau": found})["qdd"]
    assert np.allclose(back, x["qdd"], rtol=1e-7)
    y = run(robot, "regressor", x)["Y"].reshape(2, -1)
    motors = [b for b in model.bodies if b.joint.type.is_rotor]
    values = [b.coefficient(law) for b in model.bodies if b.has_friction for law in laws]
    assert len(motors) == 2 and np.allclose(y[:, -len(values) :] @ values, wanted, rtol=1e-9)


def test_an_option_couples_joints():
    robot, _, _ = case("two_leaders", couple=[("elbow", "shoulder:0.5,crank:-2,0.25")])
    follow = robot.model.bodies[2].follows
    assert follow.terms == ((1, 0.5), (2, -2.0)) and follow.offset == 0.25
