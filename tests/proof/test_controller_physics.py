"""Laws of controllers by the motion that their forces cause: they hold of the right equations and
not of those that leave a term out."""

from decimal import Decimal

import numpy as np
import pytest

import symgen
from symgen.numbers.decimals import decimal_precision
from symgen.proof.laws import LawError, controller_physics, motor_laws
from symgen.proof.laws import controller_laws as controllers
from symgen.proof.laws.dynamics import accelerations, coriolis, mass, tau
from symgen.proof.laws.integration_laws import velocity_between
from symgen.proof.states import DIGITS, States
from tests.support.pinocchio_plants import urdf

COUNT = 3
SPRINGS = ("joint_stiffness", "motor_inertia")
KINDS = {"revolute": "continuous", "ball": "ball", "floating": "floating"}


def states(kind):
    """Random states of a chain of two bodies, whose first joint has friction where it can."""
    arm = symgen.Robot(urdf(KINDS[kind]), friction="viscous,coulomb")
    robot, n, nq = arm.job.robot(arm.loaded), arm.dof, len(arm.positions)
    random = np.random.default_rng(1)
    names = ("qd", "tau", "qd_ref", "qdd_ref", "e_int", "k_p", "k_d", "k_i")
    given = {name: random.uniform(0.5, 2.0, (COUNT, n)) for name in names}
    given |= {name: random.uniform(-1, 1, (COUNT, nq)) for name in ("q", "q_ref")}
    given["h"] = np.full((COUNT, 1), 0.01)
    if kind != "revolute":
        for name in ("q", "q_ref"):
            four = given[name][:, nq - 5 : nq - 1]
            four /= np.linalg.norm(four, axis=1, keepdims=True)
    return States.of(robot, given, True)


def stiffness(x):
    return x.inputs["k_p"] + x.inputs["k_i"] * x.inputs["h"]


def explained(x, friction=True):
    """The rate of momentum of the robot's model."""
    y = x if friction else controller_physics.without_friction(x)
    moved = np.einsum("...ij,...i->...j", coriolis(x), x.inputs["qd"])
    bias = tau(y.with_inputs(qdd=None)) - np.einsum("...ij,...j->...i", coriolis(x), x.inputs["qd"])
    return x.inputs["tau"] + moved - bias


@pytest.mark.parametrize("kind", KINDS)
def test_the_right_equations_keep_their_promises(kind):
    with decimal_precision(DIGITS):
        x = states(kind)
        controller_physics.check_free_motion(x, explained(x))
        controller_physics.check_decay(x, controllers._computed_forces, stiffness)
        controller_physics.check_passive(x, controllers._impedance_forces)


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_without_friction_leaves_a_residual(kind):
    with decimal_precision(DIGITS):
        x = states(kind)
        with pytest.raises(LawError, match="the residual of a free motion is not zero"):
            controller_physics.check_free_motion(x, explained(x, friction=False))


@pytest.mark.parametrize("kind", ["ball", "floating"])
def test_references_in_other_axes_do_not_decay(kind):
    """The differences of numbers in the axes of two bodies."""

    def untransported(x):
        g, e = x.inputs, velocity_between(x.mechanism, x.inputs["q"], x.inputs["q_ref"])
        wanted = g["qdd_ref"] + g["k_d"] * (g["qd_ref"] - g["qd"]) + stiffness(x) * e
        return tau(x.with_inputs(qdd=wanted))

    with decimal_precision(DIGITS):
        x = states(kind)
        with pytest.raises(LawError, match="do not decay"):
            controller_physics.check_decay(x, untransported, stiffness)


@pytest.mark.parametrize("kind", KINDS)
def test_cancelled_centrifugal_forces_are_not_passive(kind):
    """C q̇ in place of C q̇_ref."""

    def cancelled(x):
        g, (qd_r, _) = x.inputs, controllers._reference(x)
        missing = np.einsum("...ij,...j->...i", coriolis(x), g["qd"] - qd_r)
        return controllers._impedance_forces(x) + missing

    with decimal_precision(DIGITS):
        x = states(kind)
        with pytest.raises(
            LawError, match="the energy changes by more than the work of the damping"
        ):
            controller_physics.check_passive(x, cancelled)


def test_states_are_those_of_a_moving_robot():
    with decimal_precision(DIGITS):
        x = states("revolute")
        assert mass(x).shape == (COUNT, 2, 2) and accelerations(x).shape == (COUNT, 2)


@pytest.mark.parametrize("left_out", ["", "motor_inertia", "qdddd_ref", "k_j", "deltad"])
def test_links_behind_springs_decay_by_the_right_equation_alone(left_out):
    names = ("q_ref", "qddd_ref", "qdddd_ref", "k_a", "k_j", "delta", "deltad")
    random = np.random.default_rng(3)
    with decimal_precision(DIGITS):
        x = states("revolute")
        more = {name: random.uniform(0.5, 2.0, (COUNT, x.n)) for name in (*names, *SPRINGS)}
        x = x.with_inputs(**{name: np.vectorize(Decimal)(values) for name, values in more.items()})

        def command(y):
            return motor_laws._linearizing_torques(
                y.with_inputs(**{left_out: 0 * y.inputs[left_out]})
            )

        if not left_out:
            controller_physics.check_elastic_decay(x, motor_laws._linearizing_torques)
            return
        with pytest.raises(LawError, match="do not decay"):
            controller_physics.check_elastic_decay(x, command)
