"""Sums of floats are those of generated code in every version of Python."""

import ast
from pathlib import Path

from symgen.numbers.scalar import sum_in_order

SYMGEN = Path(__file__).parents[2] / "symgen"
PACKAGES = ("algorithms", "mechanics", "numbers")
COUNTS = {
    "body_tables.py": 2,
    "forward_dynamics.py": 1,
    "inertia_checks.py": 4,
    "canonical_frames.py": 1,
    "elimination.py": 2,
    "independence.py": 1,
    "joint_listing.py": 1,
    "leg_positions.py": 2,
}
"""Built-in sums of integers, of arrays, and of figures in messages and limits, by file."""


def test_a_sum_is_one_addition_after_the_other():
    """The built-in sum gives 1.0 here since Python 3.12."""
    assert sum_in_order([0.1] * 9, 0.1) == 0.9999999999999999


def test_results_do_not_depend_on_the_built_in_sum():
    """Since Python 3.12 the built-in sum compensates rounding errors if it starts with a number. It
    adds as generated code does if it starts with ZERO or with a vector."""
    found = {}
    for package in PACKAGES:
        for path in sorted((SYMGEN / package).rglob("*.py")):
            calls = [call for call in _sums(path) if not _starts_with_a_constant_of_ours(call)]
            if calls:
                found[path.name] = len(calls)
    assert found == COUNTS


def _sums(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "sum"]


def _starts_with_a_constant_of_ours(call):
    start = call.args[1] if len(call.args) > 1 else None
    return isinstance(start, ast.Name)
