"""Quantities as SymPy expressions: short, soon there, in the form that is wished."""

import re

import pytest
import sympy

import symgen
from symgen.algorithms import INPUTS
from symgen.errors import OptionError
from tests.support.papers import UR5, arm, numbers, two
from tests.support.states import close
from tests.support.tools import robot_file

a1, a2, m2 = sympy.symbols("a1 a2 m2", real=True)


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
        (lambda s: s.mass_matrix(q=[0, sympy.I]), "q has I; give real numbers"),
        (lambda s: s.mass_matrix(q=[0, sympy.zoo]), "q has zoo; give real numbers"),
        (lambda s: s.mass_matrix(q=[True, 0]), "q has True; give real numbers"),
        (lambda s: s.mass_matrix(q="ab"), "q is ab; give a list of numbers or expressions"),
    ],
)
def test_what_does_not_fit_is_said(call, said):
    with pytest.raises(OptionError, match=re.escape(said)):
        call(two().symbolic)
    with pytest.raises(AttributeError):
        two().symbolic.no_such_thing  # noqa: B018


def test_parameters_of_run_time_have_another_name_on_paper():
    robot = symgen.Robot(robot_file("pendulum"), parameters="runtime")
    with pytest.raises(OptionError, match="use masses='symbols'"):
        robot.symbolic.mass_matrix()


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
