"""Robots that Pinocchio has too, in the same coordinates: two arms and a walking robot."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from symgen.reading.assemble import load
from symgen.tracing.robot import ParametricModel
from tests.support.random_trees import ROBOTS

Array = Any
NAMES = {"ur5": "fixed", "panda_arm": "fixed", "quadruped": "floating"}
"""By file of robots/ the kind of its base."""


@cache
def pair(name: str) -> tuple[ParametricModel, Any]:
    """The robot and Pinocchio's model of its file; skips the test without Pinocchio."""
    pin = pytest.importorskip("pinocchio")
    path = ROBOTS / f"{name}.urdf"
    floating = NAMES.get(name) == "floating"
    root = (pin.JointModelFreeFlyer(),) if floating else ()
    judge = pin.buildModelFromUrdf(str(path), *root)
    robot = ParametricModel(load(path, base="floating" if floating else "fixed").model)
    joints = robot.model.joint_names[6 * floating :]
    assert [judge.joints[judge.getJointId(j)].idx_v for j in joints] == [
        *range(6 * floating, judge.nv)
    ]
    return robot, judge


def states(name: str, *inputs: str, seed: int = 5) -> dict[str, Array]:
    """Random values of q, quaternions of length 1, and of `inputs`."""
    _, judge = pair(name)
    random = np.random.default_rng(seed)
    q = random.uniform(-1.5, 1.5, judge.nq)
    if NAMES.get(name) == "floating":
        q[3:7] /= np.linalg.norm(q[3:7])
    return {"q": q} | {x: random.uniform(-1.5, 1.5, judge.nv) for x in inputs}
