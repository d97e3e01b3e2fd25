"""Thrusters and derivatives in external inputs, against Pinocchio and the laws of verification."""

from functools import cache

import numpy as np
import pytest

import symgen
from symgen.errors import OptionError
from symgen.jobs.job import Job
from symgen.proof.laws import evaluate_law
from symgen.tracing.request import FunctionRequest
from symgen.tracing.trace import trace
from tests.support.oracles import oracle
from tests.support.states import close, run
from tests.support.tools import invoke, robot_file

pin = oracle("pinocchio")
FILE = robot_file("quadrotor")
RATIO = {"front": -0.016, "left": 0.016, "back": -0.016, "right": 0.016}
ROTORS = tuple(f"{name}:z:{ratio}" for name, ratio in RATIO.items())
TILTED = ("front:0,0.6,0.8:0.02", "frame:-x")
COUNTS = {
    "forward_dynamics": 278,
    "forward_dynamics_derivatives": 1144,
    "step_jacobians:euler": 2624,
}
"""Operations of the quadrotor with four thrusters."""


@cache
def robot(thrusters=ROTORS, wrenches=("left",), axes="link"):
    job = Job.of(
        FILE, base="floating", thrusters=thrusters, external_wrench=wrenches, wrench_axes=axes
    )
    return job.robot(job.load())


def state(of, seed=3):
    random = np.random.default_rng(seed)
    n = of.model.dof
    x = {name: random.uniform(-1, 1, n) for name in ("qd", "qdd", "tau")}
    x["q"] = random.uniform(-1, 1, n + 1)
    x["q"][3:7] /= np.linalg.norm(x["q"][3:7])
    x["wrench"] = random.uniform(-2, 2, 6 * len(of.wrenches))
    return x | {"thrust": random.uniform(0, 3, len(of.thrusters)), "h": np.array([0.01])}


def pinocchio_columns(x):
    """M, and the transposed Jacobians of the links by name, in link axes."""
    model = pin.buildModelFromUrdf(str(FILE), pin.JointModelFreeFlyer())
    data = model.createData()
    m = pin.crba(model, data, x["q"])
    jacobians = {
        name: pin.computeFrameJacobian(model, data, x["q"], model.getFrameId(name)).T.copy()
        for name in ("frame", *RATIO)
    }
    return np.triu(m) + np.triu(m, 1).T, jacobians


@pytest.mark.parametrize("thrusters", [ROTORS, TILTED])
def test_derivatives_in_external_inputs_are_those_of_pinocchio(thrusters):
    of = robot(thrusters)
    x = state(of)
    m, jacobians = pinocchio_columns(x)
    columns = []
    for thruster in of.thrusters:
        direction = [*thruster.axis, *(thruster.moment_ratio * e for e in thruster.axis)]
        columns.append(jacobians[thruster.link] @ direction)
    allocation, n = np.array(columns).T, of.model.dof
    forward = run(of, "forward_dynamics_derivatives", x)
    close(forward["dqdd_dw"].reshape(n, 6), np.linalg.solve(m, jacobians["left"]), 1e-10)
    close(forward["dqdd_dthrust"].reshape(n, -1), np.linalg.solve(m, allocation), 1e-10)
    inverse = run(of, "inverse_dynamics_derivatives", x)
    close(inverse["dtau_dthrust"].reshape(n, -1), -allocation)


@pytest.mark.parametrize("axes", ["link", "root"])
@pytest.mark.parametrize(
    "name",
    [
        "inverse_dynamics",
        "forward_dynamics",
        "inverse_dynamics_derivatives",
        "forward_dynamics_derivatives",
        "inverse_dynamics_hessian",
        "forward_dynamics_vjp",
        "step_jacobians:euler",
        pytest.param("step_jacobians:rk4", marks=pytest.mark.slow),
        "joint_wrench:front_spin",
    ],
)
def test_quantities_with_thrusts_have_their_laws(name, axes):
    of = robot(TILTED, axes=axes)
    (quantity,) = trace(of, FunctionRequest.parse(f"f={name}")).quantities
    x, random = state(of), np.random.default_rng(1)
    x |= {k: random.uniform(-1, 1, of.model.dof) for k in ("lam_tau", "lam_qdd")}
    found = run(of, name, x)
    wanted = evaluate_law(of, quantity, {k: v[None] for k, v in x.items()})
    assert set(found) == set(wanted)
    for output, values in wanted.items():
        close(found[output], values[0].astype(float), 1e-10)


