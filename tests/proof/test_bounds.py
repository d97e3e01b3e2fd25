"""What results may be off: the bounds hold and are sharp."""

import random
from decimal import Decimal

import numpy as np
import pytest

from symgen.compiler.evaluate import evaluate
from symgen.compiler.program import Program
from symgen.languages import module_files
from symgen.languages.c.checks import build
from symgen.native.compiler import workspace
from symgen.numbers.decimals import decimal_precision, number
from symgen.numbers.operations import OPS
from symgen.numbers.scalar import ZERO
from symgen.proof.bounds import BoundedArray, error_bounds
from symgen.proof.state_generation import sensitivity
from tests.support.bounded import at, module


def test_each_operation_adds_half_a_unit_in_the_last_place():
    p = Program()
    x, y = p.input("x", (2,))
    p.output("z", (4,), (x + y, x * y, x / y, -(x - y)))
    tiny = 7 * 2.0**-30
    (z,) = error_bounds(p, {"x": at([3.0], [tiny])}, "float").values()
    assert z.values.ravel().tolist() == [3.0 + tiny, 3 * tiny, 3 / tiny, tiny - 3.0]
    units = np.array([2.0, 16 * 2.0**-30, 0.25 * 2.0**30, 2.0]) * 2.0**-24
    assert np.allclose(z.bounds.ravel(), units, rtol=1e-6, atol=2e-38)


def test_an_exact_sum_of_exact_numbers_adds_no_error():
    """Sums of angles of many turns are exact, so that errors of their sines are not hidden."""
    p = Program()
    x, y = p.input("x", (2,))
    p.output("z", (3,), (x + y, x - y, (x * y + x) - y))
    bounds = error_bounds(p, {"x": at([65000.25, 3.0], [3.5, 7.0])}, "double")["z"].bounds
    assert (bounds[:2] == 0.0).all() and (bounds[2] > 0.0).all()
    exact = {"x": BoundedArray(np.array([[3.0], [7.0]]), np.full((2, 1), 1e-9))}
    assert (error_bounds(p, exact, "double")["z"].bounds[:2] >= 2e-9).all()


def test_a_result_that_is_zero_was_not_rounded():
    p = Program()
    x, y = p.input("x", (2,))
    p.output("z", (4,), (x - y, (x - y) * x, (x - y) / x, (x * x - y * y) * x))
    bounds = error_bounds(p, {"x": at([1.5], [1.5])}, "double")["z"].bounds.ravel()
    assert bounds[0] == 0.0
    assert np.all(bounds[1:3] < 1e-300)
    assert 0 < bounds[3] < 10 * 2.0**-53  # its operands were rounded


def test_what_is_too_small_for_the_type_may_become_zero():
    p = Program()
    x, y = p.input("x", (2,))
    p.output("z", (2,), (x * x, x / y))
    z = error_bounds(p, {"x": at([1e-30], [1e30])}, "float")["z"]
    assert (z.values > 0).all() and (z.bounds >= z.values).all()


def test_errors_that_cancel_on_their_way_are_not_added():
    """(x y) - (x y) computed once is exact; running error analysis adds both."""
    p = Program()
    x, y = p.input("x", (2,))
    t = x * y
    p.output("z", (1,), ((t + x) - (t + y),))
    given = {"x": at([1.1], [1.3])}
    sharp = error_bounds(p, given, "float")["z"].bounds[0, 0]
    running = error_bounds(p, given, "float", sharp=False)["z"].bounds[0, 0]
    assert sharp < running - 1.9 * 2.0**-24  # the product's error, twice


def test_what_two_errors_make_together_counts():
    """Where what is zero up to rounding times what is one up to rounding is taken from it."""
    p = Program()
    a, b, x = p.input("x", (3,))
    zero, one = a * b - b * b, x / (x * x) * x
    p.output("z", (1,), (zero - zero * one,))
    b, c = np.float32(0.1), np.float32(2.95)
    read = np.nextafter(b, np.float32(1))
    rows = np.array([[np.nextafter(float(b), 1)], [float(b)], [float(c)]])
    given = {"x": BoundedArray(rows, np.array([[1e-8], [0.0], [0.0]]))}
    (bound,) = error_bounds(p, given, "float")["z"].bounds[0]
    off = (read - b) * b
    assert 1e-17 < abs(off - off * (c / (c * c) * c)) < bound < 1e-14


