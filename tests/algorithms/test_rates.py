"""Rates along trajectories, Jacobian-vector products, and the dual numbers that both are made
with."""

from math import factorial

import mpmath
import numpy as np
import pytest
import sympy

from symgen.algorithms import QUANTITIES
from symgen.algorithms.coriolis import coriolis_matrix
from symgen.algorithms.derivatives import (
    forward_dynamics_derivatives,
    forward_dynamics_jvp,
    inverse_dynamics_derivatives,
    inverse_dynamics_jvp,
)
from symgen.algorithms.forward_dynamics import forward_dynamics
from symgen.algorithms.newton_euler import inverse_dynamics
from symgen.compiler.evaluate import evaluate
from symgen.compiler.program import Program
from symgen.mechanics.parameters import canonical_model
from symgen.numbers import operations, scalar
from symgen.numbers.autodiff import Dual, along, tangent, tangents, unit, value
from symgen.numbers.scalar import ZERO
from tests.support.forward import pushforward
from tests.support.random_trees import FEW, RANDOM, STEP, model
from tests.support.states import close, numbers

TERMS = ("mass_matrix", "coriolis_matrix", "gravity", "inverse_dynamics")
robots = pytest.mark.parametrize("name", [*RANDOM, "scara", "ur5", "quadruped"])
few = pytest.mark.parametrize("name", [*FEW, "panda_arm", "quadruped"])
each_term = pytest.mark.parametrize("term", TERMS)


def algorithm(name):
    return QUANTITIES[name].formulations[0].algorithm


def trajectory(n, seed=6):
    """q, qd, ... at t = 0: the coefficients of a polynomial q(t), times factorials."""
    return np.random.default_rng(seed).uniform(-2, 2, (5, n))


def flow(start, t, reads):
    """The first `reads` of q, qd, qdd, ... at time t, real or complex or of many digits."""
    rows = [
        [
            sum(c[i] * t**k / factorial(k) for k, c in enumerate(start[r:]))
            for i in range(start.shape[1])
        ]
        for r in range(reads)
    ]
    return [[x if isinstance(x, mpmath.mpf) else complex(x) for x in row] for row in rows]


def reads(quantity):
    return len(QUANTITIES[quantity].inputs)


def at_rest(arm, quantity, start):
    """A quantity at t = 0."""
    return numbers(algorithm(quantity)(arm, *(row.tolist() for row in start[: reads(quantity)])))


def by_time(arm, quantity, start):
    """Its derivative by t, by the complex step."""
    moved = algorithm(quantity)(arm, *flow(start, 1j * STEP, reads(quantity)))
    return np.array([complex(x).imag for x in moved]) / STEP


# -- rates -----------------------------------------------------------------------------------------


@robots
@each_term
def test_the_rate_is_the_derivative_by_time(name, term):
    robot, start = canonical_model(model(name)), trajectory(model(name).dof)
    assert reads(f"{term}_rate") == reads(term) + 1
    close(at_rest(robot, f"{term}_rate", start), by_time(robot, term, start))


@few
@each_term
def test_the_second_rate_is_the_derivative_of_the_rate(name, term):
    robot, start = canonical_model(model(name)), trajectory(model(name).dof)
    assert reads(f"{term}_second_rate") == reads(term) + 2
    close(at_rest(robot, f"{term}_second_rate", start), by_time(robot, f"{term}_rate", start))


@pytest.mark.parametrize("name", FEW)
@each_term
def test_both_rates_are_the_coefficients_of_taylor(name, term):
    robot, start = canonical_model(model(name)), trajectory(model(name).dof)
    with mpmath.workdps(60):
        h = mpmath.mpf(10) ** -15
        before, now, after = (
            [
                mpmath.mpf(1) * x
                for x in np.array(algorithm(term)(robot, *flow(start, t, reads(term))))
                if x is not ZERO
            ]
            for t in (-h, 0 * h, h)
        )
        first = [(a - b) / (2 * h) for a, b in zip(after, before, strict=True)]
        second = [(a - 2 * x + b) / h**2 for a, x, b in zip(after, now, before, strict=True)]
    there = [
        x is not ZERO
        for x in algorithm(term)(robot, *(row.tolist() for row in start[: reads(term)]))
    ]
    for found, wanted in ((f"{term}_rate", first), (f"{term}_second_rate", second)):
        rate = at_rest(robot, found, start)
        assert (
            np.abs(rate[np.logical_not(there)]).max(initial=0.0) <= 1e-12
        )  # what always vanishes has no rate
        if any(there):
            close(rate[there], np.array(wanted, float))


