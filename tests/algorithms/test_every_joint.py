"""Dynamics with joints of every type: floating, planar, mimicking, geared. All quantities by laws
and a judge."""

import re
from math import prod

import numpy as np
import pytest

from symgen.algorithms import INPUTS, QUANTITIES
from symgen.compiler.evaluate import evaluate
from symgen.proof.laws import evaluate_law
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel, Sizes
from symgen.tracing.trace import every_formulation
from tests.support.every_joint import ALONE, EVERY, made
from tests.support.hamel import hamel, inertia_and_potential, places, state
from tests.support.joint_runs import (
    TOLERANCE,
    close,
    given,
    numbers,
    outputs,
    regroup,
    robots,
    run,
    size,
    slope,
)
from tests.support.random_trees import SEEDS
from tests.support.states import functions


def slopes(name, quantity, inputs, *shape):
    """The derivatives along every coordinate, the last axis."""
    found = [slope(name, quantity, inputs, e, *shape) for e in np.eye(size(name))]
    return np.moveaxis(np.array(found), 0, -1)


def by_state(name, quantity, inputs):
    """The derivatives along dq and along dqd."""
    still = np.zeros(size(name))
    by_q = slope(name, quantity, inputs, inputs["dq"])
    return by_q, slope(name, quantity, inputs, still, qd=inputs["dqd"])


@robots
def test_velocities_and_positions_are_those_of_the_file(name):
    coupling = regroup(name, "minimal").layout.coupling
    assert (coupling.positions, coupling.velocities) == places(made(name))[1:]


@robots
def test_dynamics_by_energies_and_by_newton(name):
    x, n = state(made(name)), size(name)
    mass, tau = (
        inertia_and_potential(made(name), x["q"])[0].real,
        hamel(made(name), x["q"], x["qd"], x["qdd"]),
    )
    close(run(name, "inverse_dynamics", x), tau)
    close(run(name, "bias", x), hamel(made(name), x["q"], x["qd"], 0 * x["qdd"]))
    close(run(name, "gravity", x), hamel(made(name), x["q"], 0 * x["qd"], 0 * x["qdd"]))
    close(run(name, "mass_matrix", x, n, n), mass)
    inputs = {key: [x[key].tolist()] for key in ("q", "qd", "qdd")}
    for quantity in ("inverse_dynamics", "bias", "gravity", "mass_matrix"):
        (by_law,) = evaluate_law(
            ParametricModel(made(name).model), QUANTITIES[quantity], inputs
        ).values()
        close(by_law[0].astype(float), run(name, quantity, x))


@robots
def test_energies(name):
    x, (mass, potential) = (
        state(made(name)),
        inertia_and_potential(made(name), state(made(name))["q"]),
    )
    close(run(name, "kinetic_energy", x), np.array([x["qd"] @ mass.real @ x["qd"] / 2]))
    for q in (x["q"], state(made(name), 5)["q"]):  # up to a constant
        found = run(name, "potential_energy", {"q": q})[0] - run(name, "potential_energy", x)[0]
        close(
            np.array([found]),
            np.array([np.real(inertia_and_potential(made(name), q)[1] - potential)]),
        )


@robots
def test_inertia_of_turning_rotors_is_reflected(name):
    """ratio² J on the diagonal is what a rotor adds at the least."""
    x, n = state(made(name)), size(name)
    m = run(name, "mass_matrix", x, n, n)
    assert (m == m.T).all() and np.linalg.eigvalsh(m).min() > 0
    for body in made(name).model.bodies:
        if body.spin:
            ((leader, factor),) = body.follows.terms
            leader = made(name).model.body(leader).joint.name
            k = made(name).model.joint_names.index(leader)
            assert m[k, k] >= body.spin * factor**2


