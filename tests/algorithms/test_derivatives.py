"""Derivatives of inverse and forward dynamics against the complex step and Pinocchio;
differentiation of tapes."""

import numpy as np
import pytest

from symgen.algorithms import QUANTITIES
from symgen.algorithms.composite import mass_matrix
from symgen.algorithms.derivatives import (
    forward_dynamics_derivatives,
    forward_dynamics_derivatives_by_duals,
    inverse_dynamics_derivatives,
    inverse_dynamics_derivatives_by_duals,
)
from symgen.algorithms.forward_dynamics import forward_dynamics, mass_matrix_inverse
from symgen.algorithms.newton_euler import inverse_dynamics
from symgen.compiler.evaluate import evaluate
from symgen.compiler.program import Program
from symgen.compiler.transforms import pullback
from symgen.mechanics.parameters import REGROUPINGS, canonical_model
from symgen.numbers.operations import cos, sin, tanh
from symgen.numbers.scalar import ZERO
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace
from tests.support.forward import pushforward
from tests.support.public_arms import (
    ANYMAL,
    PANDA,
    RX90,
    TALOS,
    UR5,
    coriolis,
    public,
    robots,
    with_pinocchio,
)
from tests.support.random_trees import STEP, model
from tests.support.states import close, numbers, random_states
from tests.support.tree_energies import derivative

INVERSE = (inverse_dynamics_derivatives, inverse_dynamics_derivatives_by_duals)
FORWARD = (forward_dynamics_derivatives, forward_dynamics_derivatives_by_duals)


def direction(n):
    """One in which every column counts."""
    return np.random.default_rng(5).uniform(0.5, 1, n)


def slope(f, at, k):
    """The derivative of `f` along a direction of argument `k` by the complex step."""

    def moved(x):
        return np.array(
            [complex(e) for e in f(*(list(x) if i == k else list(y) for i, y in enumerate(at)))]
        )

    return derivative(moved, at[k], direction(len(at[k])))


@robots
@pytest.mark.parametrize("way", INVERSE)
@pytest.mark.parametrize("regrouping", REGROUPINGS)
def test_inverse_dynamics(name, way, regrouping):
    robot = model(name)
    arm, at, n = (
        canonical_model(robot, regrouping=regrouping),
        random_states(robot.dof, 3, seed=4),
        robot.dof,
    )
    dq, dqd, m = (numbers(x, n, n) for x in way(arm, *(x.tolist() for x in at)))
    close(dq @ direction(n), slope(lambda *x: inverse_dynamics(arm, *x), at, 0), 1e-9)
    close(dqd @ direction(n), slope(lambda *x: inverse_dynamics(arm, *x), at, 1), 1e-9)
    close(m, numbers(mass_matrix(arm, at[0].tolist()), n, n), 1e-9)


@robots
def test_velocity_derivative_is_twice_the_coriolis_matrix(name):
    robot = model(name)
    at, n = random_states(robot.dof, 3, seed=4), robot.dof
    found = inverse_dynamics_derivatives(canonical_model(robot), *(x.tolist() for x in at))[1]
    close(numbers(found, n, n), 2 * coriolis(robot, at[0], at[1]))


@robots
@pytest.mark.parametrize("way", FORWARD)
def test_forward_dynamics(name, way):
    robot = model(name)
    arm, at, n = canonical_model(robot), random_states(robot.dof, 3, seed=4), robot.dof
    dq, dqd, inverse = (numbers(x, n, n) for x in way(arm, *(x.tolist() for x in at)))
    close(dq @ direction(n), slope(lambda *x: forward_dynamics(arm, *x), at, 0), 1e-6)
    close(dqd @ direction(n), slope(lambda *x: forward_dynamics(arm, *x), at, 1), 1e-6)
    close(inverse, numbers(mass_matrix_inverse(arm, at[0].tolist()), n, n), 1e-7)


@pytest.mark.parametrize("name", [UR5, PANDA, TALOS])
def test_pinocchio(name):
    robot, pin, judge, at = with_pinocchio(name)
    given, n, data = random_states(robot.dof, 3, seed=4), robot.dof, judge.createData()
    theirs = np.zeros((3, judge.nv))
    theirs[:, at] = given
    pin.computeRNEADerivatives(judge, data, *theirs)
    expected = [x[np.ix_(at, at)].copy() for x in (data.dtau_dq, data.dtau_dv)]
    found = inverse_dynamics_derivatives(canonical_model(robot), *given.tolist())
    for a, b in zip(found, expected, strict=False):
        close(numbers(a, n, n), b, 1e-10)
    pin.computeABADerivatives(judge, data, *theirs)
    expected = [x[np.ix_(at, at)] for x in (data.ddq_dq, data.ddq_dv)]
    for a, b in zip(
        forward_dynamics_derivatives(canonical_model(robot), *given.tolist()),
        expected,
        strict=False,
    ):
        close(numbers(a, n, n), b, 1e-9)


