"""Frames, energies, centre of mass and momenta: laws on random trees, Pinocchio on public
robots."""

import numpy as np
import pytest

from symgen.algorithms import energies, kinematics
from symgen.algorithms.energies import (
    centroidal_momentum_matrix,
    com,
    com_jacobian,
    kinetic_energy,
    momentum,
)
from symgen.algorithms.kinematics import frame_pose
from symgen.algorithms.newton_euler import gravity
from symgen.errors import OptionError
from symgen.mechanics.parameters import REGROUPINGS, WHOLE, canonical_model
from symgen.reading.assemble import load
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace
from tests.support.public_robots import example_robot
from tests.support.random_trees import RANDOM, REAL, ROBOTS, STEP, model
from tests.support.states import close, random_states
from tests.support.tree_energies import derivative, frames, inertia_and_potential

robots = pytest.mark.parametrize("name", RANDOM + REAL)
REFERENCES = ("body", "world", "aligned")
UR5, TALOS = "ur_description/urdf/ur5_robot.urdf", "talos_data/robots/talos_reduced.urdf"


def run(algorithm, arm, *arrays, **options):
    """An algorithm on complex numbers; the real part where the inputs are real."""
    found = algorithm(arm, *([complex(x) for x in a] for a in arrays), **options)
    values = [
        np.array([complex(x) for x in y]) for y in (found if isinstance(found, tuple) else (found,))
    ]
    real = all(np.isrealobj(a) for a in arrays)
    values = [v.real if real else v for v in values]
    return tuple(values) if isinstance(found, tuple) else values[0]


def jacobian(arm, reference, q, link):
    return run(getattr(kinematics, f"frame_jacobian_{reference}"), arm, q, link=link).reshape(6, -1)


def links(robot):
    """Every link with its body and its pose on it."""
    fixed = [(0, link) for link in robot.base]
    return fixed + [(i, link) for i, body in enumerate(robot.bodies, 1) for link in body.links]


# -- frames ----------------------------------------------------------------------------------------


@robots
def test_poses_of_all_links(name):
    robot = model(name)
    arm, (q, _) = canonical_model(robot, regrouping=WHOLE), random_states(robot.dof, 2, seed=4)
    at = frames(robot, q)
    for i, link in links(robot):
        turn, place = run(frame_pose, arm, q, link=link.name)
        close(turn.reshape(3, 3), at[i][0] @ np.array(link.pose.rotation))
        close(place, at[i][1] + at[i][0] @ np.array(link.pose.position))


