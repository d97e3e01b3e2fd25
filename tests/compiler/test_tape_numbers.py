"""A tape runs on anything: complex numbers, decimals, SymPy, another tape; and its dump."""

import re
from decimal import Decimal
from typing import Any

import mpmath
import pytest
import sympy

from symgen.compiler.evaluate import evaluate
from symgen.compiler.passes import dump
from symgen.compiler.program import Program
from symgen.numbers import operations
from symgen.numbers.decimals import decimal_precision
from symgen.numbers.scalar import ZERO


def formula(x: Any, y: Any) -> Any:
    return operations.sin(x) * y - (x + 0.5) / operations.cos(-y)


@pytest.fixture
def formula_program(program, ab) -> Program:
    program.output("f", (2,), [formula(*ab), ZERO])
    return program


def test_a_tape_runs_on_complex_numbers(formula_program):
    x, y = 0.3 + 0.1j, -0.7 + 2j
    assert evaluate(formula_program, {"x": [x, y]})["f"][0] == pytest.approx(
        formula(x, y), rel=1e-15
    )


def test_a_tape_runs_on_sympy_symbols(formula_program):
    x, y = sympy.symbols("x y")
    difference = evaluate(formula_program, {"x": [x, y]})["f"][0] - formula(x, y)
    assert sympy.simplify(difference) == 0


def test_a_tape_runs_on_numbers_of_any_precision(formula_program):
    with mpmath.workdps(50):
        third, seventh = mpmath.mpf(1) / 3, mpmath.mpf(1) / 7
        exact = mpmath.sin(third) * seventh - (third + 0.5) / mpmath.cos(seventh)
        assert abs(evaluate(formula_program, {"x": [third, seventh]})["f"][0] - exact) < 1e-48


def test_a_tape_runs_on_another_tape_and_becomes_part_of_it(formula_program):
    outer = Program()
    x, y = outer.input("x", (2,))
    assert evaluate(formula_program, {"x": [x, y]})["f"][0].ref == formula(x, y).ref


def test_structural_zeros_stay_known(formula_program):
    assert evaluate(formula_program, {"x": [1.0, 2.0]})["f"][1] is ZERO


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, "the program needs the input 'x' (2 numbers)"),
        ({"x": [1.0]}, "input 'x' has 1 numbers, the program needs 2"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(formula_program, inputs, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        evaluate(formula_program, inputs)


DUMP = """\
input q[2]
input k[1]

  s1 = sin(q[0])

body 1: motion
  w_x = -q[1] * s1
  q1_2 = q[0] + q[1]
  c1_2 = cos(q1_2)
  %7 = c1_2 / k[0]

body 1: forces
  %10 = %7 * 0.1
  f = -w_x - %10
  tau_0 = f - k[0]

output tau[2]
  tau[0] = tau_0
  tau[1] = -q[0]

output M[1,3]
  M[0,0] = -2.0
  M[0,1] = 0
  M[0,2] = -f"""


def test_the_format_of_a_dump(program):
    (q1, q2), (k,) = program.input("q", (2,)), program.input("k", (1,))
    s = operations.sin(q1)
    with program.section("body 1: motion"):
        w = (-(s * q2)).named("w_x")
        c = operations.cos(q1 + q2) / k
        operations.cos(w)
    with program.section("body 1: forces"):
        f = (-(c * 0.1) - w).named("f")
        tau = f - k
    program.output("tau", (2,), [tau, -q1])
    program.output("M", (1, 3), [-2.0, ZERO, -f])
    assert dump(program) == DUMP


def test_a_program_without_inputs_or_operations_has_a_dump(program):
    program.output("y", (), [1.5])
    assert dump(program) == "output y\n  y = 1.5"


def test_decimal_numbers_run_a_tape():
    """To the digits of the context, where floats have sixteen; constants of the tape become
    decimals."""
    program = Program()
    (x,) = program.input("x", (1,))
    program.output(
        "y",
        (3,),
        [
            0.1 * x + operations.sin(x),
            operations.cos(x) / x,
            operations.sign(x) * operations.tanh(x),
        ],
    )
    with decimal_precision():
        found = evaluate(program, {"x": [Decimal("0.3")]}, Decimal)["y"]
        with mpmath.workdps(45):
            at = mpmath.mpf("0.3")
            wanted = [mpmath.mpf(0.1) * at + mpmath.sin(at), mpmath.cos(at) / at, mpmath.tanh(at)]
            assert all(
                abs(mpmath.mpf(str(a)) - b) < 1e-38 for a, b in zip(found, wanted, strict=True)
            )
