"""Kane's equations by SymPy's own mechanics for a double pendulum, against ours at random
states."""

import numpy as np
import sympy
from sympy.physics.mechanics import (
    KanesMethod,
    Point,
    ReferenceFrame,
    RigidBody,
    dynamicsymbols,
    inertia,
)

from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace
from tests.support.random_trees import model


def bodies(robot, angles, rates):
    """SymPy's frames, points and bodies of a chain of revolute joints, from the numbers of the
    model."""
    frame, origin, made = ReferenceFrame("N"), Point("O"), []
    world = frame
    origin.set_vel(world, 0)
    for k, body in enumerate(robot.bodies):
        axis = sum(
            (c * e for c, e in zip(body.joint.axis, (frame.x, frame.y, frame.z), strict=True)),
            0 * frame.x,
        )
        place = sum(
            (c * e for c, e in zip(body.pose.position, (frame.x, frame.y, frame.z), strict=True)),
            0 * frame.x,
        )
        joint = origin.locatenew(f"O{k}", place)
        if k:
            joint.v2pt_theory(origin, world, frame)
        else:
            joint.set_vel(world, 0)
        turned = frame.orientnew(f"B{k}", "Axis", [angles[k], axis])
        turned.set_ang_vel(frame, rates[k] * axis)
        made.append(rigid(body, joint, turned, world, k))
        frame, origin = turned, joint
    return world, made


def rigid(body, joint, frame, world, k):
    m, hx, hy, hz, *tensor = body.links[0].parameters
    axes = (frame.x, frame.y, frame.z)
    centre = joint.locatenew(
        f"C{k}", sum((h / m * e for h, e in zip((hx, hy, hz), axes, strict=True)), 0 * frame.x)
    )
    centre.v2pt_theory(joint, world, frame)
    xx, xy, xz, yy, yz, zz = tensor
    return RigidBody(f"R{k}", centre, frame, m, (inertia(frame, xx, yy, zz, xy, yz, xz), joint))


def test_forward_dynamics_of_the_pendulum_are_kane_s():
    robot = model("pendulum")
    q, u, tau = dynamicsymbols("q1:3"), dynamicsymbols("u1:3"), sympy.symbols("tau1:3")
    world, made = bodies(robot, q, u)
    weights = [(b.masscenter, -9.81 * b.mass * world.z) for b in made]
    axes = [b.frame.y for b in made]
    torques = [
        (made[0].frame, tau[0] * axes[0] - tau[1] * axes[1]),
        (made[1].frame, tau[1] * axes[1]),
    ]
    kane = KanesMethod(
        world, q_ind=q, u_ind=u, kd_eqs=[a.diff() - b for a, b in zip(q, u, strict=True)]
    )
    kane.kanes_equations(made, weights + torques)
    ours = trace(ParametricModel(robot), FunctionRequest.parse("forward_dynamics"))
    random = np.random.default_rng(0)
    for _ in range(3):
        state = random.uniform(-2, 2, (3, 2))
        numbers = dict(zip((*q, *u, *tau), state.ravel(), strict=True))
        matrix, forcing = (
            np.array(x.xreplace(numbers).evalf(), float) for x in (kane.mass_matrix, kane.forcing)
        )
        found = ours.run(q=state[0].tolist(), qd=state[1].tolist(), tau=state[2].tolist())["qdd"]
        assert np.allclose(
            np.linalg.solve(matrix, forcing).ravel(), np.array(found, float), rtol=1e-10
        )
