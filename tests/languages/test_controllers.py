"""Controllers in C, with their state: closed loops that were simulated in 40 digits, what they do
there, and what becomes of a step that fails."""

import random
import re
import subprocess

import numpy as np
import pytest

from symgen.algorithms import LINK_QUANTITIES
from symgen.algorithms.controllers import CONTROLLERS
from symgen.compiler.evaluate import evaluate_batch
from symgen.jobs.api import generate
from symgen.languages.c.checks import build
from symgen.mechanics.parameters import lump_links, parameter_blocks
from symgen.native.compiler import STRICT, compiler
from symgen.numbers.trig import TYPES
from symgen.proof.controller_simulation import OBSERVED_FORCE, SAMPLE_TIME, controller_of, record
from symgen.reading.assemble import load
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace
from tests.support.random_trees import ROBOTS
from tests.support.tools import generated, robot_file

pytestmark = pytest.mark.usefixtures("not_optimized")

EVERY = tuple(name for name in CONTROLLERS if name not in LINK_QUANTITIES)


def built(folder, *flags, to=None):
    """Compiles all that was generated, into its folder or another one; the exit status of the
    self-test."""
    sources = [str(path) for path in sorted(folder.glob("*.c"))]
    out = (to or folder) / "selftest"
    command = [*compiler().split()] if isinstance(compiler(), str) else [*compiler()]
    subprocess.run([*command, *STRICT, *flags, *sources, "-lm", "-o", str(out)], check=True)
    return subprocess.run([str(out)], check=False).returncode


@pytest.mark.parametrize("scalar", ["double", "float"])
def test_closed_loops_are_as_recorded(tmp_path, scalar):
    generate(ROBOTS / "pendulum.urdf", out=tmp_path / "p", controllers=EVERY, scalar=scalar)
    assert built(tmp_path / "p") == 0
    for name in EVERY:
        assert (tmp_path / "p" / f"pendulum_{name}_controller.h").exists()


def test_least_squares_hold_in_single_precision(tmp_path):
    """Whose covariance itself does not, of 36 parameters."""
    _, folder = generated("rx90", languages=("c",), controllers=LEARNING, scalar="float")
    assert built(folder, to=tmp_path) == 0


LEARNING = ("recursive_least_squares",)
LOOPED = {
    "as ever": ("scara", 0.22, {}),
    "float": ("rx90", 0.1, {"scalar": "float"}),
    "friction, short pieces, zeros left out": (
        "rx90",
        0.1,
        {"friction": "runtime:viscous,coulomb", "chunk": 20, "zeros": "once"},
    ),
    "runtime gravity": ("scara", 0.2, {"gravity": "runtime"}),
}
"""Robots, the most lines for each operation, and options. Straight lines are 0.6 an operation; of
few joints most lines are those around the loops."""


@pytest.mark.parametrize(
    "robot, most, options",
    [
        pytest.param(*row, id=name, marks=[pytest.mark.slow] if "friction" in name else [])
        for name, row in LOOPED.items()
    ],
)
def test_loops_have_the_bits_of_the_straight_lines(robot, most, options):
    (name,) = LEARNING
    module, folder = generated(robot, languages=("c",), controllers=LEARNING, **options)
    code = (folder / f"{robot}_{name}.c").read_text()
    (traced,) = (f for f in module.functions if f.name == name)
    statements = re.sub(r"/\*.*?\*/", "", code, flags=re.DOTALL).splitlines()
    assert len([line for line in statements if line.strip()]) < most * traced.counts.total
    scalar, states = options.get("scalar", "double"), module.random_states(random.Random(1), 3)
    given = {key: np.array([x[key] for x, _ in states], TYPES[scalar]) for key in traced.inputs}
    given["P"] = np.abs(given["P"])
    found = getattr(build(module, folder), name)(*given.values())
    by_tape = evaluate_batch(traced.program, {key: x.T for key, x in given.items()}, scalar)
    for got, wanted in zip(found, by_tape.values(), strict=True):
        assert np.array_equal(got, wanted.T)


@pytest.mark.parametrize("flags", [(), ("-DPENDULUM_NO_VECTORS",)], ids=["vectors", "none"])
def test_batches_call_loops_where_there_are_no_vectors(tmp_path, flags):
    name = "recursive_least_squares"
    generate(ROBOTS / "pendulum.urdf", tmp_path, ["c"], controllers=(name,), batch="auto")
    assert built(tmp_path, *flags) == 0


