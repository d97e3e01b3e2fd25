"""Adjoints and contracted second derivatives against Pinocchio, the complex step and the reversal
of tapes."""

import numpy as np
import pytest

from symgen.algorithms.newton_euler import inverse_dynamics
from symgen.compiler.passes import counts
from symgen.compiler.program import Program
from symgen.compiler.transforms import pullback
from symgen.mechanics.parameters import canonical_model
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace
from tests.support import every_joint, hamel
from tests.support.pinocchio_robots import NAMES, pair, states
from tests.support.random_trees import STEP, model
from tests.support.states import close, function, functions, run

BLOCKS = ("H_qq", "H_qqd", "H_qdqd", "H_qqdd")
FORWARD_BLOCKS = ("fwd_H_qq", "fwd_H_qqd", "fwd_H_qdqd", "fwd_H_qtau")


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_pinocchios_jacobians_contracted(name):
    pin = pytest.importorskip("pinocchio")
    robot, judge = pair(name)
    x = states(name, "qd", "qdd", "tau", "lam_tau", "lam_qdd")
    data = judge.createData()
    pin.computeRNEADerivatives(judge, data, x["q"], x["qd"], x["qdd"])
    mass = np.triu(data.M) + np.triu(data.M, 1).T
    found = run(robot, "inverse_dynamics_vjp", x)
    for output, by in zip(found, (data.dtau_dq, data.dtau_dv, mass), strict=True):
        close(found[output], x["lam_tau"] @ by)
    pin.computeABADerivatives(judge, data, x["q"], x["qd"], x["tau"])
    inverse = np.triu(data.Minv) + np.triu(data.Minv, 1).T
    found = run(robot, "forward_dynamics_vjp", x)
    for output, by in zip(found, (data.ddq_dq, data.ddq_dv, inverse), strict=True):
        close(found[output], x["lam_qdd"] @ by, 1e-9)


def inverse(pin, judge, data, q, qd, qdd):
    """∂τ/∂q, ∂τ/∂q̇ and M."""
    pin.computeRNEADerivatives(judge, data, q, qd, qdd)
    return data.dtau_dq, data.dtau_dv, np.triu(data.M) + np.triu(data.M, 1).T


def forward(pin, judge, data, q, qd, tau):
    """∂q̈/∂q, ∂q̈/∂q̇ and M⁻¹."""
    pin.computeABADerivatives(judge, data, q, qd, tau)
    return data.ddq_dq, data.ddq_dv, np.triu(data.Minv) + np.triu(data.Minv, 1).T


def slopes_of_pinocchio(judge, jacobians, q, qd, last, weights):
    """The blocks of a Hessian by central differences of Pinocchio's derivatives."""
    pin = pytest.importorskip("pinocchio")
    data, h = judge.createData(), 1e-5

    def gradients(by_q, by_qd):
        moved = pin.integrate(judge, q, by_q), qd + by_qd
        return [weights @ by for by in jacobians(pin, judge, data, *moved, last)]

    steps, still = np.eye(judge.nv) * h, np.zeros(judge.nv)
    in_q, in_qd = (
        np.array([np.subtract(gradients(*d), gradients(*(-x for x in d))) / (2 * h) for d in way])
        for way in ([(step, still) for step in steps], [(still, step) for step in steps])
    )
    return in_q[:, 0].T, in_qd[:, 0].T, in_qd[:, 1].T, in_q[:, 2]


SLOW = pytest.param("quadruped", marks=pytest.mark.slow)


