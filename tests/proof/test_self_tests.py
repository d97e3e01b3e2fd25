"""What a self-test lets pass, and at which states: right code passes and wrong code shows."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.faults import Trial, changed, sites
from benchmarks.mutants import disagreements, share
from benchmarks.right_modules import compiled, modules
from symgen.compiler.program import Program
from symgen.jobs.job import Job
from symgen.languages.accuracy import MAX_CODE, QUANTUM, SAFETY_FACTOR, ZERO_CODE, quantize_errors
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.joint_listing import velocity_coordinates
from symgen.numbers.decimals import decimal_precision
from symgen.proof.laws.frame_laws import aligned_jacobian, jacobian_by_axes
from symgen.proof.state_generation import (
    SELF_TEST_CHANGES,
    select_test_states,
    sensitivity,
    with_random_unit_quaternions,
)
from symgen.proof.states import DIGITS, States
from tests.support.bounded import module
from tests.support.random_trees import AS_WRITTEN, FAMILIES
from tests.support.tools import invoke, robot_file

KINDS = {**FAMILIES, **AS_WRITTEN}


def test_steps_are_not_below_what_they_stand_for():
    allowed = np.array([[3.21e-7, 1e-9, 0.0, 2.5e-7], [1e-30, 3.2e-7, np.inf, 1e-8]])
    made = quantize_errors(allowed)
    back = np.array(
        [[0.0 if c == ZERO_CODE else made.top * QUANTUM**c for c in row] for row in made.codes]
    )
    finite = np.isfinite(allowed)
    assert (back[finite] >= allowed[finite]).all()
    near = finite & (allowed > 1e-12)
    assert (back[near] <= allowed[near] / QUANTUM * 1.01).all()
    assert made.codes[0][2] == ZERO_CODE and made.codes[1][0] == MAX_CODE and made.codes[1][2] == 0


def test_steps_are_the_smallest_that_are_not_below():
    rng, top = np.random.default_rng(4), 3.21e-7
    exact = [top * QUANTUM**k for k in range(MAX_CODE + 1)]
    drawn = np.exp(rng.uniform(np.log(exact[-1] / 3), np.log(top), 2000))
    beside = [float(np.nextafter(x, side)) for x in exact[1:] for side in (0.0, 1.0)]
    allowed = np.array([*drawn, *exact, *beside, 0.0, np.inf])
    made = quantize_errors(allowed[None])
    assert made.top == top
    for x, code in zip(allowed.tolist(), made.codes[0], strict=True):
        reaching = [k for k, step in enumerate(exact) if step >= x]
        assert code == (ZERO_CODE if x == 0.0 else max(reaching, default=0))


def test_a_wrong_reference_is_not_excused():
    """What the tape is off counts as far as its constants explain it, no further."""
    made = module("ur5")
    function = made.functions[0]
    wanted = {"tau": np.array([s.expected["tau"] for s in made.test_states])}
    right = made.accuracy.allowed(function.program, wanted)["tau"]
    moved = made.accuracy.allowed(function.program, {"tau": wanted["tau"] + 1e-6})["tau"]
    assert right.max() < 1e-12 and moved.max() < 1e-12


@pytest.mark.parametrize("name", ["ur5", "quadruped"])
def test_what_is_zero_but_for_the_last_digits_of_a_law_is_zero(name):
    """UR5's last joint feels no gravity; of 75 digits 1e-76 was left."""
    for state in module(name).test_states:
        for row in state.expected.values():
            sizes = np.abs(np.array(row))
            assert not ((sizes > 0) & (sizes < 1e-32 * sizes.max())).any()


@pytest.mark.parametrize("kind", KINDS)
def test_right_modules_do_not_fail(kind):
    for made in modules(KINDS[kind](1)):
        assert [Trial(made, function).wrong() for function in made.functions] == [0] * 4


def test_numbers_taken_for_zero_at_generation_are_allowed_for():
    """A pose entry of 8e-14 is none in the canonical frames, and 1.6e-13 N m are missing."""
    for made in modules(FAMILIES["roughly square"](19)):
        assert not any(Trial(made, function).wrong() for function in made.functions)


NEARLY_PARALLEL = """<robot name="r"><link name="base"/>
<link name="a"><inertial><mass value="4.931"/>
<inertia ixx="0.28965598" ixy="0" ixz="0" iyy="0.29221106" iyz="0" izz="0.49749346"/></inertial></link>
<link name="b"><inertial><origin xyz="-0.1657 -0.1609 -0.1599"/><mass value="3.458"/>
<inertia ixx="0.04976759" ixy="0" ixz="0" iyy="0.11496371" iyz="0" izz="0.1250911"/></inertial></link>
<joint name="one" type="continuous"><origin xyz="0 0 -0.2317" rpy="0.67452 -1.49413 2.18612"/>
<parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint>
<joint name="two" type="continuous"><origin xyz="0 0 -0.2319" rpy="1.5708 0 0"/>
<parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint></robot>"""


