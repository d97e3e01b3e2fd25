"""The comparison of large robots with Pinocchio and with laws (`benchmarks.large_agreement`)."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("pinocchio")
pytest.importorskip("casadi")

from benchmarks.figures.values import results
from benchmarks.large_agreement import TOLERANCE, Robot, against_laws, against_pinocchio
from benchmarks.large_robots import NAMES, SIZES, written


def test_a_wrong_entry_of_any_matrix_is_found(tmp_path):
    """At a small tree; the entries of a sampled column are changed one quantity after the other."""
    written("tree", 6, tmp_path / "robot.urdf")
    right = Robot.of(tmp_path / "robot.urdf")
    state, columns = right.judge.random(1, 0)[0], [0, 3]
    for errors in (against_laws(right, state, columns), against_pinocchio(right, [state])):
        assert [*errors] == [*NAMES]
        assert max(errors.values()) < 1e-12
    calls = {name: getattr(right.functions, name) for name in NAMES}

    def spoiled(name):
        def call(*inputs):
            outputs = calls[name](*inputs)
            several = isinstance(outputs, tuple)
            last = (outputs[-1] if several else outputs).copy()
            last[..., 3] += 1e-6 * np.abs(last).max()
            return (*outputs[:-1], last) if several else last

        return SimpleNamespace(**{**calls, name: call})

    for name in NAMES:
        wrong = replace(right, functions=spoiled(name))
        assert against_laws(wrong, state, columns)[name] > 1e-9, name
        assert against_pinocchio(wrong, [state])[name] > 1e-9, name


def test_stored_errors_are_within_the_tolerance():
    rows = results("large_agreement")["rows"]
    kinds = [(row["robot"], row["velocities"]) for row in rows]
    assert {(f"random {kind}", n) for kind in ("chain", "tree") for n in SIZES} < {*kinds}
    assert max(x for row in rows for way in ("pinocchio", "laws") for x in row[way].values()) <= (
        TOLERANCE
    )
