"""Regressors, base parameters, momenta and kinematics with joints of every type."""

from functools import cache

import numpy as np
import pytest

from symgen.mechanics.base_parameters import base_parameters
from symgen.mechanics.joint_type import quaternion_rows
from symgen.mechanics.parameters import lump_links
from symgen.tracing.robot import ParametricModel
from tests.support.every_joint import EVERY, made
from tests.support.hamel import along, frames, masses, state
from tests.support.joint_runs import close, regroup, robots, run, size, slope
from tests.support.random_trees import cross
from tests.support.states import function


def whole(name):
    """The robot with one set of ten a body, and the parameters of all bodies in the order of
    regressors."""
    model = made(name).model
    one = lump_links(model, [body.name for body in model.moving])
    tens = [body.links[0].parameters or (0.0,) * 10 for body in one.moving]
    return one, np.array(
        [x for ten in tens for x in ten] + [body.spin for body in one.bodies if body.spin]
    )


# -- regressors ------------------------------------------------------------------------------------


@robots
def test_regressors_times_parameters(name):
    x, n, (one, pi) = state(made(name)), size(name), whole(name)
    base = base_parameters(one)
    beta = run(name, "base_parameters", {**x, "ten": pi})
    close(beta, base.factors @ pi)
    tau, mass = run(name, "inverse_dynamics", x), run(name, "mass_matrix", x, n, n)
    close(run(name, "regressor", x, n, len(pi)) @ pi, tau)
    close(run(name, "base_regressor", x, n, len(base)) @ beta, tau)
    c, g = run(name, "coriolis_matrix", x, n, n), run(name, "gravity", x)
    passive = mass @ x["qdd_r"] + c @ x["qd_r"] + g
    close(run(name, "slotine_li_regressor", x, n, len(pi)) @ pi, passive)
    close(run(name, "slotine_li_base_regressor", x, n, len(base)) @ beta, passive)
    close(run(name, "momentum_regressor", x, n, len(pi)) @ pi, mass @ x["qd"])
    close(run(name, "kinetic_energy_regressor", x, 1, len(pi)) @ pi, run(name, "kinetic_energy", x))
    close(
        run(name, "potential_energy_regressor", x, 1, len(pi)) @ pi,
        run(name, "potential_energy", x),
    )
    close(run(name, "mass_matrix_by_parameters", x, n, n, len(pi)) @ pi, mass)
    close(run(name, "coriolis_matrix_by_parameters", x, n, n, len(pi)) @ pi, c)
    close(run(name, "gravity_by_parameters", x, n, len(pi)) @ pi, g)


