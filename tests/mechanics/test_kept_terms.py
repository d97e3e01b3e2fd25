"""Terms of positions are computed once where the very same scalars come again, and anew for others."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from symgen.mechanics.canonical_model import cached_by_positions
from symgen.reading.assemble import load
from symgen.tracing.robot import ParametricModel

ROBOTS = Path(__file__).resolve().parents[2] / "robots"


@pytest.fixture
def system():
    arm = ParametricModel(load(ROBOTS / "rx90.urdf").model)
    return arm.regroup("minimal").system((), None)


@pytest.fixture
def counted():
    calls = []

    @cached_by_positions
    def term(system, q, factor=1.0):
        calls.append(q)
        return [factor * x for x in q]

    return term, calls


def test_the_same_scalars_are_not_computed_with_twice(system, counted):
    term, calls = counted
    q = [0.1 * k for k in range(system.size)]
    assert term(system, q) is term(system, list(q)) and len(calls) == 1
    assert term(system, q, 2.0) == [2.0 * x for x in q] and len(calls) == 2


def test_a_list_that_was_changed_is_another(system, counted):
    term, calls = counted
    q = [0.1 * k for k in range(system.size)]
    term(system, q)
    q[2] = 7.5
    assert term(system, q)[2] == 7.5 and len(calls) == 2
    assert system.to_body(3, q) is system.to_body(3, q)
    before = system.to_body(3, q)
    q[2] = 0.25
    assert system.to_body(3, q) != before


def test_an_array_that_was_changed_is_another(system, counted):
    term, _ = counted
    q = np.linspace(0.0, 1.0, system.size)
    term(system, q)
    q[0] = 5.0
    assert term(system, q)[0] == 5.0


def test_another_system_knows_nothing_of_it(system, counted):
    term, calls = counted
    q = [0.1 * k for k in range(system.size)]
    term(system, q)
    term(replace(system, gravity_is_input=True), q)
    assert len(calls) == 2
