"""Closed loops whose positions have no closed form: every cut joint against the reference in 75
digits, and Newton's steps."""

import math
from functools import cache
from math import pi
from typing import Any

import numpy as np
import pytest

import symgen
from symgen.errors import OptionError
from symgen.languages.accuracy import Accuracy
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.kinematic_loop import CUT_JOINTS
from symgen.mechanics.loop_groups import closed_by_newton
from symgen.proof.laws import LawEvaluator
from symgen.tracing.robot import ParametricModel
from tests.support.loops import four_bar, jointed

NAMES = tuple(name for name, cut in CUT_JOINTS.items() if not cut.polynomial)


@cache
def robot(joint: str) -> symgen.Robot:
    return symgen.Robot(jointed(joint))


def state(arm: symgen.Robot, seed: int = 2) -> dict[str, list[float]]:
    rng, n = np.random.default_rng(seed), arm.dof
    coupling = coupling_of(arm.model)
    names = ("qd", "qdd", "tau", "dq", "dqd", "dqdd", "lam_qdd")
    row = {name: rng.normal(size=n).tolist() for name in names}
    drawn = rng.uniform(-0.4, 0.4, coupling.positions).tolist()
    return row | {"q": list(coupling.closing_positions(drawn))}


@pytest.mark.parametrize("joint", NAMES)
def test_each_cut_joint_takes_as_many_coordinates_as_it_has_equations(joint: str) -> None:
    arm = robot(joint)
    assert len(arm.positions) == 8
    assert arm.dof == 8 - CUT_JOINTS[joint].rows


@pytest.mark.parametrize(
    ("joint", "quantity"),
    [
        *((joint, "inverse_dynamics") for joint in NAMES),
        ("universal", "inverse_dynamics_jvp"),
        ("universal", "forward_dynamics_vjp"),
    ],
)
def test_dynamics_equal_the_reference(joint: str, quantity: str) -> None:
    arm = robot(joint)
    function, row = arm.trace(quantity), state(arm)
    parameters = function.regroups[function.parts[0][1].regrouping].robot
    judge = LawEvaluator(parameters, {name: [values] for name, values in row.items()})
    outputs = function.run(**{name: row[name] for name in function.inputs})
    for name, exact in judge.of(function.quantities[0]).items():
        wanted, found = (np.array(x).astype(float).ravel() for x in (exact, outputs[name]))
        assert np.abs(found - wanted).max() < 1e-12 * np.abs(wanted).max()


@pytest.mark.parametrize("joint", NAMES)
def test_newton_steps_close_the_loop(joint: str) -> None:
    """From 1e-3 off."""
    arm = robot(joint)
    coupling, q = coupling_of(arm.model), state(arm)["q"]
    off = list(q)
    for _, place in coupling.newton_positions:
        off[place] += 1e-3
    function = arm.trace("loop_closure")
    found, gap = function.run(q=off).values()
    assert np.abs(np.array([float(x) for x in found]) - q).max() < 1e-9
    assert float(gap[0]) < 1e-7
    again = function.run(q=[float(x) for x in found])
    assert float(again["loop_gap"][0]) < 1e-13


def test_a_call_a_sample_follows_a_four_bar_linkage() -> None:
    """At 1 kHz and up to 15 rad/s of the crank. Two steps leave 1e-6 rad; `loop_closure`, whose
    third step has the Jacobian of the second, leaves 1e-9 rad."""
    arm, exact = symgen.Robot(four_bar(newton=True)), symgen.Robot(four_bar())
    step, closed_form = arm.trace("loop_closure"), coupling_of(exact.model)
    coupling, worst = coupling_of(arm.model), [0.0, 0.0]
    start = [*coupling.closing_positions([0.0, 0.3, 0.0, 0.0, 0.0])]

    def off(q: Any) -> float:
        x = closed_form.body_positions([0.0, q[1], 0.0])
        angles = [math.atan2(float(p.applied("sin")), float(p.applied("cos"))) for p in x[2:4]]
        away = np.subtract([float(e) for e in q[2:4]], angles)
        return float(np.abs(np.exp(1j * away) - 1).max())

    def two(q: Any) -> Any:
        return coupling.newton_step(coupling.newton_step(q)[0])[0]

    assert off(start) < 1e-9
    for k, follow in enumerate((two, lambda q: step.run(q=q)["q_closed"])):
        q = start
        for n in range(250):
            q = follow([q[0], 0.3 + 0.6 * math.sin(8 * math.pi * n * 1e-3), *q[2:]])
            worst[k] = max(worst[k], off(q))
    assert worst[0] < 1e-6 and worst[1] < 1e-9


def test_corrections_by_newton_have_few_operations() -> None:
    assert symgen.Robot(four_bar(newton=True)).trace("loop_closure").counts.total <= 93


@pytest.mark.parametrize("quantity", ["step:euler", "step_jacobians:rk4", "integrate"])
def test_what_moves_positions_is_refused(quantity: str) -> None:
    with pytest.raises(OptionError, match="closed loops"):
        robot("ball").trace(quantity)


