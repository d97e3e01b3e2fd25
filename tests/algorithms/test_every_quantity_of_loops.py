"""Every quantity of a robot with closed loops is that of its reference, which finds positions by
Newton's method, rates by least squares and derivatives by steps in 75 digits."""

from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest

import symgen
from symgen.algorithms import LINK_QUANTITIES, QUANTITIES
from symgen.mechanics.coupling import coupling_of
from symgen.numbers.scalar import plain
from symgen.proof.laws import LAWS, LawEvaluator
from symgen.proof.state_generation import with_random_unit_quaternions
from tests.support.loops import engine, five_bar, four_bar

ROBOTS: dict[str, Any] = {
    "five-bar": lambda: symgen.Robot(five_bar()),
    "four-bar": lambda: symgen.Robot(four_bar()),
    "floating engine": lambda: symgen.Robot(engine(), base="floating"),
}
WRENCHES = [name for name in LINK_QUANTITIES if name.startswith("joint_wrench")]
FORCES = [*WRENCHES, "joint_wrenches", "wrench_regressor"]
STEPS = ["inverse_kinematics_step", "inverse_kinematics"]
ROWS = QUANTITIES | LINK_QUANTITIES
SUPPORTED = [name for name, row in ROWS.items() if any(f.closed_loops for f in row.formulations)]
ALL = [name for name in SUPPORTED if name not in FORCES]
ON_FLOATING_BASE = (
    *("coriolis_matrix", "christoffel_symbols", "christoffel_symbols_full", "gravity_gradient"),
    *("coriolis_matrix_newton_euler", "coriolis_transpose_product", "inverse_dynamics_jvp"),
    *("inverse_dynamics_derivatives", "forward_dynamics_derivatives", "forward_dynamics_vjp"),
    *("mass_matrix_second_rate", "coriolis_matrix_rate", "inverse_dynamics_second_rate"),
    *("step_jacobians:euler", "centroidal_momentum_rate", "centroidal_momentum_gradient"),
    *("frame_hessian_aligned", "joint_impedance", "momentum_observer", "adaptive_slotine_li"),
)
"""Those that take derivatives in positions with a quaternion or compare two of them."""
POSITIVE = {"limit": 20.0, "joint_stiffness": 5.0, "motor_inertia": 0.1, "h": 0.01, "forget": 0.9}
UNIT = [0.3, 0.1, 0.9, 0.3]


@cache
def robot(name: str) -> symgen.Robot:
    made: symgen.Robot = ROBOTS[name]()
    return made


def inputs(name: str, function: Any) -> dict[str, list[float]]:
    """A random state at which the loop closes."""
    rng, coupling = np.random.default_rng(4), coupling_of(robot(name).model)
    row = {k: rng.uniform(-1, 1, shape).ravel() for k, shape in function.program.inputs}
    row |= {k: np.full_like(row[k], x) for k, x in POSITIVE.items() if k in row}
    drawn = {k: x.tolist() for k, x in row.items()}
    for k in drawn.keys() & {"q", "q_ref", "q_end"}:
        drawn[k] = [*with_random_unit_quaternions(coupling, drawn[k], Random(1))]
    return drawn | ({"quat_ref": UNIT} if "quat_ref" in drawn else {})


@pytest.mark.parametrize(
    ("name", "quantity"),
    [
        *(("five-bar", quantity) for quantity in ALL),
        *(("floating engine", quantity) for quantity in ON_FLOATING_BASE),
    ],
)
def test_each_equals_its_reference(name: str, quantity: str) -> None:
    last = robot(name).model.bodies[1 if name == "five-bar" else -1]
    subject = ""
    if quantity in LINK_QUANTITIES:
        by_joint = LINK_QUANTITIES[quantity].subject == "joint"
        subject = f":{last.joint.name if by_joint else last.name}"
    assert quantity in LAWS
    compare(name, quantity + subject)


def compare(name: str, quantity: str) -> None:
    function = robot(name).trace(quantity)
    row = inputs(name, function)
    parameters = function.regroups[function.parts[0][1].regrouping].robot
    wanted = LawEvaluator(parameters, {k: [x] for k, x in row.items()}).of(function.quantities[0])
    found = function.run(**row)
    assert wanted
    for out, exact in wanted.items():
        values = np.array([plain(x) for x in found[out]])
        numbers = np.array(exact).astype(float).ravel()
        assert np.abs(values - numbers).max(initial=0) <= 1e-11 * max(np.abs(numbers).max(), 1e-3)


@pytest.mark.parametrize("quantity", [*FORCES, *STEPS])
def test_what_loops_do_not_have_is_refused(quantity: str) -> None:
    """Forces in a loop depend on those of the cut joint, which planar loops do not determine; steps
    of inverse kinematics can leave the positions at which loops close."""
    name = quantity if quantity in QUANTITIES else f"{quantity}:q2"
    if quantity in ("wrench_regressor", *STEPS):
        name = f"{quantity}:left_rod"
    with pytest.raises(symgen.SymgenError, match=r"not supported for robots with|depends on the"):
        robot("five-bar").trace(name)


@pytest.mark.parametrize("quantity", [*WRENCHES, "wrench_regressor"])
@pytest.mark.parametrize("joint", ["q1", "q5"])
def test_forces_outside_loops_equal_the_reference(joint: str, quantity: str) -> None:
    """Of the joint that carries a four-bar linkage, and of one that the linkage carries."""
    link = {"q1": "shoulder", "q5": "wrist"}[joint]
    compare("four-bar", f"{quantity}:{link if quantity == 'wrench_regressor' else joint}")
