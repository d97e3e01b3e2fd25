"""Numbers that remember: their gradients against tapes in reverse, duals and the complex step."""

import math

import numpy as np
import pytest

from symgen.compiler.passes import counts
from symgen.compiler.program import Program
from symgen.compiler.transforms import pullback
from symgen.numbers.autodiff import Record, along, gradient, record_inputs, tangent, tangents
from symgen.numbers.operations import cos, sin, sqrt, tanh
from symgen.numbers.scalar import ZERO

AT = [0.7, -1.3, 0.4, 2.1]


def formula(x):
    """Every operation, with signs, constants on both sides and what is used several times."""
    a, b, c, d = x
    turned = cos(-a) * b + sin(a) * c, cos(a) * c - sin(a) * b
    e = 3.0 - turned[0] * turned[1] * -(a - b)
    return (e + 2.0 * turned[0]) / (d + 5.0) - 1.0 / d + tanh(-b * sqrt(d)) + cos(a) * cos(a) - c


def found(f, at):
    inputs, places = record_inputs(Record(), at)
    return gradient(f(inputs), places)


def test_gradient_is_the_complex_steps():
    step = 1e-30
    for k, slope in enumerate(found(formula, AT)):
        x = [complex(v, step if i == k else 0.0) for i, v in enumerate(AT)]
        assert slope == pytest.approx(formula(x).imag / step, rel=1e-14)


def test_second_derivatives_are_gradients_of_tangents():
    directions = np.eye(len(AT))
    inputs, places = record_inputs(Record(), AT)
    rows = np.array([gradient(tangent(formula(along(inputs, d))), places) for d in directions])
    columns = [tangents(by_duals(along(AT, d))) for d in directions]
    assert rows == pytest.approx(rows.T, rel=1e-13)
    assert rows == pytest.approx(np.array(columns, float), rel=1e-12)


def by_duals(at):
    """The gradient by duals of a second level."""
    return [tangent(formula(along(at, d, 2)), 2) for d in np.eye(len(at))]


def turned(q, x, y):
    return cos(q) * x + sin(q) * y, cos(q) * y - sin(q) * x


def products(slope):
    """Products of a turn, and of its slope in the angle by reversal."""
    program = Program()
    angle, *rest = program.input("x", (5,))
    found = slope(angle, *rest)
    program.output("both", (3,), [*turned(angle, *rest[:2]), *found])
    return counts(program).mul


def by_product_rule(q, x, y, u, v):
    a, b = turned(q, x, y)
    return pullback([(a * u + b * v, 1.0)], [q])


def by_turns(q, x, y, u, v):
    (at,), places = record_inputs(Record(), [q])
    a, b = turned(at, x, y)
    return gradient(a * u + b * v, places)


def test_a_turn_costs_one_product_a_component_for_its_angle():
    assert products(by_turns) == 4 + 2
    assert products(by_product_rule) == 4 + 4 + 2


def test_equal_operations_are_noted_once():
    record = Record()
    (a, b), _ = record_inputs(record, [0.3, 0.4])
    before = len(record.steps)
    first = a * b + (a - b)
    assert (-b * -a - (b - a)).at == first.at
    assert len(record.steps) == before + 3


def test_what_a_result_does_not_depend_on_has_no_slope():
    record = Record()
    (a, _), places = record_inputs(record, [0.3, 0.4])
    weight = record.input(2.0, wanted=False)
    assert gradient(a * weight, places) == [2.0, ZERO]
    assert gradient(5.0, places) == [ZERO, ZERO]
    assert gradient(a - a, places)[0] == 0.0


class Place:
    """A position whose small displacement turns it, as that of a quaternion."""

    def __init__(self, changes=()):
        self.changes = changes

    def displaced_by(self, changes):
        return Place((*self.changes, changes[0]))

    def angle(self):
        return sum(self.changes, 0.5)


def test_what_is_nudged_has_the_slope_of_its_displacement():
    (place, x), places = record_inputs(Record(), [Place(), 2.0])
    slopes = gradient(sin(place.angle()) * x, places)
    assert slopes == pytest.approx([2.0 * math.cos(0.5), math.sin(0.5)])
