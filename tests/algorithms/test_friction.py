"""Joint friction and springs: in every quantity that feels them, in regressors, from the file and at
run time."""

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from random_trees import FEW, model
from states import run, traced
from tools import ROOT, invoke, robot_file

from symgen.algorithms import QUANTITIES
from symgen.api import generate
from symgen.errors import OptionError
from symgen.jobs.verify import verify
from symgen.mechanics.parameters import lumped
from symgen.mechanics.passive import direction
from symgen.tracing.robot import Robot
from symgen.tracing.trace import every_formulation
from symgen.tracing.wanted import Wanted

KINDS = ("viscous", "coulomb", "offset")


def rough(name):
    """A random robot whose files give damping, friction, an offset and a spring to every joint."""
    smooth = model(name)
    joints = (
        replace(
            b.joint,
            damping=0.5 + k,
            friction=0.25 * k,
            offset=k - 1.5,
            stiffness=3.5 - k,
            reference=0.5 * k - 0.75,
        )
        for k, b in enumerate(smooth.bodies)
    )
    bodies = tuple(replace(b, joint=joint) for b, joint in zip(smooth.bodies, joints, strict=True))
    return replace(smooth, bodies=bodies)


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


def springs(robot, x):
    """Stiffness and reference of the joints."""
    if robot.runtime_springs:
        return np.array(x["springs"]).reshape(-1, 2).T
    given = [(b.joint.stiffness, b.joint.reference) for b in robot.model.bodies]
    return np.array(given).T if robot.springs else (0, 0)


def robots(name):
    yield Robot(rough(name), friction=KINDS[:2])
    yield Robot(rough(name), friction=KINDS)
    yield Robot(rough(name), friction=KINDS, runtime_friction=True)
    yield Robot(rough(name), friction=KINDS, friction_width=0.7)
    yield Robot(rough(name), friction=KINDS, runtime_friction=True, friction_width=1.3)
    yield Robot(rough(name), springs=True)
    yield Robot(rough(name), springs=True, runtime_springs=True)
    yield Robot(
        rough(name), friction=KINDS, runtime_friction=True, friction_width=0.7, springs=True
    )


def title(robot):
    return f"{robot.model.name}-{len(robot.friction)}{'-run' * robot.runtime_friction}-{robot.friction_width:g}{'-springs' * robot.springs}{'-run' * robot.runtime_springs}"


cases = pytest.mark.parametrize("robot", [r for name in FEW for r in robots(name)], ids=title)


@cases
def test_joint_forces_have_friction_added(robot):
    x = state(robot.model.dof)
    difference = (
        run(robot, "inverse_dynamics", x)["tau"]
        - run(Robot(robot.model), "inverse_dynamics", x)["tau"]
    )
    assert np.allclose(difference, rubbing(robot, x), rtol=1e-9, atol=1e-9)


@cases
def test_bias_and_gravity_stay_without(robot):
    x = state(robot.model.dof)
    for quantity in ("bias", "gravity"):
        pair = (run(r, quantity, x) for r in (robot, Robot(robot.model)))
        assert all((a == b).all() for a, b in zip(*(p.values() for p in pair), strict=True))


@cases
def test_every_forward_dynamics_undoes_inverse_dynamics(robot):
    x = state(robot.model.dof)
    x["tau"] = run(robot, "inverse_dynamics", x)["tau"].tolist()
    for function in every_formulation(robot, Wanted.parse("forward_dynamics")):
        found = function.run(**{n: x[n] for n in function.inputs})["qdd"]
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
    """In every formulation."""
    x, n = state(robot.model.dof), robot.model.dof
    ways = every_formulation(robot, Wanted.parse(f"{of}_derivatives"))
    every = [way.run(**{name: x[name] for name in way.inputs})[column] for way in ways]
    found, *others = (np.array(one, float).reshape(n, n) for one in every)
    assert all(np.allclose(found, o, rtol=1e-9, atol=1e-9 * np.abs(found).max()) for o in others)
    function = traced(robot, of)
    for k in range(n):
        tilted = [complex(rate, 1e-30 * (i == k)) for i, rate in enumerate(x[by])]
        out = next(
            iter(
                function.run(
                    **{name: (x | {by: tilted})[name] for name in function.inputs}
                ).values()
            )
        )
        wanted = np.array([complex(v).imag for v in out]) / 1e-30
        assert np.allclose(
            found[:, k], wanted, rtol=1e-7, atol=1e-7 * max(1.0, np.abs(wanted).max())
        )


