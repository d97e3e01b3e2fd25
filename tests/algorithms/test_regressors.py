"""Regressors: linear in any parameters, equal to the dynamics, to Pinocchio and to the cases;
operation counts."""

import json
from pathlib import Path

import numpy as np
import pytest

from symgen.algorithms.composite import mass_matrix
from symgen.algorithms.coriolis import coriolis_matrix
from symgen.algorithms.energies import momentum
from symgen.algorithms.kinematics import frame_pose
from symgen.algorithms.newton_euler import gravity, inverse_dynamics
from symgen.algorithms.parameter_tensors import (
    kinetic_energy_regressor,
    momentum_regressor,
    potential_energy_regressor,
)
from symgen.algorithms.regressors import (
    base_regressor,
    regressor,
    slotine_li_base_regressor,
    slotine_li_regressor,
    wrench_regressor,
)
from symgen.errors import OptionError
from symgen.mechanics.model import PARAMETER_NAMES
from symgen.mechanics.parameters import WHOLE, canonical_model
from symgen.reading.assemble import load
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace
from tests.support.arms import Arm, entries
from tests.support.public_robots import example_robot
from tests.support.random_trees import RANDOM, REAL, ROBOTS, STEP, model
from tests.support.states import close, numbers
from tests.support.tree_energies import derivative, inertia_and_potential

FINGERS = [("panda_finger_joint1", 0.0), ("panda_finger_joint2", 0.0)]


UR5, PANDA = "ur_description/urdf/ur5_robot.urdf", "panda_description/urdf/panda.urdf"


TALOS = "talos_data/robots/talos_reduced.urdf"


robots = pytest.mark.parametrize("name", RANDOM + REAL)


def public(name):
    path = ROBOTS / name if (ROBOTS / name).exists() else example_robot(name)
    return load(path, lock=FINGERS if name == PANDA else ()).model


@robots
def test_the_regressor_times_any_parameters_is_the_joint_force(name):
    x = Arm(name)
    state = x.q, x.qd, x.qdd
    close(x.times(regressor, *state), numbers(inverse_dynamics(x.robot, *state)))


@robots
def test_the_base_regressor_times_the_base_parameters_is_the_joint_force(name):
    x = Arm(name)
    state = x.q, x.qd, x.qdd
    close(
        x.times(base_regressor, *state, parameters=x.beta),
        numbers(inverse_dynamics(x.robot, *state)),
        x.tolerance,
    )


def slotine_li(x):
    mass, coriolis = (
        numbers(algorithm(x.robot, *state)).reshape(x.n, x.n)
        for algorithm, state in ((mass_matrix, [x.q]), (coriolis_matrix, [x.q, x.qd]))
    )
    return mass @ x.qdd_r + coriolis @ x.qd_r + numbers(gravity(x.robot, x.q))


@robots
def test_slotine_li_regressors_are_those_of_the_coriolis_matrix(name):
    x = Arm(name)
    state = x.q, x.qd, x.qd_r, x.qdd_r
    close(x.times(slotine_li_regressor, *state), slotine_li(x))
    close(x.times(slotine_li_base_regressor, *state, parameters=x.beta), slotine_li(x), x.tolerance)


@robots
def test_slotine_li_at_the_true_velocity_is_the_regressor(name):
    x = Arm(name)
    one = numbers(slotine_li_regressor(x.whole, x.q, x.qd, x.qd, x.qdd))
    close(one, numbers(regressor(x.whole, x.q, x.qd, x.qdd)))


@robots
def test_momentum_and_energies(name):
    x = Arm(name)
    mass = numbers(mass_matrix(x.robot, x.q)).reshape(x.n, x.n)
    close(x.times(momentum_regressor, x.q, x.qd), mass @ x.qd)
    close(
        x.times(kinetic_energy_regressor, x.q, x.qd), np.array([0.5 * np.array(x.qd) @ mass @ x.qd])
    )
    of_file = np.array([p for body in x.model.bodies for p in body.links[0].parameters])
    potential = inertia_and_potential(x.model, np.array(x.q))[1]
    close(x.times(potential_energy_regressor, x.q, parameters=of_file), np.array([potential.real]))


@robots
def test_derivatives_of_the_energies_are_the_other_regressors(name):
    """By the complex step: ∂T/∂q̇ is the momentum, ∂V/∂q the joint force at rest."""
    x = Arm(name)
    q, qd, still = np.array(x.q), np.array(x.qd), np.zeros(x.n)
    momenta = numbers(momentum_regressor(x.whole, x.q, x.qd)).reshape(x.n, -1)
    at_rest = numbers(regressor(x.whole, x.q, still.tolist(), still.tolist())).reshape(x.n, -1)
    for j, e in enumerate(np.eye(x.n)):
        close(
            derivative(lambda v: entries(kinetic_energy_regressor, x.whole, q, v), qd, e),
            momenta[j],
        )
        close(
            derivative(lambda v: entries(potential_energy_regressor, x.whole, v), q, e), at_rest[j]
        )


