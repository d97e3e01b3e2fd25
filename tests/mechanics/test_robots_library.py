"""The robot library: each URDF loads and is physically possible.

Everything here is judged by Pinocchio, never by symgen itself."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from symgen.numbers.scalar import Numbers
from tests.support.library import (
    ROBOTS,
    H,
    Table,
    about_origin,
    frame_pose,
    inertial,
    links,
    load,
    pin,
    placements,
    postures,
    shift,
    turn_x,
    turn_z,
)

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
    "quadrotor": (4, 0.716),
    "humanoid25": (25, 76.0),
}
LOOPS = ("ankle", "delta", "excavator", "five_bar", "palletiser", "stewart", "three_rrr")
"""Robots with closed loops: tests/algorithms/test_loop_robots.py."""


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


def pseudo_inertia(mass: float, com: Numbers, tensor: Numbers) -> Numbers:
    """[Sigma h; h^T m] with Sigma = tr(I)/2 1 - I about the origin of the link frame."""
    origin = about_origin(mass, com, tensor)
    sigma = np.trace(origin) / 2 * np.eye(3) - origin
    h = (mass * com)[:, None]
    return np.block([[sigma, h], [h.T, np.array([[mass]])]])


def modified_dh(table: Table, q: Numbers) -> list[Numbers]:
    frame, out = np.eye(4), []
    for (alpha, d, r), theta in zip(table, q, strict=True):
        frame = frame @ turn_x(alpha) @ shift(d, 0, 0) @ turn_z(theta) @ shift(0, 0, r)
        out.append(frame)
    return out


def test_the_library_is_complete() -> None:
    assert {path.stem for path in ROBOTS.glob("*.urdf")} == {*EXPECTED, *LOOPS}
    readme = (ROBOTS / "README.md").read_text()
    assert all(f"`{name}.urdf`" in readme for name in (*EXPECTED, *LOOPS))


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


def test_panda_is_panda_arm_with_a_hand() -> None:
    arm, full = links("panda_arm"), links("panda")
    assert set(full) - set(arm) == {"hand", "left_finger", "right_finger"}
    assert all(ET.tostring(arm[name]).strip() == ET.tostring(full[name]).strip() for name in arm)


def test_iiwa7_stands_upright() -> None:
    flange = frame_pose(load("iiwa7"), "flange", np.zeros(7))
    np.testing.assert_allclose(flange, shift(0, 0, 1.266), atol=1e-14)


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