def test_controllers_that_are_not_generated_have_no_gains() -> None:
    with pytest.raises(OptionError, match="positions have no closed form"):
        robot("ball").sampled_loop("computed_torque", 1000.0)
    assert robot("ball").sampled_loop("gravity_compensation", 1000.0).stable


def test_the_mirror_image_of_a_spherical_linkage_is_not_closed() -> None:
    """Its ball joint has one equation that the two others imply, but for the sign of a distance."""
    links = ("a", "b", "c", "d")
    made: Any = symgen.Builder("spherical").link("base")
    for name in links:
        made = made.link(name, 0.4, (0.02, 0.03, 0.1), (0.01, 0.0, 0.0, 0.011, 0.0, 0.008))
    places = (("base", (pi / 2, 0, 0)), ("a", (0, 0.9, 0)), ("base", (0, pi / 2, 0)))
    for link, (parent, rpy) in zip(links, (*places, ("c", (-0.9, 0, 0))), strict=True):
        made = made.joint(f"of_{link}", "revolute", parent, link, rpy=rpy)
    tip = (0.05, 0.1, 0.1)
    arm = symgen.Robot(made.close("tip", "b", "d", tip, tip, newton=True))
    function, rng, images = arm.trace("inverse_dynamics"), np.random.default_rng(0), 0
    (loop,), coupling = coupling_of(arm.model).loops, coupling_of(arm.model)
    row: dict[str, Any] = {"q": [], "qd": [[0.3, -0.4]] * 6, "qdd": [[0.5, 0.2]] * 6}
    for _ in range(6):
        drawn = rng.uniform(-3, 3, 4).tolist()
        x = dict(enumerate(coupling.body_positions(closed_by_newton(coupling, drawn)), 1))
        gap = np.abs(np.array(loop.gap(x), float))
        images += bool(np.sort(gap)[1] < 1e-12 and gap.max() > 1e-3)
        row["q"].append([*coupling.closing_positions(drawn)])
    assert images
    parameters = function.regroups[function.parts[0][1].regrouping].robot
    (exact,) = LawEvaluator(parameters, row).of(function.quantities[0]).values()
    for k, wanted in enumerate(np.array(exact).astype(float)):
        found = function.run(**{name: row[name][k] for name in function.inputs})["tau"]
        assert np.array(found, float) == pytest.approx(wanted, rel=1e-11, abs=1e-12)


def test_simulated_positions_stay_closed() -> None:
    """The motion of the four-bar linkage whose positions have a closed form."""
    solved, explicit = symgen.Robot(four_bar(newton=True)), symgen.Robot(four_bar())
    at, tau, qd, rough = [0.0, 0.05, 0.1], [3.0, 1.0, 0.2], [0.5, 3.0, -0.5], {"rtol": 1e-6}
    motion = solved.simulate(0.1, [0.1, 0.1, -0.63, -0.94, 0.1], qd, tau, times=at, **rough)
    wanted = explicit.simulate(0.1, [0.1, 0.1, 0.1], qd, tau, times=at, **rough)
    assert motion.q[:, [0, 1, 4]] == pytest.approx(wanted.q, abs=1e-5)
    coupling = coupling_of(solved.model)
    gaps = [coupling.newton_step(q.tolist())[1] for q in motion.q]
    assert np.abs(np.array(gaps, float)).max() < 1e-9
    assert np.ptp(motion.q[:, 3]) > 0.1
    with pytest.raises(OptionError, match="do not close from these positions"):
        robot("fixed").simulate(0.1, [2.5] * 8)


def test_positions_with_a_closed_form_stay_as_they_are() -> None:
    q, gap = symgen.Robot(four_bar()).trace("loop_closure").run(q=[0.1, 0.2, 0.3]).values()
    assert [float(x) for x in q] == [0.1, 0.2, 0.3]
    assert float(gap[0]) == 0.0


def test_a_loop_that_newton_cannot_close_is_refused() -> None:
    arm: Any = jointed("ball", far=True)
    with pytest.raises(symgen.SymgenError, match="Newton's method does not close it"):
        symgen.Robot(arm).trace("gravity")


def test_bounds_of_errors_contain_how_far_positions_are_from_closed_ones() -> None:
    """Of a state that closes but for digits, and of one whose dependent joints are 1e-9 rad off."""
    arm = robot("universal")
    coupling, row = coupling_of(arm.model), state(arm)
    held = [place for _, place in coupling.newton_positions]
    moved = [x + 1e-9 * (n in held) for n, x in enumerate(row["q"])]
    parameters = ParametricModel(arm.model)
    states = {"q": [row["q"], moved]}
    bounds = Accuracy(parameters, None, "double", "inline", states).inputs["q"].bounds
    others = [n for n in range(len(moved)) if n not in held]
    assert not bounds[others].any() and (bounds[held, 0] > 0).all()
    assert (bounds[held, 0] < 1e-13).all() and (abs(bounds[held, 1] - 1e-9) < 1e-12).all()
