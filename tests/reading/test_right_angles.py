"""Angles near right ones: exact, rounded with a note, or as they are."""

import math

import pytest

from symgen.reading.assemble import LoadedRobot
from tests.support.trees import TREE, inertial, messages


def rolled(read, angle: str, **options) -> tuple[LoadedRobot, tuple[float, float]]:
    loaded = read(TREE.replace('xyz="1 0 0"/>', f'rpy="{angle} 0 0"/>'), **options)
    rotation = loaded.model.body(2).pose.rotation
    return loaded, (rotation[1][1], rotation[2][1])


@pytest.mark.parametrize(
    ("angle", "exact"),
    [
        ("1.5707963267948966", (0, 1)),
        ("-1.5707963267948966", (0, -1)),
        ("3.141592653589793", (-1, 0)),
        ("-3.141592653589793", (-1, 0)),
        ("4.71238898038469", (0, -1)),
        ("6.283185307179586", (1, 0)),
        ("0", (1, 0)),
    ],
)
def test_nearest_doubles_are_exact_without_a_note(read, angle, exact):
    loaded, found = rolled(read, angle)
    assert found == exact and not loaded.notices and not loaded.right_angles


@pytest.mark.parametrize(
    ("angle", "exact", "multiple"),
    [
        ("1.570796327", (0, 1), "pi/2"),
        ("-1.570796327", (0, -1), "-pi/2"),
        ("3.1415926535", (-1, 0), "pi"),
        ("-4.712388980", (0, 1), "-3*pi/2"),
        ("6.2831853072", (1, 0), "2*pi"),
        ("1e-10", (1, 0), "0"),
    ],
)
def test_near_angles_are_rounded_with_a_note(read, angle, exact, multiple):
    loaded, found = rolled(read, angle)
    assert found == exact
    assert messages(loaded) == [
        f"note: joint 'shoulder': rpy rounded from {float(angle)!r} to {multiple}"
    ]


def test_angles_further_off_are_used_as_written_and_hinted_at(read):
    loaded, found = rolled(read, "1.5708")
    assert found == (math.cos(1.5708), math.sin(1.5708))
    assert messages(loaded) == [
        "note: joint 'shoulder': rpy used as written: 1.5708 is 3.7e-06 rad from pi/2"
    ]
    (angle,) = loaded.right_angles
    assert (angle.quarters, angle.exact, angle.element) == (1, False, "joint 'shoulder'")
    assert angle.offset == pytest.approx(3.673205e-06)
    assert rolled(read, "1.5708", snap_angles=1e-5)[1] == (0, 1)
    assert not rolled(read, "1.56")[0].notices


def test_no_snapping(read):
    loaded, found = rolled(read, "1.5707963267948966", snap_angles=0)
    assert (
        found == (math.cos(math.pi / 2), 1.0) and len(loaded.right_angles) == 2
    )  # the weld's angle too


def test_inertial_angles_are_rounded_alike(read):
    loaded = read(TREE.replace(inertial(2), inertial(2, '<origin rpy="0 0 1.570796327"/>')))
    assert loaded.model.body(2).links[0].parameters[4:] == (0.2, -0.01, -0.03, 0.3, 0.02, 0.25)
    assert messages(loaded) == ["note: link 'upper': inertial rpy rounded from 1.570796327 to pi/2"]