STEEP = """<robot name="steep"><link name="link_0"/><link name="link_1"><inertial>
<origin xyz="-0.0188 0.0 -0.1236" rpy="3.141592653589793 0.0 0.0"/><mass value="2.937"/>
<inertia ixx="0.00070526" ixy="0" ixz="0" iyy="0.00102354" iyz="0" izz="0.00116593"/></inertial>
</link><joint name="joint_0" type="prismatic"><origin xyz="-0.1176 -0.2275 0.0"
rpy="-2.4992349172669046 -1.4638327972824112 -0.9931512368877957"/><parent link="link_0"/>
<child link="link_1"/><axis xyz="1 1 1"/>
<limit effort="44.02" velocity="2" lower="-1.5" upper="1.5"/></joint></robot>"""
DRIVE = "joints.joint_0 = { gear_ratio = -50, rotor_inertia = 2e-5, rotor_axis = [0, 1, 1] }"


def test_what_learns_from_little_may_depart_as_far_as_its_precision_takes_it(tmp_path):
    """Rounded to float the estimate ends 0.6 % off, with the same bits everywhere."""
    (tmp_path / "steep.urdf").write_text(STEEP)
    (tmp_path / "drive.toml").write_text(DRIVE)
    options = {"actuators": tmp_path / "drive.toml", "rotors": "exact", "scalar": "float"}
    where, name = tmp_path / "p", "recursive_least_squares"
    generate(tmp_path / "steep.urdf", out=where, controllers=(name,), **options)
    assert built(where) == 0
    assert "loop_beta_rls[SAMPLES]" in (where / f"steep_{name}_controller.c").read_text()


def test_links_have_theirs(tmp_path):
    where = tmp_path / "p"
    generate(ROBOTS / "rx90.urdf", out=where, controllers=("cartesian_impedance:link6",))
    assert (where / "rx90_cartesian_impedance_link6_controller.h").exists()
    assert built(where) == 0


def test_floating_robots_have_them_too(tmp_path):
    some = ("computed_torque", "momentum_observer")
    where = tmp_path / "q"
    generate(robot_file("biped"), out=where, base="floating", controllers=some)
    assert built(where) == 0


@pytest.mark.parametrize(
    "name, right, wrong",
    [
        (
            "momentum_observer",
            "copied(state->p_last, state->new_p_next",
            "copied(state->p_last, state->r",
        ),
        ("computed_torque", "copied(state->e_int, state->new_e_int_next", "copied(state->e_int, q"),
        ("adaptive_slotine_li", "gains->beta_mean[k];", "1.0;"),
    ],
)
def test_a_state_that_goes_wrong_is_seen(tmp_path, name, right, wrong):
    where = tmp_path / "p"
    generate(ROBOTS / "pendulum.urdf", out=where, controllers=(name,))
    source = where / f"pendulum_{name}_controller.c"
    text = source.read_text()
    assert right in text
    source.write_text(text.replace(right, wrong))
    assert built(where) == 1


def test_a_step_that_is_not_finite_changes_nothing(tmp_path):
    where = tmp_path / "p"
    generate(ROBOTS / "pendulum.urdf", out=where, controllers=("momentum_observer",))
    main = where / "main.c"
    main.write_text(
        """
#include <math.h>
#include "pendulum_momentum_observer_controller.h"
int main(void)
{
    pendulum_momentum_observer_gains gains = {{50.0, 50.0}};
    pendulum_momentum_observer_state state;
    double q[2] = {0.1, 0.2}, qd[2] = {1.0, -1.0}, tau[2] = {1.0, 2.0}, r[2];
    double kept;
    pendulum_momentum_observer_reset(&state, &gains);
    if (pendulum_momentum_observer_step(&gains, &state, q, qd, tau, 0.001, r)) { return 1; }
    kept = state.p_last[0];
    q[0] = NAN;
    if (!pendulum_momentum_observer_step(&gains, &state, q, qd, tau, 0.001, r)) { return 2; }
    return ((state.p_last[0] - kept == 0.0) && (r[0] == 0.0)) ? 0 : 3;
}
"""
    )
    assert built(where, "-DPENDULUM_SELFTEST_NO_MAIN") == 0


def simulated(name, samples, **gains):
    robot = ParametricModel(load(ROBOTS / "panda_arm.urdf").model)
    loop = controller_of(robot, CONTROLLERS[name], trace(robot, FunctionRequest.parse(name)), float)
    for key, value in gains.items():
        loop.gains[key] = [value] * len(loop.gains[key])
    return record(robot, loop, samples=samples)