@pytest.mark.parametrize("name", ["ur5", "panda_arm", SLOW])
@pytest.mark.parametrize("kind", ["inverse", "forward"])
def test_every_way_to_the_hessian_gives_the_slopes_of_pinocchios_derivatives(name, kind):
    robot, judge = pair(name)
    x = states(name, "qd", "qdd", "tau", "lam_tau", "lam_qdd")
    jacobians, blocks, given = {
        "inverse": (inverse, BLOCKS, ("q", "qd", "qdd", "lam_tau")),
        "forward": (forward, FORWARD_BLOCKS, ("q", "qd", "tau", "lam_qdd")),
    }[kind]
    wanted = slopes_of_pinocchio(judge, jacobians, *(x[key] for key in given))
    ways = functions(ParametricModel(robot.model), f"{kind}_dynamics_hessian")
    assert any("absolute" in way.formulation for way in ways) == (name != "panda_arm")
    for way in ways:
        got = way.run(**{key: x[key] for key in way.inputs})
        for block, by in zip(blocks, wanted, strict=True):
            close(np.array(got[block], float).reshape(by.shape), by, 1e-5)


def slope(robot, quantity, output, x, name, direction):
    """The derivative of an output along a velocity of an input by the complex step."""
    gradient, change = function(ParametricModel(robot.model), quantity), STEP * 1j * direction
    at = {key: np.array(x[key], complex) for key in gradient.inputs}
    at[name] = hamel.displaced(robot, x[name], change) if name == "q" else at[name] + change
    return np.array([complex(e).imag for e in gradient.run(**at)[output]]) / STEP


CASES = [
    ("inverse", "vjp", BLOCKS, ("q", "qd", "qdd")),
    ("forward", "fwd_vjp", FORWARD_BLOCKS, ("q", "qd", "tau")),
]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("everything", marks=pytest.mark.slow),
        pytest.param("new on floating", marks=pytest.mark.slow),
        "screw geared mimic",
    ],
)
@pytest.mark.parametrize("kind, gradient, blocks, inputs", CASES)
def test_hessians_are_slopes_of_gradients(name, kind, gradient, blocks, inputs):
    """Of every joint type; where displacements do not commute in the order that is said."""
    robot = every_joint.made(name)
    n, x = robot.model.dof, hamel.state(robot)
    x |= {"lam_tau": x["dq"], "lam_qdd": x["dtau"]}
    found = run(ParametricModel(robot.model), f"{kind}_dynamics_hessian", x)
    rows = (("q", "q"), ("q", "qd"), ("qd", "qd"), ("q", inputs[2]))
    d = np.random.default_rng(5).uniform(0.5, 1, n)  # every column counts
    for block, (first, second) in zip(blocks, rows, strict=True):
        along = slope(robot, f"{kind}_dynamics_vjp", f"{gradient}_{first}", x, second, d)
        close(found[block].reshape(n, n) @ d, along, 1e-8)


def test_coordinates_that_commute_have_symmetric_hessians():
    x = states("panda_arm", "qd", "qdd", "tau", "lam_tau", "lam_qdd")
    robot, _ = pair("panda_arm")
    for kind, blocks in (("inverse", BLOCKS), ("forward", FORWARD_BLOCKS)):
        found = run(robot, f"{kind}_dynamics_hessian", x)
        for block in (blocks[0], blocks[2]):
            h = found[block].reshape(7, 7)
            close(h, h.T)


def reversed_tape(name):
    """Operations of the gradient by reversal of the tape of inverse dynamics."""
    arm, program = canonical_model(model(name)), Program()
    n = arm.size
    q, qd, qdd, lam = (program.input(x, (n,)) for x in ("q", "qd", "qdd", "lam"))
    tau = inverse_dynamics(arm, q, qd, qdd)
    gradient = pullback([*zip(tau, lam, strict=True)], [*q, *qd, *qdd])
    program.output("vjp", (3 * n,), gradient)
    return counts(program).total


@pytest.mark.parametrize("name", ["ur5", "panda_arm", "humanoid25"])
def test_sweeps_take_no_more_than_the_reversed_tape(name):
    found = trace(
        ParametricModel(model(name)), FunctionRequest.parse("inverse_dynamics_vjp")
    ).counts.total
    assert found <= reversed_tape(name)
