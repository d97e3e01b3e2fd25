"""From file to model: lumping, locked joints, chosen parts, and the bodies of Pinocchio."""

import math
from pathlib import Path

import numpy as np
import pytest

from symgen.errors import OptionError, RobotError
from symgen.mechanics.model import Body, Link
from symgen.mechanics.spatial import Pose
from symgen.reading.assemble import load
from tests.support.trees import TREE, inertial, messages

CASES = Path(__file__).resolve().parents[1] / "cases"


def test_bodies_follow_the_file_and_links_their_bodies(read):
    model = read().model
    assert model.joint_names == ("elbow", "shoulder", "wing")
    assert [b.parent for b in model.bodies] == [2, 0, 2]
    names = [[link.name for link in body.links] for body in model.bodies]
    assert names == [["lower", "hand"], ["upper", "plate"], ["side"]]
    assert [b.joint.kind for b in model.bodies] == ["prismatic", "revolute", "revolute"]
    turned = ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    assert model.body(2).links[1].pose == Pose(turned, (0.0, 2.0, 0.0))
    assert model.body(1).pose == Pose(turned, (0.0, 2.0, 1.0))
    assert model.body(2).pose.position == (1.0, 0.0, 0.0) and [
        link.name for link in model.base
    ] == ["base"]


def test_parameters_are_about_the_link_origin(read):
    origin = '<origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>'
    model = read(TREE.replace(inertial(2), inertial(2, origin))).model
    assert model.body(2).links[0].parameters == pytest.approx(
        (2, 2, 4, 6, 0.2 + 2 * 13, -0.01 - 4, -0.03 - 6, 0.3 + 2 * 10, 0.02 - 12, 0.25 + 2 * 5),
        abs=1e-14,
    )


def test_link_without_inertia(read):
    assert read(TREE.replace(inertial(32), "")).model.body(1).links[1].parameters is None


def test_locked_joints_are_welds_at_their_value(read):
    model = read(lock=[("shoulder", math.pi / 2), ("elbow", 0.5)]).model
    assert model.joint_names == ("wing",)
    assert [link.name for link in model.base] == ["base", "upper", "plate", "lower", "hand"]
    assert model.base[3].pose == Pose(
        ((-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0)), (-1.0, 0.0, 1.5)
    )


def test_locked_joint_about_any_axis_turns_as_the_moving_one(read):
    tilted = TREE.replace('<origin xyz="1 0 0"/><axis xyz="0 0 1"/>', '<axis xyz="1 2 -2"/>')
    turned = np.array(read(tilted, lock=[("shoulder", 0.7)]).model.base[1].pose.rotation)
    axis = np.array((1, 2, -2)) / 3
    assert turned @ axis == pytest.approx(axis) and np.trace(turned) == pytest.approx(
        1 + 2 * math.cos(0.7)
    )
    assert turned[1, 0] - turned[0, 1] == pytest.approx(2 * axis[2] * math.sin(0.7))


def test_locks_are_judged(read):
    assert messages(read(lock=[("wing", 1.5)])) == [
        "warning: joint 'wing': locked at 1.5, outside its limits -1 to 1"
    ]
    mimic = TREE.replace('upper="1"/>', 'upper="1"/><mimic joint="elbow"/>')
    assert messages(read(mimic, lock=[("wing", 0)])) == [
        "note: joint 'wing': locked at 0; its dependence on joint 'elbow' has no effect"
    ]
    assert messages(read(lock=[("wing", 0)], tip="lower")) == [
        "note: <robot>: --root and --tip exclude 2 links with a total mass of 48 kg",
        "note: joint 'wing': excluded by --root and --tip, so --lock has no effect on it",
    ]


def test_root_leaves_out_what_it_does_not_carry(read):
    loaded = read(root="plate", gravity=(0, 9.81, 0))
    assert (loaded.model.joint_names, loaded.model.gravity) == (("elbow",), (0.0, 9.81, 0.0))
    assert [link.name for link in loaded.model.base] == ["plate"]
    assert messages(loaded) == [
        "note: <robot>: --gravity is in the axes of link 'plate', whose orientation --root "
        "changed relative to link 'base'",
        "note: <robot>: --root and --tip exclude 3 links with a total mass of 19 kg",
    ]


def test_tip_leaves_out_branches_and_what_is_beyond(read):
    loaded = read(tip="plate")
    assert loaded.model.joint_names == ("shoulder",)
    assert [link.name for link in loaded.model.body(1).links] == ["upper", "plate"]


@pytest.mark.parametrize("text", ["floating", "planar"])
def test_joints_of_several_coordinates_are_runs_that_no_lock_can_hold(read, text):
    free = TREE.replace("continuous", text)
    names = {"floating": ("vx", "vy", "vz", "wx", "wy", "wz"), "planar": ("x", "y", "theta")}[text]
    assert read(free).model.joint_names == (
        "elbow",
        *(f"shoulder.{name}" for name in names),
        "wing",
    )
    assert read(free, root="upper").model.joint_names == ("elbow", "wing")
    with pytest.raises(
        OptionError, match=f"--lock 'shoulder': a {text} joint cannot be locked at one value"
    ):
        read(free, lock=[("shoulder", 0)])


