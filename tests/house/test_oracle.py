"""A few robots of `benchmarks.oracle`, which judges all of example-robot-data and icub-models by
Pinocchio."""

import pytest

from tests.support.public_robots import example_robot, example_robots, icub_robots

pytest.importorskip("pinocchio")
from benchmarks import oracle
from benchmarks.judge import Judge, followers

UR5 = "ur_description/urdf/ur5_robot.urdf"
PANDA = "panda_description/urdf/panda.urdf"
FEW = [
    (UR5, "fixed"),
    ("kinova_description/robots/kinova.urdf", "fixed"),  # continuous joints
    ("solo_description/robots/solo12.urdf", "floating"),  # legs
    (PANDA, "fixed"),  # fingers that slide, one mimicking the other
    (PANDA, "floating"),
    ("tiago_description/robots/tiago_no_hand.urdf", "fixed"),  # impossible inertia on the base
]


@pytest.mark.parametrize(("name", "base"), FEW)
def test_pinocchio_agrees(name, base):
    result = oracle.compare(example_robot(name), base, states=2)
    assert list(result.errors) == [check.title for check in oracle.CHECKS] and result.agrees, result


def test_what_is_not_a_robot_for_pinocchio_to_judge_is_refused_with_a_reason():
    result = oracle.compare(example_robot("iris_description/robots/iris_simple.urdf"), states=1)
    assert "no moving joint" in result.refusal and not result.errors and result.understood
    assert "0 of 0 robots agree" in oracle.summary([result]) and "1 refused" in oracle.summary(
        [result]
    )
    assert not oracle.Result("r", refusal="for no reason").understood
    assert oracle.verdict(oracle.Result("r", refusal="for no reason")) == "REFUSED WRONGLY"


def test_a_mass_matrix_that_is_singular_is_so_for_pinocchio_too():
    """A hand of no mass."""
    path = example_robot("romeo_description/urdf/romeo.urdf")
    model = oracle.load(path).model
    assert "move no inertia of their own" in oracle._singular(model, Judge(path, model))


def test_mimicking_joints_are_coupled_as_the_file_says():
    lines = followers(example_robot(PANDA))
    assert (
        lines["panda_finger_joint2"].leader
        == "panda_finger_joint1"
        == lines["panda_finger_joint1"].leader
    )
    model = oracle.load(example_robot(PANDA)).model
    assert Judge(example_robot(PANDA), model).coupling.shape == (9, 8)


@pytest.mark.parametrize(
    "title", [check.title for check in oracle.CHECKS if check.title != "tau of qdd"]
)
def test_the_oracle_tells_one_robot_from_another(title):
    """UR3 and UR5 have the same joints, so only the numbers can disagree."""
    other, path = (
        oracle.load(example_robot("ur_description/urdf/ur3_robot.urdf")).model,
        example_robot(UR5),
    )
    check = next(check for check in oracle.CHECKS if check.title == title)
    errors = oracle.differences(other, Judge(path, other), [check], states=1, seed=0)
    assert errors[title] > 1e-3
    assert "1 DISAGREE" in oracle.summary([oracle.Result("ur3", dof=6, errors=errors)])


@pytest.mark.skipif(not example_robots(), reason="example-robot-data is not installed")
def test_every_public_robot_is_found():
    assert len(example_robots()) > 50


@pytest.mark.skipif(not icub_robots(), reason="icub-models is not installed")
def test_every_icub_is_found():
    assert len(icub_robots()) > 10
