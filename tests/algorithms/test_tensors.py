"""Derivatives of the dynamic terms by joint positions and velocities: the complex step, symmetries,
index order."""

from functools import partial

import numpy as np
import pytest

from symgen.algorithms import QUANTITIES
from symgen.algorithms.composite import mass_matrix
from symgen.algorithms.coriolis import coriolis_matrix
from symgen.algorithms.derivatives import inverse_dynamics_derivatives
from symgen.algorithms.newton_euler import gravity, inverse_dynamics
from symgen.algorithms.term_derivatives import (
    coriolis_gradients,
    inverse_dynamics_second_derivatives,
    position_gradient,
)
from symgen.mechanics.parameters import canonical_model
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace
from tests.support.public_arms import symbols
from tests.support.random_trees import FEW, RANDOM, model
from tests.support.states import close, numbers, random_states
from tests.support.tree_energies import derivative

mass_matrix_gradient = partial(position_gradient, mass_matrix)
gravity_gradient = partial(position_gradient, gravity)
coriolis_matrix_gradient = partial(coriolis_gradients, coriolis_matrix)

robots = pytest.mark.parametrize("name", [*RANDOM, "scara", "panda_arm", "quadruped"])
smaller = pytest.mark.parametrize("name", [*FEW, "tree 0", "scara", "ur5"])


def direction(n):
    """One in which every column counts."""
    return np.random.default_rng(5).uniform(0.5, 1, n)


def slope(term, at, k, shape):
    """The derivative of `term` along a direction of its argument `k`, by the complex step."""

    def moved(x):
        return np.array(
            [complex(e) for e in term(*(list(x) if i == k else list(y) for i, y in enumerate(at)))]
        )

    return derivative(moved, at[k], direction(len(at[k]))).reshape(shape)


@robots
def test_mass_matrix_gradient(name):
    robot, n = canonical_model(model(name)), model(name).dof
    q = random_states(n, 3, seed=8)[:1]
    found = numbers(mass_matrix_gradient(robot, q[0].tolist()), n, n, n)
    close(found @ direction(n), slope(lambda x: mass_matrix(robot, x), q, 0, (n, n)))
    assert (found == found.transpose(1, 0, 2)).all()


@robots
def test_coriolis_matrix_gradient(name):
    robot, n = canonical_model(model(name)), model(name).dof
    at = random_states(n, 3, seed=8)[:2]
    by_position, by_velocity = (
        numbers(x, n, n, n) for x in coriolis_matrix_gradient(robot, *at.tolist())
    )
    along = slope(lambda *x: coriolis_matrix(robot, *x), at, 0, (n, n))
    close(by_position @ direction(n), along)
    close(by_velocity, symbols(model(name), at[0]))
    close(by_velocity @ at[1], numbers(coriolis_matrix(robot, *at.tolist()), n, n))


@robots
def test_the_gradient_of_the_mass_matrix_makes_the_christoffel_symbols(name):
    robot, n = canonical_model(model(name)), model(name).dof
    q = random_states(n, 3, seed=8)[0].tolist()
    m = numbers(mass_matrix_gradient(robot, q), n, n, n)
    close(symbols(model(name), q), 0.5 * (m + m.transpose(0, 2, 1) - m.transpose(2, 1, 0)))


@robots
def test_gravity_gradient_is_symmetric(name):
    robot, n = canonical_model(model(name)), model(name).dof
    q = random_states(n, 3, seed=8)[:1]
    found = numbers(gravity_gradient(robot, q[0].tolist()), n, n)
    close(found, found.T)
    close(found @ direction(n), slope(lambda x: gravity(robot, x), q, 0, (n,)))
    still = inverse_dynamics_derivatives(robot, q[0].tolist(), [0.0] * n, [0.0] * n)[0]
    close(found, numbers(still, n, n))


