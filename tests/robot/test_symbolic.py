"""Quantities as SymPy expressions: equal to the algorithms' numbers, short, and soon there."""

import re

import numpy as np
import pinocchio as pin
import pytest
import sympy
from states import close
from tools import robot_file

import symgen
from symgen.algorithms import INPUTS, QUANTITIES
from symgen.errors import OptionError

UR5 = robot_file("ur5")
a1, a2, m2 = sympy.symbols("a1 a2 m2", real=True)


def two():
    """Two bodies that feel all that an arm feels: a hinge askew, and a slide."""
    made = symgen.Builder("two", gravity=(1, 2, -9)).link("base")
    made.link("one", 1.5, (0.1, 0.02, 0.3), (0.03, 0.001, 0.002, 0.04, -0.001, 0.05))
    made.link("two", 0.7, (-0.1, 0.2, 0.05), (0.02, 0.001, -0.002, 0.03, 0.0005, 0.025))
    made.joint("hinge", "revolute", "base", "one", (0, 0, 0.3), (0.3, 0, 0), damping=0.3)
    made.joint("slide", "prismatic", "one", "two", (0.4, 0.1, 0.2), (0.5, -0.7, 0.2), friction=0.1)
    return symgen.Robot(made)


def arm():
    """Three hinges, two of them parallel."""
    rows = [
        {"d": 0.3, "alpha": np.pi / 2, "mass": 1.0, "inertia": (0.1, 0.01, 0, 0.1, 0, 0.2)},
        {
            "a": 0.4,
            "mass": 2.0,
            "center_of_mass": (-0.2, 0.01, 0.1),
            "inertia": (0.1, 0, 0, 0.2, 0, 0.2),
        },
        {
            "a": 0.3,
            "d": 0.1,
            "mass": 0.5,
            "center_of_mass": (-0.1, 0, 0.02),
            "inertia": (0.1, 0, 0.01, 0.1, 0, 0.1),
        },
    ]
    return symgen.from_dh(rows, "standard", "arm")


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


def numbers(expressions, values):
    """Expressions at values."""
    entries = list(sympy.flatten(expressions))
    return np.array([float(sympy.sympify(x).xreplace(values)) for x in entries])


def run(robot, name, arrays):
    found = robot.trace(name).run(**{k: list(map(float, x)) for k, x in arrays.items()})
    return np.concatenate([np.array([float(x) for x in out]) for out in found.values()])


SETTINGS = [("numbers", "numbers"), ("symbols", "numbers"), ("symbols", "symbols")]


@pytest.mark.parametrize(("masses", "lengths"), SETTINGS)
@pytest.mark.parametrize("name", QUANTITIES)
def test_programs_equal_the_algorithms(name, masses, lengths):
    robot, options = two(), {"masses": masses, "lengths": lengths}
    values, arrays = values_of(robot.symbolic, name, np.random.default_rng(1), **options)
    steps, outputs = robot.symbolic.cse(name, **options)
    for symbol, expression in steps:
        values[symbol] = expression.xreplace(values)
    found = np.concatenate([numbers(out, values) for out in outputs])
    close(found, run(robot, name, arrays), 1e-11)


def closed_cases():
    """Every quantity in each setting; what divides takes seconds once masses are symbols."""
    for name, quantity in QUANTITIES.items():
        for masses, lengths in SETTINGS:
            slow = quantity.needs_inverse and masses == "symbols"
            yield pytest.param(name, masses, lengths, marks=[pytest.mark.slow] if slow else [])


@pytest.mark.parametrize(("name", "masses", "lengths"), [*closed_cases()])
def test_closed_forms_equal_the_algorithms(name, masses, lengths):
    robot, options = two(), {"masses": masses, "lengths": lengths}
    try:
        made = robot.symbolic.quantity(name, **options)
    except OptionError as error:
        assert "too many for a closed form" in str(error)
        tape = robot.symbolic._sheet(name, options)[0].paper
        assert any(node.op == "div" for node in tape.nodes)  # quotients are not polynomials
        return
    values, arrays = values_of(robot.symbolic, name, np.random.default_rng(2), **options)
    outputs = list(made.values()) if isinstance(made, dict) else [made]
    found = np.concatenate([numbers(out, values) for out in outputs])
    close(found, run(robot, name, arrays), 1e-10)


