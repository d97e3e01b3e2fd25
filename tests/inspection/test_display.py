"""How closed forms are displayed."""

import pytest
import sympy

import symgen
from symgen.errors import OptionError
from symgen.symbolic.symbol_graph import as_latex, as_text, with_short_decimals
from tests.support.tools import invoke, robot_file


def test_coefficients_are_short_decimals():
    x = sympy.Symbol("x")
    shown = with_short_decimals(2 * 0.0492 * x - 1.0 * sympy.cos(x) + 2.0 * x**2 + 0.0984)
    assert as_text(shown) == "2*x**2 + 0.0984*x - cos(x) + 0.0984"
    long = sympy.Float(1) / 3 * x
    assert with_short_decimals(long) == long
    assert as_text(with_short_decimals(sympy.Float("0.0983999999999999"))) == "0.0984"


def test_inertial_parameters_have_the_subscripts_of_the_field():
    names = sympy.symbols("Ixx2 hx3 m10 Ix2 q1")
    assert [as_latex(x) for x in names] == ["I_{xx,2}", "h_{x,3}", "m_{10}", "Ix_{2}", "q_{1}"]


def test_an_entry_without_rounding_digits():
    done = invoke("inspect", robot_file("pendulum"), "--entry", "mass_matrix")
    assert "M[1,1] = 0.6*cos(q2) + 1.2\n" in done.stdout and "M[2,2] = 0.2\n" in done.stdout


def test_symbolic_has_the_same_short_decimals_and_subscripts():
    symbolic = symgen.Robot(robot_file("ur5")).symbolic
    entries = [*symbolic.mass_matrix(), *symbolic.base_parameters().values()]
    numbers = {x for entry in entries for x in sympy.sympify(entry).atoms(sympy.Float)}
    assert numbers and all(with_short_decimals(x) == x for x in numbers)
    text = symbolic.latex("mass_matrix", 2, 2, masses="symbols", lengths="symbols")
    assert "I_{yy,5}" in text and "Iyy" not in text
    assert text == as_latex(
        symbolic.entry("mass_matrix", 2, 2, masses="symbols", lengths="symbols")
    )
    with pytest.raises(OptionError, match="give output= one of 'R_link2' and 'p_link2'"):
        symbolic.latex("frame_pose:link2")
    assert symbolic.latex("frame_pose:link2", 1, output="p_link2") == "0"