# -- tapes -----------------------------------------------------------------------------------------


def awkward(x, y, z):
    """Every operation, a value used with both signs, a constant and a structural zero."""
    quotient = (x - y * 2.0) / (sin(x) + 3.0)
    return [quotient * cos(z) - 1.0 / z, -quotient, y + 0.5, ZERO, 2.0, -(x * x) - tanh(-quotient)]


def rows(way):
    """The Jacobian of `awkward` at a point, built row by row or column by column."""
    program = Program()
    inputs = program.input("x", (3,))
    outputs = awkward(*inputs)
    if way == "forward":
        columns = [pushforward(outputs, [(x, 1.0)]) for x in inputs]
        entries = [column[i] for i in range(len(outputs)) for column in columns]
    else:
        entries = [entry for out in outputs for entry in pullback([(out, 1.0)], inputs)]
    program.output("J", (len(outputs), 3), entries)
    return evaluate(program, {"x": [0.7, -1.1, 0.4]})["J"]


@pytest.mark.parametrize("way", ["forward", "reverse"])
def test_tape_derivatives_agree_with_the_complex_step(way):
    at = [0.7, -1.1, 0.4]
    expected = []
    for k in range(3):
        moved = awkward(*(complex(x, STEP * (i == k)) for i, x in enumerate(at)))
        expected.append([complex(y).imag / STEP for y in moved])
    found = rows(way)
    close(numbers(found, 6, 3), np.array(expected).T, 1e-14)
    assert all(x is ZERO for x in found[9:15]) and found[6] is ZERO and found[8] is ZERO


def test_vector_products():
    program = Program()
    inputs = program.input("x", (3,))
    outputs = awkward(*inputs)
    program.output(
        "Jv", (6,), pushforward(outputs, list(zip(inputs, (1.0, ZERO, -2.0), strict=True)))
    )
    program.output(
        "wJ",
        (3,),
        pullback(list(zip(outputs, (1.0, 2.0, 3.0, 4.0, 5.0, -1.0), strict=True)), inputs),
    )
    found = evaluate(program, {"x": [0.7, -1.1, 0.4]})
    whole = numbers(rows("forward"), 6, 3)
    close(numbers(found["Jv"]), whole @ [1, 0, -2], 1e-14)
    close(numbers(found["wJ"]), np.array([1, 2, 3, 4, 5, -1]) @ whole, 1e-14)


def test_second_derivatives_are_derivatives_of_derivatives():
    program = Program()
    (x,) = program.input("x", (1,))
    value = sin(x)
    for _ in range(4):
        (value,) = pushforward([value], [(x, 1.0)])
    assert value.ref == sin(x).ref


@robots
def test_tape_rate_of_the_mass_matrix(name):
    robot = model(name)
    q, qd, _ = random_states(robot.dof, 3, seed=4)
    program = Program()
    at, along = program.input("q", (robot.dof,)), program.input("qd", (robot.dof,))
    rate = pushforward(mass_matrix(canonical_model(robot), at), list(zip(at, along, strict=True)))
    program.output("dM", (robot.dof, robot.dof), rate)
    found = numbers(
        evaluate(program, {"q": q.tolist(), "qd": qd.tolist()})["dM"], robot.dof, robot.dof
    )
    c = coriolis(robot, q, qd)
    close(found, c + c.T, 1e-10)


COUNTS = {
    "inverse_dynamics_derivatives": {UR5: 1088, PANDA: 2483, ANYMAL: 1292, RX90: 1801},
    "forward_dynamics_derivatives": {UR5: 1995, PANDA: 4294, ANYMAL: 1960, RX90: 2955},
}


@pytest.mark.parametrize("quantity", COUNTS)
@pytest.mark.parametrize("name", [UR5, PANDA, ANYMAL, RX90])
def test_operations(quantity, name):
    found = trace(
        ParametricModel(public(name)), FunctionRequest(quantity, (QUANTITIES[quantity],))
    ).counts.total
    assert found <= COUNTS[quantity][name]