def test_base_parameters_of_axes_that_are_parallel_but_for_a_millionth(tmp_path):
    """Two of them are felt 4e-7 as much as others; which sums they stand for is open to 2e-6."""
    file = tmp_path / "r.urdf"
    file.write_text(NEARLY_PARALLEL)
    out = ("-o", tmp_path / "out", "--quantity", "base_parameters")
    assert invoke("generate", file, *out).exit_code == 0
    done = invoke("verify", tmp_path / "out")
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("kind", ["wheels", "upside down", "mounted"])
def test_right_modules_do_not_fail_compiled(kind):
    """Whose right values are zero up to rounding."""
    for made in modules(AS_WRITTEN[kind](2)):
        assert compiled(made) == (True, True)


@pytest.mark.parametrize("robot", ["ur5", "puma560"])
def test_wrong_constants_fail(robot):
    made = module(robot)
    assert all(all(Trial(made, f).caught(SELF_TEST_CHANGES["double"])) for f in made.functions)


def test_wrong_constants_fail_in_single_precision():
    made = module("ur5", "float")
    found = sum(
        (share(made, f, 50) for f in made.functions[1:]), start=share(made, made.functions[0], 50)
    )
    assert found.literals == 292 and found.seen >= 288 and found.part >= 0.99


def test_an_output_of_zero_fails():
    """tau[5] = 0 passed when tolerances were of the largest entry."""
    made = module("ur5", "float")
    function = next(f for f in made.functions if f.name == "inverse_dynamics")
    (out,) = function.program.outputs
    for entry in range(6):
        gone = Program()
        gone.__dict__ |= function.program.__dict__
        gone.analysis_cache = {}
        refs = tuple(None if k == entry else ref for k, ref in enumerate(out.refs))
        gone.outputs = [out._replace(refs=refs)]
        trial = Trial(made, function)
        outputs, _ = trial._run(gone, trial._inputs, [])
        assert sum(bad.sum() for bad in trial._bad(outputs)) == 5


@pytest.mark.parametrize("scalar", ["double", "float"])
def test_compiled_self_tests_say_the_same(scalar):
    tried = list(disagreements(module("pendulum", scalar, trig="inline"), 1))
    assert len(tried) >= 5 and all(same for *_, same in tried)


def test_a_changed_tape_has_the_bits_of_its_lanes():
    made = module("puma560", "float", trig="inline")
    function = made.functions[0]
    trial = Trial(made, function)
    for site in sites(function.program)[::9]:
        lanes, _ = trial._run(function.program, trial._inputs, [(site, 1.01 * site.number)])
        other = changed(function.program, site, 1.01 * site.number)
        alone, _ = Trial(made, replace(function, program=other))._run(other, trial._inputs, [])
        assert (lanes["tau"] == alone["tau"]).all() and len(other.nodes) > len(
            function.program.nodes
        )


def test_torques_and_accelerations_belong_together():
    made = module("ur5")
    limits = {b.joint.name: b.joint.limits.effort for b in made.robot.model.bodies}
    efforts = [limits[row.name] for row in velocity_coordinates(made.robot.model)]
    for state in made.test_states:
        x = state.inputs
        assert all(abs(t) <= effort for t, effort in zip(x["tau"], efforts, strict=True))
        assert np.allclose(state.expected["tau"], x["tau"], rtol=1e-3, atol=1e-2)
        assert np.allclose(state.expected["qdd"], x["qdd"], rtol=1e-2, atol=1e-1)


def test_weak_motors_let_the_arm_fall(tmp_path):
    text = Path(robot_file("ur5")).read_text().replace('effort="150', 'effort="1.50')
    (tmp_path / "weak.urdf").write_text(text)
    job = Job.of(str(tmp_path / "weak.urdf"), quantities=("inverse_dynamics", "forward_dynamics"))
    made = job.module(job.load())
    for state in made.test_states:
        assert all(abs(t) <= 1.5 for t in state.inputs["tau"][:3])
        assert np.allclose(state.expected["tau"], state.inputs["tau"], rtol=1e-2, atol=1e-2)


def test_states_are_chosen_that_tell_most():
    made = module("panda", "float")
    programs = [f.program for f in made.functions]
    rng = random.Random(3)
    drawn = made.draw(rng, 20)
    chosen = select_test_states([sensitivity(p, made.accuracy_at(drawn)) for p in programs], 5)
    assert len(set(chosen)) == 5

    def shown(kept):
        at = made.accuracy_at([drawn[k] for k in kept])
        return sum((x.max() > SAFETY_FACTOR) for p in programs for x in sensitivity(p, at).values())

    assert shown(chosen) >= max(shown(range(k, k + 5)) for k in (0, 5, 10, 15))


