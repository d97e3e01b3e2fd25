"""C with loops (``--optimize size``): strict compilers, the values of straight-line C, less code."""

import numpy as np
import pytest

from symgen import api
from symgen.languages.c.backend import functions
from symgen.languages.c.calls import build
from symgen.languages.c.report import remarks
from symgen.languages.c.rolled import RolledFunction
from tests.support.tools import ROOT, generated, verified

DERIVATIVES = ("forward_dynamics_derivatives",)
"""Of a quadruped, whose legs are lanes."""


def made(folder, robot, quantities=DERIVATIVES, **options):
    module, *_ = api.generate(
        ROOT / "robots" / f"{robot}.urdf", folder, ["c"], quantities=quantities, **options
    )
    return module


def test_small_functions_stay_as_they_are(tmp_path):
    (function,) = functions(made(tmp_path, "pendulum", optimize="size"))
    assert not isinstance(function, RolledFunction)


@pytest.mark.parametrize("robot", ["pendulum", "scara"])
def test_loops_between_sines_and_of_lanes_that_make_one_value_are_proven(
    robot, tmp_path, monkeypatch
):
    """Steps of Runge and Kutta take sines of what loops have made before, and columns of a SCARA's
    two parallel joints are each other's negatives."""
    monkeypatch.setattr("symgen.compiler.rolling.DOUBT", 0.0)
    monkeypatch.setattr("symgen.compiler.lanes.LOOP", 50.0)
    monkeypatch.setattr("symgen.compiler.rolling.LOOP", 50.0)
    monkeypatch.setattr("symgen.compiler.rolling.WRITE_LANE", 2.0)
    made(tmp_path, robot, ("step_jacobians:rk4",), optimize="size")
    text = (tmp_path / f"{robot}_step_jacobians_rk4.c").read_text()
    assert "for (int k = 0; k < 2; ++k)" in text
    verified(tmp_path)


def test_large_functions_are_not_searched(monkeypatch):
    module, _ = generated("scara", quantities=("mass_matrix_inverse",), optimize="size")
    functions.cache_clear()
    monkeypatch.setattr("symgen.languages.c.alike.MOST", 10)
    monkeypatch.setattr("symgen.languages.c.alike.rolled", None)
    assert not any(isinstance(f, RolledFunction) for f in functions(module))
    functions.cache_clear()


def test_what_is_not_searched_to_the_end_is_said(monkeypatch):
    module, _ = generated("scara", quantities=("mass_matrix_inverse", "gravity"), optimize="size")
    assert not remarks(module)
    monkeypatch.setattr("symgen.languages.c.alike.MOST", 20)
    assert [line for line in remarks(module) if "no loops" in line] == [
        "note: mass_matrix_inverse: no loops, because the search is limited to 20 operations"
    ]


@pytest.mark.slow
def test_loops_have_the_values_of_straight_code(tmp_path):
    loops = made(tmp_path / "loops", "quadruped", optimize="size")
    same = {DERIVATIVES[0]: loops.functions[0].formulation}
    straight = made(
        tmp_path / "straight", "quadruped", optimize="operations", formulations=tuple(same.items())
    )
    (function,) = functions(loops)
    assert isinstance(function, RolledFunction)
    text, plain = (
        (tmp_path / name / "quadruped_forward_dynamics_derivatives.c").read_text()
        for name in ("loops", "straight")
    )
    assert "for (int k = 0; k < 4; ++k)" in text
    assert text.count("\n") < 0.8 * plain.count("\n")
    handed_on = [at for piece in function._pieces.slots.items() for at in piece[1:]]
    assert handed_on and max(handed_on) < function.places.first <= min(
        function.places.starts.values()
    )
    assert "computed in loops" in (tmp_path / "loops" / "quadruped.h").read_text()
    one, two = build(straight, tmp_path / "straight"), build(loops, tmp_path / "loops")
    rng = np.random.default_rng(3)
    for _ in range(5):
        given = [rng.uniform(-2.0, 2.0, 12) for _ in range(3)]
        for a, b in zip(
            one.forward_dynamics_derivatives(*given),
            two.forward_dynamics_derivatives(*given),
            strict=True,
        ):
            assert np.array_equal(a, b)
