"""Random expression graphs on a tape: the bits of floats, and one node for every spelling."""

import math
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from symgen.compiler.evaluate import evaluate
from symgen.compiler.passes import dump
from symgen.compiler.program import Program, Value
from symgen.numbers import operations
from symgen.numbers.scalar import ZERO

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
