"""A few robots of `benchmarks.oracle`, which judges all of example-robot-data by Pinocchio."""

import pytest
from public_robots import example_robot, example_robots

pytest.importorskip("pinocchio")
from benchmarks import oracle

UR5 = "ur_description/urdf/ur5_robot.urdf"
FEW = [
    UR5,
    "kinova_description/robots/kinova.urdf",  # continuous joints
    "so_arm_description/urdf/so101.urdf",
    "solo_description/robots/solo12.urdf",  # legs
    "panda_description/urdf/panda.urdf",  # fingers that slide, one mimicking the other
]


@pytest.mark.parametrize("name", FEW)
def test_pinocchio_agrees(name):
    result = oracle.compare(example_robot(name), states=3)
    assert list(result.errors) == list(oracle.QUANTITIES) and result.agrees, result


def test_what_is_not_a_robot_for_pinocchio_to_judge_is_refused_with_a_reason():
    result = oracle.compare(example_robot("iris_description/robots/iris_simple.urdf"), states=1)
    assert "no moving joint" in result.refusal and not result.errors
    assert "0 robots agree, 1 refused" in oracle.summary([result])


@pytest.mark.parametrize("quantity", oracle.QUANTITIES)
def test_the_oracle_tells_one_robot_from_another(quantity):
    """UR3 and UR5 have the same joints, so only the numbers can disagree."""
    other, path = oracle.load(example_robot("ur_description/urdf/ur3_robot.urdf")).model, example_robot(UR5)
    errors = oracle.differences(other, oracle.Judge(path, other), states=1, seed=0)
    assert errors[quantity] > 1e-3
    assert "1 DISAGREE" in oracle.summary([oracle.Result("ur3", 6, errors)])


@pytest.mark.skipif(not example_robots(), reason="example-robot-data is not installed")
def test_every_public_robot_is_found():
    assert len(example_robots()) > 50