def test_without_external_inputs_there_are_no_more_outputs():
    arm = symgen.Robot(robot_file("ur5"))
    outputs = [out.name for out in arm.trace("forward_dynamics_derivatives").program.outputs]
    assert outputs == ["dqdd_dq", "dqdd_dqd", "Minv"]
    pushed = arm.with_options(external_wrench=("link6",)).trace("step_jacobians:euler")
    assert [out.name for out in pushed.program.outputs] == ["A_euler", "B_euler", "B_w_euler"]


def test_generated_code_passes_its_self_test(tmp_path):
    options = [text for rotor in ROTORS for text in ("--thruster", rotor)]
    functions = ("forward_dynamics", "forward_dynamics_derivatives", "inverse_dynamics_derivatives")
    options += [text for name in functions for text in ("--quantity", name)]
    out = tmp_path / "out"
    made = invoke("generate", FILE, "-o", out, "--base", "floating", *options)
    assert made.exit_code == 0, made.stderr
    header = (out / "quadrotor.h").read_text()
    assert "thrust[0] acts on front along (0, 0, 1) with a moment of -0.016 m" in " ".join(
        header.replace("*", " ").split()
    )
    assert invoke("verify", out).exit_code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("front", "give LINK:AXIS or LINK:AXIS:RATIO"),
        ("front:w", "give LINK:AXIS or LINK:AXIS:RATIO"),
        ("front:z:nan", "give LINK:AXIS or LINK:AXIS:RATIO"),
        ("front:0,0,0", "the axis has length 0"),
        ("nose:z", "no link is called 'nose'"),
    ],
)
def test_a_thruster_that_cannot_be_is_refused(text, message):
    with pytest.raises(OptionError, match=message):
        symgen.Robot(FILE, base="floating", thrusters=(text,)).trace("forward_dynamics")


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name):
    of = robot(wrenches=())
    assert trace(of, FunctionRequest.parse(f"f={name}")).counts.total <= COUNTS[name]


def test_a_quadrotor_hovers_and_falls_in_a_simulation():
    """Thrusts that carry its weight hold it, and 1 N more lifts its 0.716 kg."""
    held = tuple((f"{name}_spin", 0.0) for name in RATIO)
    of = symgen.Robot(
        FILE, base="floating", thrusters=ROTORS, external_wrench=("frame",), lock=held
    )
    hover, mass = np.full(4, 0.716 * 9.81 / 4), 0.716
    start = [0.0, 0, 0, 0, 0, 0, 1]
    still = of.simulate(0.5, start, thrust=hover, times=[0.0, 0.5])
    assert np.allclose(still.q[1], start, atol=1e-9)
    pushed = of.simulate(
        0.5, start, thrust=lambda t, q, qd: hover, wrench=[0, 0, 1.0, 0, 0, 0], times=[0.0, 0.5]
    )
    assert np.allclose(pushed.q[1][:3], [0, 0, 0.125 / mass], atol=1e-6)
    falling = of.simulate(0.5, start, joint_wrenches=True, times=[0.0, 0.5])
    assert np.allclose(falling.q[1][2], -0.125 * 9.81, atol=1e-6)
    assert np.allclose(falling.joint_wrenches, 0, atol=1e-9)
    with pytest.raises(OptionError, match="simulate: thrust needs the option thrusters"):
        symgen.Robot(FILE).simulate(0.1, thrust=[1.0])
