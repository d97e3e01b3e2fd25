"""The robot library has the geometry and inertia of its sources.

Judged by Pinocchio and by Denavit-Hartenberg products written out here, never by symgen itself."""

from __future__ import annotations

from math import cos, pi, sin
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symgen.numbers.scalar import Numbers
from tests.support.library import (
    H,
    Table,
    about_origin,
    frame_pose,
    inertial,
    links,
    load,
    pin,
    postures,
    shift,
    turn_x,
    turn_z,
)

# Standard DH rows (a, d, alpha).
UR5: Table = [
    (0, 0.089159, H),
    (-0.425, 0, 0),
    (-0.39225, 0, 0),
    (0, 0.10915, H),
    (0, 0.09465, -H),
    (0, 0.0823, 0),
]


def standard_dh(table: Table, q: Numbers) -> Numbers:
    frame = np.eye(4)
    for (a, d, alpha), theta in zip(table, q, strict=True):
        frame = frame @ turn_z(theta) @ shift(a, 0, d) @ turn_x(alpha)
    return frame


def joint_lines(model: Any, q: Numbers) -> Numbers:
    """One column per joint: its axis as a line in the world (twist at the world origin)."""
    data = model.createData()
    lines: Numbers = pin.computeJointJacobians(model, data, q).copy()
    return lines


def peer(relative: str) -> Any:
    """A model of the package example-robot-data, if it is installed next to Pinocchio."""
    for folder in Path(pin.__file__).resolve().parents:
        path = folder / "share" / "example-robot-data" / "robots" / relative
        if path.exists():
            return pin.buildModelFromUrdf(str(path))
    pytest.skip("example-robot-data is not installed")


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


def test_pendulum_and_scara() -> None:
    tip = frame_pose(load("pendulum"), "tip", np.array([H, -H]))
    np.testing.assert_allclose(tip[:3, 3], [-1, 0, -1], atol=1e-14)
    flange = frame_pose(load("scara"), "flange", np.array([0.3, 0.4, -0.1, 1.0]))
    x, y = 0.325 * cos(0.3) + 0.275 * cos(0.7), 0.325 * sin(0.3) + 0.275 * sin(0.7)
    np.testing.assert_allclose(flange, shift(x, y, 0.287) @ turn_z(1.7), atol=1e-14)


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
