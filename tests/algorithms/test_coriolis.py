"""The Coriolis matrix and the Christoffel symbols: their laws on random robots, Pinocchio,
operation counts."""

import numpy as np
import pytest

from symgen.algorithms import QUANTITIES
from symgen.algorithms.christoffel import (
    christoffel_symbols,
    christoffel_symbols_full,
    christoffel_symbols_full_up,
    coriolis_matrix_from_symbols,
    coriolis_matrix_from_symbols_up,
)
from symgen.algorithms.composite import mass_matrix
from symgen.algorithms.coriolis import coriolis_transpose_product
from symgen.algorithms.newton_euler import bias, gravity
from symgen.mechanics.parameters import REGROUPINGS, canonical_model
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace
from tests.support.public_arms import (
    PANDA,
    RX90,
    TALOS,
    UR5,
    coriolis,
    public,
    robots,
    symbols,
    with_pinocchio,
)
from tests.support.random_trees import model
from tests.support.states import close, numbers, random_states
from tests.support.tree_energies import derivative


@robots
@pytest.mark.parametrize("regrouping", REGROUPINGS)
def test_coriolis_times_velocity_and_gravity_make_the_bias(name, regrouping):
    robot = model(name)
    q, qd = random_states(robot.dof, 2, seed=2)
    arm = canonical_model(robot, regrouping=regrouping)
    whole = numbers(bias(arm, list(q), list(qd))) - numbers(gravity(arm, list(q)))
    close(coriolis(robot, q, qd, regrouping=regrouping) @ qd, whole, 1e-9)


@robots
def test_mass_matrix_rate_is_coriolis_and_its_transpose(name):
    robot = model(name)
    q, qd = random_states(robot.dof, 2, seed=2)
    arm = canonical_model(robot)
    rate = derivative(lambda x: np.array([complex(e) for e in mass_matrix(arm, list(x))]), q, qd)
    c = coriolis(robot, q, qd)
    close(c + c.T, rate.reshape(c.shape))


@robots
def test_christoffel_symbols_are_those_of_the_mass_matrix(name):
    robot = model(name)
    n, (q, _) = robot.dof, random_states(robot.dof, 2, seed=2)
    arm = canonical_model(robot)

    def mass(x):
        return np.array([complex(e) for e in mass_matrix(arm, list(x))])

    slope = np.stack([derivative(mass, q, e).reshape(n, n) for e in np.eye(n)], axis=2)
    expected = 0.5 * (slope + slope.transpose(0, 2, 1) - slope.transpose(2, 0, 1))
    for algorithm in (christoffel_symbols_full, christoffel_symbols_full_up):
        close(symbols(robot, q, algorithm), expected)


@robots
def test_symbols_along_the_velocity_are_the_coriolis_matrix(name):
    robot = model(name)
    q, qd = random_states(robot.dof, 2, seed=2)
    c, g = coriolis(robot, q, qd), symbols(robot, q)
    close(g @ qd, c)
    for algorithm in (coriolis_matrix_from_symbols, coriolis_matrix_from_symbols_up):
        close(numbers(algorithm(canonical_model(robot), list(q), list(qd)), *c.shape), c)


@robots
def test_packed_layout(name):
    robot = model(name)
    n, (q, _) = robot.dof, random_states(robot.dof, 2, seed=2)
    packed = christoffel_symbols(canonical_model(robot), list(q))
    full = symbols(robot, q)
    assert len(packed) == n * n * (n + 1) // 2
    for i, j, k in np.ndindex(n, n, n):
        if j <= k:
            place = i * n * (n + 1) // 2 + j * n - j * (j - 1) // 2 + k - j
            assert float(packed[place]) == full[i, j, k] == full[i, k, j]


@robots
def test_transpose_times_velocity_is_the_gradient_of_kinetic_energy(name):
    robot = model(name)
    q, qd = random_states(robot.dof, 2, seed=2)
    c = coriolis(robot, q, qd)
    close(
        numbers(coriolis_transpose_product(canonical_model(robot), list(q), list(qd))),
        c.T @ qd,
        1e-10,
    )


@pytest.mark.parametrize("name", [UR5, PANDA, TALOS])
def test_pinocchio(name):
    robot, pin, judge, at = with_pinocchio(name)
    q, qd = random_states(robot.dof, 2, seed=2)
    theirs = [np.zeros(judge.nv), np.zeros(judge.nv)]
    theirs[0][at], theirs[1][at] = q, qd
    expected = pin.computeCoriolisMatrix(judge, judge.createData(), *theirs)[np.ix_(at, at)]
    close(coriolis(robot, q, qd), expected, 1e-10)


COUNTS = {
    "coriolis_matrix": {UR5: 428, PANDA: 1071, TALOS: 6662, RX90: 725},
    "christoffel_symbols": {UR5: 288, PANDA: 896, TALOS: 7054, RX90: 476},
    "coriolis_transpose_product": {UR5: 136, PANDA: 367, TALOS: 1880},
}


RUNTIME = {
    "coriolis_matrix": {RX90: 715, UR5: 705, PANDA: 1061},
    "christoffel_symbols": {RX90: 466, UR5: 484, PANDA: 886},
}
"""Products and sums where every body's parameters come at run time."""


@pytest.mark.parametrize("quantity", COUNTS)
@pytest.mark.parametrize("name", [UR5, PANDA, TALOS, RX90])
def test_operations(quantity, name):
    if name in COUNTS[quantity]:
        found = trace(
            ParametricModel(public(name)), FunctionRequest(quantity, (QUANTITIES[quantity],))
        ).counts.total
        assert found <= COUNTS[quantity][name]


@pytest.mark.parametrize("quantity", RUNTIME)
@pytest.mark.parametrize("name", [UR5, PANDA, RX90])
def test_operations_with_runtime_parameters(quantity, name):
    robot = public(name)
    runtime = ParametricModel(robot, tuple(body.name for body in robot.bodies))
    found = trace(runtime, FunctionRequest(quantity, (QUANTITIES[quantity],))).counts
    assert found.mul + found.add <= RUNTIME[quantity][name]