def test_the_observer_sees_a_force_within_50_ms():
    found = simulated("momentum_observer", 60)
    r, half = np.array(found.wanted["tau_ext"]), 30
    assert np.abs(r[:half]).max() < 0.05 * OBSERVED_FORCE
    later = half + int(0.05 / SAMPLE_TIME) + 1
    assert np.abs(r[later:, 0] - OBSERVED_FORCE).max() < 0.1 * OBSERVED_FORCE
    assert np.abs(r[later:, 1:]).max() < 0.1 * OBSERVED_FORCE


def errors(found):
    """Of positions, the largest in the last quarter of a loop."""
    e = np.abs(np.array(found.measured["q_ref"]) - np.array(found.measured["q"]))
    return e[-len(e) // 4 :].max()


def test_computed_torque_follows():
    assert errors(simulated("computed_torque", 250)) < 5e-3


def test_what_adapts_follows_without_knowing_the_robot():
    known, blind = (
        errors(simulated("adaptive_slotine_li", 500, gamma=speed)) for speed in (0.02, 0.0)
    )
    assert known < 0.5 * blind


def test_a_link_goes_where_it_is_wanted():
    """5 cm along each axis, to what the joints that are pulled elsewhere and the damping of Λ leave."""
    robot = ParametricModel(load(ROBOTS / "panda_arm.urdf").model)
    name, link = "cartesian_impedance", "link7"
    function = trace(robot, FunctionRequest.parse(f"{name}:{link}"))
    found = record(robot, controller_of(robot, CONTROLLERS[name], function, float), samples=500)
    place = trace(robot, FunctionRequest.parse(f"frame_pose:{link}"))
    off = [
        np.abs(np.array(place.run(q=q)[f"p_{link}"]) - aim).max()
        for q, aim in zip(found.measured["q"], found.measured["p_ref"], strict=True)
    ]
    assert abs(off[0] - 0.05) < 1e-9 and max(off[-50:]) < 0.015


def test_forces_stay_within_the_limit():
    found = simulated("computed_torque", 50, limit=6.0)
    tau = np.array(found.wanted["u_computed"])
    assert np.abs(tau).max() == 6.0
    assert (np.abs(tau) == 6.0).any() and (np.abs(tau) < 6.0).any()


def test_least_squares_find_the_base_parameters():
    """From random motions and the forces that they take."""
    name, robot = "recursive_least_squares", ParametricModel(load(ROBOTS / "puma560.urdf").model)
    loop = controller_of(robot, CONTROLLERS[name], trace(robot, FunctionRequest.parse(name)), float)
    loop.gains["forget"] = [1.0]
    loop.state["P"] = [1e6 * x for x in loop.state["P"]]  # D; U is 1
    forces, random = (
        trace(robot, FunctionRequest.parse("inverse_dynamics")),
        np.random.default_rng(1),
    )
    for _ in range(60):
        x = {k: random.uniform(-2, 2, robot.model.dof).tolist() for k in ("q", "qd", "qdd")}
        loop.step({**x, "tau": forces.run(**x)["tau"]})
    names = [body.name for body in robot.model.bodies]
    blocks = parameter_blocks(lump_links(robot.model, names), names)
    ten = [e for values in blocks.values() for e in values]
    wanted = trace(robot, FunctionRequest.parse("base_parameters")).run(ten=ten)["beta"]
    off = np.array(loop.state["beta_hat"], float) - np.array(wanted, float)
    assert np.abs(off).max() < 1e-5 * np.abs(np.array(wanted, float)).max()


def test_an_unknown_controller_is_refused_in_a_sentence():
    from symgen.errors import OptionError

    with pytest.raises(OptionError, match=re.escape("no controller is called 'pid'")):
        generate(ROBOTS / "pendulum.urdf", out="x", controllers=("pid",))


GAIN_UNITS = {
    "gravity_compensation": {"k_d": "N m s/rad"},
    "computed_torque": {"k_p": "1/s^2", "k_d": "1/s", "k_i": "1/s^3"},
    "joint_impedance": {"k_p": "N m/rad", "k_d": "N m s/rad"},
    "adaptive_slotine_li": {"k_p": "1/s", "k_d": "N m s/rad"},
}


def test_each_controller_states_the_units_of_its_gains(tmp_path):
    """Torque and acceleration gains differ by the inertia of the robot."""
    generate(ROBOTS / "pendulum.urdf", out=tmp_path / "p", controllers=tuple(GAIN_UNITS))
    for name, units in GAIN_UNITS.items():
        header = (tmp_path / "p" / f"pendulum_{name}_controller.h").read_text()
        found = dict(re.findall(r"(k_\w)\[2\]; /\* [^\[]*\[(.*?)\] \*/", header))
        assert found == units, name
