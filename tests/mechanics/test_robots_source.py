"""The robot library: each URDF loads, is physically possible, and has the geometry of its source.

Everything here is judged by Pinocchio and by Denavit-Hartenberg products written out below, never
by symgen itself."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from math import cos, pi, sin
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pin: Any = pytest.importorskip("pinocchio")

Array = NDArray[np.float64]
Table = list[tuple[float, float, float]]

ROBOTS = Path(__file__).resolve().parents[2] / "robots"

# file stem: (joint variables, total mass in kg)
EXPECTED = {
    "pendulum": (2, 1.8),
    "scara": (4, 20.6),
    "ur5": (6, 16.9939),
    "ur10e": (6, 29.104),
    "panda_arm": (7, 16.062132),
    "panda": (9, 16.822132),
    "iiwa7": (7, 19.4348),
    "rx90": (6, 98.35),
    "puma560": (6, 36.45),
    "snake16": (16, 16.0),
    "quadruped": (12, 12.453),
    "humanoid25": (25, 76.0),
}

# Modified DH rows (alpha, d, r): turn by alpha and shift by d about and along x, then shift by r
# along z.
H = pi / 2
PANDA: Table = [
    (0, 0, 0.333),
    (-H, 0, 0),
    (H, 0, 0.316),
    (H, 0.0825, 0),
    (-H, -0.0825, 0.384),
    (H, 0, 0),
    (H, 0.088, 0),
]
IIWA7: Table = [
    (0, 0, 0.34),
    (-H, 0, 0),
    (H, 0, 0.4),
    (H, 0, 0),
    (-H, 0, 0.4),
    (-H, 0, 0),
    (H, 0, 0),
]
RX90: Table = [(0, 0, 0), (H, 0, 0), (0, 0.45, 0), (-H, 0, 0.45), (H, 0, 0), (-H, 0, 0)]
PUMA560: Table = [
    (0, 0, 0),
    (-H, 0, 0),
    (0, 0.4318, 0.15),
    (-H, 0.0203, 0.4318),
    (H, 0, 0),
    (-H, 0, 0),
]
MODIFIED_DH: dict[str, Table] = {
    "panda_arm": PANDA,
    "panda": PANDA,
    "iiwa7": IIWA7,
    "rx90": RX90,
    "puma560": PUMA560,
}
# Distance along z from the last DH frame to the link "flange".
FLANGE = {"panda_arm": 0.107, "panda": 0.107, "iiwa7": 0.126}

# Standard DH rows (a, d, alpha).
UR5: Table = [
    (0, 0.089159, H),
    (-0.425, 0, 0),
    (-0.39225, 0, 0),
    (0, 0.10915, H),
    (0, 0.09465, -H),
    (0, 0.0823, 0),
]


def load(name: str) -> Any:
    return pin.buildModelFromUrdf(str(ROBOTS / f"{name}.urdf"))


def links(name: str) -> dict[str, ET.Element]:
    root = ET.parse(ROBOTS / f"{name}.urdf").getroot()
    return {link.attrib["name"]: link for link in root.findall("link")}


def inertial(link: ET.Element) -> tuple[float, Array, Array] | None:
    """Mass, centre of mass, and inertia tensor about it; None for a massless link."""
    element = link.find("inertial")
    if element is None:
        return None
    origin, mass, tensor = (element.find(tag) for tag in ("origin", "mass", "inertia"))
    assert origin is not None and mass is not None and tensor is not None
    assert origin.attrib["rpy"] == "0 0 0"
    i = {key: float(value) for key, value in tensor.attrib.items()}
    rows = [
        [i["ixx"], i["ixy"], i["ixz"]],
        [i["ixy"], i["iyy"], i["iyz"]],
        [i["ixz"], i["iyz"], i["izz"]],
    ]
    com = np.array([float(x) for x in origin.attrib["xyz"].split()])
    return float(mass.attrib["value"]), com, np.array(rows)


def about_origin(mass: float, com: Array, tensor: Array) -> Array:
    """The inertia tensor about the origin of the link frame."""
    moved: Array = tensor + mass * (com @ com * np.eye(3) - np.outer(com, com))
    return moved


def pseudo_inertia(mass: float, com: Array, tensor: Array) -> Array:
    """[Sigma h; h^T m] with Sigma = tr(I)/2 1 - I about the origin of the link frame."""
    origin = about_origin(mass, com, tensor)
    sigma = np.trace(origin) / 2 * np.eye(3) - origin
    h = (mass * com)[:, None]
    return np.block([[sigma, h], [h.T, np.array([[mass]])]])


def turn_z(q: float) -> Array:
    return np.array([[cos(q), -sin(q), 0, 0], [sin(q), cos(q), 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def turn_x(q: float) -> Array:
    return np.array([[1, 0, 0, 0], [0, cos(q), -sin(q), 0], [0, sin(q), cos(q), 0], [0, 0, 0, 1]])


def shift(x: float, y: float, z: float) -> Array:
    out = np.eye(4)
    out[:3, 3] = x, y, z
    return out


def modified_dh(table: Table, q: Array) -> list[Array]:
    frame, out = np.eye(4), []
    for (alpha, d, r), theta in zip(table, q, strict=True):
        frame = frame @ turn_x(alpha) @ shift(d, 0, 0) @ turn_z(theta) @ shift(0, 0, r)
        out.append(frame)
    return out


def standard_dh(table: Table, q: Array) -> Array:
    frame = np.eye(4)
    for (a, d, alpha), theta in zip(table, q, strict=True):
        frame = frame @ turn_z(theta) @ shift(a, 0, d) @ turn_x(alpha)
    return frame


def placements(model: Any, q: Array) -> Any:
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    return data


def frame_pose(model: Any, name: str, q: Array) -> Array:
    pose: Array = placements(model, q).oMf[model.getFrameId(name)].homogeneous
    return pose


def postures(count: int, variables: int, seed: int) -> list[Array]:
    """The zero posture and some random ones."""
    rng = np.random.default_rng(seed)
    return [np.zeros(variables), *rng.uniform(-2, 2, size=(count, variables))]


def joint_lines(model: Any, q: Array) -> Array:
    """One column per joint: its axis as a line in the world (twist at the world origin)."""
    data = model.createData()
    lines: Array = pin.computeJointJacobians(model, data, q).copy()
    return lines


def peer(relative: str) -> Any:
    """A model of the package example-robot-data, if it is installed next to Pinocchio."""
    for folder in Path(pin.__file__).resolve().parents:
        path = folder / "share" / "example-robot-data" / "robots" / relative
        if path.exists():
            return pin.buildModelFromUrdf(str(path))
    pytest.skip("example-robot-data is not installed")


def test_the_library_is_complete() -> None:
    assert {path.stem for path in ROBOTS.glob("*.urdf")} == set(EXPECTED)
    readme = (ROBOTS / "README.md").read_text()
    assert all(f"`{name}.urdf`" in readme for name in EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_text(name: str) -> None:
    text = (ROBOTS / f"{name}.urdf").read_text()
    root = ET.fromstring(text)
    assert root.tag == "robot" and root.attrib["name"] == name
    assert text.split("\n")[1] == "<!--" and "ssumed" in text and "Source" in text
    assert all(re.fullmatch("[a-z][a-z0-9_]*", element.attrib["name"]) for element in root)
    assert {element.tag for element in root} == {"link", "joint"}
    assert root.find(".//mimic") is None
    for joint in root.findall("joint"):
        limit = joint.find("limit")
        assert joint.attrib["type"] == "fixed" or limit is not None
        if limit is not None:
            assert float(limit.attrib["lower"]) < float(limit.attrib["upper"])
            assert float(limit.attrib["effort"]) > 0 and float(limit.attrib["velocity"]) > 0


@pytest.mark.parametrize("name", EXPECTED)
def test_loads_with_positive_definite_inertia_matrix(name: str) -> None:
    model, (variables, _) = load(name), EXPECTED[name]
    assert model.nq == model.nv == variables
    for q in postures(5, variables, seed=1):
        matrix = pin.crba(model, model.createData(), q)
        matrix = np.triu(matrix) + np.triu(matrix, 1).T
        assert np.linalg.eigvalsh(matrix)[0] > 1e-6


@pytest.mark.parametrize("name", EXPECTED)
def test_links_are_physically_possible(name: str) -> None:
    bodies = [body for link in links(name).values() if (body := inertial(link)) is not None]
    assert sum(mass for mass, _, _ in bodies) == pytest.approx(EXPECTED[name][1], abs=1e-9)
    for mass, com, tensor in bodies:
        assert np.linalg.eigvalsh(pseudo_inertia(mass, com, tensor))[0] > 0
        assert np.linalg.eigvalsh(tensor)[0] > 0


@pytest.mark.parametrize("name", MODIFIED_DH)
def test_modified_dh(name: str) -> None:
    model, table = load(name), MODIFIED_DH[name]
    for q in postures(3, model.nq, seed=2):
        data = placements(model, q)
        expected = modified_dh(table, q[: len(table)])
        for joint, frame in enumerate(expected, start=1):
            np.testing.assert_allclose(data.oMi[joint].homogeneous, frame, atol=1e-14)
        if name in FLANGE:
            flange = data.oMf[model.getFrameId("flange")].homogeneous
            np.testing.assert_allclose(flange, expected[-1] @ shift(0, 0, FLANGE[name]), atol=1e-14)


UR10E: Table = [
    (0, 0.1807, H),
    (-0.6127, 0, 0),
    (-0.57155, 0, 0),
    (0, 0.17415, H),
    (0, 0.11985, -H),
    (0, 0.11655, 0),
]
MAKERS = {"ur5": UR5, "ur10e": UR10E}
CENTRES = {
    "ur5": [
        (0, -0.02561, 0.00193),
        (0.2125, 0, 0.11336),
        (0.15, 0, 0.0265),
        (0, -0.0018, 0.01634),
        (0, 0.0018, 0.01634),
        (0, 0, -0.001159),
    ],
    "ur10e": [
        (0.021, 0, 0.027),
        (0.38, 0, 0.158),
        (0.24, 0, 0.068),
        (0, 0.007, 0.018),
        (0, 0.007, 0.018),
        (0, 0, -0.026),
    ],
}


@pytest.mark.parametrize("name", MAKERS)
def test_universal_robots_standard_dh(name: str) -> None:
    model = load(name)
    for q in postures(3, 6, seed=3):
        expected = standard_dh(MAKERS[name], q)
        np.testing.assert_allclose(frame_pose(model, "flange", q), expected, atol=1e-14)


@pytest.mark.parametrize("name", MAKERS)
def test_universal_robots_centres_of_mass(name: str) -> None:
    """Carrying the published centres from DH frame j to the frame of link j."""
    rows = zip(MAKERS[name], CENTRES[name], strict=True)
    for joint, ((a, d, alpha), centre) in enumerate(rows, start=1):
        body = inertial(links(name)[f"link{joint}"])
        assert body is not None
        carried = shift(a, 0, d) @ turn_x(alpha) @ np.array([*centre, 1])
        np.testing.assert_allclose(body[1], carried[:3], atol=1e-9)


def test_ur5_against_example_robot_data() -> None:
    ours, theirs = load("ur5"), peer("ur_description/urdf/ur5_robot.urdf")
    half_turn = turn_z(pi)[:3, :3]  # ROS turns base_link by pi about z
    for q in postures(3, 6, seed=4):
        expected = np.kron(np.eye(2), half_turn) @ joint_lines(theirs, q)
        np.testing.assert_allclose(joint_lines(ours, q), expected, atol=1e-8)
        tool = half_turn @ frame_pose(theirs, "tool0", q)[:3, 3]
        np.testing.assert_allclose(frame_pose(ours, "flange", q)[:3, 3], tool, atol=1e-8)


def test_panda_against_example_robot_data() -> None:
    ours, theirs = load("panda"), peer("panda_description/urdf/panda.urdf")
    assert ours.nq == theirs.nq
    for q in postures(3, 9, seed=5):
        np.testing.assert_allclose(joint_lines(ours, q), joint_lines(theirs, q), atol=1e-8)
        flange = frame_pose(theirs, "panda_link8", q)
        np.testing.assert_allclose(frame_pose(ours, "flange", q), flange, atol=1e-8)


def test_panda_is_panda_arm_with_a_hand() -> None:
    arm, full = links("panda_arm"), links("panda")
    assert set(full) - set(arm) == {"hand", "left_finger", "right_finger"}
    assert all(ET.tostring(arm[name]).strip() == ET.tostring(full[name]).strip() for name in arm)


def test_pendulum_and_scara() -> None:
    tip = frame_pose(load("pendulum"), "tip", np.array([H, -H]))
    np.testing.assert_allclose(tip[:3, 3], [-1, 0, -1], atol=1e-14)
    flange = frame_pose(load("scara"), "flange", np.array([0.3, 0.4, -0.1, 1.0]))
    x, y = 0.325 * cos(0.3) + 0.275 * cos(0.7), 0.325 * sin(0.3) + 0.275 * sin(0.7)
    np.testing.assert_allclose(flange, shift(x, y, 0.287) @ turn_z(1.7), atol=1e-14)


def test_iiwa7_stands_upright() -> None:
    flange = frame_pose(load("iiwa7"), "flange", np.zeros(7))
    np.testing.assert_allclose(flange, shift(0, 0, 1.266), atol=1e-14)


def test_rx90_has_every_inertial_parameter() -> None:
    for name, link in links("rx90").items():
        body = inertial(link)
        assert (body is None) == (name == "base")
        if body is not None:
            mass, com, tensor = body
            ten = [mass, *com, *tensor.flat, *about_origin(mass, com, tensor).flat]
            assert np.abs(ten).min() > 1e-6


def test_puma560_gravity_of_armstrong_khatib_burdick() -> None:
    """Their gravity terms g1 to g5 (N m, ICRA 1986); their theta_3 is q_3 less half a turn."""
    g1, g2, g3, g4, g5 = -37.2, -8.44, 1.02, 0.249, -0.0282
    model = load("puma560")
    for q in postures(5, 6, seed=6):
        torque = pin.computeGeneralizedGravity(model, model.createData(), q)
        s23, c23 = sin(q[1] + q[2] - pi), cos(q[1] + q[2] - pi)
        c4, s5, c5 = cos(q[3]), sin(q[4]), cos(q[4])
        third = g2 * s23 + g4 * c23 + g5 * (s23 * c5 + c23 * c4 * s5)
        assert torque[1] == pytest.approx(g1 * cos(q[1]) + g3 * sin(q[1]) + third, abs=0.1)
        assert torque[2] == pytest.approx(third, abs=0.05)
        assert torque[4] == pytest.approx(g5 * (c23 * s5 + s23 * c4 * c5), abs=0.001)


def test_snake16() -> None:
    model = load("snake16")
    end = placements(model, np.zeros(16)).oMi[16].homogeneous
    np.testing.assert_allclose(end, shift(7.5, 0, 0), atol=1e-14)
    axes = [joint.shortname() for joint in model.joints[1:]]
    assert axes == ["JointModelRZ", "JointModelRY"] * 8


def test_quadruped_feet() -> None:
    model = load("quadruped")
    for leg, x, y in (("fl", 1, 1), ("fr", 1, -1), ("rl", -1, 1), ("rr", -1, -1)):
        foot = frame_pose(model, f"{leg}_foot", np.zeros(12))
        np.testing.assert_allclose(foot, shift(0.1805 * x, 0.1308 * y, -0.4), atol=1e-14)


def test_humanoid_height_and_segments() -> None:
    model, q = load("humanoid25"), np.zeros(25)
    at = {name: frame_pose(model, name, q)[:3, 3] for name in links("humanoid25")}
    assert at["head_top"][2] - at["left_sole"][2] == pytest.approx(1.74, abs=1e-9)
    for upper, lower, fraction in (
        ("left_thigh", "left_shank", 0.245),
        ("left_shank", "left_foot", 0.246),
        ("left_upper_arm", "left_forearm", 0.186),
        ("left_forearm", "left_hand", 0.146),
    ):
        assert at[upper][2] - at[lower][2] == pytest.approx(1.74 * fraction, abs=5e-4)


@pytest.mark.parametrize(
    ("left", "right", "name"),
    [("left_", "right_", "humanoid25"), ("fl_", "fr_", "quadruped"), ("rl_", "rr_", "quadruped")],
)
def test_left_mirrors_right(left: str, right: str, name: str) -> None:
    parts, model, flip = links(name), load(name), np.array([1, -1, 1])
    sides = [part for part in parts if part.startswith(left)]
    assert sides
    for part in sides:
        other = right + part.removeprefix(left)
        here, there = (frame_pose(model, p, np.zeros(model.nq))[:3, 3] for p in (part, other))
        np.testing.assert_array_equal(here * flip, there)
        body, twin = inertial(parts[part]), inertial(parts[other])
        assert (body is None) == (twin is None)
        if body is not None and twin is not None:
            assert body[0] == twin[0]
            np.testing.assert_array_equal(body[1] * flip, twin[1])
            np.testing.assert_array_equal(body[2] * np.outer(flip, flip), twin[2])
