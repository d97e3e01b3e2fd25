"""The tape: exact in IEEE arithmetic, one node for equal things, and no way to depend on data."""

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import mpmath
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from symgen.compiler.dump import dump
from symgen.compiler.evaluate import evaluate
from symgen.compiler.parts import parts
from symgen.compiler.passes import counts, live, names
from symgen.compiler.program import Program, Value
from symgen.numbers import operations
from symgen.numbers.exact import in_decimals
from symgen.numbers.scalar import ZERO

# -- random expression graphs ----------------------------------------------------------------------

INPUTS = 4
CONSTANTS = (0.0, 1.0, -1.0, 0.5, -2.0, 9.81, ZERO)
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}
UNARY: dict[str, Callable[[Any], Any]] = {
    "neg": lambda a: -a,
    "sin": operations.sin,
    "cos": operations.cos,
}
Step = tuple[str, int, int]

numbers = st.floats(-1e3, 1e3, allow_subnormal=True)
steps = st.lists(
    st.tuples(st.sampled_from([*BINARY, *UNARY]), st.integers(0, 99), st.integers(0, 99)),
    max_size=40,
)


def applied(op: str, a: Any, b: Any) -> Any:
    return UNARY[op](a) if op in UNARY else BINARY[op](a, b)


def tame(x: Any) -> bool:
    return abs(float(x)) < 1e100


def possible(xs: list[float], wanted: list[Step]) -> list[Step]:
    """The steps of `wanted` that floats can take: no division by zero, nothing huge."""
    pool, taken = [*xs, *CONSTANTS], []
    for op, i, j in wanted:
        a, b = pool[i % len(pool)], pool[j % len(pool)]
        if (op == "div" and float(b) == 0) or not tame(result := applied(op, a, b)):
            continue
        taken.append((op, i % len(pool), j % len(pool)))
        pool.append(result)
    return taken


def grown(pool: list[Any], taken: list[Step]) -> list[Any]:
    for op, i, j in taken:
        pool.append(applied(op, pool[i], pool[j]))
    return pool


def traced(taken: list[Step]) -> Program:
    """The steps on a tape, every value an output; every other one, or its negative, has a name."""
    program = Program()
    pool = grown([*program.input("x", (INPUTS,)), *CONSTANTS], taken)
    for k, value in enumerate(pool):
        if isinstance(value, Value) and k % 2:
            (value if k % 3 else -value).named(f"v{k}")
    program.output("y", (len(pool),), pool)
    return program


@settings(max_examples=300, deadline=None)
@given(st.lists(numbers, min_size=INPUTS, max_size=INPUTS), steps)
def test_a_tape_computes_what_floats_compute_bit_for_bit(xs, wanted):
    taken = possible(xs, wanted)
    by_hand = grown([*xs, *CONSTANTS], taken)
    by_tape = evaluate(traced(taken), {"x": xs})["y"]
    assert [float(y) for y in by_tape] == [float(y) for y in by_hand]


@settings(max_examples=100, deadline=None)
@given(st.lists(numbers, min_size=INPUTS, max_size=INPUTS), steps)
def test_what_a_dump_says_is_what_the_tape_computes(xs, wanted):
    program = traced(possible(xs, wanted))
    assert read_back(dump(program), xs) == [float(y) for y in evaluate(program, {"x": xs})["y"]]


def read_back(text: str, xs: list[float]) -> list[float]:
    """The outputs of a dump whose lines are run as Python."""
    y: dict[int, float] = {}
    scope = {"x": xs, "y": y, "sin": math.sin, "cos": math.cos}
    exec(
        "\n".join(line.strip().replace("%", "t") for line in text.splitlines() if " = " in line),
        scope,
    )
    return [float(y[k]) for k in range(len(y))]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(numbers, min_size=INPUTS, max_size=INPUTS), steps, st.randoms(use_true_random=False)
)
def test_another_spelling_of_the_same_graph_adds_no_node(xs, wanted, random):
    taken, program = possible(xs, wanted), Program()
    inputs = program.input("x", (INPUTS,))
    first = grown([*inputs, *CONSTANTS], taken)
    size = len(program.nodes)
    second = [*inputs, *CONSTANTS]
    for op, i, j in taken:
        second.append(respelled(op, second[i], second[j], random))
    assert len(program.nodes) == size
    assert all(same(a, b) for a, b in zip(first, second, strict=True))