@cases
def test_regressor_columns(robot):
    x, n, k = state(robot.model.dof), robot.model.dof, len(robot.passive_kinds)
    y = run(robot, "regressor", x)["Y"].reshape(n, -1)
    whole = lumped(robot.model, [b.name for b in robot.model.bodies])
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
    out = traced(robot, "inverse_dynamics")
    wanted = out.run(**{k: (x | tilted)[k] for k in out.inputs})["tau"]
    assert np.allclose(
        found, np.array([complex(v).imag for v in wanted]) / 1e-30, rtol=1e-9, atol=1e-9
    )


def step(robot, quantity, x, output=0, **by):
    """The derivative of an output along changes `by` of inputs, by the complex step."""
    function = traced(robot, quantity)
    tilted = {k: [complex(a, 1e-30 * b) for a, b in zip(x[k], by[k], strict=True)] for k in by}
    out = function.run(**{k: (x | tilted)[k] for k in function.inputs})
    return np.array([complex(v).imag for v in [*out.values()][output]]) / 1e-30


def trajectory(robot):
    """A state with all rates of q, friction and wrenches."""
    n, rng = robot.model.dof, np.random.default_rng(3)
    x = {k: rng.uniform(-2, 2, n).tolist() for k in ("q", "qd", "qdd", "qddd", "qdddd")}
    wrench = rng.uniform(-9, 9, 6 * len(robot.wrenches)).tolist()
    own = {"friction": rng.uniform(0, 2, 3 * n).tolist(), "springs": rng.uniform(0, 2, 2 * n)}
    return x | own | {"wrench": wrench}


def pushed_and_rubbing(name):
    for robot in robots(name):
        yield replace(robot, wrenches=(robot.model.bodies[-1].name, robot.model.bodies[0].name))


loaded = pytest.mark.parametrize(
    "robot", [r for name in FEW for r in pushed_and_rubbing(name)], ids=title
)


def near(found, wanted):
    assert np.allclose(found, wanted, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(wanted).max()))


@loaded
def test_rates_along_a_motion_have_friction_and_wrenches(robot):
    x = trajectory(robot)
    flow = ("q", "qd", "qdd", "qddd", "qdddd")
    first = step(robot, "inverse_dynamics", x, **{k: x[d] for k, d in itertools.pairwise(flow)})
    near(run(robot, "inverse_dynamics_rate", x)["tau_dot"], first)
    second = step(
        robot, "inverse_dynamics_rate", x, **{k: x[d] for k, d in itertools.pairwise(flow)}
    )
    near(run(robot, "inverse_dynamics_second_rate", x)["tau_ddot"], second)


@loaded
def test_second_derivatives_have_friction_and_wrenches(robot):
    x, n = trajectory(robot), robot.model.dof
    found = run(robot, "inverse_dynamics_second_derivatives", x)
    of = {"tau_qq": ("q", 0), "tau_qdqd": ("qd", 1), "tau_qqd": ("qd", 0), "tau_qqdd": ("qdd", 0)}
    for name, (by, output) in of.items():
        e = np.eye(n)
        columns = [
            step(robot, "inverse_dynamics_derivatives", x, output, **{by: e[k].tolist()})
            for k in range(n)
        ]
        near(found[name].reshape(n, n, n), np.stack(columns, -1).reshape(n, n, n))


def of_forces(quantity):
    """Whether a formula is one of the joint forces or of the accelerations that they cause."""
    inner = re.sub(r"M\^-1|dtau/dqdd = M", "", quantity.formula)
    return bool(re.search(r"\bd?2?tau\b|tau_q|\bd?qdd/|qdd_q|^qdd =|after a step|\^T qdd\b", inner))


WITHOUT = ("elastic_feedforward", "momentum_observer")
"""Those whose docstrings say that they are without friction, or that take the forces as measured."""


