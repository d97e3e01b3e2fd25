"""Other frames for random robots, which no torque may notice, and the robots' energies.

Joint by joint in world axes, on 3x3 NumPy matrices of floats or complex numbers: no canonical
frames, no pseudo-inertia, no regrouping."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

from symgen.mechanics.model import Body, Link, RigidBodyModel
from symgen.mechanics.spatial import IDENTITY, Pose
from symgen.numbers.scalar import ZERO
from tests.support.random_trees import STEP, Array, anywhere, cross, rotation


def with_moved_root(robot: RigidBodyModel, where: Pose) -> RigidBodyModel:
    """The same robot and gravity seen from another root frame."""
    bodies = tuple(
        replace(b, pose=where.inverse @ b.pose) if b.parent == 0 else b for b in robot.bodies
    )
    return replace(robot, bodies=bodies, gravity=Pose(where.inverse.rotation).rotate(robot.gravity))


def with_moved_frames(robot: RigidBodyModel, rng: Random) -> RigidBodyModel:
    """The same robot with every body's frame turned, and moved along its axis (anywhere if it only
    slides)."""
    moves = [Pose()]
    for body in robot.bodies:
        move = anywhere(rng)
        if body.freedom.turn is not ZERO:
            x, y, z = (0.3 * a for a in body.joint.axis)
            move = Pose(move.rotation, (x, y, z))
        moves.append(move)
    return replace(
        robot,
        bodies=tuple(_moved(b, moves[b.parent], moves[i]) for i, b in enumerate(robot.bodies, 1)),
    )


def _moved(body: Body, parent: Pose, own: Pose) -> Body:
    back = own.inverse
    joint = replace(body.joint, axis=Pose(back.rotation).rotate(body.joint.axis))
    seats = tuple(replace(link, pose=back @ link.pose) for link in body.links)
    return Body(
        joint, body.parent, parent.inverse @ body.pose @ own, (Link(f"{body.name} frame"), *seats)
    )


def frames(robot: RigidBodyModel, q: Array) -> dict[int, tuple[Array, Array, Array]]:
    """Rotation, origin and joint axis of each body in root axes."""
    found = {0: (np.array(IDENTITY), np.zeros(3), np.zeros(3))}
    for i in robot.outward:
        body = robot.body(i)
        turn, origin, _ = found[body.parent]
        origin = origin + turn @ np.array(body.pose.position)
        turn, local = turn @ np.array(body.pose.rotation), np.array(body.joint.axis)
        axis = turn @ local
        moved = {
            "revolute": (turn @ rotation(local, q[i - 1]), origin),
            "prismatic": (turn, origin + axis * q[i - 1]),
        }
        found[i] = (*moved[body.joint.kind], axis)
    return found


def _jacobians(
    robot: RigidBodyModel, at: dict[int, Any], i: int, point: Array
) -> tuple[Array, Array]:
    """Velocity of a point of body `i` and its angular velocity, for unit rates of the joints."""
    linear, angular = (np.zeros((3, robot.dof), complex) for _ in range(2))
    while i:
        _, origin, axis = at[i]
        if robot.body(i).joint.kind == "revolute":
            linear[:, i - 1], angular[:, i - 1] = np.cross(axis, point - origin), axis
        else:
            linear[:, i - 1] = axis
        i = robot.body(i).parent
    return linear, angular


def inertia_and_potential(robot: RigidBodyModel, q: Array) -> tuple[Array, Any]:
    """M(q) as ∑ Jᵀ I J over links, and the potential energy of the moving links."""
    at = frames(robot, q)
    mass, potential = np.zeros((robot.dof, robot.dof), complex), 0.0
    for i, body in enumerate(robot.bodies, 1):
        for link in body.links:
            if link.parameters is None:
                continue
            m, hx, hy, hz, xx, xy, xz, yy, yz, zz = link.parameters
            turn = at[i][0] @ np.array(link.pose.rotation)
            origin = at[i][1] + at[i][0] @ np.array(link.pose.position)
            h = turn @ np.array([hx, hy, hz])
            tensor = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
            v, w = _jacobians(robot, at, i, origin)
            mixed = v.T @ cross(h) @ w
            mass += m * v.T @ v - mixed - mixed.T + w.T @ tensor @ w
            potential = potential - np.array(robot.gravity) @ (m * origin + h)
    return mass, potential


def derivative(f: Callable[[Array], Any], x: Array, direction: Array) -> Array:
    """Along `direction`, by the complex step."""
    return np.imag(f(x + 1j * STEP * direction)) / STEP


def lagrange(robot: RigidBodyModel, q: Array, qd: Array, qdd: Array) -> Array:
    """tau = d/dt ∂T/∂q̇ - ∂T/∂q + ∂V/∂q."""
    n = robot.dof

    def momentum(x: Array) -> Array:
        return inertia_and_potential(robot, x[:n])[0] @ x[n:]

    def lagrangian(x: Array) -> Any:
        mass, potential = inertia_and_potential(robot, x)
        return 0.5 * qd @ mass @ qd - potential

    rate = derivative(momentum, np.concatenate([q, qd]), np.concatenate([qd, qdd]))
    return rate - np.array([derivative(lagrangian, q, e) for e in np.eye(n)])
