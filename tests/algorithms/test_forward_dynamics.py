"""Forward dynamics and M⁻¹ undo inverse dynamics and M on random robots; Pinocchio; operation
counts."""

import numpy as np
import pytest

from symgen.algorithms import QUANTITIES
from symgen.algorithms.composite import factorize, mass_matrix
from symgen.algorithms.forward_dynamics import (
    forward_dynamics,
    forward_dynamics_articulated,
    forward_dynamics_by_tree,
    mass_matrix_inverse,
)
from symgen.algorithms.newton_euler import inverse_dynamics
from symgen.mechanics.parameters import REGROUPINGS, canonical_model
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace
from tests.support.public_arms import PANDA, RX90, TALOS, UR5, public, robots, with_pinocchio
from tests.support.random_trees import RANDOM, REAL, model
from tests.support.states import close, numbers, random_states

WAYS = (forward_dynamics, forward_dynamics_articulated, forward_dynamics_by_tree)


@robots
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("regrouping", REGROUPINGS)
def test_undoes_inverse_dynamics(name, way, regrouping):
    arm = canonical_model(model(name), regrouping=regrouping)
    q, qd, qdd = random_states(arm.dof, 3, seed=3).tolist()
    tau = [float(x) for x in inverse_dynamics(arm, q, qd, qdd)]
    close(numbers(way(arm, q, qd, tau)), np.array(qdd), 1e-7)


@robots
def test_inverse_times_mass_matrix_is_one(name):
    arm = canonical_model(model(name))
    q, _, b = random_states(arm.dof, 3, seed=3).tolist()
    n = arm.dof
    m, inverse = (numbers(f(arm, q), n, n) for f in (mass_matrix, mass_matrix_inverse))
    close(inverse @ m, np.eye(n), 1e-7)
    close(inverse, inverse.T, 0)
    close(m @ numbers(factorize(arm, mass_matrix(arm, q)).solve(b)), np.array(b), 1e-7)


def test_every_family_has_both_kinds_of_joint_somewhere():
    kinds = {body.joint.kind for name in RANDOM + REAL for body in model(name).bodies}
    assert kinds == {"revolute", "prismatic"}


@pytest.mark.parametrize("name", [UR5, PANDA, TALOS])
def test_pinocchio(name):
    robot, pin, judge, at = with_pinocchio(name)
    given = random_states(robot.dof, 3, seed=3).tolist()
    theirs = np.zeros((3, judge.nv))
    theirs[:, at] = given
    expected = pin.aba(judge, judge.createData(), *theirs)[at]
    for way in WAYS:
        close(numbers(way(canonical_model(robot), *given)), expected, 1e-9)


COUNTS = {
    "forward_dynamics": {UR5: 506, PANDA: 1126, TALOS: 6235, RX90: 834, "snake16": 2880},
    "mass_matrix_inverse": {UR5: 313, PANDA: 674, TALOS: 5745, RX90: 449},
}


@pytest.mark.parametrize("quantity", COUNTS)
@pytest.mark.parametrize("name", [UR5, PANDA, TALOS, RX90, "snake16"])
def test_operations(quantity, name):
    if name in COUNTS[quantity]:
        found = trace(
            ParametricModel(public(name)), FunctionRequest(quantity, (QUANTITIES[quantity],))
        ).counts.total
        assert found <= COUNTS[quantity][name]
