"""Laws of mechanics on random robots with every joint type and on the robots of the library."""

from dataclasses import replace
from itertools import pairwise
from random import Random

import numpy as np
import pytest

from symgen.algorithms.composite import mass_matrix
from symgen.algorithms.newton_euler import bias, gravity, inverse_dynamics
from symgen.mechanics.parameters import REGROUPINGS, canonical_model
from symgen.mechanics.spatial import IDENTITY, Pose, Vector
from symgen.mechanics.standard_joints import JOINT_TYPES
from tests.support.random_trees import RANDOM, REAL, anywhere, model
from tests.support.states import numbers
from tests.support.tree_energies import (
    derivative,
    inertia_and_potential,
    lagrange,
    with_moved_frames,
    with_moved_root,
)

TOLERANCE = 1e-12
robots = pytest.mark.parametrize("name", RANDOM + REAL)


def arrays(n, count, seed=1):
    return np.random.default_rng(seed).uniform(-2, 2, (count, n))


def tau(robot, *state, **options):
    """Joint forces of q, qd, qdd, straight from the algorithm on floats."""
    return numbers(
        inverse_dynamics(canonical_model(robot, **options), *(x.tolist() for x in state))
    )


def inertia(robot, q, **options):
    return numbers(mass_matrix(canonical_model(robot, **options), q.tolist())).reshape(
        robot.dof, robot.dof
    )


def agree(a, b, tolerance=TOLERANCE):
    """Entries equal relative to the largest."""
    assert np.abs(a - b).max() <= tolerance * np.abs(b).max()


def test_the_random_robots_have_every_joint_type_and_many_branches():
    kinds = {body.joint.kind for name in RANDOM for body in model(name).bodies}
    assert kinds == {"revolute", "prismatic"} <= set(JOINT_TYPES)
    assert any(
        len(model(name).children(i)) > 1 for name in RANDOM for i in range(1, model(name).dof)
    )
    assert any(len(model(name).children(0)) > 1 for name in RANDOM)
    assert any(body.parent > i for name in RANDOM for i, body in enumerate(model(name).bodies, 1))


# -- against energies computed another way ---------------------------------------------------------


@robots
def test_mass_matrix_is_that_of_the_kinetic_energy(name):
    robot = model(name)
    for q in arrays(robot.dof, 2):
        agree(inertia(robot, q), inertia_and_potential(robot, q)[0].real)


@robots
def test_mass_matrix_is_symmetric_and_positive_definite(name):
    robot = model(name)
    m = inertia(robot, *arrays(robot.dof, 1))
    assert (m == m.T).all()
    assert np.linalg.eigvalsh(m).min() > 0


@robots
def test_gravity_is_the_gradient_of_potential_energy(name):
    robot = model(name)
    (q,) = arrays(robot.dof, 1)
    slope = [
        derivative(lambda x: inertia_and_potential(robot, x)[1], q, e) for e in np.eye(robot.dof)
    ]
    weight = max(1.0, np.abs(slope).max())  # balanced robots feel no gravity at all
    assert (
        np.abs(numbers(gravity(canonical_model(robot), q.tolist())) - slope).max()
        <= TOLERANCE * weight
    )


@robots
def test_joint_forces_follow_lagrange(name):
    robot = model(name)
    state = arrays(robot.dof, 3)
    agree(tau(robot, *state), lagrange(robot, *state))


@robots
def test_power_of_joint_forces_is_the_rate_of_energy(name):
    robot = model(name)
    q, qd, qdd = arrays(robot.dof, 3)

    def energy(x):
        mass, potential = inertia_and_potential(robot, x[: robot.dof])
        return 0.5 * x[robot.dof :] @ mass @ x[robot.dof :] + potential

    rate = derivative(energy, np.concatenate([q, qd]), np.concatenate([qd, qdd]))
    forces = tau(robot, q, qd, qdd)
    assert abs(qd @ forces - rate) <= TOLERANCE * np.abs(qd * forces).sum()


# -- of the algorithms among themselves ------------------------------------------------------------


@robots
def test_joint_forces_are_linear_in_acceleration_with_the_mass_matrix(name):
    robot = model(name)
    q, qd, qdd = arrays(robot.dof, 3)
    agree(inertia(robot, q) @ qdd + tau(robot, q, qd, 0 * qdd), tau(robot, q, qd, qdd))


@robots
def test_bias_and_gravity_are_special_joint_forces(name):
    robot, of = model(name), canonical_model(model(name))
    q, qd = arrays(robot.dof, 2)
    still = 0 * q
    agree(numbers(bias(of, q.tolist(), qd.tolist())), tau(robot, q, qd, still))
    weight = np.abs(inertia(robot, q)).max() * 9.81
    assert (
        np.abs(numbers(gravity(of, q.tolist())) - tau(robot, q, still, still)).max()
        <= TOLERANCE * weight
    )


@robots
def test_velocity_forces_are_quadratic(name):
    robot = model(name)
    q, qd = arrays(robot.dof, 2)
    still = 0 * q
    once, thrice, hold = (tau(robot, q, k * qd, still) for k in (1, 3, 0))
    agree(9 * (once - hold) + hold, thrice)


# -- what no torque may notice ---------------------------------------------------------------------


@robots
def test_a_moved_root_frame_changes_nothing(name):
    robot, state = model(name), arrays(model(name).dof, 3)
    moved = with_moved_root(robot, anywhere(Random(7)))
    agree(tau(moved, *state), tau(robot, *state))
    agree(inertia(moved, state[0]), inertia(robot, state[0]))


@robots
def test_a_root_frame_far_away_leaves_the_compiled_robot_as_it_was(name):
    robot, far = model(name), Pose(IDENTITY, (4096.0, -8192.0, 1024.0))
    bodies = tuple(replace(b, pose=far @ b.pose) if b.parent == 0 else b for b in robot.bodies)
    moved, there = canonical_model(replace(robot, bodies=bodies)), canonical_model(robot)
    assert (moved.bodies, moved.gravity) == (there.bodies, there.gravity)


@robots
def test_moved_link_frames_change_nothing(name):
    robot, state = model(name), arrays(model(name).dof, 3)
    moved = with_moved_frames(robot, Random(7))
    agree(tau(moved, *state), tau(robot, *state))
    agree(inertia(moved, state[0]), inertia(robot, state[0]))


@pytest.mark.parametrize("name", [*RANDOM, "ur5"])
@pytest.mark.parametrize("tilt", [1e-9, 1e-7, 1e-5, 1e-3])
def test_gravity_nearly_along_a_base_axis_loses_no_digits(name, tilt):
    robot, state = model(name), arrays(model(name).dof, 3)
    first = next(robot.body(i) for i in robot.children(0))
    axis = np.array(first.pose.rotate(first.joint.axis))
    across = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
    pulled = replace(robot, gravity=tuple(float(x) for x in 9.81 * axis + tilt * across))
    agree(tau(pulled, *state), lagrange(pulled, *state), 1e-11)


@robots
def test_every_regrouping_gives_the_same_torques(name):
    robot, state = model(name), arrays(model(name).dof, 3)
    for one, other in pairwise(REGROUPINGS):
        agree(tau(robot, *state, regrouping=one), tau(robot, *state, regrouping=other))
        agree(inertia(robot, state[0], regrouping=one), inertia(robot, state[0], regrouping=other))


@robots
def test_gravity_given_at_run_time_is_gravity(name):
    robot, state = model(name), arrays(model(name).dof, 3)
    agree(tau(robot, *state, gravity=Vector(*robot.gravity)), tau(robot, *state))