@robots
def test_the_number_of_base_parameters_is_the_rank_of_the_regressor(name):
    n, (one, pi) = size(name), whole(name)
    rows = [
        run(name, "regressor", state(made(name), seed), n, len(pi))
        for seed in range(3 + 2 * len(pi) // n)
    ]
    sizes = np.linalg.svd(np.concatenate(rows), compute_uv=False)
    assert (sizes > 1e-9 * sizes[0]).sum() == len(base_parameters(one))
    null = np.linalg.svd(base_parameters(one).factors)[2][len(base_parameters(one)) :]
    close(np.concatenate(rows) @ null.T, np.zeros((n * len(rows), len(null))), 1e-9)


@pytest.mark.parametrize("name", ["floating square", "mimic", "geared mimic", "planar"])
def test_parameters_given_at_run_time(name):
    """Also with friction, which followers share with their leaders."""
    model, x = made(name).model, state(made(name))
    links = tuple(body.name for body in model.moving)
    for quantity in ("inverse_dynamics", "mass_matrix", "forward_dynamics"):
        opened, closed = (
            function(ParametricModel(model, names), quantity) for names in (links, ())
        )
        (group,) = opened.regroups.values()
        pi = [v for ten in group.robot.blocks.values() for v in ten]
        par = pi if group.input == "pi" else group.program and _par(group, pi)
        given = {**{key: value.tolist() for key, value in x.items()}, group.input: par}
        found, wanted = (f.run(**{k: given[k] for k in f.inputs}) for f in (opened, closed))
        for output, values in wanted.items():
            close(np.array(found[output], float), np.array(values, float), 1e-9)


def _par(group, pi):
    from symgen.compiler.evaluate import evaluate

    return evaluate(group.program, {"pi": pi})["par"]


def test_friction_goes_through_the_coupling():
    """τ = Gᵀ(B G q̇): a follower of factor k rubs k² as much."""
    model, x = made("mimic").model, state(made("mimic"))
    rough_robot = ParametricModel(model, friction=("viscous",), runtime_friction=True)
    rubbing, plain = (
        function(robot, "inverse_dynamics") for robot in (rough_robot, ParametricModel(model))
    )
    given = {key: value.tolist() for key, value in x.items()}
    rough = np.arange(1.0, 1.0 + len(model.bodies))
    found = rubbing.run(**{k: {**given, "friction": rough.tolist()}[k] for k in rubbing.inputs})[
        "tau"
    ]
    none = plain.run(**{k: given[k] for k in plain.inputs})["tau"]
    g = regroup("mimic", "minimal").layout.coupling.velocity_matrix
    close(np.array(found, float) - np.array(none, float), g.T @ (rough * (g @ x["qd"])))


# -- momenta ---------------------------------------------------------------------------------------


def momenta(name, q, base=True):
    """Mass, first moment, and the Jacobian of linear and angular momentum about the root's
    origin."""
    n, total, first = size(name), 0.0, np.zeros(3)
    linear, angular = np.zeros((3, n)), np.zeros((3, n))
    for at, ten in masses(made(name), q, moving=True, base=base):
        m, hx, hy, hz, xx, xy, xz, yy, yz, zz = ten
        h = at.turn @ np.array([hx, hy, hz])
        tensor = at.turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ at.turn.T
        p = m * at.v - cross(h) @ at.w
        total, first, linear = total + m, first + m * at.origin + h, linear + p
        angular = angular + tensor @ at.w + cross(h) @ at.v + cross(at.origin) @ p
    return total, first, linear, angular


@robots
def test_centre_of_mass_and_momentum(name):
    x, n = state(made(name)), size(name)
    mass, first, linear, angular = momenta(name, x["q"])
    centre = first.real / mass
    close(run(name, "com", x), centre)
    jacobian = run(name, "com_jacobian", x, 3, n)
    close(jacobian, linear.real / mass)
    close(jacobian @ x["qd"], slope(name, "com", x, x["qd"]))
    both = np.concatenate([linear, angular]).real
    close(run(name, "momentum", x), both @ x["qd"])
    about = np.concatenate([linear, angular - cross(centre) @ linear]).real
    close(run(name, "centroidal_momentum_matrix", x, 6, n), about)


# -- kinematics ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in EVERY if "geared" not in name])
def test_frames_and_their_jacobians(name):
    robot, x, n = made(name), state(made(name)), size(name)
    for placed in robot.joints:
        link, at = (
            placed.links[-1],
            frames(robot, x["q"])[placed.joint.name].fixed(placed.links[-1].pose),
        )
        out = {what: of_link(name, what, link.name, x) for what in KINEMATICS}
        close(out["frame_pose"][0], at.turn.real.ravel())
        close(out["frame_pose"][1], at.origin.real)
        jacobians = {
            "body": lambda a: np.concatenate([a.turn.T @ a.v, a.turn.T @ a.w]),
            "aligned": lambda a: np.concatenate([a.v, a.w]),
            "world": lambda a: np.concatenate([a.v + cross(a.origin) @ a.w, a.w]),
        }
        for axes, of in jacobians.items():
            close(out[f"frame_jacobian_{axes}"][0].reshape(6, n), of(at).real)

            def velocity(q, of=of, placed=placed, link=link):
                return of(frames(robot, q)[placed.joint.name].fixed(link.pose)) @ x["qd"]

            close(out[f"frame_jacobian_rate_{axes}"][0], along(robot, velocity, x["q"], x["qd"]))


AXES = ("body", "world", "aligned")
KINEMATICS = (
    "frame_pose",
    *(f"frame_jacobian_{rate}{axes}" for rate in ("", "rate_") for axes in AXES),
)


robot_of = cache(lambda name: ParametricModel(made(name).model))


def of_link(name, what, link, x):
    one = function(robot_of(name), f"{what}:{link}")
    found = one.run(**{key: x[key].tolist() for key in one.inputs})
    return [np.array([float(v) for v in values]) for values in found.values()]


@robots
def test_external_wrenches_act_through_the_jacobian(name):
    robot, x = made(name), state(made(name))
    placed = robot.joints[-1]
    link, six = placed.links[-1], np.array([1.0, -2.0, 3.0, 0.5, 0.25, -0.75])
    pushed = function(ParametricModel(robot.model, wrenches=(link.name,)), "inverse_dynamics")
    given = {**{key: value.tolist() for key, value in x.items()}, "wrench": six.tolist()}
    found = np.array(pushed.run(**{k: given[k] for k in pushed.inputs})["tau"], float)
    at = frames(robot, x["q"])[placed.joint.name].fixed(link.pose)
    force, moment = at.turn.real @ six[:3], at.turn.real @ six[3:]
    close(run(name, "inverse_dynamics", x) - found, at.v.real.T @ force + at.w.real.T @ moment)


@pytest.mark.parametrize(
    "name",
    ["floating", "planar", "mimic", "geared", "geared mimic", "ball", "screw", "everything"],
)
def test_what_a_sensor_feels(name):
    """Force and moment through a joint are the rates of momentum of all beyond it, less gravity."""
    robot, x, (_, pi) = made(name), state(made(name)), whole(name)
    placed = next(s for s in robot.joints if s.parent_joint is None)
    found = function(ParametricModel(robot.model), f"wrench_regressor:{placed.links[0].name}")
    w = np.array(next(iter(found.run(**{k: x[k].tolist() for k in found.inputs}).values())), float)
    at = frames(robot, x["q"])[placed.joint.name]
    mass, first, linear, angular = momenta(name, x["q"], base=False)
    rates = [
        along(robot, lambda q, k=k: momenta(name, q, base=False)[k] @ x["qd"], x["q"], x["qd"])
        for k in (2, 3)
    ]
    g = np.array(robot.model.gravity)
    force = rates[0] + linear.real @ x["qdd"] - mass * g
    moment = rates[1] + angular.real @ x["qdd"] - np.cross(first.real, g)
    moment = moment - np.cross(at.origin.real, force)
    close(
        w.reshape(6, len(pi)) @ pi,
        np.concatenate([at.turn.real.T @ force, at.turn.real.T @ moment]),
    )


# -- conventions -----------------------------------------------------------------------------------


def test_quaternions_are_taken_to_be_of_length_one():
    """No one divides by their length: one that is twice as long turns four times as far off the
    identity."""
    one = np.array([0.1, 0.5, -0.5, 0.7])
    unit, double = (np.array([[*row] for row in quaternion_rows(four)]) for four in (one, 2 * one))
    assert one @ one == 1.0 and np.abs(unit @ unit.T - np.eye(3)).max() < 1e-15
    close(double - np.eye(3), 4 * (unit - np.eye(3)))
