"""The free x axis of an outermost body: laid along its first moment where that saves products."""

from pathlib import Path

import numpy as np
import pytest

from symgen.mechanics.canonical_frames import canonical_frames
from symgen.mechanics.parameters import canonical_model, tip_aligned_frames
from symgen.numbers.scalar import ZERO
from symgen.reading.assemble import load
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace

ROBOTS = Path(__file__).resolve().parents[2] / "robots"
QUADRUPED = load(ROBOTS / "quadruped.urdf").model
SHINS = [i for i in range(1, QUADRUPED.size + 1) if not QUADRUPED.children(i)]


def test_the_first_moment_of_a_leaf_lies_along_x():
    found = canonical_model(QUADRUPED, frames=tip_aligned_frames(QUADRUPED))
    moments = [found.body(i).inertia.h for i in SHINS]
    assert SHINS and all(h.y is ZERO and h.x is not ZERO for h in moments)


def test_only_leaves_turn():
    pairs = zip(canonical_frames(QUADRUPED), tip_aligned_frames(QUADRUPED), strict=True)
    assert [i for i, (before, after) in enumerate(pairs, 1) if before != after] == SHINS


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "mass_matrix", "forward_dynamics"])
def test_the_turn_changes_counts_but_no_result(quantity):
    """A function that computes a pose besides keeps the frames; both must give the same
    dynamics."""
    link = QUADRUPED.bodies[SHINS[0] - 1].name
    turned = trace(ParametricModel(QUADRUPED), FunctionRequest.parse(quantity))
    kept = trace(
        ParametricModel(QUADRUPED), FunctionRequest.parse(f"both={quantity}+frame_pose:{link}")
    )
    rng = np.random.default_rng(7)
    states = {name: list(rng.uniform(-1, 1, QUADRUPED.dof)) for name in turned.inputs}
    (name,) = [out.name for out in turned.quantities[0].outputs]
    one, other = (np.array(f.run(**states)[name], float) for f in (turned, kept))
    assert np.allclose(one, other, rtol=0, atol=1e-12 * np.abs(one).max())
    layouts = [
        next(r for r in f.regroups.values() if r.regrouping != "whole").layout
        for f in (turned, kept)
    ]
    assert (
        layouts[0].body(SHINS[0]).inertia.h.y is ZERO
        and layouts[1].body(SHINS[0]).inertia.h.y is not ZERO
    )


def test_parameters_of_run_time_keep_the_frames():
    opened = trace(
        ParametricModel(QUADRUPED, (QUADRUPED.bodies[0].name,)),
        FunctionRequest.parse("inverse_dynamics"),
    )
    (regroup,) = opened.regroups.values()
    assert regroup.with_tip_frames is regroup
