"""Joints that mimic others: whom they follow in the end, and what is said of mimics that lead
nowhere."""

import math

import numpy as np
import pytest
from test_assemble import TREE, read

from symgen.errors import RobotError
from symgen.mechanics.model import Follow

__all__ = ["read"]  # a fixture


def following(name: str, text: str = "") -> str:
    """The tree with a wing that mimics joint `name`."""
    return TREE.replace('upper="1"/>', f'upper="1"/><mimic joint="{name}" {text}/>')


def test_a_mimicking_joint_follows_the_one_that_moves_by_itself(read):
    chain = following("elbow", 'multiplier="-2" offset="0.5"').replace(
        '<origin xyz="0 0 1"/>',
        '<origin xyz="0 0 1"/><mimic joint="shoulder" multiplier="3" offset="0.25"/>',
    )
    model = read(chain).model
    assert model.joint_names == ("shoulder",)
    found = {body.joint.name: body.follows for body in model.bodies}
    assert found == {"elbow": Follow(2, 3.0, 0.25), "shoulder": None, "wing": Follow(2, -6.0, 0.0)}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "nobody",
            "mimics joint 'nobody', which does not exist; hold it still with --lock 'wing=0', or "
            "remove its"
            " <mimic>",
        ),
        (
            "weld",
            "mimics joint 'weld', which is fixed; hold it still with --lock 'wing=0', or remove "
            "its <mimic>",
        ),
        ("wing", "mimics itself by way of 'wing'; let one of them move by itself"),
    ],
)
def test_mimics_that_lead_nowhere(read, name, said):
    with pytest.raises(RobotError) as caught:
        read(following(name))
    assert str(caught.value).endswith(f"error: joint 'wing': {said}")


def test_a_cycle_of_mimics(read):
    cycle = following("elbow").replace(
        '<origin xyz="0 0 1"/>', '<origin xyz="0 0 1"/><mimic joint="wing"/>'
    )
    with pytest.raises(
        RobotError,
        match="joint 'elbow': mimics itself by way of 'elbow' and 'wing'; let one of them",
    ):
        read(cycle)


def test_a_leader_that_is_left_out(read):
    with pytest.raises(
        RobotError,
        match="joint 'wing': mimics joint 'elbow', which --root and --tip leave out; hold",
    ):
        read(following("elbow"), tip="side")
    assert read(following("elbow"), tip="side", lock=[("wing", 0.0)]).model.joint_names == (
        "shoulder",
    )


@pytest.mark.parametrize("kind", ["planar", "floating"])
def test_a_leader_with_several_coordinates(read, kind):
    with pytest.raises(
        RobotError,
        match=f"mimics joint 'shoulder', but the {kind} joint 'shoulder' has several coord",
    ):
        read(following("shoulder").replace("continuous", kind))
    with pytest.raises(
        RobotError, match=f"joint 'wing': mimics joint 'elbow', but the {kind} joint .wing. has"
    ):
        read(following("elbow").replace("revolute", kind))


def test_a_multiplier_of_zero_holds_a_joint_at_its_offset(read):
    model = read(following("elbow", 'multiplier="0" offset="0.5"')).model
    assert model.joint_names == ("elbow", "shoulder")
    turned = model.body(2).links[-1].pose.rotation
    assert np.trace(np.array(turned)) == pytest.approx(1 + 2 * math.cos(0.5))


def test_followers_of_a_held_joint_are_held(read):
    model = read(following("elbow", 'multiplier="2" offset="0.5"'), lock=[("elbow", 0.1)]).model
    assert model.joint_names == ("shoulder",)
    (side,) = (link for link in model.body(1).links if link.name == "side")
    assert np.trace(np.array(side.pose.rotation)) == pytest.approx(1 + 2 * math.cos(0.7))
