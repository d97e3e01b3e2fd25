"""Joint friction and springs in every quantity that feels them, and in regressors."""

import re

import numpy as np
import pytest

from symgen.algorithms import QUANTITIES
from symgen.algorithms.controllers import CONTROLLERS
from symgen.jobs.api import generate
from symgen.mechanics.parameters import lump_links
from symgen.tracing.robot import ParametricModel
from tests.support.random_trees import FEW
from tests.support.rough import robots, springs, step, title
from tests.support.states import function, functions, run


def state(n, seed=0):
    rng = np.random.default_rng(seed)
    names = ("q", "qd", "qdd", "tau", "qd_r", "qdd_r")
    return {k: rng.uniform(-2, 2, n).tolist() for k in names} | {
        "friction": rng.uniform(0, 2, 3 * n).tolist(),
        "springs": rng.uniform(0, 2, 2 * n).tolist(),
    }


def rubbing(robot, x):
    """Friction and springs of the joints, by their definition."""
    q, qd, n = np.array(x["q"]), np.array(x["qd"]), robot.model.dof
    if robot.runtime_friction:
        v, c, o = np.array(x["friction"]).reshape(n, 3).T
    else:
        v, c, o = np.array(
            [(b.joint.damping, b.joint.friction, b.joint.offset) for b in robot.model.bodies]
        ).T
    step = np.tanh(qd / robot.friction_width) if robot.friction_width else np.sign(qd)
    if "viscous" not in robot.friction:
        v = c = 0
    k, r = springs(robot, x)
    return v * qd + c * step + (o if "offset" in robot.friction else 0) + k * (q - r)


cases = pytest.mark.parametrize("robot", [r for name in FEW for r in robots(name)], ids=title)


@cases
def test_joint_forces_have_friction_added(robot):
    x = state(robot.model.dof)
    difference = (
        run(robot, "inverse_dynamics", x)["tau"]
        - run(ParametricModel(robot.model), "inverse_dynamics", x)["tau"]
    )
    assert np.allclose(difference, rubbing(robot, x), rtol=1e-9, atol=1e-9)


@cases
def test_bias_and_gravity_stay_without(robot):
    x = state(robot.model.dof)
    for quantity in ("bias", "gravity"):
        pair = (run(r, quantity, x) for r in (robot, ParametricModel(robot.model)))
        assert all((a == b).all() for a, b in zip(*(p.values() for p in pair), strict=True))


@cases
def test_every_forward_dynamics_undoes_inverse_dynamics(robot):
    x = state(robot.model.dof)
    x["tau"] = run(robot, "inverse_dynamics", x)["tau"].tolist()
    for way in functions(robot, "forward_dynamics"):
        found = way.run(**{n: x[n] for n in way.inputs})["qdd"]
        assert np.allclose(np.array(found, float), x["qdd"], rtol=1e-7, atol=1e-7)


@cases
@pytest.mark.parametrize(
    ("of", "by", "column"),
    [
        ("inverse_dynamics", "q", "dtau_dq"),
        ("inverse_dynamics", "qd", "dtau_dqd"),
        ("forward_dynamics", "q", "dqdd_dq"),
        ("forward_dynamics", "qd", "dqdd_dqd"),
    ],
)
def test_derivatives_have_stiffness_and_damping(robot, of, by, column):
    """In every formulation; along one direction, in which all of them count."""
    x, n = state(robot.model.dof), robot.model.dof
    ways = functions(robot, f"{of}_derivatives")
    every = [way.run(**{name: x[name] for name in way.inputs})[column] for way in ways]
    found, *others = (np.array(one, float).reshape(n, n) for one in every)
    assert all(np.allclose(found, o, rtol=1e-9, atol=1e-9 * np.abs(found).max()) for o in others)
    d = np.random.default_rng(5).uniform(0.5, 1, n)
    wanted = step(robot, of, x, **{by: d})
    assert np.allclose(found @ d, wanted, rtol=1e-7, atol=1e-7 * max(1.0, np.abs(wanted).max()))


