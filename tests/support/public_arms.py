"""Public robots, and factors of their Coriolis matrices."""

import numpy as np
import pytest

from symgen.algorithms.christoffel import (
    christoffel_symbols_full,
)
from symgen.algorithms.coriolis import coriolis_matrix
from symgen.mechanics.parameters import canonical_model
from symgen.reading.assemble import load
from tests.support.public_robots import example_robot
from tests.support.random_trees import RANDOM, REAL, model
from tests.support.states import numbers

robots = pytest.mark.parametrize("name", RANDOM + REAL)


FINGERS = [("panda_finger_joint1", 0.0), ("panda_finger_joint2", 0.0)]


UR5, PANDA = "ur_description/urdf/ur5_robot.urdf", "panda_description/urdf/panda.urdf"


ANYMAL = "anymal_b_simple_description/robots/anymal.urdf"
TALOS, RX90 = "talos_data/robots/talos_reduced.urdf", "rx90"


def coriolis(robot, q, qd, **options):
    return numbers(
        coriolis_matrix(canonical_model(robot, **options), list(q), list(qd)), robot.dof, robot.dof
    )


def symbols(robot, q, algorithm=christoffel_symbols_full):
    return numbers(algorithm(canonical_model(robot), list(q)), *[robot.dof] * 3)


def public(name):
    if name in REAL:
        return model(name)
    return load(example_robot(name), lock=FINGERS if name == PANDA else ()).model


def with_pinocchio(name):
    """A public robot, Pinocchio, its model of the robot, and where that has our velocities."""
    pin = pytest.importorskip("pinocchio")
    robot, judge = public(name), pin.buildModelFromUrdf(str(example_robot(name)))
    if name == PANDA:
        judge = pin.buildReducedModel(
            judge, [judge.getJointId(f) for f, _ in FINGERS], np.zeros(judge.nq)
        )
    return robot, pin, judge, [judge.joints[judge.getJointId(j)].idx_v for j in robot.joint_names]
