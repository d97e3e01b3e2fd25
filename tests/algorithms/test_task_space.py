"""Frames, momenta and inertias as controllers see them, against Pinocchio."""

import numpy as np
import pytest

from tests.support.pinocchio_robots import NAMES, pair, states
from tests.support.states import close, run


def seen(name, *inputs):
    """A robot, Pinocchio's model with its data, a state, and the last link that both have."""
    pin = pytest.importorskip("pinocchio")
    robot, judge = pair(name)
    links = {link.name for body in robot.model.bodies for link in body.links}
    frames = [f.name for f in judge.frames if f.type == pin.FrameType.BODY and f.name in links]
    return pin, robot, judge, judge.createData(), states(name, *inputs), frames[-1]


AXES = {"body": "LOCAL", "world": "WORLD", "aligned": "LOCAL_WORLD_ALIGNED"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("axes, theirs", AXES.items())
def test_frames(name, axes, theirs):
    pin, robot, judge, data, x, link = seen(name, "qd", "qdd")
    at, frame = judge.getFrameId(link), getattr(pin, theirs)
    pin.forwardKinematics(judge, data, x["q"], x["qd"], x["qdd"])
    pin.computeJointJacobiansTimeVariation(judge, data, x["q"], x["qd"])
    pin.updateFramePlacements(judge, data)

    def found(quantity):
        (values,) = run(robot, f"{quantity}_{axes}:{link}", x).values()
        return values

    close(found("frame_velocity"), pin.getFrameVelocity(judge, data, at, frame).vector)
    if axes == "aligned":
        theirs = pin.getFrameClassicalAcceleration(judge, data, at, frame)
    else:
        theirs = pin.getFrameAcceleration(judge, data, at, frame)
    close(found("frame_acceleration"), theirs.vector)
    rate = pin.getFrameJacobianTimeVariation(judge, data, at, frame)
    close(found("frame_jacobian_dot").reshape(6, -1), rate)
    hessian = found("frame_hessian").reshape(6, judge.nv, judge.nv)
    close(np.einsum("ijk,k->ij", hessian, x["qd"]), rate)
    if axes == "body":
        (mine,) = run(robot, f"frame_acceleration_classical:{link}", x).values()
        close(mine, pin.getFrameClassicalAcceleration(judge, data, at, frame).vector)


@pytest.mark.parametrize("name", NAMES)
def test_quaternions_of_frames(name):
    pin, robot, judge, data, x, link = seen(name)
    pin.framesForwardKinematics(judge, data, x["q"])
    wanted = pin.Quaternion(data.oMf[judge.getFrameId(link)].rotation).coeffs()
    wanted = wanted * np.sign(wanted[3])
    (xyzw,) = run(robot, f"frame_quaternion_xyzw:{link}", x).values()
    (wxyz,) = run(robot, f"frame_quaternion:{link}", x).values()
    close(xyzw, wanted)
    close(wxyz, np.roll(wanted, 1))


@pytest.mark.parametrize("name", NAMES)
def test_momenta(name):
    pin, robot, judge, data, x, _ = seen(name, "qd")
    pin.dccrba(judge, data, x["q"], x["qd"])
    grounded = np.array(data.dAg)
    if NAMES[name] == "fixed":
        close(run(robot, "centroidal_momentum_rate", x)["A_dot"].reshape(6, -1), grounded)
    found = run(robot, "centroidal_momentum_rate", x)
    close(found["A_dot"].reshape(6, -1), grounded)
    close(found["Ad_qd"], grounded @ x["qd"])
    close(run(robot, "composite_inertia", x)["I_c"].reshape(3, 3), np.array(data.Ig.inertia))
    mass = pin.computeTotalMass(judge)
    close(run(robot, "com_jacobian_rate", x)["Jd_c"].reshape(3, -1), grounded[:3] / mass)


@pytest.mark.parametrize("name", ["ur5", "panda_arm", "quadruped"])
@pytest.mark.parametrize("damping", [0.0, 0.1])
def test_operational_space(name, damping):
    pin, robot, judge, data, x, link = seen(name, "qd")
    x["damping"] = [damping]
    at, frame = judge.getFrameId(link), pin.LOCAL_WORLD_ALIGNED
    jacobian = pin.computeFrameJacobian(judge, data, x["q"], at, frame)
    inverse = pin.computeMinverse(judge, data, x["q"])
    inverse = np.triu(inverse) + np.triu(inverse, 1).T
    weighed = jacobian @ inverse
    felt = np.linalg.inv(weighed @ jacobian.T + damping**2 * np.eye(6))
    found = run(robot, f"operational_space_inertia:{link}", x)
    close(next(iter(found.values())).reshape(6, 6), felt, 1e-8)
    (bar,) = run(robot, f"dynamically_consistent_inverse:{link}", x).values()
    close(bar.reshape(-1, 6), weighed.T @ felt, 1e-8)
    pin.forwardKinematics(judge, data, x["q"], x["qd"], 0 * x["qd"])
    change = pin.getFrameClassicalAcceleration(judge, data, at, frame).vector
    bias = weighed @ pin.nonLinearEffects(judge, data, x["q"], x["qd"])
    (mine,) = run(robot, f"operational_space_bias:{link}", x).values()
    close(mine, felt @ (bias - change), 1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_slopes_of_the_centroidal_momentum_and_the_inverse_mass_matrix(name):
    pin, robot, judge, data, x, _ = seen(name, "qd")

    def momentum(change):
        at = pin.integrate(judge, x["q"], change)
        return pin.computeCentroidalMomentum(judge, data, at, x["qd"]).vector.copy()

    steps = 1e-5 * np.eye(judge.nv)
    by_q = np.array([momentum(step) - momentum(-step) for step in steps]).T / 2e-5
    (mine,) = run(robot, "centroidal_momentum_gradient", x).values()
    close(mine.reshape(by_q.shape), by_q, 1e-8)
    inverse = np.triu(pin.computeMinverse(judge, data, x["q"]))
    inverse = inverse + np.triu(inverse, 1).T
    close(run(robot, "mass_matrix_inverse", x)["Minv"].reshape(inverse.shape), inverse, 1e-9)


@pytest.mark.parametrize("axes, theirs", [("body", "LOCAL"), ("aligned", "LOCAL_WORLD_ALIGNED")])
@pytest.mark.parametrize("name", NAMES)
def test_second_rates_of_jacobians(name, axes, theirs):
    """Against central differences in time of Pinocchio's first rate."""
    pin, robot, judge, data, x, link = seen(name, "qd", "qdd")
    at, frame, h = judge.getFrameId(link), getattr(pin, theirs), 1e-5

    def rate(t):
        qd = x["qd"] + t * x["qdd"]
        q = pin.integrate(judge, x["q"], t * x["qd"] + t * t / 2 * x["qdd"])
        pin.computeJointJacobiansTimeVariation(judge, data, q, qd)
        pin.updateFramePlacements(judge, data)
        return pin.getFrameJacobianTimeVariation(judge, data, at, frame)

    (found,) = run(robot, f"frame_jacobian_ddot_{axes}:{link}", x).values()
    close(found, ((rate(h) - rate(-h)) / (2 * h)).ravel(), 1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_the_coriolis_force_is_the_bias_without_gravity(name):
    pin, robot, judge, data, x, _ = seen(name, "qd")
    bias = pin.nonLinearEffects(judge, data, x["q"], x["qd"])
    weight = pin.computeGeneralizedGravity(judge, judge.createData(), x["q"])
    close(run(robot, "coriolis_force", x)["tau_c"], bias - weight)