@smaller
def test_second_derivatives_of_inverse_dynamics_are_derivatives_of_the_first(name):
    robot, n = canonical_model(model(name)), model(name).dof
    at = random_states(n, 3, seed=8)
    found = [numbers(x, n, n, n) for x in inverse_dynamics_second_derivatives(robot, *at.tolist())]

    def first(which):
        return lambda *x: inverse_dynamics_derivatives(robot, *x)[which]

    for ours, which, by in zip(found, (0, 1, 0, 0), (0, 1, 1, 2), strict=True):
        close(ours @ direction(n), slope(first(which), at, by, (n, n)), 1e-9)


@smaller
def test_second_derivatives_have_their_symmetries(name):
    robot, n = canonical_model(model(name)), model(name).dof
    at = random_states(n, 3, seed=8)
    qq, dd, qd, qdd = (
        numbers(x, n, n, n) for x in inverse_dynamics_second_derivatives(robot, *at.tolist())
    )
    assert (qq == qq.transpose(0, 2, 1)).all() and (dd == dd.transpose(0, 2, 1)).all()
    close(dd, 2 * symbols(model(name), at[0]))
    close(qdd, numbers(mass_matrix_gradient(robot, at[0].tolist()), n, n, n).transpose(0, 2, 1))
    by_position = numbers(coriolis_matrix_gradient(robot, *at[:2].tolist())[0], n, n, n)
    close(qd, 2 * by_position.transpose(0, 2, 1))  # dtau/dqd = 2 C


@smaller
def test_second_derivatives_complete_the_series_of_taylor(name):
    robot, n = canonical_model(model(name)), model(name).dof
    at, by = random_states(n, 3, seed=8), random_states(n, 3, seed=9)
    qq, dd, qd, qdd = (
        numbers(x, n, n, n) for x in inverse_dynamics_second_derivatives(robot, *at.tolist())
    )
    pairs = ((qq, 0, 0, 1), (dd, 1, 1, 1), (qd, 0, 1, 2), (qdd, 0, 2, 2))
    curvature = sum(times * tensor @ by[k] @ by[j] for tensor, j, k, times in pairs)

    def tau(t):
        return numbers(inverse_dynamics(robot, *(at + t * by).tolist()))

    h = 1e-3
    steps = (-tau(2 * h) + 16 * tau(h) - 30 * tau(0) + 16 * tau(-h) - tau(-2 * h)) / (12 * h * h)
    close(steps, curvature, 1e-6)


SHAPES = {
    "mass_matrix_gradient": {"M_q": (4, 4, 4)},
    "coriolis_matrix_gradient": {"C_q": (4, 4, 4), "C_qd": (4, 4, 4)},
    "gravity_gradient": {"g_q": (4, 4)},
    "inverse_dynamics_second_derivatives": dict.fromkeys(
        ("tau_qq", "tau_qdqd", "tau_qqd", "tau_qqdd"), (4, 4, 4)
    ),
}


@pytest.mark.parametrize("quantity", SHAPES)
def test_shapes(quantity):
    function = trace(
        ParametricModel(model("scara")), FunctionRequest(quantity, (QUANTITIES[quantity],))
    )
    assert {out.name: out.shape for out in function.program.outputs} == SHAPES[quantity]


def test_index_order_on_a_robot_whose_entries_are_known():
    """The pendulum: M_11 = ... + 0.6 cos q2, which neither q1 nor M_22 knows."""
    pendulum = canonical_model(model("pendulum"))
    found = numbers(mass_matrix_gradient(pendulum, [0.3, 0.7]), 2, 2, 2)
    expected = np.zeros((2, 2, 2))
    expected[0, 0, 1], expected[0, 1, 1] = -0.6 * np.sin(0.7), -0.3 * np.sin(0.7)
    expected[1, 0, 1] = expected[0, 1, 1]
    close(found, expected, 1e-14)
    swapped = numbers(
        inverse_dynamics_second_derivatives(pendulum, [0.3, 0.7], [0.0] * 2, [0.0] * 2)[3], 2, 2, 2
    )
    close(swapped, expected.transpose(0, 2, 1), 1e-14)