def test_every_quantity_of_forces_or_accelerations_has_friction():
    """By their formulas; a regressor has it in columns of its own."""
    columns = {"y", "y_b"}
    for q in (q for q in QUANTITIES.values() if q.name not in WITHOUT):
        separate = any(columns & set(out.shape) for out in q.outputs)
        assert q.feels_wrench == (of_forces(q) and not separate), q.name
        assert not q.name.startswith(("inverse_dynamics", "forward_dynamics")) or q.feels_wrench


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
    assert "is in inverse_dynamics, inverse_dynamics_rate;" in text
    assert "regressor has columns for it: tau = " in text
    assert "bias" not in text[text.index("Joint friction") : text.index("Its coefficients")]
    assert "They count in inverse_dynamics, inverse_dynamics_rate" in text


def test_a_module_without_what_feels_friction_says_so(tmp_path):
    generate("robots/pendulum.urdf", tmp_path, friction="viscous", quantities=("gravity",))
    assert "is in no function of this module" in (tmp_path / "pendulum.h").read_text()


@pytest.mark.parametrize("width", [0.0, 0.05])
@pytest.mark.parametrize("scalar", ["double", "float"])
@pytest.mark.parametrize("kinds", ["viscous,coulomb", "runtime:viscous,coulomb,offset"])
def test_generated_and_verified(kinds, scalar, width, tmp_path):
    wanted = (
        "inverse_dynamics",
        "forward_dynamics",
        "base_regressor",
        "inverse_dynamics_jvp",
        "inverse_dynamics_derivatives",
    )
    generate(
        "robots/pendulum.urdf",
        tmp_path,
        friction=kinds,
        quantities=wanted,
        friction_width=width,
        scalar=scalar,
    )
    assert all(check.passed for check in verify(tmp_path))
    text = (tmp_path / "pendulum_inverse_dynamics.c").read_text()
    assert ("tanh" in text) == bool(
        width and "runtime" in kinds
    )  # the file has no friction of its own


def test_a_smooth_step_becomes_the_sign():
    steps = [direction(rate, width) for width in (1e-3, 1e-6, 0.0) for rate in (-0.5, 0.0, 0.5)]
    assert steps == [-1.0, 0.0, 1.0] * 3
    assert direction(1e-3, 1e-3) == pytest.approx(np.tanh(1.0)) and direction(1e-3, 0.0) == 1.0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"friction": "offset"},
            "--friction offset: a URDF has no offsets; give them in --actuators",
        ),
        (
            {"friction": "viscous", "friction_width": 0.1},
            "--friction-width: only Coulomb friction has a width",
        ),
        ({"friction": "coulomb", "friction_width": -1.0}, "--friction-width -1: give a rate"),
        (
            {"friction": "coulomb", "friction_width": float("nan")},
            "--friction-width nan: give a rate",
        ),
        ({"friction": "coulomb", "friction_width": 1e-300}, "--friction-width 1e-300: give a rate"),
    ],
)
def test_what_cannot_be_is_refused(options, said, tmp_path):
    with pytest.raises(OptionError, match=said):
        generate("robots/pendulum.urdf", tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


BARE = "warning: --friction: no joint has viscous, coulomb friction, so it is zero; give <dynamics>"


@pytest.mark.parametrize("command", ["generate", "ops"])
def test_friction_that_no_joint_has_is_warned_of(command, tmp_path):
    out = ("-o", tmp_path / "out") if command == "generate" else ()
    done = invoke(command, robot_file("pendulum"), "--friction", "viscous,coulomb", *out)
    assert done.exit_code == 0 and BARE in " ".join(done.stderr.split())


def test_only_the_kinds_that_are_missing_are_warned_of(tmp_path):
    text = (ROOT / "robots" / "pendulum.urdf").read_text()
    file = tmp_path / "pendulum.urdf"
    file.write_text(text.replace("</joint>", '<dynamics damping="0.5"/></joint>', 1))
    said = {
        kinds: invoke("ops", file, "--friction", kinds).stderr
        for kinds in ("viscous", "viscous,coulomb", "runtime:coulomb")
    }
    assert ["no joint has" in text for text in said.values()] == [False, True, False]
    assert "no joint has coulomb friction" in " ".join(said["viscous,coulomb"].split())
