"""The robots of robots/ with closed loops: geometry of their mechanisms, energy, operation counts."""

from functools import cache
from math import cos, hypot, sin

import numpy as np
import pytest

import symgen
from tests.support.tools import robot_file


@cache
def robot(name: str) -> symgen.Robot:
    return symgen.Robot(robot_file(name))


def test_the_wrist_of_the_palletiser_stays_horizontal() -> None:
    """Its place is that of two links whose directions are the coordinates of upper arm and lever."""
    pose = robot("palletiser").compile("frame_pose:wrist_link").frame_pose_wrist_link
    for waist, upper, lever in ((0.0, 0.0, 0.0), (0.3, 0.2, 0.1), (-1.0, -0.3, 0.5)):
        rotation, place = pose([waist, upper, lever, 0.7])
        assert rotation[2] == pytest.approx([0, 0, 1], abs=1e-13)
        reach = 0.3 + sin(upper) + 1.1 * cos(lever)
        height = 0.8 + cos(upper) - 1.1 * sin(lever)
        wanted = reach * cos(waist), reach * sin(waist), height
        assert place == pytest.approx(wanted, abs=1e-13)


def test_cylinders_of_the_excavator_are_as_long_as_their_pins_are_apart() -> None:
    """The position of the joint, and virtual work: the lever arm is the derivative of the length."""
    arm = robot("excavator").compile(
        "cylinders=transmission:boom_cylinder+transmission:stick_cylinder"
    )
    h = 1e-6

    def lengths(boom: float, stick: float) -> np.ndarray:
        lug = 0.9 * cos(boom) - 0.1 * sin(boom), 0.9 * sin(boom) + 0.1 * cos(boom)
        end = 1.9 - 0.25 * cos(stick) - 0.2 * sin(stick), -0.25 * sin(stick) + 0.2 * cos(stick)
        return np.array([hypot(lug[0] - 0.25, lug[1] + 0.25), hypot(end[0] - 0.7, end[1] - 0.35)])

    for boom, stick in ((0.5, -1.0), (-0.4, -2.0), (1.0, -0.6)):
        x, _, g, y, _, k = arm.cylinders([0.2, boom, stick, 0.1], [0.0] * 4)
        assert np.concatenate([x, y]) == pytest.approx(lengths(boom, stick), abs=1e-13)
        by_boom = (lengths(boom + h, stick) - lengths(boom - h, stick)) / (2 * h)
        by_stick = (lengths(boom, stick + h) - lengths(boom, stick - h)) / (2 * h)
        assert g == pytest.approx([0, by_boom[0], 0, 0], abs=1e-9)
        assert k == pytest.approx([0, 0, by_stick[1], 0], abs=1e-9)


@pytest.mark.parametrize(
    ("name", "coordinates", "operations"),
    [
        ("excavator", ("swing", "boom", "stick", "bucket"), 640),
        ("palletiser", ("waist", "upper_arm", "lever", "flange"), 1064),
        ("five_bar", ("left_motor", "right_motor"), 202),
    ],
)
def test_coordinates_and_operations(
    name: str, coordinates: tuple[str, ...], operations: int
) -> None:
    arm = robot(name)
    assert arm.velocities == coordinates
    assert arm.trace("forward_dynamics").counts.total <= operations


@pytest.mark.parametrize("name", ["excavator", "palletiser", "five_bar"])
def test_power_of_the_joint_forces_is_the_rate_of_the_energy(name: str) -> None:
    """τ·q̇ against central differences of kinetic and potential energy along a motion."""
    arm = robot(name).compile("inverse_dynamics", "kinetic_energy", "potential_energy")
    n, rng, h = robot(name).dof, np.random.default_rng(1), 1e-5
    start = {"excavator": [0, 0.4, -1.2, 0], "five_bar": [-0.3, 0.2]}.get(name, [0.1] * n)
    q, qd, qdd = np.array(start, float), rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)

    def energy(t: float) -> float:
        at, rate = q + t * qd + t * t / 2 * qdd, qd + t * qdd
        return float(arm.kinetic_energy(at, rate)[0] + arm.potential_energy(at)[0])

    power = float(arm.inverse_dynamics(q, qd, qdd) @ qd)
    assert power == pytest.approx((energy(h) - energy(-h)) / (2 * h), rel=1e-6, abs=1e-6)
