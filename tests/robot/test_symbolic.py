"""Quantities as SymPy expressions equal the numbers of the algorithms."""

import re

import numpy as np
import pytest
import sympy

import symgen
from symgen.algorithms import QUANTITIES
from symgen.errors import OptionError
from tests.support.oracles import oracle
from tests.support.papers import UR5, arm, numbers, run, two, w, x, y, z
from tests.support.states import close

pin = oracle("pinocchio")


def values_of(symbolic, name, random, **options):
    """Numbers for all symbols of a quantity: those of the robot, and random ones for its inputs; the
    inputs as arrays too."""
    arrays = {
        k: random.uniform(-1.5, 1.5, len(x)) for k, x in symbolic.inputs(name, **options).items()
    }
    found = {
        k: x.value for k, x in symbolic.meanings(name, **options).items() if x.value is not None
    }
    for k, symbols in symbolic.inputs(name, **options).items():
        found |= {s.name: x for s, x in zip(symbols, arrays[k], strict=True)}
    return {sympy.Symbol(k, real=True): float(x) for k, x in found.items()}, arrays


SETTINGS = [("numbers", "numbers"), ("symbols", "symbols")]
"""What is between, and closed forms of numbers, are tried with `CLOSED`, which people read."""
CLOSED = ("inverse_dynamics", "mass_matrix", "coriolis_matrix", "gravity", "regressor")


LONG = re.compile("rk4|hessian|second_derivatives|matrix_gradient|second_rate")
"""Quantities whose programs are tried with symbols alone, at the numbers of the same robot."""


def program_cases():
    """Every quantity in each setting, and long ones in the one that has most."""
    for name in QUANTITIES:
        yield from [(name, *own) for own in (SETTINGS[1:] if LONG.search(name) else SETTINGS)]


@pytest.mark.parametrize(("name", "masses", "lengths"), [*program_cases()])
def test_programs_equal_the_algorithms(name, masses, lengths):
    robot, options = two(), {"masses": masses, "lengths": lengths}
    values, arrays = values_of(robot.symbolic, name, np.random.default_rng(1), **options)
    steps, outputs = robot.symbolic.cse(name, **options)
    for symbol, expression in steps:
        values[symbol] = expression.xreplace(values)
    found = np.concatenate([numbers(out, values) for out in outputs])
    close(found, run(robot, name, arrays), 1e-11)


SLOW = {"elastic_feedback_linearization"}
"""Quantities whose closed form takes a minute: two rates of the inverse dynamics."""


def closed_cases():
    """Every quantity in each setting; what divides takes seconds once masses are symbols."""
    for name, quantity in QUANTITIES.items():
        symbols = ("symbols", "symbols")
        every = [*SETTINGS, ("symbols", "numbers")] if name in CLOSED else [symbols]
        if quantity.needs_inverse:
            every = SETTINGS
        for masses, lengths in every:
            slow = (quantity.needs_inverse and masses == "symbols") or name in SLOW
            yield pytest.param(name, masses, lengths, marks=[pytest.mark.slow] if slow else [])


@pytest.mark.parametrize(("name", "masses", "lengths"), [*closed_cases()])
def test_closed_forms_equal_the_algorithms(name, masses, lengths):
    robot, options = two(), {"masses": masses, "lengths": lengths}
    try:
        made = robot.symbolic.quantity(name, **options)
    except OptionError as error:
        assert "too many for a closed form" in str(error)
        tape = robot.symbolic._trace(name, options)[0].tape
        assert any(node.op == "div" for node in tape.nodes)  # quotients are not polynomials
        return
    values, arrays = values_of(robot.symbolic, name, np.random.default_rng(2), **options)
    outputs = list(made.values()) if isinstance(made, dict) else [made]
    found = np.concatenate([numbers(out, values) for out in outputs])
    close(found, run(robot, name, arrays), 1e-10)


SHAPES = {
    "parallel, aside": ((x, y, 0), (0, 0, 0), (y / 2, -x, z), (0, 0, 0)),
    "square": ((x, 0, z), (np.pi / 2, 0, 0), (0, y, 0), (-np.pi / 2, 0, 0)),
    "askew": ((x, y, z), (0.3, 0.2, -0.5), (0, y, -x), (0.1, -1.2, 0.4)),
    "nearly parallel": ((x, y, z), (0.003, 0.002, 0), (x, 0, z), (0, 0.004, 0)),
}