@robots
def test_the_rate_of_the_mass_matrix_is_the_coriolis_matrix_and_its_transpose(name):
    robot, start = model(name), trajectory(model(name).dof)
    c = numbers(coriolis_matrix(canonical_model(robot), *start[:2].tolist()), robot.dof, robot.dof)
    close(at_rest(canonical_model(robot), "mass_matrix_rate", start).reshape(c.shape), c + c.T)


@robots
def test_the_rate_of_the_joint_forces_is_that_of_their_parts(name):
    robot, start, n = canonical_model(model(name)), trajectory(model(name).dof), model(name).dof
    m, c = (at_rest(robot, x, start).reshape(n, n) for x in ("mass_matrix", "coriolis_matrix"))
    dm, dc = (
        at_rest(robot, x, start).reshape(n, n) for x in ("mass_matrix_rate", "coriolis_matrix_rate")
    )
    _, qd, qdd, qddd, _ = start
    parts = m @ qddd + dm @ qdd + c @ qdd + dc @ qd + at_rest(robot, "gravity_rate", start)
    close(at_rest(robot, "inverse_dynamics_rate", start), parts)


# -- products --------------------------------------------------------------------------------------


def directions(n, seed=7):
    return np.random.default_rng(seed).uniform(-2, 2, (6, n))


def times(matrices, changes):
    n = changes.shape[1]
    return sum(
        numbers(matrix, n, n) @ change for matrix, change in zip(matrices, changes, strict=True)
    )


@robots
def test_inverse_dynamics_along_a_change(name):
    robot, x = canonical_model(model(name)), directions(model(name).dof)
    found = numbers(inverse_dynamics_jvp(robot, *x.tolist()))
    close(found, times(inverse_dynamics_derivatives(robot, *x[:3].tolist()), x[3:]))
    moved = inverse_dynamics(robot, *(x[:3] + 1j * STEP * x[3:]).tolist())
    close(found, np.array([complex(y).imag for y in moved]) / STEP)


@robots
def test_forward_dynamics_along_a_change(name):
    robot, x = canonical_model(model(name)), directions(model(name).dof)
    found = numbers(forward_dynamics_jvp(robot, *x.tolist()))
    close(found, times(forward_dynamics_derivatives(robot, *x[:3].tolist()), x[3:]), 1e-7)
    moved = forward_dynamics(robot, *(x[:3] + 1j * STEP * x[3:]).tolist())
    close(found, np.array([complex(y).imag for y in moved]) / STEP, 1e-9)


@few
def test_forward_dynamics_undoes_inverse_dynamics_along_a_change(name):
    robot, x = canonical_model(model(name)), directions(model(name).dof)
    tau = numbers(inverse_dynamics(robot, *x[:3].tolist()))
    change = numbers(inverse_dynamics_jvp(robot, *x.tolist()))
    back = forward_dynamics_jvp(robot, *np.array([*x[:2], tau, *x[3:5], change]).tolist())
    close(numbers(back), x[5], 1e-7)


# -- dual numbers ----------------------------------------------------------------------------------


def d(f, x, level=1):
    """df/dx."""
    return tangent(f(Dual(x, 1.0, level)), level)


def test_levels_are_kept_apart():
    assert d(lambda x: x * d(lambda y: x + y, 1.0, 2), 1.0, 1) == 1.0
    assert d(lambda x: x * d(lambda y: x + y, 1.0, 1), 1.0, 2) == 1.0
    assert d(lambda x: x * d(lambda y: x * y, 3.0, 2), 5.0, 1) == 10.0
    assert d(lambda x: x * d(lambda y: y / x - x, 3.0, 2), 5.0, 1) == 0.0


