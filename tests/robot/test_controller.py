"""Controllers with their state in Python, beside the functions that they are made of."""

import numpy as np
import pytest

import symgen
from symgen.algorithms.controllers import CONTROLLERS
from symgen.proof.controller_simulation import SAMPLE_TIME, controller_of, record
from symgen.reading.assemble import load
from symgen.tracing import robot as tracing
from symgen.tracing.request import FunctionRequest
from symgen.tracing.trace import trace
from tests.support.random_trees import ROBOTS

ROBOT = symgen.Robot(ROBOTS / "pendulum.urdf")
GAINS = {"k_p": 10.0, "k_d": 2.0, "k_i": 1.0, "limit": 50.0}
AT = {"q": [0.1, 0.2], "qd": [1.0, -1.0]}


@pytest.mark.parametrize(
    "name",
    ["computed_torque", "momentum_observer", "adaptive_slotine_li", "recursive_least_squares"],
)
def test_it_replays_the_loop_that_was_recorded(name):
    one = tracing.ParametricModel(load(ROBOTS / "pendulum.urdf").model)
    row = CONTROLLERS[name]
    found = record(one, controller_of(one, row, trace(one, FunctionRequest.parse(name))))
    twin = ROBOT.controller(name, found.gains)
    for sample in range(len(found.measured["q"])):
        now = {key: rows[sample] for key, rows in found.measured.items()}
        timed = {} if name == "recursive_least_squares" else {"h": SAMPLE_TIME}
        out = twin.step(**now, **timed)
    last = next(rows[-1] for key, rows in found.wanted.items() if not key.endswith("_next"))
    assert np.allclose(out, last, rtol=1e-9, atol=1e-9 * max(map(abs, last)))


def test_reset_starts_anew():
    twin = ROBOT.controller("momentum_observer", gain=50.0)
    first = [twin.step(**AT, tau=[1.0, 2.0], h=0.001) for _ in range(3)]
    twin.reset()
    again = [twin.step(**AT, tau=[1.0, 2.0], h=0.001) for _ in range(3)]
    assert np.array_equal(first, again) and not np.array_equal(first[0], first[2])


def test_what_is_not_finite_changes_nothing():
    twin = ROBOT.controller("momentum_observer", gain=50.0)
    twin.step(**AT, tau=[1.0, 2.0], h=0.001)
    before = {name: x.copy() for name, x in twin.state.items()}
    with pytest.raises(ArithmeticError, match="not finite"):
        twin.step(q=[np.nan, 0.0], qd=AT["qd"], tau=[1.0, 2.0], h=0.001)
    assert all(np.array_equal(before[name], x) for name, x in twin.state.items())


@pytest.mark.parametrize(
    "name, gains, sentence",
    [
        ("pid", {}, "no controller is called 'pid'"),
        ("momentum_observer", {}, "has a gain gain"),
        ("momentum_observer", {"gain": 1.0, "k_p": 2.0}, "has no gain k_p"),
        ("momentum_observer", {"gain": [1.0, 2.0, 3.0]}, "2 numbers or one, not 3"),
    ],
)
def test_what_cannot_be_used_is_said(name, gains, sentence):
    with pytest.raises(symgen.SymgenError, match=sentence):
        ROBOT.controller(name, gains)


def test_a_step_takes_all_by_name():
    with pytest.raises(TypeError, match="takes q, qd, h, q_ref, qd_ref, qdd_ref by name"):
        ROBOT.controller("computed_torque", GAINS).step(**AT)


def test_factors_of_the_covariance_go_in_as_they_come_out():
    """P = U D U^T is what batch least squares have: (P0^-1 + sum Y^T Y)^-1."""
    twin, random = ROBOT.controller("recursive_least_squares", forget=1.0), np.random.default_rng(0)
    regressor = ROBOT.compile("base_regressor").base_regressor
    seen = np.eye(6) / 100.0
    for _ in range(5):
        q, qd, qdd, tau = random.uniform(-2, 2, (4, 2))
        twin.step(q=q, qd=qd, qdd=qdd, tau=tau)
        y = regressor(q, qd, qdd)
        seen += y.T @ y
    u = np.zeros((6, 6))
    u[np.tril_indices(6)] = twin.state["P"]
    d, u = np.diag(u).copy(), u.T.copy()
    np.fill_diagonal(u, 1.0)
    assert np.allclose((u * d) @ u.T @ seen, np.eye(6), atol=1e-9)