def test_constants_and_inputs_lose_what_their_type_cannot_hold():
    p = Program()
    (x,) = p.input("x", (1,))
    p.output("z", (2,), (0.1, x))
    lost = abs(float(np.float32(0.1)) - 0.1)
    given = BoundedArray(np.array([[0.1]]), np.array([[1e-3]]))
    assert error_bounds(p, {"x": given}, "float")["z"].bounds.ravel() == pytest.approx([lost, 1e-3])
    assert error_bounds(p, {"x": given}, "double")["z"].bounds.ravel().tolist() == [0.0, 1e-3]


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if op.arity == 1])
def test_functions_add_what_their_row_says(name):
    p = Program()
    (x,) = p.input("x", (1,))
    p.output("z", (1,), (OPS[name](x),))
    value, off = 0.7, 1e-5
    given = BoundedArray(np.array([[value]]), np.array([[off]]))
    (bound,) = error_bounds(p, {"x": given}, "float")["z"].bounds[0]
    moved = [float(OPS[name](value + d)) for d in (-off, 0.0, off)]
    travel = max(abs(moved[0] - moved[1]), abs(moved[2] - moved[1]))
    own = OPS[name].ulp * np.spacing(np.float32(moved[1]))
    assert bound == pytest.approx(travel + float(own), rel=1e-4, abs=1e-30)


def test_values_are_the_same_on_every_machine():
    """Functions that only libraries have are rounded correctly."""
    p = Program()
    (x,) = p.input("x", (1,))
    p.output("z", (1,), (OPS["tanh"](x),))
    values = np.linspace(-3, 3, 40)
    run = error_bounds(p, {"x": at(values)}, "double")["z"].values[0]
    assert run.tolist() == [float(OPS["tanh"](number(float(v)))) for v in values]


def test_a_sign_near_zero_may_be_the_other():
    p = Program()
    (x,) = p.input("x", (1,))
    p.output("z", (1,), (OPS["sign"](x),))
    given = BoundedArray(np.array([[1e-9, 1.0]]), np.array([[1e-8, 1e-8]]))
    assert error_bounds(p, {"x": given}, "float")["z"].bounds.tolist() == [[2.0, 0.0]]


def test_bounds_that_the_choice_of_states_found_are_those_of_all_derivatives():
    made = module("ur5")
    program = made.functions[0].program
    accuracy = made.accuracy_at(made.draw(random.Random(2), 5))
    sensitivity(program, accuracy)
    kept, fresh = accuracy.bounds(program), error_bounds(program, accuracy.inputs, *made.arithmetic)
    for name, x in fresh.items():
        assert (kept[name].bounds == x.bounds).all() and x.bounds.any()


FLAGS = [("-ffp-contract=off",), ("-O3", "-march=native", "-ffp-contract=fast")]


@pytest.mark.parametrize("flags", FLAGS, ids=["as written", "fused"])
@pytest.mark.parametrize(("robot", "scalar"), [("panda", "float"), ("ur5", "double")])
def test_compiled_code_is_within_the_bound(robot, scalar, flags):
    """Of the exact result of the tape, in 40 digits, at states of its own."""
    made = module(robot, scalar)
    rng = random.Random(7)
    drawn = made.draw(rng, 8)
    accuracy = made.accuracy_at(drawn)
    with workspace() as folder:
        for name, text in module_files(made, ("c",)).items():
            (folder / name).write_text(text)
        library = build(made, folder, flags)
    for function in made.functions:
        for name, x in accuracy.bounds(function.program).items():
            for k, (inputs, _) in enumerate(drawn):
                given = [inputs[i] for i in function.inputs]
                got = np.ravel(getattr(library, function.name)(*given)).astype(float)
                error = _errors(function, name, inputs, got)
                assert (error <= x.bounds[:, k]).all()
                assert x.bounds[:, k].max() < 5000 * error.max()


def _errors(function, name, inputs, got):
    """What numbers are off, without rounding the exact ones."""
    with decimal_precision():
        given = {i: [Decimal(v) for v in inputs[i]] for i in function.inputs}
        exact = evaluate(function.program, given, Decimal)[name]
        pairs = zip(got.tolist(), exact, strict=True)
        return np.array([float(abs(Decimal(a) - (0 if b is ZERO else b))) for a, b in pairs])
