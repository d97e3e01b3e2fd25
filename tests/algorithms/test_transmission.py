"""Transmissions: position, velocity and the row of G of one joint, also of joints that closed loops
determine."""

from math import atan2, pi
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgen
from symgen.errors import OptionError
from symgen.mechanics.coupling import coupling_of
from symgen.proof.laws import LawEvaluator
from tests.support.loops import LOOPS, SPATIAL
from tests.support.tools import invoke

ANKLE = "ankle=transmission:m0+transmission:m1"
JOINTS = [("four-bar", "q4"), ("excavator", "q4"), ("bucket", "q6"), ("four-bar", "q1")]


def states(robot: symgen.Robot, count: int = 5) -> list[tuple[list[float], list[float]]]:
    rng, n, coupling = np.random.default_rng(4), robot.dof, coupling_of(robot.model)
    drawn = (rng.uniform(-1, 1, (2, n)).tolist() for _ in range(count))
    return [([*coupling.reachable(q)], qd) for q, qd in drawn]


def run(function: Any, q: Any, qd: Any) -> list[np.ndarray]:
    outputs = function.run(**{k: v for k, v in (("q", q), ("qd", qd)) if k in function.inputs})
    return [np.array([float(x) for x in values]) for values in outputs.values()]


@pytest.mark.parametrize(("name", "joint"), [*JOINTS, ("ankle", "m0"), ("ankle", "w1")])
def test_transmissions_equal_the_reference(name: str, joint: str) -> None:
    robot = symgen.Robot((LOOPS | SPATIAL)[name]())
    function = robot.trace(f"transmission:{joint}")
    rows = states(robot)
    inputs = {"q": [q for q, _ in rows], "qd": [qd for _, qd in rows]}
    parameters = function.regroups[function.parts[0][1].regrouping].robot
    (quantity,) = function.quantities
    wanted = LawEvaluator(parameters, inputs).of(quantity)
    for k, (q, qd) in enumerate(rows):
        for found, out in zip(run(function, q, qd), quantity.outputs, strict=True):
            exact = np.array(wanted[out.name][k]).astype(float).ravel()
            assert found == pytest.approx(exact, rel=1e-12, abs=1e-13), out.name


def test_rows_of_g_are_the_derivatives_of_positions() -> None:
    """Central differences of the motor angles of an ankle; G qd is their rate; the joint between
    the two motors' rods and the foot obeys virtual work by the same G."""
    robot, h = symgen.Robot(SPATIAL["ankle"]()), 1e-6
    function = robot.trace(ANKLE)
    for q, qd in states(robot, 3):
        x0, v0, g0, x1, v1, g1 = run(function, q, qd)
        g = np.array([g0, g1])
        assert np.concatenate([v0, v1]) == pytest.approx(g @ qd, abs=1e-14)
        for k in range(3):
            ends = [[a + s * h * (i == k) for i, a in enumerate(q)] for s in (1, -1)]
            above, below = (np.concatenate(run(function, end, qd)[::3]) for end in ends)
            assert (above - below) / (2 * h) == pytest.approx(g[:, k], abs=1e-8)
        assert -pi < min(x0[0], x1[0]) and max(x0[0], x1[0]) < pi


def test_positions_are_those_of_the_coupling() -> None:
    robot = symgen.Robot(LOOPS["five-bar"]())
    function = robot.trace("transmission:q4")
    for q, qd in states(robot):
        x = coupling_of(robot.model).body_positions(q)[3]
        assert run(function, q, qd)[0] == pytest.approx(
            [atan2(x.applied("sin"), x.applied("cos"))], abs=1e-14
        )


@pytest.mark.parametrize(
    ("name", "function", "operations"),
    [
        ("ankle", ANKLE, 169),
        ("four-bar", "transmission:q4", 54),
        ("excavator", "transmission:q4", 28),
    ],
)
def test_operations_do_not_rise(name: str, function: str, operations: int) -> None:
    """The ankle's is that of both motors."""
    assert symgen.Robot((LOOPS | SPATIAL)[name]()).trace(function).counts.total <= operations


def test_joints_with_several_coordinates_are_refused() -> None:
    body = symgen.Builder("b").link("base").link("a", 1.0, (0, 0, 0), (1, 0, 0, 1, 0, 1))
    robot = symgen.Robot(body.joint("j", "ball", "base", "a"))
    with pytest.raises(OptionError, match="has several coordinates"):
        robot.trace("transmission:j")


def test_a_module_of_a_transmission_verifies_itself(tmp_path: Path) -> None:
    """C alone: a function with a status, and its self-test. Rods that do
    not meet give the status of a singular state."""
    symgen.Robot(LOOPS["five-bar"]()).write_urdf(tmp_path / "five.urdf")
    functions = ("--quantity", "motors=transmission:q2+transmission:q4", "--lang", "c")
    assert (
        invoke("generate", tmp_path / "five.urdf", "-o", tmp_path / "out", *functions).exit_code
        == 0
    )
    header = (tmp_path / "out" / "fivebar.h").read_text(encoding="utf-8")
    assert "fivebar_status fivebar_motors(" in header and "fivebar_selftest" in header
    assert invoke("verify", tmp_path / "out").exit_code == 0
    compiled = symgen.Robot(tmp_path / "five.urdf").compile(
        "motors=transmission:q2+transmission:q4"
    )
    with pytest.raises(np.linalg.LinAlgError):
        compiled.motors([pi, 0.0], [0.0, 0.0])
