"""Joints that mimic others: whom they follow in the end, and what is said of mimics that lead
nowhere."""

import math

import numpy as np
import pytest

from symgen.errors import RobotError
from symgen.mechanics.model import Follow
from symgen.mechanics.standard_joints import JOINT_TYPES
from symgen.reading.joint_kinds import has_several_coordinates
from tests.support.trees import TREE


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
    assert found == {
        "elbow": Follow(((2, 3.0),), 0.25),
        "shoulder": None,
        "wing": Follow(((2, -6.0),), 0.0),
    }


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "nobody",
            "mimics joint 'nobody', which does not exist; lock it with --lock 'wing=0', or "
            "correct what it mimics",
        ),
        (
            "weld",
            "mimics joint 'weld', which is fixed; lock it with --lock 'wing=0', or correct "
            "what it mimics",
        ),
        ("wing", "mimics itself through 'wing'; make one of these joints independent"),
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
        match="joint 'elbow': mimics itself through 'elbow' and 'wing'; make one of these",
    ):
        read(cycle)


def test_a_leader_that_is_left_out(read):
    with pytest.raises(
        RobotError,
        match="joint 'wing': mimics joint 'elbow', which --root and --tip exclude; lock",
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


@pytest.mark.parametrize("kind", [name for name in JOINT_TYPES if has_several_coordinates(name)])
def test_a_follower_with_several_coordinates_of_a_leader_that_others_follow(read, kind):
    """What is known of the leader already is no reason to look no further (fuzz 40)."""
    child = '<parent link="base"/><child link="{0}"/><mimic joint="shoulder"/>'
    joints = (
        f'<joint name="{name}" type="{type_}">{child.format(name)}</joint><link name="{name}"/>'
        for name, type_ in (("first", "revolute"), ("second", kind))
    )
    with pytest.raises(RobotError, match=f"the {kind} joint 'second' has several coordinates"):
        read(TREE + "".join(joints))


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


def star(count: int, closed: bool = False) -> str:
    """Links on the base whose joints each mimic the one before, the first the last if `closed`."""
    last = f'<mimic joint="j{count}"/>' if closed else ""
    mimics = [last, *(f'<mimic joint="j{k}"/>' for k in range(1, count))]
    links = "".join(f'<link name="l{k}"/>' for k in range(count + 1))
    joints = (
        f'<joint name="j{k}" type="continuous"><parent link="l0"/><child link="l{k}"/>{mimic}'
        "</joint>"
        for k, mimic in enumerate(mimics, 1)
    )
    return links + "".join(reversed(list(joints)))


def test_a_chain_of_mimics_may_be_longer_than_the_interpreter_can_call(read):
    model = read(star(1500)).model
    assert model.joint_names == ("j1",)
    assert {body.follows and body.follows.terms[0][0] for body in model.bodies} == {None, 1500}


def test_a_long_cycle_of_mimics_is_refused_in_one_line(read):
    with pytest.raises(RobotError, match=r"mimics itself through .* and 1994 more; make") as found:
        read(star(2000, closed=True))
    assert "\n" not in str(found.value) and len(str(found.value)) < 400


@pytest.mark.parametrize("still", ["j1", "j2", "j3"])
def test_a_joint_that_does_not_turn_opens_a_cycle(read, still):
    """Whichever of a cycle has multiplier 0 stands at its offset, and all others follow it."""
    text = star(3, closed=True).replace(
        f'<joint name="{still}" type="continuous">', f'<joint name="{still}" type="revolute">'
    )
    mimic = text.index("<mimic", text.index(f'name="{still}"'))
    text = text[:mimic] + '<mimic multiplier="0" offset="0.5"' + text[mimic + len("<mimic") :]
    extra = '<link name="m"/><joint name="k" type="continuous"><parent link="l0"/><child link="m"/>'
    model = read(f"{text}{extra}</joint>").model
    assert model.joint_names == ("k",)
    turned = [link.pose.rotation for link in model.base if link.name in ("l1", "l2", "l3")]
    assert [np.trace(np.array(r)) for r in turned] == pytest.approx([1 + 2 * math.cos(0.5)] * 3)


@pytest.mark.parametrize(
    "text",
    ['offset="1e308"', 'multiplier="1e300"', 'offset="-2e6"', 'multiplier="1e200" offset="1e200"'],
)
def test_an_angle_without_digits_is_refused(read, text):
    """The sine of 1e308 rad is that of any other angle."""
    with pytest.raises(RobotError, match=r"joint 'wing': follows .* too large; give at most"):
        read(following("elbow", text))


def test_offsets_that_overflow_on_the_way_are_refused(read):
    chain = following("elbow", 'multiplier="1e5"').replace(
        '<origin xyz="0 0 1"/>',
        '<origin xyz="0 0 1"/><mimic joint="shoulder" multiplier="1e5" offset="0.25"/>',
    )
    with pytest.raises(RobotError, match="multiplier 1e"):
        read(chain)
    small = read(chain.replace("1e5", "1e2")).model
    assert {body.joint.name: body.follows for body in small.bodies}["wing"] == Follow(
        ((2, 1e4),), 25.0
    )
