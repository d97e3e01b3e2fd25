"""Joint friction in rates along motions, in headers, in modules, and where it cannot be."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import symgen
from symgen.errors import OptionError
from symgen.jobs.api import generate
from symgen.jobs.verify import verify
from symgen.mechanics.joint_forces import direction
from tests.support.random_trees import FEW
from tests.support.rough import robots, step, title
from tests.support.states import run
from tests.support.tools import ROOT, invoke, robot_file


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
    """Along one direction, in which all of them count."""
    x, n = trajectory(robot), robot.model.dof
    d = np.random.default_rng(5).uniform(0.5, 1, n)
    found = run(robot, "inverse_dynamics_second_derivatives", x)
    of = {"tau_qq": ("q", 0), "tau_qdqd": ("qd", 1), "tau_qqd": ("qd", 0), "tau_qqdd": ("qdd", 0)}
    for name, (by, output) in of.items():
        slope = step(robot, "inverse_dynamics_derivatives", x, output, **{by: d})
        near(found[name].reshape(n, n, n) @ d, slope.reshape(n, n))


def test_a_module_without_what_feels_friction_says_so(tmp_path):
    robot = symgen.Robot("robots/pendulum.urdf", friction="viscous")
    robot.generate(tmp_path, quantities=("gravity",))
    assert "is included in no function of this module" in (tmp_path / "pendulum.h").read_text()


@pytest.mark.parametrize(
    ("kinds", "width", "scalar"),
    [
        ("viscous,coulomb", 0.05, "double"),  # which are zero, so no width shows
        ("runtime:viscous,coulomb,offset", 0.0, "double"),
        ("runtime:viscous,coulomb,offset", 0.05, "float"),
    ],
)
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
            "--friction offset: a robot file does not contain this coefficient; give it in",
        ),
        (
            {"friction": "viscous", "friction_width": 0.1},
            "--friction-width: only coulomb, stribeck, power, load have a width",
        ),
        ({"friction": "coulomb", "friction_width": -1.0}, "--friction-width -1: give a velocity"),
        (
            {"friction": "coulomb", "friction_width": float("nan")},
            "--friction-width nan: give a velocity",
        ),
        (
            {"friction": "coulomb", "friction_width": 1e-300},
            "--friction-width 1e-300: give a velocity",
        ),
    ],
)
def test_what_cannot_be_is_refused(options, said, tmp_path):
    with pytest.raises(OptionError, match=said):
        generate("robots/pendulum.urdf", tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


BARE = "warning: --friction: no joint has viscous, coulomb friction, so it is zero; add <dynamics>"


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