@pytest.mark.parametrize(
    ("shape", "kind"),
    [
        *((shape, "revolute") for shape in SHAPES if shape != "askew"),
        ("square", "prismatic"),
        ("askew", "prismatic"),  # the last joint of which turns
    ],
)
def test_lengths_of_any_shape_may_be_symbols(shape, kind):
    """Equations with symbols, at numbers, are those of the robot with these numbers."""
    first, turn, second, again = SHAPES[shape]
    made = symgen.Builder("shape", gravity=(1, 2, -9)).link("base")
    made.link("one", w, (x / 3, 0.1, y), (0.1, 0, 0.01, w * x**2, 0, 0.2))
    made.link("two", 2, (0.1, z, 0), (0.1, 0, 0, 0.2, 0.01, w * y**2), (0.2, 0, 0.4))
    made.link("three", w / 2, (0, 0.1, z - x)).frame("tip", "three", (x, 0, y), (0.4, 0, 0))
    made.joint("a", "revolute", "base", "one", (0, 0, z))
    made.joint("b", kind, "one", "two", first, turn)
    made.joint("c", "revolute", "two", "three", second, again)
    robot = symgen.Robot(made)
    numbers_of = {"x": 0.31, "y": -0.22, "z": 0.17, "w": 1.4}
    whole, random = robot.subs(numbers_of), np.random.default_rng(4)
    for name in ("mass_matrix", "bias", "gravity", "frame_pose:tip", "base_regressor"):
        steps, outputs = robot.symbolic.cse(name)
        symbols = robot.symbolic.inputs(name)
        arrays = {k: random.uniform(-1, 1, len(row)) for k, row in symbols.items()}
        values = {sympy.Symbol(k, real=True): value for k, value in numbers_of.items()}
        for k, row in symbols.items():
            values |= dict(zip(row, map(float, arrays[k]), strict=True))
        for symbol, expression in steps:
            values[symbol] = expression.xreplace(values)
        found = np.concatenate([numbers(out, values) for out in outputs])
        if name == "base_regressor":  # whose columns depend on frames; what they span does not
            rows, plain = found.reshape(3, -1), run(whole, name, arrays).reshape(3, -1)
            assert rows.shape == plain.shape
        else:
            close(found, run(whole, name, arrays), 1e-10)


OPTIONS = {
    "friction": {"friction": "viscous,coulomb", "friction_width": 0.1},
    "coefficients": {"friction": "runtime:viscous,offset"},
    "gravity": {"gravity": "runtime"},
    "wrench": {"external_wrench": ("two",)},
    "floating": {"base": "floating", "root": "one"},
    "rotors": {"rotors": "reflected"},
}


@pytest.mark.parametrize("option", OPTIONS)
def test_options_are_in_the_equations(option):
    robot = two().with_options(**OPTIONS[option])
    for name in ("inverse_dynamics", "mass_matrix"):
        made = robot.symbolic.quantity(name)
        values, arrays = values_of(robot.symbolic, name, np.random.default_rng(7))
        close(numbers(made, values), run(robot, name, arrays), 1e-11)


@pytest.mark.parametrize("name", ["mass_matrix", "coriolis_matrix", "gravity", "inverse_dynamics"])
def test_parallel_axes_and_all_symbols(name):
    robot, options = arm(), {"masses": "symbols", "lengths": "symbols", "numbers": "rational"}
    values, arrays = values_of(robot.symbolic, name, np.random.default_rng(3), **options)
    made = robot.symbolic.quantity(name, **options)
    assert not made.atoms(sympy.Float)
    close(numbers(made, values), run(robot, name, arrays), 1e-12)
    assert any(x.args[0].is_Add for x in made.atoms(sympy.sin, sympy.cos))


def test_the_ur5_against_pinocchio():
    model = pin.buildModelFromUrdf(UR5)
    robot, q = symgen.Robot(UR5), np.linspace(-1.5, 2, 6)
    made = robot.symbolic.mass_matrix()
    function = sympy.lambdify(robot.symbolic.inputs("mass_matrix")["q"], made)
    whole = pin.crba(model, model.createData(), q)
    close(function(*q), np.triu(whole) + np.triu(whole, 1).T, 1e-13)
