"""Parallelograms: their dependent positions are linear, with all lengths, frames and signs."""

from math import cos, pi, sin
from typing import Any

import numpy as np
import pytest

import symgen
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.loop_groups import ExplicitLoop
from symgen.proof.laws import LawEvaluator

LENGTH, GROUND, LEAN = 0.31, 0.53, 0.3


def robot(branch: int = 1, longer: float = 0.0, rod_first: bool = False) -> symgen.Robot:
    """A crank and a rocker of equal lengths, with axes of opposite signs and turned frames, and
    the rod on either of them."""
    arm: Any = symgen.Builder("parallelogram").link("base")
    for name, mass in (("crank", 1.0), ("rod", 0.7), ("rocker", 0.9)):
        six = (0.02 * mass, 0.001, 0.002, 0.03 * mass, 0.003, 0.025 * mass)
        arm = arm.link(name, mass, (0.1, 0.02, -0.03), six)
    pivot = (GROUND * cos(LEAN), GROUND * sin(LEAN), 0.0)
    arm = arm.joint("q1", "revolute", "base", "crank", (0, 0, 0), (0, 0, 0.9))
    end = ((LENGTH + longer) * cos(0.2), -(LENGTH + longer) * sin(0.2), 0)
    carrier, place = ("rocker", end) if rod_first else ("crank", (LENGTH, 0, 0))
    arm = arm.joint("q3", "revolute", "base", "rocker", pivot, (pi, 0, -0.5))
    arm = arm.joint("q2", "revolute", carrier, "rod", place, (0, 0, 0.4))
    other, at = ("crank", (LENGTH, 0, 0)) if rod_first else ("rocker", end)
    rod = (GROUND * cos(0.7), GROUND * sin(0.7), 0)
    return symgen.Robot(arm.close("pin", "rod", other, rod, at, branch=branch))


def loop(arm: symgen.Robot) -> Any:
    (found,) = coupling_of(arm.model).loops
    return found


@pytest.mark.parametrize("rod_first", [False, True])
def test_dynamics_equal_the_reference_on_both_sides_of_a_dead_point(rod_first: bool) -> None:
    """The reference knows the gap alone. At angles on both sides the crank is along the ground."""
    arm = robot(1, rod_first=rod_first)
    assert isinstance(loop(arm), ExplicitLoop) and arm.dof == 1
    row: dict[str, Any] = {"q": [[-2.5], [-0.9], [0.2], [1.7], [9.0]]}
    row |= {name: [[0.8], [-1.1], [0.3], [2.0], [-0.5]] for name in ("qd", "qdd", "tau")}
    for quantity in ("inverse_dynamics", "forward_dynamics"):
        function = arm.trace(quantity)
        parameters = function.regroups[function.parts[0][1].regrouping].robot
        ((name, exact),) = LawEvaluator(parameters, row).of(function.quantities[0]).items()
        states = [{k: row[k][i] for k in function.inputs} for i in range(5)]
        found = np.array([function.run(**state)[name] for state in states], float)
        wanted = np.array(exact).astype(float).reshape(5, -1)
        assert np.abs(found - wanted).max() < 1e-12 * np.abs(wanted).max()


def test_links_that_cross_or_differ_are_no_parallelogram() -> None:
    kinds = [isinstance(loop(robot(branch)), ExplicitLoop) for branch in (1, -1)]
    assert sorted(kinds) == [False, True]
    assert not isinstance(loop(robot(1, longer=1e-9)), ExplicitLoop)


def test_positions_are_sums_of_angles_without_roots() -> None:
    assert not {"sqrt", "div"} & {n.op for n in robot().trace("inverse_dynamics").program.nodes}