@robots
def test_the_wrench_has_the_force_of_the_joint(name):
    x = Arm(name)
    tau = numbers(inverse_dynamics(x.robot, x.q, x.qd, x.qdd))
    for k, body in enumerate(x.model.bodies):
        wrench = (
            numbers(wrench_regressor(x.whole, x.q, x.qd, x.qdd, link=body.name)).reshape(6, -1)
            @ x.pi
        )
        part = wrench[:3] if body.joint.kind == "prismatic" else wrench[3:]
        assert part @ np.array(body.joint.axis) == pytest.approx(tau[k], rel=1e-10, abs=1e-10)


@robots
def test_the_wrench_on_all_is_the_rate_of_momentum_less_gravity(name):
    """About the root's origin, for robots that hang on one joint."""
    x = Arm(name)
    if len(x.model.children(0)) > 1:
        return
    first = x.model.body(next(x.model.outward))
    wrench = (
        numbers(wrench_regressor(x.whole, x.q, x.qd, x.qdd, link=first.name)).reshape(6, -1) @ x.pi
    )
    state, rate = np.array([x.q, x.qd]), np.array([x.qd, x.qdd])
    change = np.imag(entries(momentum, x.robot, *(state + 1j * STEP * rate))) / STEP
    still = 0 * state[1]
    weight = numbers(
        wrench_regressor(x.whole, x.q, still.tolist(), still.tolist(), link=first.name)
    )
    hold = weight.reshape(6, -1) @ x.pi
    moved = wrench - hold
    turn, place = (numbers(y) for y in frame_pose(x.whole, x.q, link=first.name))
    force = turn.reshape(3, 3) @ moved[:3]
    close(np.concatenate([force, turn.reshape(3, 3) @ moved[3:] + np.cross(place, force)]), change)
    masses = x.pi[::10].sum()
    close(turn.reshape(3, 3) @ hold[:3], -masses * np.array(x.model.gravity))


def test_a_link_that_is_not_there_is_named():
    with pytest.raises(OptionError, match="no link is called 'nose'"):
        wrench_regressor(Arm("ur5").whole, *[[0.0] * 6] * 3, link="nose")


PINOCCHIO_ORDER = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]
"""Pinocchio's Ixx, Ixy, Iyy, Ixz, Iyz, Izz as places in ours."""


@pytest.mark.parametrize("name", ["ur5.urdf", "puma560.urdf", "quadruped.urdf", UR5, TALOS])
def test_pinocchio_has_the_same_regressor(name):
    pin = pytest.importorskip("pinocchio")
    path = ROBOTS / name if (ROBOTS / name).exists() else example_robot(name)
    robot = load(path, snap_angles=0.0).model
    judge = pin.buildModelFromUrdf(str(path))
    order = [judge.getJointId(joint) - 1 for joint in robot.joint_names]
    q, qd, qdd = np.random.default_rng(1).uniform(-2, 2, (3, robot.dof))
    theirs = [np.empty(robot.dof) for _ in range(3)]
    for mine, other in zip((q, qd, qdd), theirs, strict=True):
        other[order] = mine
    wanted = pin.computeJointTorqueRegressor(judge, judge.createData(), *theirs)
    wanted = wanted.reshape(robot.dof, robot.dof, 10)[np.ix_(order, order)][:, :, PINOCCHIO_ORDER]
    found = numbers(
        regressor(canonical_model(robot, regrouping=WHOLE), q.tolist(), qd.tolist(), qdd.tolist())
    )
    close(found.reshape(wanted.shape), wanted)


def test_the_columns_of_the_case():
    folder = Path(__file__).resolve().parents[1] / "cases"
    case = json.loads((folder / "regressor_pendulum.json").read_text(encoding="utf-8"))
    robot = load(folder / "regressor_pendulum.urdf").model
    for sample in (s for s in case["samples"] if "regressor_columns" in s):
        state = ([sample[key][joint] for joint in robot.joint_names] for key in ("q", "v", "a"))
        found = numbers(regressor(canonical_model(robot, regrouping=WHOLE), *state)).reshape(
            2, 2, 10
        )
        for k, body in enumerate(robot.bodies):
            for p, parameter in enumerate(PARAMETER_NAMES):
                column = sample["regressor_columns"][body.name][parameter.replace("h", "m")]
                close(found[:, k, p], np.array([column[joint] for joint in robot.joint_names]))


def test_the_base_regressor_for_any_gravity_does_not_depend_on_the_one_given():
    level, robot = model("scara"), ParametricModel(model("scara"), (), True)
    sizes = [
        trace(r, FunctionRequest.parse("base_regressor")).program.outputs[0].shape
        for r in (ParametricModel(level), robot)
    ]
    assert sizes[0][1] < sizes[1][1]


COUNTS = {
    "rx90.urdf": (605, 650, 796),
    "puma560.urdf": (651, 696, 857),
    UR5: (557, 602, 796),
    PANDA: (1121, 1176, 1480),
}
"""Products and sums: base regressor, that of Slotine and Li, regressor of all parameters."""


@pytest.mark.parametrize("name", COUNTS)
def test_operation_counts(name):
    names = ("base_regressor", "slotine_li_base_regressor", "regressor")
    found = [
        trace(ParametricModel(public(name)), FunctionRequest.parse(quantity)).counts
        for quantity in names
    ]
    totals = tuple(c.mul + c.add for c in found)
    assert all(t <= most for t, most in zip(totals, COUNTS[name], strict=True)), (
        f"{totals} exceed {COUNTS[name]}"
    )
