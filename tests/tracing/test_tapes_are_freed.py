"""Tapes that lose are freed at once: nothing on them knows them in a circle, so that Python need not
look for circles while functions are traced (`symgen.__main__`)."""

import gc
import weakref
from pathlib import Path

import pytest

from symgen.reading.assemble import load
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import every_formulation

ROBOTS = Path(__file__).resolve().parents[2] / "robots"


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("name", ["coriolis_matrix", "forward_dynamics_derivatives", "regressor"])
def test_a_tape_that_nobody_holds_is_gone(no_collector, name):
    arm = ParametricModel(load(ROBOTS / "scara.urdf").model)
    tapes = [weakref.ref(f.program) for f in every_formulation(arm, FunctionRequest.parse(name))]
    assert tapes and not any(tape() for tape in tapes)
