"""Delta robots: loops that determine each other's joints, with positions by trilateration."""

from math import cos, hypot, pi, sin
from typing import Any

import numpy as np
import pytest

import symgen
from symgen.errors import RobotError
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.kinematic_loop import as_number
from symgen.numbers.scalar import plain
from tests.support.loops import delta

ARMS = (0.3, -0.2, 0.1)


def platform(arm: symgen.Robot, q: Any) -> tuple[float, ...]:
    """The position of the platform at positions of the arms."""
    names = [body.joint.name for body in arm.model.bodies]
    x = coupling_of(arm.model).body_positions(list(q))
    moved = [as_number(x[names.index(name)]) for name in "xyz"]
    return moved[0], moved[1], moved[2] - 0.4


def elbow(k: int, angle: float) -> np.ndarray:
    """Where the rod of an arm begins."""
    reach, turn = 0.12 + 0.2 * cos(angle), 2 * pi * k / 3
    return np.array([reach * cos(turn), reach * sin(turn), 0.2 * sin(angle)])


def lug(k: int) -> np.ndarray:
    """Where a rod ends on the platform."""
    return 0.05 * np.array([cos(2 * pi * k / 3), sin(2 * pi * k / 3), 0])


@pytest.mark.parametrize("rods", [False, True])
def test_three_rods_of_constant_length_hold_the_platform(rods: bool) -> None:
    arm = symgen.Robot(delta(rods=rods))
    assert arm.velocities == ("a0", "a1", "a2")
    place = np.array(platform(arm, ARMS))
    assert place[2] < -0.2
    for k, angle in enumerate(ARMS):
        rod = place + lug(k) - elbow(k, angle)
        assert np.linalg.norm(rod) == pytest.approx(0.5, abs=1e-14)


def test_the_other_branch_is_on_the_other_side_of_the_elbows() -> None:
    """The two places of the platform mirror each other at the plane of the spheres' centres."""
    first = symgen.Robot(delta(rods=True))
    branch = first.model.closures[0].branch
    second = symgen.Robot(delta(rods=True, branch=-branch))
    a, b = (np.array(platform(arm, ARMS)) for arm in (first, second))
    centers = [elbow(k, x) - lug(k) for k, x in enumerate(ARMS)]
    for center in centers[1:]:
        along = center - centers[0]
        assert along @ (a - centers[0]) == pytest.approx(along @ (b - centers[0]), abs=1e-14)
    assert b[2] > 0.1 > a[2]


def test_independent_arms_or_platform() -> None:
    """Of three loops that name no joints, the platform's positions are the coordinates, or the arms
    if they are asked for."""
    for independent, wanted in (((), ("x", "y", "z")), (("a0", "a1", "a2"), ("a0", "a1", "a2"))):
        arm = symgen.Robot(delta(arms=False), independent=independent)
        assert arm.velocities == wanted
    place = platform(arm, ARMS)
    assert place == pytest.approx(platform(symgen.Robot(delta()), ARMS), abs=1e-14)


def test_both_choices_of_coordinates_move_alike() -> None:
    """Kinetic energy at the same motion, by the velocities of the arms and of the platform."""
    arms, moved = symgen.Robot(delta()), symgen.Robot(delta(arms=False))
    at, x = coupling_of(arms.model).at(list(ARMS), [1.0, -2.0, 0.5])
    names = [body.joint.name for body in arms.model.bodies]
    rates = dict(zip(names, map(plain, at.body_rates([1.0, -2.0, 0.5])), strict=True))
    place = [as_number(x[names.index(name)]) for name in "xyz"]
    (first,) = arms.trace("kinetic_energy").run(q=list(ARMS), qd=[1.0, -2.0, 0.5]).values()
    (second,) = moved.trace("kinetic_energy").run(q=place, qd=[rates[n] for n in "xyz"]).values()
    assert plain(first[0]) == pytest.approx(plain(second[0]), rel=1e-13)


def test_loops_that_no_closed_form_solves_together_are_refused() -> None:
    """Two loops of which each determines a slider of the platform in the other."""
    tree = delta(closed=False)
    for k, joint in enumerate("xy"):
        ends = f"rod{k}", "platform", (0.5, 0, 0), (0.05, 0, 0)
        tree = tree.close(f"leg{k}", *ends, dependent=(f"u{k}", f"w{k}", joint))
    with pytest.raises(RobotError, match=r"determine each other's joints, and .* no closed form"):
        symgen.Robot(tree).trace("gravity")


def test_lengths_of_rods() -> None:
    """The distance of the platform from the elbows at zero: the mechanism of this file closes."""
    place = platform(symgen.Robot(delta()), (0.0, 0.0, 0.0))
    assert hypot(0.27, place[2]) == pytest.approx(0.5, abs=1e-14)