@robots
def test_coriolis_matrix_and_christoffel_symbols(name):
    x, n = state(made(name)), size(name)
    c, v = run(name, "coriolis_matrix", x, n, n), x["qd"]
    close(c @ v + run(name, "gravity", x), run(name, "bias", x))
    rate = slope(name, "mass_matrix", x, v, n, n)
    close(c + c.T, rate)
    close(run(name, "mass_matrix_rate", x, n, n), rate)
    close(run(name, "coriolis_transpose_product", x), c.T @ v)
    full = run(name, "christoffel_symbols_full", x, n, n, n)
    close(full @ v, c)
    pairs = iter(run(name, "christoffel_symbols", x))
    packed = np.zeros((n, n, n))
    for i in range(n):
        for j in range(n):
            for k in range(j, n):
                packed[i, j, k] = packed[i, k, j] = next(pairs)
    close(packed, (full + full.transpose(0, 2, 1)) / 2)
    along = slope(name, "mass_matrix", x, x["dq"], n, n)
    close((full + full.transpose(1, 0, 2)) @ x["dq"], along)
    close(run(name, "mass_matrix_gradient", x, n, n, n) @ x["dq"], along)


@robots
def test_forward_dynamics_inverts_inverse_dynamics(name):
    x, n = state(made(name)), size(name)
    pushed = {**x, "tau": run(name, "inverse_dynamics", x)}
    for way in functions(ParametricModel(made(name).model), "forward_dynamics"):
        close(numbers(way.run(**given(way.inputs, pushed))["qdd"]).real, x["qdd"], 1e-8)
    inverse = run(name, "mass_matrix_inverse", x, n, n)
    close(inverse @ run(name, "mass_matrix", x, n, n), np.eye(n), 1e-8)


@robots
def test_first_derivatives(name):
    x, n = state(made(name)), size(name)
    by_q, by_v = by_state(name, "inverse_dynamics", x)
    found = outputs(name, "inverse_dynamics_derivatives", x, n, n)
    mass = run(name, "mass_matrix", x, n, n)
    for a, b in zip(
        (found[0] @ x["dq"], found[1] @ x["dqd"], found[2]), (by_q, by_v, mass), strict=True
    ):
        close(a, b)
    close(run(name, "inverse_dynamics_jvp", x), by_q + by_v + mass @ x["dqdd"])
    close(run(name, "gravity_gradient", x, n, n) @ x["dq"], slope(name, "gravity", x, x["dq"]))


@robots
def test_first_derivatives_of_accelerations(name):
    x, n = state(made(name)), size(name)
    x["tau"] = run(name, "inverse_dynamics", x)
    found = outputs(name, "forward_dynamics_derivatives", x, n, n)
    by_q, by_v = by_state(name, "forward_dynamics", x)
    wanted = by_q, by_v, run(name, "mass_matrix_inverse", x, n, n)
    for a, b in zip((found[0] @ x["dq"], found[1] @ x["dqd"], found[2]), wanted, strict=True):
        close(a, b, 1e-8)
    close(run(name, "forward_dynamics_jvp", x), by_q + by_v + found[2] @ x["dtau"], 1e-8)


MODEST = [name for name in EVERY if size(name) <= 8] if SEEDS == 1 else EVERY


@pytest.mark.parametrize("name", [*MODEST, "floating", "few inside", "few ball on floating"])
def test_second_derivatives(name):
    x, n = state(made(name)), size(name)
    d, still = x["dq"], np.zeros(n)
    of_c = outputs(name, "coriolis_matrix_gradient", x, n, n, n)
    close(of_c[0] @ d, slope(name, "coriolis_matrix", x, d, n, n))
    close(of_c[1] @ d, slope(name, "coriolis_matrix", x, still, n, n, qd=d))
    found = outputs(name, "inverse_dynamics_second_derivatives", x, n, n, n)
    for which, by, output in ((1, "qd", 1), (2, "qd", 0), (3, "qdd", 0)):
        close(
            found[which] @ d,
            slope(name, "inverse_dynamics_derivatives", x, still, n, n, output=output, **{by: d}),
        )
    close(found[0] @ d, slope(name, "inverse_dynamics_derivatives", x, d, n, n))