@cases
def test_regressor_columns(robot):
    x, n, k = state(robot.model.dof), robot.model.dof, len(robot.passive_kinds)
    y = run(robot, "regressor", x)["Y"].reshape(n, -1)
    whole = lump_links(robot.model, [b.name for b in robot.model.bodies])
    inertia = [p for b in whole.bodies for p in b.links[0].parameters or [0.0] * 10]
    rows = (
        np.array(x["friction"]).reshape(n, 3)
        if robot.runtime_friction
        else np.array(
            [[b.joint.damping, b.joint.friction, b.joint.offset] for b in robot.model.bodies]
        )[:, : len(robot.friction)]
    )
    if robot.springs:
        stiffness, reference = springs(robot, x)
        rows = np.column_stack([rows, stiffness, stiffness * reference])
    assert y.shape == (n, 10 * n + k * n)
    tau = run(robot, "inverse_dynamics", x)["tau"]
    assert np.allclose(
        y @ np.concatenate([inertia, rows.ravel()]), tau, rtol=1e-9, atol=1e-9 * np.abs(tau).max()
    )


@cases
def test_products_with_the_derivatives_have_damping(robot):
    x, n = state(robot.model.dof), robot.model.dof
    quantity = QUANTITIES["inverse_dynamics_jvp"]
    direction = {
        name: np.random.default_rng(k).uniform(-1, 1, n).tolist()
        for k, name in enumerate(quantity.inputs)
    }
    given = {name: x.get(name, direction[name]) for name in quantity.inputs} | {
        "friction": x["friction"],
        "springs": x["springs"],
    }
    found = run(robot, "inverse_dynamics_jvp", given)[quantity.outputs[0].name]
    pairs = zip(quantity.inputs[:3], quantity.inputs[3:], strict=True)
    tilted = {
        a: [complex(u, 1e-30 * d) for u, d in zip(given[a], given[b], strict=True)]
        for a, b in pairs
    }
    out = function(robot, "inverse_dynamics")
    wanted = out.run(**{k: (x | tilted)[k] for k in out.inputs})["tau"]
    assert np.allclose(
        found, np.array([complex(v).imag for v in wanted]) / 1e-30, rtol=1e-9, atol=1e-9
    )


def of_forces(quantity):
    """Whether a formula is one of the joint forces or of the accelerations that they cause."""
    inner = re.sub(r"M\^-1|dtau/dqdd = M", "", quantity.formula)
    return bool(re.search(r"\bd?2?tau\b|tau_q|\bd?qdd/|qdd_q|^qdd =|after a step|\^T qdd\b", inner))


WITHOUT = ("elastic_feedforward", "joint_wrenches")
"""Those whose docstrings say that they are without friction."""


def test_every_quantity_of_forces_or_accelerations_has_friction():
    """By their formulas, and every controller; a regressor has it in columns of its own."""
    columns = {"y", "y_b"}
    for q in (q for q in QUANTITIES.values() if q.name not in WITHOUT):
        separate = any(columns & set(out.shape) for out in q.outputs)
        forces = of_forces(q) or q.name in CONTROLLERS
        assert q.depends_on_external_forces == (forces and not separate), q.name
        assert (
            not q.name.startswith(("inverse_dynamics", "forward_dynamics"))
            or q.depends_on_external_forces
        )


@pytest.mark.parametrize("kinds", ["viscous,coulomb", "runtime:coulomb"])
def test_the_header_says_which_functions_have_it(kinds, tmp_path):
    wanted = ("bias", "inverse_dynamics", "inverse_dynamics_rate", "regressor")
    generate(
        "robots/pendulum.urdf",
        tmp_path,
        friction=kinds,
        quantities=wanted,
        external_wrench=("lower",),
    )
    text = " ".join((tmp_path / "pendulum.h").read_text().replace(" * ", " ").split())
    assert "is included in inverse_dynamics, inverse_dynamics_rate" in text
    chosen = kinds.removeprefix("runtime:").split(",")
    for kind, term in (("viscous", "viscous qd"), ("coulomb", "sign(qd)"), ("offset", "+ offset")):
        assert (term in text) == (kind in chosen)
    assert "(with separate columns in regressor): tau = " in text
    assert (
        "bias" not in text[text.index("Joint friction") : text.index("The friction coefficients")]
    )
    assert "wrenches are included in inverse_dynamics, inverse_dynamics_rate" in text