x, y, z, w = sympy.symbols("x y z w")
SHAPES = {
    "parallel, aside": ((x, y, 0), (0, 0, 0), (y / 2, -x, z), (0, 0, 0)),
    "square": ((x, 0, z), (np.pi / 2, 0, 0), (0, y, 0), (-np.pi / 2, 0, 0)),
    "askew": ((x, y, z), (0.3, 0.2, -0.5), (0, y, -x), (0.1, -1.2, 0.4)),
    "nearly parallel": ((x, y, z), (0.003, 0.002, 0), (x, 0, z), (0, 0.004, 0)),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
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


def test_closed_forms_are_short():
    symbolic = symgen.Robot(UR5).symbolic
    assert len(str(symbolic.entry("mass_matrix", 1, 1))) <= 913
    assert len(str(symbolic.entry("mass_matrix", 1, 1, masses="symbols"))) < 3000
    assert len(str(symbolic.entry("mass_matrix", 2, 2))) < 220
    text = str(symbolic.entry("gravity", 2))
    assert "cos(q2 + q3)" in text and "sin(q2 + q3 + q4)" in text


def test_a_planar_arm_is_what_the_textbooks_have():
    rows = [{"a": a1, "mass": 1}, {"a": a2, "mass": m2}]
    robot = symgen.from_dh(rows, "standard", "planar", gravity=(0, -9.81, 0))
    made = robot.symbolic.mass_matrix(numbers="rational")
    q2 = robot.symbolic.inputs("mass_matrix")["q"][1]
    textbook = sympy.Matrix(
        [
            [
                a1**2 + m2 * (a1**2 + 2 * a1 * a2 * sympy.cos(q2) + a2**2),
                m2 * a2 * (a2 + a1 * sympy.cos(q2)),
            ],
            [m2 * a2 * (a2 + a1 * sympy.cos(q2)), m2 * a2**2],
        ]
    )
    assert (made - textbook).expand() == sympy.zeros(2)
    poses = robot.symbolic.frame_pose("link2")
    assert (
        str(poses["p_link2"].T)
        == "Matrix([[a1*cos(q1) + a2*cos(q1 + q2), a1*sin(q1) + a2*sin(q1 + q2), 0]])"
    )


def test_inputs_may_be_given():
    symbolic, t = arm().symbolic, sympy.Symbol("t")
    q = [sympy.Function(f"theta{k}")(t) for k in (1, 2, 3)]
    moving = symbolic.mass_matrix(q=q)
    plain = symbolic.mass_matrix()
    symbols = symbolic.inputs("mass_matrix")["q"]
    assert not moving.has(*symbols)
    at = {s: sympy.Float(k + 0.3) for k, s in enumerate(symbols)}
    again = moving.subs(dict(zip(q, symbols, strict=True)))
    close(numbers(again, at), numbers(plain, at), 1e-14)
    still = symbolic.mass_matrix(q=[0, 0, 0])
    assert not still.free_symbols
    with pytest.raises(OptionError, match="q has 2 entries where 3 are needed"):
        symbolic.mass_matrix(q=[0, 0])


def test_symbols_print_well():
    robot = symgen.Robot(UR5)
    arrays = robot.symbolic.inputs("inverse_dynamics")
    assert sympy.latex(arrays["q"][0]) == "q_{1}"
    assert sympy.latex(arrays["qd"][1]) == r"\dot{q}_{2}"
    assert sympy.latex(arrays["qdd"][5]) == r"\ddot{q}_{6}"
    named = robot.symbolic.gravity(names="joints")
    assert {str(s) for s in named.free_symbols} <= {f"q_joint{k}" for k in range(1, 7)}
    assert set(arrays) <= set(INPUTS)


def test_numbers_as_wished():
    symbolic = arm().symbolic
    assert not symbolic.gravity(numbers="rational").atoms(sympy.Float)
    floats = symbolic.gravity().atoms(sympy.Float)
    assert floats and "981*cos(q2 + q3)/1000" in str(symbolic.gravity(numbers="rational"))


def test_meanings_have_frame_unit_and_value():
    found = arm().symbolic.meanings("mass_matrix", masses="symbols", lengths="symbols")
    assert found["m2"].value == 2.0 and found["m2"].unit == "kg"
    assert "canonical frame" in found["hx2"].meaning and "axis2" in found["hx2"].meaning
    assert found["d3"].value == 0.4 and "Trans_x" in found["d3"].meaning
    assert found["q1"].meaning == "joint positions: joint1" and found["q1"].value is None


def test_three_indices_and_several_outputs():
    symbolic = two().symbolic
    symbols = symbolic.christoffel_symbols_full()
    assert symbols.shape == (2, 2, 2)
    assert symbolic.entry("christoffel_symbols_full", 1, 1, 2) == symbols[0, 0, 1]
    pose = symbolic.frame_pose("two")
    assert {name: x.shape for name, x in pose.items()} == {"R_two": (3, 3), "p_two": (3, 1)}
    assert symbolic.frame_pose("two", output="p_two") == pose["p_two"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda s: s.entry("mass_matrix", 3, 1), "2 x 2 entries, counted from 1; there is no 3,1"),
        (lambda s: s.mass_matrix(masses="yes"), "use 'symbols' or 'numbers'"),
        (lambda s: s.mass_matrix(numbers="int"), "use 'float' or 'rational'"),
        (lambda s: s.frame_pose("two", output="q"), "it has R_two, p_two"),
        (lambda s: s.frame_pose("three"), "no link is called 'three'"),
        (lambda s: s.mass_matrix(qd=[1, 2]), "mass_matrix does not read qd; it reads q"),
        (lambda s: s.mass_matrix(nope=[1]), "no option is called 'nope'"),
        (lambda s: s.mass_matrix(q=5), "q is 5; give a list of numbers or expressions"),
        (lambda s: s.entry("mass_matrix", "a", 1), "there is no a,1"),
    ],
)
def test_what_does_not_fit_is_said(call, said):
    with pytest.raises(OptionError, match=re.escape(said)):
        call(two().symbolic)
    with pytest.raises(AttributeError):
        two().symbolic.no_such_thing  # noqa: B018


def test_too_large_is_refused_soon():
    robot = symgen.Robot(robot_file("panda"))
    with pytest.raises(OptionError, match="too many for a closed form"):
        robot.symbolic.entry("forward_dynamics", 1)
    steps, (qdd,) = robot.symbolic.cse("forward_dynamics")
    assert len(steps) > 100 and qdd.shape == (9, 1)


def test_a_program_for_other_languages():
    steps, (c,) = symgen.Robot(UR5).symbolic.cse("coriolis_matrix")
    assert c.shape == (6, 6) and len(steps) < 400
    for printer in (
        sympy.julia_code,
        sympy.octave_code,
        sympy.fcode,
        sympy.rust_code,
        sympy.jscode,
    ):
        assert printer(steps[-1][1])


# -- base parameters -------------------------------------------------------------------------------


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
