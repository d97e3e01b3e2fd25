"""The tape: exact in IEEE arithmetic, one node for equal things, and no way to depend on data."""

import math
from typing import Any

import pytest

from symgen.compiler.passes import cached_analysis, counts, live_nodes
from symgen.compiler.program import Program
from symgen.numbers import operations
from symgen.numbers.scalar import ZERO


def test_the_three_spellings_of_a_difference_are_one_node(ab):
    a, b = ab
    assert (a - b).ref == (a + -b).ref == (-b + a).ref == (-(b - a)).ref
    assert (b - a).ref == (-(a - b)).ref and (-a - b).ref == (-(a + b)).ref


def test_commutative_operands_have_one_order(program, ab):
    a, b = ab
    assert (a + b).ref == (b + a).ref and (a * b).ref == (b * a).ref
    assert (a / b).ref != (b / a).ref
    assert all(node.a <= node.b for node in program.nodes if node.op in ("add", "sub", "mul"))


def test_signs_pass_out_of_products_and_quotients(ab):
    a, b = ab
    assert (-a * b).ref == (a * -b).ref == (-(a * b)).ref and (-a * -b).ref == (a * b).ref
    assert (-a / b).ref == (a / -b).ref == (-(a / b)).ref and (-a / -b).ref == (a / b).ref


def test_sine_is_odd_and_cosine_even(ab):
    a, _ = ab
    assert operations.sin(-a).ref == (-operations.sin(a)).ref
    assert operations.cos(-a).ref == operations.cos(a).ref


def test_negation_is_no_node(program, ab):
    a, _ = ab
    opposite = -a
    assert (-opposite).ref == a.ref != opposite.ref
    assert len(program.nodes) == 2


def test_zero_and_one_leave_no_operation(program, ab):
    a, _ = ab
    for unchanged in (
        a + 0.0,
        0.0 + a,
        a - 0.0,
        a + ZERO,
        ZERO + a,
        a - ZERO,
        a * 1.0,
        1.0 * a,
        a / 1.0,
        -(a * -1.0),
    ):
        assert unchanged.ref == a.ref
    for negated in (0.0 - a, ZERO - a, a * -1.0, -1.0 * a, a / -1.0):
        assert negated.ref == (-a).ref
    assert counts_of(program, a + 0.0, 1.0 * a) == 0


def test_what_cancels_is_the_number_zero_and_only_structural_zeros_make_structural_zeros(ab):
    a, _ = ab
    for number in (a - a, a + -a, a * 0.0, 0.0 * a, 0.0 / a):
        assert a.program.constant(number) == 0.0
    for vanishing in (a * ZERO, ZERO * a, ZERO / a):
        assert vanishing is ZERO


def test_constants_are_folded_with_their_rounding(program):
    third, tenth = program.value(1 / 3), program.value(0.1)
    folded = [
        (third + tenth, 1 / 3 + 0.1),
        (third - tenth, 1 / 3 - 0.1),
        (third * -tenth, 1 / 3 * -0.1),
        (third / tenth, 1 / 3 / 0.1),
        (operations.sin(-third), math.sin(-1 / 3)),
        (operations.cos(tenth), math.cos(0.1)),
    ]
    assert [program.constant(v) for v, _ in folded] == [x for _, x in folded]


def counts_of(program: Program, *values: Any) -> int:
    program.output("y", (len(values),), values)
    return counts(program).total


def test_an_operation_is_counted_once_and_only_if_an_output_needs_it(program, ab):
    a, b = ab
    dead = operations.sin(a) / b
    assert counts_of(program, a * b + b * a, -(a * b), 2.0 * dead * 0.0) == 2
    assert (counts(program).mul, counts(program).add) == (1, 1)
    assert dead.ref.node not in live_nodes(program)


@pytest.mark.parametrize(
    "ask",
    [
        bool,
        float,
        lambda v: v == v,
        lambda v: v == 1.0,
        lambda v: v != v,
        lambda v: 1.0 in [v],
        lambda v: math.sin(v),
        lambda v: max(v, v),
    ],
)
def test_no_decision_can_depend_on_a_value(ab, ask):
    with pytest.raises(TypeError):
        ask(ab[0])


@pytest.mark.parametrize("ask", [bool, float, lambda v: v == v])
def test_the_refusal_is_a_sentence_with_a_way_out(ab, ask):
    with pytest.raises(
        TypeError,
        match=r"^a value of the expression graph has no .*: generated code has no branches .*; use a condition ",
    ):
        ask(ab[0])


def test_a_value_cannot_be_a_key(ab):
    with pytest.raises(TypeError, match="unhashable"):
        hash(ab[0])


def test_what_is_remembered_is_that_of_the_function_and_its_arguments(program):
    def times(power):
        @cached_analysis
        def found(program, factor=1, offset=0):
            return factor * power + offset

        return found

    for power in (10, 100):
        found = times(power)
        for _ in range(2):
            assert found(program) == power and found(program, 3) == 3 * power
            assert found(program, offset=5) == power + 5 and found(program, factor=5) == 5 * power
