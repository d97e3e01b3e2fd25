"""Steps of generated controllers on random gains and inputs, NaN and resets among them: the status
tells what is wrong, and a step that fails changes nothing."""

from random import Random

import numpy as np
import pytest

import symgen
from fuzz.controller_steps import Stepper
from symgen.algorithms.controllers import CONTROLLERS
from tests.support.random_trees import ROBOTS

BALL = (
    '<robot name="swing"><link name="base"/><link name="a"><inertial><origin xyz="0.1 0 0.2"/>'
    '<mass value="2"/><inertia ixx="0.02" iyy="0.03" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>'
    '</link><joint name="j" type="ball"><parent link="base"/><child link="a"/></joint></robot>'
)


@pytest.mark.parametrize("scalar", ["double", "float"])
@pytest.mark.parametrize("name", CONTROLLERS)
def test_steps_keep_their_promises(tmp_path, name, scalar):
    full = f"{name}:lower" if name == "cartesian_impedance" else name
    out = tmp_path / "c"
    symgen.generate(ROBOTS / "pendulum.urdf", out, ["c"], controllers=(full,), scalar=scalar)
    for seed in range(3):
        assert not [*Stepper(out, full, Random(seed)).broken()]


@pytest.mark.parametrize("name", ["computed_torque", "joint_impedance", "cartesian_impedance:a"])
def test_steps_on_ball_joints_keep_theirs(tmp_path, name):
    out = tmp_path / "c"
    (tmp_path / "swing.urdf").write_text(BALL)
    symgen.generate(tmp_path / "swing.urdf", out, ["c"], controllers=(name,))
    for seed in range(3):
        assert not [*Stepper(out, name, Random(seed)).broken()]


STILL = {"q": [0.1, 0.2], "qd": [0.0, 0.0], "q_ref": [0.1, 0.2], "qd_ref": [0.0, 0.0]}
COMPUTED = {"k_p": 9.0, "k_d": 6.0, "k_i": 1.0, "limit": 5.0}
CARTESIAN = {"k_x": 9.0, "d_x": 6.0, "k_p": 1.0, "k_d": 1.0, "damping": 0.1, "limit": 5.0}
AIM = {"p_ref": [0.0, 0.0, 0.0]}
REFUSED = {
    "negative limit": ("computed_torque", {"limit": -5.0}, {}),
    "limit that is not finite": ("computed_torque", {"limit": np.inf}, {}),
    "negative damping": ("computed_torque", {"k_d": -1.0}, {}),
    "negative sample time": ("computed_torque", {}, {"h": -0.001}),
    "no sample time": ("computed_torque", {}, {"h": 0.0}),
    "quaternion of length 2": ("cartesian_impedance:lower", {}, {"quat_ref": [0, 0, 0, 2.0]}),
    "quaternion of zeros": ("cartesian_impedance:lower", {}, {"quat_ref": [0.0] * 4}),
    "negative gain": ("momentum_observer", {"gain": -1.0}, {}),
    "nothing remembered": ("recursive_least_squares", {"forget": 0.0}, {}),
    "more than remembered": ("recursive_least_squares", {"forget": 2.0}, {}),
}


def arguments(name, gains, inputs):
    """Valid gains and inputs of a step, but for those given."""
    known = {
        "computed_torque": COMPUTED,
        "cartesian_impedance:lower": CARTESIAN,
        "momentum_observer": {"gain": 50.0},
        "recursive_least_squares": {"forget": 0.99},
    }[name]
    every = {**STILL, **AIM, "qdd_ref": [0.0, 0.0], "qdd": [0.0, 0.0], "tau": [0.0, 0.0]}
    every |= {"h": 0.001, "quat_ref": [0.0, 0.0, 0.0, 1.0]}
    return known | gains, every | inputs


@pytest.mark.parametrize("name, gains, inputs", REFUSED.values(), ids=REFUSED)
def test_an_argument_outside_its_range_is_refused_by_status(tmp_path, name, gains, inputs):
    folder = tmp_path / "c"
    symgen.generate(ROBOTS / "pendulum.urdf", folder, ["c"], controllers=(name,))
    one = Stepper(folder, name, Random(0)).one
    robot = symgen.Robot(ROBOTS / "pendulum.urdf")
    for wrong, status in ((({}, {}), 0), ((gains, inputs), 2)):
        chosen, every = arguments(name, *wrong)
        one.set_gains(**chosen)
        one.reset()
        before = one.lasting
        read = {key: every[key] for key in one.input_sizes}
        assert one.status(**read) == status
        if status:
            assert np.array_equal(one.lasting, before)
            assert not any(x.any() for x in one.results.values())
            with pytest.raises(symgen.SymgenError, match="give"):
                robot.controller(name, chosen).step(**read)
        else:
            robot.controller(name, chosen).step(**read)
