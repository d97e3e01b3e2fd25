"""Derivatives by inertial parameters: what they make of any parameters, entry by entry, symmetries,
the tape."""

import numpy as np
import pytest

from symgen.algorithms.composite import mass_matrix
from symgen.algorithms.coriolis import coriolis_matrix
from symgen.algorithms.newton_euler import gravity
from symgen.algorithms.parameter_tensors import (
    coriolis_matrix_by_parameters,
    gravity_by_parameters,
    mass_matrix_by_parameters,
)
from symgen.algorithms.regressors import slotine_li_regressor
from symgen.mechanics.parameters import canonical_model
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace
from tests.support.arms import Arm
from tests.support.random_trees import FEW, model
from tests.support.states import close, numbers

robots = pytest.mark.parametrize("name", [*FEW, "tree 0", "ur5"])
TERMS = {
    "mass_matrix_by_parameters": (mass_matrix_by_parameters, mass_matrix, ("q",)),
    "coriolis_matrix_by_parameters": (coriolis_matrix_by_parameters, coriolis_matrix, ("q", "qd")),
    "gravity_by_parameters": (gravity_by_parameters, gravity, ("q",)),
}
terms = pytest.mark.parametrize("term", TERMS)


def tensor(arm, term):
    """Our tensor, and the term itself as a function of the parameters; first all indices but the
    last in one."""
    ours, plain, inputs = TERMS[term]
    state = [getattr(arm, key) for key in inputs]

    def of(pi):
        tens = {
            body.name: pi[10 * k : 10 * k + 10].tolist() for k, body in enumerate(arm.model.bodies)
        }
        return numbers(plain(canonical_model(arm.model, tens), *state))

    return numbers(ours(arm.whole, *state)).reshape(-1, 10 * arm.n), of


@robots
@terms
def test_contracted_with_any_parameters_they_are_the_terms(name, term):
    arm = Arm(name)
    found, of = tensor(arm, term)
    for pi in (arm.pi, np.random.default_rng(5).uniform(0.5, 1, 10 * arm.n)):
        close(found @ pi, of(pi))


@pytest.mark.parametrize("name", FEW)
@terms
def test_every_column_is_the_difference_that_its_parameter_makes(name, term):
    """A unit step is exact, for the terms are linear; without other parameters nothing is lost to
    rounding."""
    arm = Arm(name)
    found, of = tensor(arm, term)
    nothing = of(np.zeros(10 * arm.n))
    for column, e in zip(found.T, np.eye(10 * arm.n), strict=True):
        close(column, of(e) - nothing)


@robots
def test_the_mass_matrix_is_symmetric_to_the_bit(name):
    arm = Arm(name)
    found = numbers(mass_matrix_by_parameters(arm.whole, arm.q)).reshape(arm.n, arm.n, -1)
    assert (found == found.transpose(1, 0, 2)).all()


@robots
def test_together_they_are_the_slotine_li_regressor(name):
    arm = Arm(name)
    mass, coriolis, weight = (tensor(arm, term)[0] for term in TERMS)
    mass, coriolis = (x.reshape(arm.n, arm.n, -1) for x in (mass, coriolis))
    sum_ = np.einsum("ijp,j", mass, arm.qdd_r) + np.einsum("ijp,j", coriolis, arm.qd_r) + weight
    close(
        sum_,
        numbers(slotine_li_regressor(arm.whole, arm.q, arm.qd, arm.qd_r, arm.qdd_r)).reshape(
            arm.n, -1
        ),
    )


@terms
def test_nothing_but_the_state_and_gravity_is_read(term):
    """Even where parameters come at run time."""
    robot = model("parallel 0")
    for names, runtime in ((), False), (tuple(b.name for b in robot.bodies), True):
        function = trace(ParametricModel(robot, names, runtime), FunctionRequest.parse(term))
        weight = ["g"] if runtime and term.startswith("gravity") else []
        assert {*function.inputs} == {*TERMS[term][2], *weight}


COUNTS = {
    "mass_matrix_by_parameters": 462,
    "coriolis_matrix_by_parameters": 1585,
    "gravity_by_parameters": 198,
}


@terms
def test_operation_counts_of_the_ur5(term):
    assert (
        trace(ParametricModel(model("ur5")), FunctionRequest.parse(term)).counts.total
        <= COUNTS[term]
    )
