"""Transmissions: position, velocity and the row of G of one joint, also of joints that closed loops
determine."""

from functools import cache
from math import atan2, pi
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgen
from symgen.errors import OptionError
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.joint_listing import motor_coordinates
from symgen.proof.laws import LawEvaluator
from tests.support.bars import ANKLE as URDF
from tests.support.bars import ROD
from tests.support.constrained import constrained_dynamics, expanded
from tests.support.loops import LOOPS, SPATIAL
from tests.support.tools import invoke

ANKLE = "ankle=transmission:m0+transmission:m1"
JOINTS = [("four-bar", "q4"), ("excavator", "q4"), ("bucket", "q6"), ("four-bar", "q1")]


def states(robot: symgen.Robot, count: int = 5) -> list[tuple[list[float], list[float]]]:
    rng, n, coupling = np.random.default_rng(4), robot.dof, coupling_of(robot.model)
    drawn = (rng.uniform(-1, 1, (2, n)).tolist() for _ in range(count))
    return [([*coupling.closing_positions(q)], qd) for q, qd in drawn]


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
        ("ankle", ANKLE, 156),
        ("ankle", "board=motor_motion:m0,m1+motor_torques:m0,m1", 170),
        ("ankle", "joint_step:m0,m1", 77),
        ("ankle", "joint_rates:m0,m1", 156),
        ("ankle", "reflected_inertia:m0,m1", 155),
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


QUANTITIES = (
    *("motor_motion", "motor_torques", "joint_torques", "joint_rates", "reflected_inertia"),
    "joint_step",
)
LEGS = ",".join(f"p{k}" for k in range(6))
GROUPS = {"ankle": "m0,m1", "excavator": "q4", "four-bar": "q4", "3-RRR": "m0,m1,m2"}


@cache
def robot_of(name: str) -> symgen.Robot:
    if name == "rods":
        rods = [ROD.format("left", 0.25, 0.04), ROD.format("right", 0.2, -0.04)]
        return symgen.Robot(URDF, loop=rods)
    return symgen.Robot((LOOPS | SPATIAL)[name]())


@pytest.mark.parametrize(
    ("name", "motors", "quantity"),
    [(name, motors, q) for name, motors in GROUPS.items() for q in QUANTITIES]
    + [("stewart", LEGS, "motor_torques"), ("ankle", "m0", "joint_step")]
    + [
        ("rods", "motor_left,motor_right", "joint_step"),
        ("excavator", "q4,q5", "joint_step"),
    ],
)
def test_groups_of_motors_equal_the_reference(name: str, motors: str, quantity: str) -> None:
    robot, rng = robot_of(name), np.random.default_rng(7)
    function, n = robot.trace(f"{quantity}:{motors}"), robot.dof
    drawn = ("qd", "tau", "q_m", "qd_m", "tau_m", "motor_inertia")
    inputs = {key: rng.uniform(-1, 1, (2, n)).tolist() for key in drawn}
    inputs["q"] = [q for q, _ in states(robot, 2)]
    parameters = function.regroups[function.parts[0][1].regrouping].robot
    wanted = LawEvaluator(parameters, inputs).of(function.quantities[0])
    for k in range(2):
        found = function.run(**{key: inputs[key][k] for key in function.inputs})
        for name, values in found.items():
            exact = np.array(wanted[name][k]).astype(float).ravel()
            assert np.array(values, float) == pytest.approx(exact, rel=1e-11, abs=1e-12), name


def test_outputs_of_a_list_of_motors_have_no_suffix() -> None:
    text = "both=motor_motion:m0,m1+motor_torques:m0,m1+motor_torques:m1,m0+motor_torques:m0"
    names = ("q_motors", "qd_motors", "tau_motors", "tau_motors_2", "tau_motors_m0")
    found = robot_of("ankle").trace(text).quantities
    assert (*(array.name for q in found for array in q.outputs),) == names


@pytest.mark.parametrize(("name", "motors"), [*GROUPS.items(), ("stewart", LEGS)])
def test_motors_give_the_accelerations_of_the_joint_torques(
    name: str, motors: str, tmp_path: Path
) -> None:
    """Pinocchio with motor torques at the motors, and with the torques of `joint_torques` at the
    coordinates; `motor_torques` and `joint_rates` are the inverses."""
    robot = robot_of(name)
    symgen.Robot((LOOPS | SPATIAL)[name](closed=False)).write_urdf(tmp_path / "tree.urdf")
    dynamics = constrained_dynamics(robot.model, tmp_path / "tree.urdf")
    names = [body.joint.name for body in robot.model.bodies]
    leading = [names.index(joint) for joint in robot.model.joint_names]
    at = [names.index(joint) for joint in motors.split(",")]
    made = {q: robot.trace(f"{q}:{motors}") for q in QUANTITIES}
    (q, qd), rng = states(robot, 1)[0], np.random.default_rng(2)
    x, rates, g, _ = expanded(coupling_of(robot.model), q, qd)
    tau = rng.normal(size=robot.dof).tolist()
    (tau_m,) = made["motor_torques"].run(q=q, tau=tau).values()
    kept = [k for k in range(robot.dof) if k not in places(robot, at)]
    at_motors, at_joints = np.zeros(len(names)), np.zeros(len(names))
    at_joints[leading] = tau
    at_motors[at] = np.array(tau_m, float)[places(robot, at)]
    at_motors[[leading[k] for k in kept]] = np.array(tau_m, float)[kept]
    wanted = dynamics(x, rates, at_joints)
    assert np.abs(dynamics(x, rates, at_motors) - wanted).max() < 1e-8 * np.abs(wanted).max()
    (back,) = made["joint_torques"].run(q=q, tau_m=tau_m).values()
    assert np.array(back, float) == pytest.approx(tau, abs=1e-11)
    _, qd_m = made["motor_motion"].run(q=q, qd=qd).values()
    assert np.array(qd_m, float)[places(robot, at)] == pytest.approx((g @ qd)[at], abs=1e-11)
    (again,) = made["joint_rates"].run(q=q, qd_m=qd_m).values()
    assert np.array(again, float) == pytest.approx(qd, abs=1e-11)


def places(robot: symgen.Robot, at: list[int]) -> list[int]:
    return [*(motor_coordinates(coupling_of(robot.model), tuple(k + 1 for k in at)) or ())]


@pytest.mark.parametrize(
    ("name", "motors", "off"),
    [("ankle", "m0,m1", 0.03), ("rods", "motor_left,motor_right", 0.03), ("stewart", LEGS, 0.01)],
)
def test_steps_of_newton_find_the_joints(name: str, motors: str, off: float) -> None:
    """From one sample to the next: each step squares the error."""
    robot = robot_of(name)
    step, motion = (robot.trace(f"{q}:{motors}") for q in ("joint_step", "motor_motion"))
    n = robot.dof
    q = np.full(n, 0.1) if n < 6 else np.zeros(n)
    q_m, _ = motion.run(q=q.tolist(), qd=[0.0] * n).values()
    guess, errors = (q + off * (-1.0) ** np.arange(n)).tolist(), []
    if name == "ankle":
        guess[0] = q[0]  # the knee, which no motor moves
    for _ in range(3):
        (guess,) = step.run(q=[*map(float, guess)], q_m=[*map(float, q_m)]).values()
        errors.append(np.abs(np.array(guess, float) - q).max())
    assert errors[0] < 5e-3 and errors[1] < 5e-5 and errors[2] < 1e-8


def test_motors_that_move_together_are_refused() -> None:
    with pytest.raises(OptionError, match="do not move independently"):
        robot_of("four-bar").trace("motor_torques:q3,q4")


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
