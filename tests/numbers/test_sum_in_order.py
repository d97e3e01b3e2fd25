"""Sums of floats are those of generated code in every version of Python."""

from symgen.numbers.scalar import sum_in_order


def test_a_sum_is_one_addition_after_the_other():
    """The built-in sum gives 1.0 here since Python 3.12."""
    assert sum_in_order([0.1] * 9, 0.1) == 0.9999999999999999