@pytest.mark.parametrize("name", ["few floating", "few inside"])
def test_second_derivatives_by_twists_are_those_of_the_first_in_that_order(name):
    """Displacements do not commute: [i, j, k] is along k of what is along j, no mean of both."""
    x, n = state(made(name)), size(name)
    found = run(name, "inverse_dynamics_second_derivatives", x, n, n, n)
    close(found, slopes(name, "inverse_dynamics_derivatives", x, n, n))
    assert np.abs(found - found.transpose(0, 2, 1)).max() > 1


@pytest.mark.parametrize("name", ["few floating", "few inside"])
def test_both_orders_differ_by_the_derivative_along_the_bracket(name):
    """[i, j, k] - [i, k, j] is the derivative of tau along [e_k, e_j], a twist of se(3)."""
    x, n = state(made(name)), size(name)
    found = run(name, "inverse_dynamics_second_derivatives", x, n, n, n)
    slope_of = run(name, "inverse_dynamics_derivatives", x, n, n)
    first = next(k for k, joint in enumerate(made(name).model.joint_names) if joint.endswith(".vx"))
    e = np.eye(6)
    for j, k in np.ndindex(6, 6):
        (v, w), (u, r) = np.split(e[k], 2), np.split(e[j], 2)
        bracket = np.concatenate([np.cross(w, u) - np.cross(r, v), np.cross(w, r)])
        along = slope_of[:, first : first + 6] @ bracket
        close(found[:, first + j, first + k] - found[:, first + k, first + j], along)


RATES = {"inverse_dynamics": 3, "coriolis_matrix": 2, "gravity": 1, "mass_matrix": 1}


@robots
def test_rates_along_a_trajectory(name):
    x = state(made(name))
    flow = {"qd": x["qdd"], "qdd": x["qddd"], "qddd": x["qdddd"]}
    for quantity, order in RATES.items():
        given = dict(list(flow.items())[: order - 1])
        close(run(name, f"{quantity}_rate", x), slope(name, quantity, x, x["qd"], **given))
        again = dict(list(flow.items())[:order])
        close(
            run(name, f"{quantity}_second_rate", x),
            slope(name, f"{quantity}_rate", x, x["qd"], **again),
        )


FEW = EVERY
if SEEDS == 1:
    FEW = ["few planar", "few floating", "few geared mimic", "few ball and screw", *ALONE]
"""For the test that repeats for every quantity."""
LONG = re.compile("rk4|hessian|second_derivatives|matrix_gradient|second_rate")
"""Quantities whose long tapes are made of the smallest of these robots, and of random trees in
test_every_quantity.py; of the others their formulations alone are run."""


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_every_formulation_and_every_tape_gives_the_same(name, quantity):
    x, sizes, rng = state(made(name)), Sizes(regroup(name, "whole")), np.random.default_rng(1)
    others = {a.name: prod(a.sizes(sizes)) for a in INPUTS.values() if a.name not in x}
    x |= {key: rng.uniform(-1, 1, size) for key, size in others.items()} | {"q_end": x["q"]}
    first = None
    robot, ways = ParametricModel(made(name).model), every_formulation
    layout, formulations = regroup(name, "whole").layout, QUANTITIES[quantity].formulations
    if not any(f.applicable(layout) for f in formulations):
        pytest.skip(formulations[0].applicable.text)
    if SEEDS == 1 and name != FEW[0] and LONG.search(quantity):
        ways = lambda robot, _: functions(robot, quantity)  # noqa: E731
    for way in ways(robot, FunctionRequest.parse(quantity)):
        found = way.run(**given(way.inputs, x))
        by_tape = evaluate(way.program, given(way.inputs, x)) if way.program.outputs else {}
        for output in way.program.outputs:
            values = [float(v) for v in found[output.name]]
            assert [float(v) for v in by_tape[output.name]] == values
            assert len(values) == prod(output.shape)
        first = first or found
        for output, values in found.items():
            close(
                numbers(values).real,
                numbers(first[output]).real,
                1e-8 if "forward" in quantity else TOLERANCE,
            )
