"""The robots of robots/ with closed loops: geometry of their mechanisms, operation counts."""

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


def test_rods_of_the_ankle_have_their_lengths() -> None:
    """Motor angles against the distance from crank to foot; at 0 all joints are at 0. Steps from
    the angles of motors find pitch and roll again."""
    motors = "left_motor,right_motor"
    names = (f"motor_motion:{motors}", f"joint_step:{motors}")
    arm = symgen.Robot(robot_file("ankle"), root="shin").compile(*names)
    move, step = (getattr(arm, name.replace(":", "_").replace(",", "_")) for name in names)
    assert np.concatenate(move([0, 0], [0, 0])) == pytest.approx([0] * 4, abs=1e-14)
    for pitch, roll in ((0.3, -0.2), (-0.5, 0.25), (0.0, 0.4)):
        angles, _ = move([pitch, roll], [0.0, 0.0])
        turn = np.array([[cos(pitch), 0, sin(pitch)], [0, 1, 0], [-sin(pitch), 0, cos(pitch)]])
        turn = turn @ [[1, 0, 0], [0, cos(roll), -sin(roll)], [0, sin(roll), cos(roll)]]
        for angle, y, length in zip(angles, (0.045, -0.045), (0.27, 0.18), strict=True):
            crank = np.array([-0.05 * cos(angle), y, length + 0.05 * sin(angle)])
            assert np.linalg.norm(turn @ [-0.05, y, 0] - crank) == pytest.approx(length, abs=1e-14)
        q = np.array([pitch + 0.02, roll - 0.02])
        for _ in range(3):
            q = step(q, angles)
        assert q == pytest.approx([pitch, roll], abs=1e-13)


def test_rods_of_the_delta_robot_have_their_length() -> None:
    """Of its job file; at 0 the platform is 0.36 m below the base."""
    arm = symgen.Robot(robot_file("delta").replace(".urdf", ".toml"))
    assert arm.velocities == ("motor1", "motor2", "motor3")
    assert arm.trace("forward_dynamics").counts.total <= 386
    slides = [arm.trace(f"transmission:{name}") for name in "xyz"]
    for q in ([0.0] * 3, [0.3, -0.2, 0.5], [0.8, 0.6, 0.9]):
        place = np.array(
            [
                float(f.run(q=q, qd=[0.0] * 3)[f"x_joint_{n}"][0])
                for f, n in zip(slides, "xyz", strict=True)
            ]
        )
        assert any(q) or place == pytest.approx([0, 0, 0], abs=1e-14)
        for k, angle in enumerate(q):
            out = np.array([cos(2 * np.pi * k / 3), sin(2 * np.pi * k / 3), 0])
            elbow = (0.12 + 0.2 * cos(angle)) * out - [0, 0, 0.2 * sin(angle)]
            rod = place + 0.05 * out - [0, 0, 0.36] - elbow
            assert np.linalg.norm(rod) == pytest.approx(0.45, abs=1e-14)


@pytest.mark.parametrize("k", range(6))
def test_legs_of_the_stewart_platform_are_as_long_as_their_ends_are_apart(k: int) -> None:
    """The change of the length from that at 0, and its derivative by z."""
    arm, at = robot("stewart"), np.deg2rad([50, 70, 170, 190, 290, 310])
    ends = np.deg2rad([10, 110, 130, 230, 250, 350])[k]
    foot = np.array([*np.round(0.3 * np.array([cos(at[k]), sin(at[k])]), 4), 0])
    lug = np.array([*np.round(0.2 * np.array([cos(ends), sin(ends)]), 4), 0.4])
    function, place = arm.trace(f"transmission:leg{k + 1}"), np.array([0.03, -0.02, 0.05])
    x, _, row = function.run(q=[*place.tolist(), 0.0, 0.0, 0.0], qd=[0.0] * 6).values()
    away = lug + place - foot
    assert x[0] == pytest.approx(np.linalg.norm(away) - np.linalg.norm(lug - foot), abs=1e-15)
    assert row[:3] == pytest.approx(away / np.linalg.norm(away), abs=1e-14)


@pytest.mark.parametrize(
    ("name", "coordinates", "operations"),
    [
        ("excavator", ("swing", "boom", "stick", "bucket"), 640),
        ("palletiser", ("waist", "upper_arm", "lever", "flange"), 543),
        ("five_bar", ("left_motor", "right_motor"), 202),
        ("ankle", ("knee", "pitch", "roll"), 866),
        ("three_rrr", ("x", "y", "turn"), 670),
        ("stewart", ("x", "y", "z", "yaw", "pitch", "roll"), 4359),
    ],
)
def test_coordinates_and_operations(
    name: str, coordinates: tuple[str, ...], operations: int
) -> None:
    arm = robot(name)
    assert arm.velocities == coordinates
    assert arm.trace("forward_dynamics").counts.total <= operations