def respelled(op: str, a: Any, b: Any, random: Any) -> Any:
    """The same operation with operands and signs in other places."""
    ways: dict[str, list[Callable[[], Any]]] = {
        "add": [lambda: b + a, lambda: a - -b, lambda: -(-a - b), lambda: b - -a],
        "sub": [lambda: -(b - a), lambda: a + -b, lambda: -b + a, lambda: -b - -a],
        "mul": [lambda: b * a, lambda: -a * -b, lambda: -(a * -b)],
        "div": [lambda: -a / -b, lambda: -(-a / b)],
        "neg": [lambda: -a],
        "sin": [lambda: -operations.sin(-a)],
        "cos": [lambda: operations.cos(-a)],
    }
    return random.choice(ways[op])()


def same(a: Any, b: Any) -> bool:
    """One signed node of a tape, or numbers that only differ in the sign of zero."""
    if not (isinstance(a, Value) and isinstance(b, Value)):
        return float(a) == float(b)
    return a.ref == b.ref or a.program.constant(a) == b.program.constant(b) == 0


# -- rewrites --------------------------------------------------------------------------------------


@pytest.fixture
def program() -> Program:
    return Program()


@pytest.fixture
def ab(program) -> list[Value]:
    return program.input("x", (2,))


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
    assert dead.ref.node not in live(program)


# -- what a value refuses --------------------------------------------------------------------------


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
        TypeError, match=r"^a tape value has no .*: generated code is straight-line .*; choose by "
    ):
        ask(ab[0])


def test_a_value_cannot_be_a_key(ab):
    with pytest.raises(TypeError, match="unhashable"):
        hash(ab[0])


# -- names -----------------------------------------------------------------------------------------


def test_the_first_name_wins_and_carries_its_sign(program, ab):
    a, b = ab
    (-(a * b)).named("p")
    (a * b).named("later")
    program.output("y", (1,), [a * b * 2.0])
    assert "later = x[0] * x[1]" in dump(program), "a name of a value itself, not of its negative"
    (a + b).named("first")
    (a + b).named("second")
    (a - b).named("d")
    program.output("z", (2,), [a + b, b - a])
    assert "first = x[0] + x[1]" in dump(program) and "z[1] = -d" in dump(program)


def test_an_input_and_a_number_keep_their_own_name(program, ab):
    ab[0].named("a")
    program.value(2.0).named("two")
    assert program.names == {}


# -- a tape runs on anything -----------------------------------------------------------------------


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


# -- the dump --------------------------------------------------------------------------------------

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
    with in_decimals():
        found = evaluate(program, {"x": [Decimal("0.3")]}, Decimal)["y"]
        with mpmath.workdps(45):
            at = mpmath.mpf("0.3")
            wanted = [mpmath.mpf(0.1) * at + mpmath.sin(at), mpmath.cos(at) / at, mpmath.tanh(at)]
            assert all(
                abs(mpmath.mpf(str(a)) - b) < 1e-38 for a, b in zip(found, wanted, strict=True)
            )


def test_no_value_is_called_like_an_entry_that_a_language_takes_out_of_an_input():
    """Python has q̈ as qdd1, qdd2, ...; the articulated bodies' accelerations would be called so."""
    p = Program()
    a, b = p.input("qdd", (2,))
    product = (a * b).named("qdd2")
    total = (product + a).named("qdd3")
    p.output("y", (2,), [product, total])
    assert {name for name, _ in names(p).values()} == {"qdd2_v2", "qdd3"}


def test_names_say_what_a_value_is_made_of():
    """Of what the algorithm has no name for: sums of an input's entries, multiples, second values
    of a name, and what is on its way from one frame to another."""
    p = Program()
    a, b = p.input("qd", (2,))
    force = (a * a + 1.0).named("f1_x")
    again = (force * force + b).named("f1_x")
    moved = (again * b).named("f1'a_x")
    better = (moved + 3.0).named("f2'a_x").named("f0_x")
    lever = 0.5 * better
    p.output("y", (5,), [lever * a, lever * b, (a + b) * moved, (a + b) * again, lever * again])
    found = {name for name, _ in names(p).values()}
    assert {"qd1_2", "f1_x", "f1_x_v2", "f1a_x", "f0_x", "k_f0_x"} <= found


def test_lines_of_a_long_sum_are_called_parts_of_it():
    p = Program()
    x = p.input("x", (6,))
    first, second = x[0] * x[1] + x[2], x[3] * x[4] + x[5]
    p.output("y", (2,), [first * second + x[0], 2.0 * x[1]])
    wanted = [first.node, second.node]
    assert list(parts(p, wanted).values()) == ["y_0_p1", "y_0_p2"]
