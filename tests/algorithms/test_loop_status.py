"""The status of compiled functions of robots with closed loops."""

import numpy as np
import pytest

import symgen
from symgen.mechanics.coupling import coupling_of
from tests.support.loops import LOOPS, SPATIAL
from tests.support.tools import robot_file

FILES = ("ankle", "three_rrr", "excavator")


@pytest.mark.parametrize("name", [*LOOPS, "3-RRR", *(f"file {x}" for x in FILES)])
def test_forward_dynamics_succeed_where_loops_close(name: str) -> None:
    """A divisor that is negative on the branch of a loop is no pivot that fails."""
    file = robot_file(name.removeprefix("file "))
    robot = symgen.Robot(file if name.startswith("file ") else (LOOPS | SPATIAL)[name]())
    compiled, rng = robot.compile("forward_dynamics"), np.random.default_rng(0)
    drawn = rng.uniform(-2, 2, (10, robot.dof)).tolist()
    q = np.array([coupling_of(robot.model).closing_positions(row) for row in drawn])
    assert np.isfinite(compiled.forward_dynamics(q, 0.1 * q, 0.2 * q)).all()
