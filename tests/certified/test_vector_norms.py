"""Lengths of vectors, and of their errors, are bounded through rotations."""

import numpy as np
import pytest

from symgen.certified.enclosures import Arithmetic, enclosures, enclosures_by_norms
from symgen.certified.program_structures import vector_of, vectors
from symgen.certified.vector_norms import ErrorNorms, VectorNorms
from symgen.compiler.evaluate import levels, node_values
from symgen.compiler.program import Program


def test_rotations_in_a_chain_keep_the_length_of_a_vector():
    """A unit vector that six joints turn about alternating axes, plus a known vector at each."""
    program = Program()
    q = program.input("q", (6,))
    x, y, z = q[5] * 0.6, q[5] * 0.8, 0.5 * q[4].applied("sin")
    for k in range(5):
        s, c = q[k].applied("sin"), q[k].applied("cos")
        x, y, z = (
            c * x + s * z + 0.1,
            y,
            c * z - s * x,
        )  # the third axis of one is turned by the next
        x, y, z = y, z, x
    program.output("v", (3,), [x, y, z])
    box = {"q": (np.full((6, 1), -1.0), np.full((6, 1), 1.0))}
    found = enclosures_by_norms(program, box, Arithmetic("float", "inline"))
    longest = np.hypot(1.0, 0.5) + 0.5
    rows = levels(program).of(program.outputs[0].refs)[1]
    assert (found.magnitude[rows] <= longest).all()
    assert (enclosures(program, box, Arithmetic("float", "inline")).magnitude[rows] > longest).any()
    states = {"q": np.random.default_rng(6).uniform(-1.0, 1.0, (6, 100_000)).astype(np.float32)}
    exact, computed = (node_values(program, states, kind) for kind in ("double", "float"))
    assert (np.abs(exact) <= found.magnitude + 1e-12).all()
    assert (np.abs(computed - exact) <= found.error + 1e-12).all()


@pytest.mark.parametrize("errors", [(1e-3, 0.0), (0.0, 1e-3), (1e-3, 1e-3)])
def test_errors_of_both_sines_of_a_rotated_component_are_bounded(errors):
    """The vector (x cos a, x sin a) is off by as much as both sines together, times x."""
    program = Program()
    angle, x = program.input("a", (1,))[0], program.input("x", (1,))[0]
    pair = [angle.applied("cos") * x, angle.applied("sin") * x]
    program.output("v", (2,), pair)
    found = vectors(program)
    rows = levels(program).of(program.outputs[0].refs)[1].tolist()
    sizes, off, own = (np.full((len(found.ops), 1), value) for value in (1.0, 0.0, 0.0))
    for op, row, error in zip(("cos", "sin"), rows, errors, strict=True):
        off[found.ops.index(op)] = off[row] = error
    (length,) = ErrorNorms(VectorNorms(found, sizes), off, own, (0.0, 0.0)).norm(vector_of(*rows))
    assert np.hypot(*errors) <= length <= 1.001 * np.hypot(*errors)