def test_impossible_inertia_of_a_link_that_does_not_move_is_a_warning(read):
    odd = TREE.replace(inertial(1), inertial(1).replace('"0.2"', '"-0.2"'))
    loaded, plain = read(odd), read()
    assert [m for m in messages(loaded) if m not in messages(plain)] == [
        "warning: link 'base': inertia has a negative principal moment (the three are -0.2021, "
        "0.2444, 0.3078 kg m^2),"
        " which is physically impossible; the link does not move, so no result depends on it"
    ]
    assert loaded.model.bodies == plain.model.bodies
    held = TREE.replace(inertial(2), inertial(2).replace('"0.2"', '"-0.2"'))
    assert any(
        "'upper': inertia has a negative" in m for m in messages(read(held, lock=[("shoulder", 0)]))
    )


def test_rounding_noise_is_no_negative_moment(read):
    tensor = '<inertia ixx="{0}" ixy="0" ixz="0" iyy="{1}" iyz="0" izz="{0}"/>'
    plain = inertial(16).partition("<inertia ")[0]
    for numbers in ((0.3, -1e-11), (0.0, -1e-35)):  # small against the others, and against the mass
        read(TREE.replace(inertial(16), plain + tensor.format(*numbers) + "</inertial>"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"root": "uper"}, "error: --root 'uper': the robot has no such link; near names: 'upper'"),
        ({"tip": "LOWER"}, "error: --tip 'LOWER': the robot has no such link; near names: 'lower'"),
        (
            {"lock": [("q", 0)]},
            "error: --lock 'q': the robot has no such joint; there are 'elbow', 'shoulder',"
            " 'weld', 'wing' and 'grip'",
        ),
        (
            {"lock": [("weld", 0)]},
            "error: --lock 'weld': a fixed joint cannot be locked at one value; remove the option",
        ),
        (
            {"lock": [("wing", 0), ("wing", 1)]},
            "error: --lock 'wing': two values are given; keep one of them",
        ),
        (
            {"lock": [("wing", math.nan)]},
            "error: --lock 'wing': nan is not a finite number; give a value in rad or m",
        ),
        (
            {"root": "side", "tip": "hand"},
            "error: --tip 'hand': the link is not carried by the root 'side'; give"
            " a link farther from the base, or a --root nearer to it",
        ),
        (
            {"gravity": (0, 0)},
            "error: gravity needs three finite numbers (m/s^2), such as 0 0 -9.81",
        ),
        (
            {"gravity": (0, 0, math.inf)},
            "error: gravity needs three finite numbers (m/s^2), such as 0 0 -9.81",
        ),
        ({"snap_angles": 1.0}, "error: --snap-angles 1: give an angle from 0 to 0.1 rad"),
        ({"snap_angles": math.nan}, "error: --snap-angles nan: give an angle from 0 to 0.1 rad"),
    ],
)
def test_options_that_do_not_fit(read, options, message):
    with pytest.raises(OptionError) as caught:
        read(**options)
    assert str(caught.value) == message


def test_no_moving_joint(read):
    with pytest.raises(
        RobotError, match="1: error: <robot>: has no moving joint left after --root, --tip"
    ):
        read(root="hand")
    with pytest.raises(RobotError, match="1: error: <robot>: has no moving joint; add a revolute,"):
        read('<link name="a"/>')


def test_numbers_whose_products_overflow(read):
    with pytest.raises(
        RobotError,
        match="3: error: link 'upper': its inertia or pose has a number that is too large",
    ):
        read(TREE.replace(inertial(2), inertial(2, '<origin xyz="1e200 0 0"/>')))
    for kind in ("revolute", "planar"):  # of a planar joint, the first body has no link
        moved = TREE.replace('"0 0 1"/><axis', '"0 0 1e300"/><axis').replace("revolute", kind)
        with pytest.raises(
            RobotError, match=r"joint '.*': its pose has a number that is too large"
        ):
            read(moved)


def test_loaded_names_its_source(read, tmp_path):
    loaded = read()
    assert loaded.file == str(tmp_path / "r.urdf") and len(loaded.sha256) == 64


def spatial_inertia(link: Link) -> np.ndarray:
    """6x6 inertia (linear first, as Pinocchio) of a link, seen from its body."""
    m, hx, hy, hz, xx, xy, xz, yy, yz, zz = link.parameters or (0.0,) * 10
    h = np.array(((0, -hz, hy), (hz, 0, -hx), (-hy, hx, 0)))
    about = np.block(
        [[m * np.eye(3), -h], [h, np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))]]
    )
    r, (x, y, z) = np.array(link.pose.rotation), link.pose.position
    p = np.array(((0, -z, y), (z, 0, -x), (-y, x, 0)))
    force = np.block([[r, np.zeros((3, 3))], [p @ r, r]])
    return force @ about @ force.T


def lumped(body: Body) -> np.ndarray:
    return sum(spatial_inertia(link) for link in body.links)


@pytest.mark.parametrize("name", ["fixed_mid_rotated", "rpy_generic", "branch_order"])
def test_bodies_are_those_of_pinocchio(name):
    pinocchio = pytest.importorskip("pinocchio")
    path = str(CASES / f"{name}.urdf")
    model, theirs = load(path).model, pinocchio.buildModelFromUrdf(path)
    total = sum(link.parameters[0] for body in model.bodies for link in body.links)
    assert total == pytest.approx(pinocchio.computeTotalMass(theirs), rel=1e-12)
    for body in model.bodies:
        i = theirs.getJointId(body.joint.name)
        placement = theirs.jointPlacements[i]
        assert np.allclose(lumped(body), theirs.inertias[i].matrix(), rtol=0, atol=1e-12)
        assert np.allclose(body.pose.rotation, placement.rotation, rtol=0, atol=1e-12)
        assert np.allclose(body.pose.position, placement.translation, rtol=0, atol=1e-12)