def test_a_number_of_another_level_has_no_tangent_here():
    x = Dual(2.0, 3.0, 2)
    assert tangent(x) is ZERO and value(x) is x and (value(x, 2), tangent(x, 2)) == (2.0, 3.0)
    assert tangents([1.0, x], 2) == [ZERO, 3.0]
    assert along([1.0, 2.0], [ZERO, 4.0])[0] == 1.0 and along([1.0, 2.0], [ZERO, 4.0])[1].d == 4.0
    assert unit(3, 1) == [ZERO, 1.0, ZERO]


def test_mixed_levels_in_either_order_are_of_the_higher_level():
    low, high = Dual(2.0, 3.0, 1), Dual(5.0, 7.0, 2)
    pairs = [
        (low + high, 7.0, 3.0, 7.0, ZERO),
        (low * high, 10.0, 15.0, 14.0, 21.0),
        (high * low, 10.0, 15.0, 14.0, 21.0),
        (low - high, -3.0, 3.0, -7.0, ZERO),
        (high - low, 3.0, -3.0, 7.0, ZERO),
        (high / low, 2.5, -3.75, 3.5, -5.25),
        (low / high, 0.4, 0.6, -0.56, -0.84),
    ]
    for found, x, dx, dy, dxdy in pairs:
        upper, lower = tangent(found, 2), value(found, 2)
        assert found.level == 2 and (value(lower), tangent(lower)) == pytest.approx(
            (x, dx), rel=1e-15
        )
        assert (value(upper), float(tangent(upper))) == pytest.approx((dy, float(dxdy)), rel=1e-15)


def awkward(x, y):
    """Every operation, with floats on either side and values that occur with both signs."""
    quotient = (x - y * 2.0) / (operations.sin(x) + 3.0)
    return (
        quotient * operations.cos(x * y)
        - 1.0 / y
        + (3.0 - x) * (x + 0.5) / 2.0
        - -quotient
        + operations.tanh(y) / x
    )


@pytest.mark.parametrize(("i", "j"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_derivatives_and_those_of_second_order_are_those_of_sympy(i, j):
    symbols, at = sympy.symbols("x y"), (0.7, -1.1)
    first, second = along(along(at, unit(2, i)), unit(2, j), 2), dict(zip(symbols, at, strict=True))
    found = awkward(*first)
    exact = [
        awkward(*symbols).diff(*by).subs(second)
        for by in ([symbols[i]], [symbols[j]], [symbols[i], symbols[j]])
    ]
    parts = tangent(value(found, 2)), value(tangent(found, 2)), tangent(tangent(found, 2))
    assert [float(x) for x in parts] == pytest.approx([float(x) for x in exact], rel=1e-13)


def test_structural_zeros_stay():
    x = Dual(2.0, 3.0)
    assert x * ZERO is ZERO and ZERO * x is ZERO and ZERO / x is ZERO and (x * 1.0).d == 3.0
    assert (x + ZERO).d == (ZERO + x).d == 3.0 and (ZERO - x).d == -3.0
    assert operations.sin(Dual(2.0, ZERO)).d is ZERO and operations.cos(Dual(2.0, ZERO)).d is ZERO
    assert operations.tanh(Dual(2.0, ZERO)).d is ZERO and operations.tanh(ZERO) is ZERO
    with pytest.raises(ZeroDivisionError):
        _ = x / ZERO


def test_on_tape_values_they_are_the_forward_derivative_of_the_tape():
    program = Program()
    inputs = program.input("x", (2,))
    by_duals = [tangent(awkward(*along(inputs, unit(2, k)))) for k in range(2)]
    by_tape = [pushforward([awkward(*inputs)], [(inputs[k], 1.0)])[0] for k in range(2)]
    program.output("J", (2, 2), [*by_duals, *by_tape])
    found = evaluate(program, {"x": [0.7, -1.1]})["J"]
    assert found[:2] == pytest.approx(found[2:], rel=1e-14)


def test_names_of_tangents_begin_with_d():
    program = Program()
    x, dx = program.input("x", (2,))
    made = scalar.named(operations.sin(Dual(x, dx)) * 2.0, "w")
    program.output("y", (2,), [operations.sin(made.x), operations.sin(made.d)])
    assert {"w", "Dw"} <= {name for name, _ in program.names.values()}