@robots
def test_jacobians_times_velocity_are_the_rates_of_the_pose(name):
    robot = model(name)
    arm, (q, qd) = canonical_model(robot, regrouping=WHOLE), random_states(robot.dof, 2, seed=4)
    for _, link in links(robot)[:: max(1, robot.dof // 4)]:
        turn, place = run(frame_pose, arm, q, link=link.name)
        moved = run(frame_pose, arm, q + 1j * STEP * qd, link=link.name)
        turning = np.imag(moved[0]).reshape(3, 3) / STEP @ turn.reshape(3, 3).T
        spin = np.array([turning[2, 1], turning[0, 2], turning[1, 0]])
        speed = np.imag(moved[1]) / STEP
        back = turn.reshape(3, 3).T
        close(jacobian(arm, "aligned", q, link.name) @ qd, np.concatenate([speed, spin]))
        close(jacobian(arm, "body", q, link.name) @ qd, np.concatenate([back @ speed, back @ spin]))
        close(
            jacobian(arm, "world", q, link.name) @ qd,
            np.concatenate([speed - np.cross(spin, place), spin]),
        )


@robots
@pytest.mark.parametrize("reference", REFERENCES)
def test_rates_of_jacobians(name, reference):
    robot = model(name)
    arm, (q, qd) = canonical_model(robot, regrouping=WHOLE), random_states(robot.dof, 2, seed=4)
    for _, link in links(robot)[:: max(1, robot.dof // 4)]:
        rate = np.imag(jacobian(arm, reference, q + 1j * STEP * qd, link.name)) / STEP
        found = run(
            getattr(kinematics, f"frame_jacobian_rate_{reference}"), arm, q, qd, link=link.name
        )
        close(found, rate @ qd)


# -- energies, centre of mass, momenta -------------------------------------------------------------


@robots
@pytest.mark.parametrize("regrouping", REGROUPINGS)
def test_kinetic_energy_does_not_depend_on_the_regrouping(name, regrouping):
    robot = model(name)
    q, qd = random_states(robot.dof, 2, seed=4)
    mass = inertia_and_potential(robot, q)[0].real
    close(
        run(kinetic_energy, canonical_model(robot, regrouping=regrouping), q, qd),
        np.array([0.5 * qd @ mass @ qd]),
    )


@robots
def test_potential_energy(name):
    robot = model(name)
    arm, (q, _) = canonical_model(robot, regrouping=WHOLE), random_states(robot.dof, 2, seed=4)
    close(
        run(energies.potential_energy, arm, q), np.array([inertia_and_potential(robot, q)[1].real])
    )
    slope = [
        derivative(lambda x: run(energies.potential_energy, arm, x)[0], q, e)
        for e in np.eye(robot.dof)
    ]
    close(np.array(slope), run(gravity, canonical_model(robot), q))


@robots
def test_centre_of_mass_and_its_jacobian(name):
    robot = model(name)
    arm, (q, _) = canonical_model(robot, regrouping=WHOLE), random_states(robot.dof, 2, seed=4)
    at, mass, first = frames(robot, q), 0.0, np.zeros(3)
    for i, link in links(robot):
        if i and link.parameters:
            turn = at[i][0] @ np.array(link.pose.rotation)
            origin = at[i][1] + at[i][0] @ np.array(link.pose.position)
            mass, first = (
                mass + link.parameters[0],
                first + link.parameters[0] * origin + turn @ link.parameters[1:4],
            )
    close(run(com, arm, q), first / mass)
    slopes = [derivative(lambda x: run(com, arm, x), q, e) for e in np.eye(robot.dof)]
    close(run(com_jacobian, arm, q).reshape(3, -1), np.array(slopes).T)


@robots
def test_momentum_about_root_and_centre_of_mass(name):
    robot = model(name)
    arm, (q, qd) = canonical_model(robot, regrouping=WHOLE), random_states(robot.dof, 2, seed=4)
    about_root = run(momentum, arm, q, qd)
    about_centre = run(centroidal_momentum_matrix, arm, q).reshape(6, -1) @ qd
    close(about_centre[:3], about_root[:3])
    close(about_centre[3:], about_root[3:] - np.cross(run(com, arm, q), about_root[:3]))
    for regrouping in REGROUPINGS:
        close(run(momentum, canonical_model(robot, regrouping=regrouping), q, qd), about_root)


# -- Pinocchio -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ur5.urdf", "quadruped.urdf", UR5, TALOS])
def test_pinocchio_agrees(name):
    pin = pytest.importorskip("pinocchio")
    path = ROBOTS / name if (ROBOTS / name).exists() else example_robot(name)
    robot = load(path, snap_angles=0.0).model
    judge = pin.buildModelFromUrdf(str(path))
    data, arm = judge.createData(), canonical_model(robot, regrouping=WHOLE)
    order = [judge.getJointId(joint) - 1 for joint in robot.joint_names]
    mine, theirs = random_states(robot.dof, 2, seed=4), np.empty((2, robot.dof))
    theirs[:, order] = mine
    (q, qd), (tq, tqd) = mine, theirs
    pin.computeJointJacobiansTimeVariation(judge, data, tq, tqd)
    pin.updateFramePlacements(judge, data)
    for _, link in links(robot):
        frame = judge.getFrameId(link.name)
        turn, place = run(frame_pose, arm, q, link=link.name)
        close(turn.reshape(3, 3), data.oMf[frame].rotation)
        close(place, data.oMf[frame].translation)
        for reference, axes in zip(
            REFERENCES, (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED), strict=True
        ):
            close(
                jacobian(arm, reference, q, link.name),
                pin.getFrameJacobian(judge, data, frame, axes)[:, order],
            )
            rate = run(
                getattr(kinematics, f"frame_jacobian_rate_{reference}"), arm, q, qd, link=link.name
            )
            close(rate, pin.getFrameJacobianTimeVariation(judge, data, frame, axes) @ tqd)
    close(
        run(kinetic_energy, arm, q, qd), np.array([pin.computeKineticEnergy(judge, data, tq, tqd)])
    )
    close(
        run(energies.potential_energy, arm, q) - run(energies.potential_energy, arm, 0 * q),
        np.array(
            [
                pin.computePotentialEnergy(judge, data, tq)
                - pin.computePotentialEnergy(judge, data, 0 * tq)
            ]
        ),
    )
    judge.inertias[0] = pin.Inertia.Zero()  # links that do not move have no part in ours
    close(
        run(centroidal_momentum_matrix, arm, q).reshape(6, -1),
        pin.computeCentroidalMap(judge, data, tq)[:, order],
    )
    close(run(com, arm, q), pin.centerOfMass(judge, data, tq))
    close(
        run(com_jacobian, arm, q).reshape(3, -1),
        pin.jacobianCenterOfMass(judge, data, tq)[:, order],
    )


# -- traced ---------------------------------------------------------------------------------------


def wanted(quantity, robot):
    return FunctionRequest.parse(
        f"{quantity}:{robot.bodies[-1].links[-1].name}"
        if quantity.startswith("frame")
        else quantity
    )


@pytest.mark.parametrize(
    "quantity", ["com", "com_jacobian", "centroidal_momentum_matrix", "potential_energy"]
)
def test_parameters_of_the_user_at_run_time_give_the_numbers_of_the_file(quantity):
    robot = model("tree 0")
    open_robot = ParametricModel(robot, (robot.bodies[1].name, robot.bodies[3].links[0].name))
    (q, _) = random_states(robot.dof, 2, seed=4)
    there, here = (
        trace(open_robot, wanted(quantity, robot)),
        trace(ParametricModel(robot), wanted(quantity, robot)),
    )
    assert there.inputs == ("q", "pi")
    user = [x for ten in open_robot.blocks.values() for x in ten]
    found, closed = there.run(q=q.tolist(), pi=user), here.run(q=q.tolist())
    for output in closed:
        close(
            np.array([float(x) for x in found[output]]),
            np.array([float(x) for x in closed[output]]),
        )


def test_a_quantity_of_a_link_is_asked_for_by_the_name_of_the_link():
    function = trace(ParametricModel(model("ur5")), FunctionRequest.parse("frame_pose:flange"))
    assert function.name == "frame_pose_flange"
    assert [out.name for out in function.program.outputs] == ["R_flange", "p_flange"]
    both = trace(
        ParametricModel(model("ur5")),
        FunctionRequest.parse("ends=frame_pose:flange+frame_pose:link5"),
    )
    assert len(both.program.outputs) == 4


@pytest.mark.parametrize(
    "text, problem",
    [
        ("frame_pose", "frame_pose is a quantity of a link; name the link, as in frame_pose:LINK"),
        ("gravity:flange", "no quantity is called 'gravity:flange'"),
        ("frame_pose:nose", "no link is called 'nose'; there are "),
    ],
)
def test_errors_say_what_to_write(text, problem):
    with pytest.raises(OptionError, match=problem):
        trace(ParametricModel(model("ur5")), FunctionRequest.parse(text))


COUNTS = {
    "com": 44,
    "com_jacobian": 102,
    "centroidal_momentum_matrix": 326,
    "kinetic_energy": 157,
    "momentum": 220,
    "potential_energy": 28,
    "frame_pose:flange": 80,
    "frame_jacobian_body:flange": 109,
    "frame_jacobian_world:flange": 77,
    "frame_jacobian_aligned:flange": 96,
    "frame_jacobian_rate_body:flange": 211,
}
"""All operations for the UR5 of the library."""


@pytest.mark.parametrize("quantity", COUNTS)
def test_operation_counts(quantity):
    found = trace(ParametricModel(model("ur5")), FunctionRequest.parse(quantity)).counts.total
    assert found <= COUNTS[quantity], f"{quantity}: {found} exceeds {COUNTS[quantity]}"
