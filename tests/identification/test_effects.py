"""Random effects: the deviation of a kind of coefficients is that of the largest restricted
likelihood, and coefficients are held by it."""

from dataclasses import replace

import numpy as np
import pytest

from symgen.identification.estimation.random_effects import LEAST, with_effects
from symgen.identification.estimation.term_selection import Chooser
from symgen.identification.estimation.triangular_factors import reduced
from symgen.identification.estimation.weighted_solve import Belief, TriangularSystem, solved
from symgen.identification.model.drive_columns import DriveColumn, DriveUnknowns, Joints
from tests.support.oracles import oracle

optimize = oracle("scipy.optimize")

JOINTS = 8


def chooser(deviation, seed=0, rows=40):
    """Joints whose forces depend on three common parameters and an offset each, of that deviation
    by the force; and equations and measurements."""
    random = np.random.default_rng(seed)
    a = random.normal(size=(rows, JOINTS, 3 + JOINTS))
    a[:, :, 3:] = np.eye(JOINTS)
    y = a[:, :, :3] @ np.array([1.0, -2.0, 0.5]) + 0.3 * random.normal(size=(rows, JOINTS))
    y += deviation * np.sqrt(np.mean(y**2, axis=0)) * random.normal(size=JOINTS)
    supports = tuple((0, 1, 2, 3 + j) for j in range(JOINTS))
    system = TriangularSystem(reduced(a, y, supports), supports, 3 + JOINTS)
    eye = np.eye(JOINTS)
    joints = Joints(tuple(f"j{k}" for k in range(JOINTS)), eye, eye, np.zeros(JOINTS))
    drives = DriveUnknowns(
        joints, tuple(DriveColumn(k, "offset") for k in range(JOINTS)), np.zeros(JOINTS)
    )
    factor = np.zeros((3 + JOINTS, 3 + JOINTS))
    factor[3:, 3:] = np.diag(1 / np.sqrt(np.mean(y**2, axis=0)))
    return Chooser(system, drives, Belief(factor, np.zeros(3 + JOINTS))), a, y


def likelihood(made, a, y, scale):
    """Minus twice the logarithm of the restricted likelihood, by the whole covariance of the
    measurements (Patterson & Thompson 1971)."""
    deviations = np.array(made.deviations)
    flat = a.reshape(-1, a.shape[2])
    spread = scale / np.diag(made.belief.factor)[3:]
    v = np.diag(np.tile(deviations**2, len(a))) + (flat[:, 3:] * spread**2) @ flat[:, 3:].T
    x, z = flat[:, :3], y.ravel()
    inverse = np.linalg.inv(v)
    gram = x.T @ inverse @ x
    left = z - x @ np.linalg.solve(gram, x.T @ inverse @ z)
    return np.linalg.slogdet(v)[1] + np.linalg.slogdet(gram)[1] + left @ inverse @ left


@pytest.mark.parametrize("deviation", [0.1, 0.5])
def test_the_deviation_is_that_of_the_largest_restricted_likelihood(deviation):
    made, a, y = chooser(deviation)
    held, ((name, scale),) = with_effects(made, {(k, "offset"): k for k in range(JOINTS)})
    best = optimize.minimize_scalar(lambda s: likelihood(made, a, y, s), bounds=(1e-3, 1.0)).x
    assert name == "offsets" and scale == pytest.approx(best, rel=0.1)
    assert np.diag(held.belief.factor)[3:] == pytest.approx(np.diag(made.belief.factor)[3:] / scale)


def test_what_is_not_there_is_held_near_0():
    made, *_ = chooser(0.0, rows=10)
    held, ((_, scale),) = with_effects(made, {(k, "offset"): k for k in range(JOINTS)})
    assert LEAST <= scale < 0.1
    free, bound = (solved(made.system, made.deviations, one.belief)[0][3:] for one in (made, held))
    assert np.linalg.norm(bound) < 0.5 * np.linalg.norm(free)


def test_without_a_belief_nothing_is_held():
    made, *_ = chooser(0.1)
    assert with_effects(replace(made, belief=None), {})[1] == ()