CROSSED = """<robot name="crossed"><link name="l0"/><link name="l1"/><link name="l2"><inertial>
<origin xyz="0.1364 -0.1662 0"/><mass value="1.095"/>
<inertia ixx="0.001" ixy="0" ixz="0" iyy="0.0015" iyz="0" izz="0.0022"/></inertial></link>
<joint name="j0" type="continuous"><origin rpy="3.1416 0 0"/><parent link="l0"/>
<child link="l1"/></joint><joint name="j1" type="continuous">
<origin xyz="0.1905 0 0" rpy="3.1416 1.5708 0"/><parent link="l1"/><child link="l2"/>
<axis xyz="0 0 1"/></joint></robot>"""


def test_squares_of_what_is_zero_but_for_rounding_pass(tmp_path):
    """An axis that nearly crosses another one: an arm of 1e-13 m is all rounding in float, and what
    a unit of mass there weighs in M is its square (found by the fuzzer)."""
    (tmp_path / "crossed.urdf").write_text(CROSSED)
    out = tmp_path / "out"
    options = ("--scalar", "float", "--lang", "c", "--quantity", "mass_matrix_by_parameters")
    wanted = ("-o", out, *options)
    assert invoke("generate", tmp_path / "crossed.urdf", *wanted).exit_code == 0
    done = invoke("verify", out)
    assert done.exit_code == 0, done.output


def test_reference_values_of_a_humanoid_are_mostly_those_of_independent_laws():
    """docs/proof.md shows the numbers; before, 61 of the 99 quantities had their own algorithm."""
    pytest.importorskip("casadi", reason="benchmarks compare with CasADi: pip install '.[oracles]'")
    from benchmarks.figures.counts import self_test_counts

    found = self_test_counts()
    assert found["ur5"]["same"] == 0
    assert found["humanoid25"]["n"] == 25 and found["humanoid25"]["same"] < 20


def test_the_jacobian_by_axes_of_joints_is_the_slope_of_the_pose():
    """On a floating robot and on joints that mimic others; both are laws."""
    for robot, base in (("quadruped", "floating"), ("panda", "fixed")):
        job = Job.of(robot_file(robot), base=base)
        runtime = job.robot(job.load())
        link = runtime.model.bodies[-1].links[0].name
        rng = random.Random(2)
        coupling = coupling_of(runtime.model)
        q = with_random_unit_quaternions(
            coupling, [rng.uniform(-2, 2) for _ in range(coupling.positions)], rng
        )
        with decimal_precision(DIGITS):
            x = States.of(runtime, {"q": [q]}, False)
            slopes, columns = (
                f(x, link).astype(float) for f in (aligned_jacobian, jacobian_by_axes)
            )
        assert slopes.shape == columns.shape and np.abs(slopes).max() > 0.5
        assert np.allclose(slopes, columns, rtol=0, atol=1e-25)


def test_loops_close_during_all_of_a_step_of_a_test_state(tmp_path):
    """A rocker of 30 mm: its crank swings by some degrees, which half a step can leave."""
    links = "".join(
        f'<link name="{name}"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.02" '
        'izz="0.015" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        for name in ("crank", "rod", "rocker")
    )
    joints = "".join(
        f'<joint name="to_{link}" type="continuous"><parent link="{carrier}"/><child link="{link}"/>'
        f'<origin xyz="{place}"/><axis xyz="0 0 1"/></joint>'
        for link, carrier, place in (
            ("crank", "base", "0 0 0"),
            ("rod", "crank", "0.11 0 0"),
            ("rocker", "base", "0.432 0.03 0"),
        )
    )
    loop = (
        '<loop name="pin" type="ball"><predecessor link="rod"><origin xyz="0.323 0 0"/>'
        '</predecessor><successor link="rocker"><origin xyz="0.001 -0.03 0"/></successor></loop>'
    )
    text = f'<robot name="short"><link name="base"/>{links}{joints}{loop}</robot>'
    (tmp_path / "short.urdf").write_text(text, encoding="utf-8")
    job = Job.of(tmp_path / "short.urdf", quantities=("step:rk4",))
    drawn = job.module(job.load()).random_states(random.Random(0), 40)
    steps_of_time = {inputs["h"] for inputs, _ in drawn}
    (function,) = job.module(job.load()).functions
    results = [function.run(**{k: list(inputs[k]) for k in function.inputs}) for inputs, _ in drawn]
    assert len(results) == 40 and 30 < len(steps_of_time) < 40
