"""What values of a tape are called in generated code."""

from symgen.compiler.passes import dump, node_names, partial_sum_names
from symgen.compiler.program import Program


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


def test_no_value_is_called_like_an_entry_that_a_language_takes_out_of_an_input():
    """Python has q̈ as qdd1, qdd2, ...; the articulated bodies' accelerations would be called so."""
    p = Program()
    a, b = p.input("qdd", (2,))
    product = (a * b).named("qdd2")
    total = (product + a).named("qdd3")
    p.output("y", (2,), [product, total])
    assert {name for name, _ in node_names(p).values()} == {"qdd2_v2", "qdd3"}


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
    found = {name for name, _ in node_names(p).values()}
    assert {"qd1_2", "f1_x", "f1_x_v2", "f1a_x", "f0_x", "k_f0_x"} <= found


def test_lines_of_a_long_sum_are_called_parts_of_it():
    p = Program()
    x = p.input("x", (6,))
    first, second = x[0] * x[1] + x[2], x[3] * x[4] + x[5]
    p.output("y", (2,), [first * second + x[0], 2.0 * x[1]])
    wanted = [first.node, second.node]
    assert list(partial_sum_names(p, wanted).values()) == ["y_0_p1", "y_0_p2"]
