"""Groupings of base parameters with symbols."""

import numpy as np
import sympy

import symgen
from tests.support.papers import UR5, numbers, run
from tests.support.states import close


def seven():
    """Seven joints in modified Denavit and Hartenberg's parameters, all lengths that are not zero
    symbols; and values for them."""
    turns = (0, -1, 1, 1, -1, 1, 1)
    rows = [
        {
            "alpha": k * np.pi / 2,
            "a": sympy.Symbol(f"a{j}") if j in (2, 3, 5) else 0,
            "d": sympy.Symbol(f"l{j}") if j in (3, 5, 7) else 0,
            "mass": 1.0 + j,
            "center_of_mass": (0.1, 0.02 * j, -0.05),
            "inertia": (0.1, 0.01, -0.02, 0.2, 0.005 * j, 0.15),
        }
        for j, k in enumerate(turns, 1)
    ]
    robot = symgen.from_dh(rows, "modified", "seven")
    return robot, {name: 0.1 + 0.07 * k for k, name in enumerate(robot.symbols)}


def test_groupings_with_symbols_for_lengths_tell_the_torques():
    """Y_b of the robot with numbers times the closed forms at these numbers is its torque."""
    robot, values = seven()
    forms = robot.symbolic.base_parameters(numbers="rational")
    whole = robot.subs(values)
    arrays = {k: np.linspace(-1, 1, 7) * s for k, s in (("q", 1), ("qd", 2), ("qdd", -3))}
    at = {sympy.Symbol(k, real=True): x for k, x in values.items()}
    for i, body in enumerate(whole.model.bodies, 1):
        names = ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
        ten = zip(names, body.links[0].parameters, strict=True)
        at |= {sympy.Symbol(f"{name}{i}", real=True): x for name, x in ten}
    parameters = numbers(list(forms.values()), at)
    assert len(forms) == 43
    regressor = run(whole, "base_regressor", arrays).reshape(7, -1)
    close(regressor @ parameters, run(whole, "inverse_dynamics", arrays), 1e-12)


def test_groupings_with_numbers_are_those_of_inspect():
    robot = symgen.Robot(UR5)
    from symgen.mechanics.base_parameters import base_parameters

    found = base_parameters(robot.model)
    forms = robot.symbolic.base_parameters()
    assert list(forms) == list(found.columns)
    for expression, plain in zip(forms.values(), found.expressions, strict=True):
        names = {s: sympy.Symbol(s.name.replace("_", ""), real=True) for s in plain.free_symbols}
        difference = (expression - plain.xreplace(names)).expand()
        assert all(abs(c) < 1e-12 for c in sympy.Poly(difference, *names.values()).coeffs())
