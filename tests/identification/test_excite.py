"""Exciting motions: series, criterion and gradients are what they say, and limits hold."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from symgen.compiler.evaluate import evaluate
from symgen.compiler.program import Program
from symgen.identification.excitation.motion_limits import ExcitationPlan, motion_bounds
from symgen.identification.excitation.optimizer import ExcitationSearch, _coefficient_basis, excite
from symgen.identification.excitation.task import (
    ExcitationTask,
    FourierMotion,
    condition_numbers,
    rest_to_rest_basis,
    smooth_condition,
)
from symgen.identification.model.equations import kernel
from symgen.identification.model.problem import base_kernel, friction, torque_mapping
from symgen.identification.model.regressor_tapes import dynamics
from symgen.identification.report.excite_report import OWNER, motion_csv
from symgen.jobs.job import Job
from symgen.native.library import NativeTape
from symgen.numbers.operations import cos, sign, sin, tanh
from symgen.numbers.scalar import ZERO
from tests.support.excited import SCARA, run
from tests.support.tools import robot_file

SMALL = {"harmonics": 3, "period": 4.0, "rate": 100.0, "budget": 40}


MIMIC = """<robot name="m"><link name="base"/><link name="a">{i}</link><link name="b">{i}</link>
<link name="c">{i}</link>
<joint name="turn" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
 <limit effort="20" velocity="4"/></joint>
<joint name="lift" type="prismatic"><parent link="a"/><child link="b"/><origin xyz="0.2 0 0.1"/><axis xyz="0 0.6 0.8"/>
 <limit lower="0" upper="2" effort="60" velocity="2"/></joint>
<joint name="after" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0.1 0.1 0"/><axis xyz="1 0 0"/>
 <limit lower="-1" upper="1" effort="5" velocity="3"/><mimic joint="lift" multiplier="-2" offset="1.5"/></joint></robot>
""".format(
    i='<inertial><origin xyz="0.1 0.02 0.03"/><mass value="1.5"/>'
    '<inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0.002" izz="0.025"/></inertial>'
)


@cache
def task(file, kinds="", rest=False, **options):
    job = Job.of(file, friction=f"runtime:{kinds}" if kinds else "")
    loaded = job.load()
    mapping = torque_mapping(loaded.model)
    values = np.array([*mapping.base(mapping.prior), *friction(job, loaded.model).values()])
    plan = ExcitationPlan(**{**SMALL, **options, "rest": rest})
    return ExcitationTask(
        loaded.model.joint_names, dynamics(job, loaded), values, motion_bounds(loaded, ()), plan
    )


@pytest.fixture
def mimic(tmp_path):
    path = tmp_path / "mimic.urdf"
    path.write_text(MIMIC)
    return str(path)


def test_rates_and_accelerations_are_derivatives_and_the_motion_is_periodic():
    random = np.random.default_rng(0)
    motion, t, h = (
        FourierMotion(random.normal(size=2), random.normal(size=(2, 8)), 3.0),
        np.linspace(0, 3, 7),
        1e-5,
    )
    before, now, after = (motion.states(t + d) for d in (-h, 0, h))
    for k in (0, 1):
        np.testing.assert_allclose((after[k] - before[k]) / (2 * h), now[k + 1], atol=1e-6)
    np.testing.assert_allclose(motion.states(t + 3.0), now, atol=1e-12)


@pytest.mark.parametrize("harmonics", [2, 5])
def test_a_resting_series_has_no_rate_nor_acceleration_at_its_ends(harmonics):
    free = rest_to_rest_basis(harmonics)
    assert free.shape == (2 * harmonics, 2 * harmonics - 2)
    y = np.random.default_rng(1).normal(size=(3, free.shape[1])) @ free.T
    _, rate, change = FourierMotion(np.zeros(3), y, 2.0).states(np.array([0.0, 2.0]))
    np.testing.assert_allclose([rate, change], 0, atol=1e-11)
    assert np.abs(y).max() > 0.1


def test_the_smooth_condition_number_bounds_the_condition_number():
    rows = np.random.default_rng(2).normal(size=(60, 9)) * np.geomspace(1, 100, 9)
    rows[:, 8] += 300 * rows[:, 0]
    value, _ = smooth_condition(rows)
    exact = np.log(condition_numbers(rows)[1])
    assert exact <= value <= exact + np.log(9) / 4


@pytest.mark.parametrize("rest", [False, True])
@pytest.mark.parametrize("kinds", ["", "viscous,offset"])
def test_the_gradient_of_the_search_is_that_of_its_value(rest, kinds):
    search = ExcitationSearch(
        task(SCARA, kinds, rest), _coefficient_basis(task(SCARA, kinds, rest)), 10.0
    )
    random, n = np.random.default_rng(3), search.task.joints
    x = random.normal(size=n * (1 + search.basis.shape[1])) * 0.8
    _, slope = search(x)
    assert search.task.excess(search.motion(x), search.task.coarse) > 0  # the penalty takes part
    for _ in range(3):
        d, h = random.normal(size=x.size), 1e-5
        assert (search(x + h * d)[0] - search(x - h * d)[0]) / (2 * h) == pytest.approx(
            slope @ d, rel=1e-4
        )


@pytest.mark.parametrize("kinds", ["", "viscous,coulomb"])
def test_tapes_of_the_search_are_the_compiled_regressor_and_its_forces(kinds):
    job = Job.of(SCARA, friction=f"runtime:{kinds}" if kinds else "", trig="libm")
    own = task(SCARA, kinds)
    states = tuple(
        np.random.default_rng(5).normal(size=(3, 37, own.joints))
    )  # more than a block, no multiple of one
    found = own.dynamics.regressor(states)
    np.testing.assert_array_equal(found, base_kernel(job, job.load())(*states))
    np.testing.assert_allclose(
        own.dynamics.forces(states), found @ own.parameters, rtol=1e-9, atol=1e-9
    )


def test_every_operation_of_a_tape_is_the_same_in_the_compiled_loop():
    program = Program()
    a, b = program.input("a", (2,))
    entries = [a + b, a - b, -(a * b), b / a, sin(a), cos(b), tanh(a), sign(a), ZERO, a, 2.5]
    program.output("y", (len(entries),), entries)
    x = np.random.default_rng(6).normal(size=(19, 2))
    wanted = [
        [0.0 if e is None else e for e in evaluate(program, {"a": row.tolist()})["y"]] for row in x
    ]
    np.testing.assert_allclose(
        NativeTape.of(program)(x), np.array(wanted, float), rtol=1e-15, atol=0
    )
    with pytest.raises(ValueError, match="has 2 inputs, and 3"):
        NativeTape.of(program)(x, x[:, :1])


@pytest.mark.parametrize("budget", [1, 2, 9])
def test_a_budget_is_kept_to(budget):
    said = []
    excite(task(SCARA, budget=budget), said.append)
    assert sum("evaluation" in step for step in said) == budget


def states_and_forces(file, motion, t):
    """States, and forces by inverse dynamics, which shares no regressor with the search."""
    job = Job.of(file, quantities=("inverse_dynamics",))
    states = motion.states(t)
    return states, kernel(job, job.load())(*states)


@pytest.mark.parametrize("name", ["scara", "pendulum", "mimic"])
def test_a_motion_within_limits_with_a_lower_condition_number(name, mimic):
    file = mimic if name == "mimic" else robot_file(name)
    found = excite(task(file))
    assert found.found_condition[1] < 0.8 * found.random_condition[1]
    t = np.random.default_rng(4).uniform(0, 4, 400)
    (q, qd, _), tau = states_and_forces(file, found.motion, t)
    own = found.task.bounds
    assert (own.lower < q).all() and (q < own.upper).all()
    assert (np.abs(qd) <= own.speed).all() and (np.abs(tau) <= own.force).all()


def test_sixteen_joints():
    found = excite(task(robot_file("snake16"), budget=20))
    assert found.found_condition[1] < 0.6 * found.random_condition[1]


def test_followers_bind_their_leaders(mimic):
    own = motion_bounds(Job.of(mimic).load(), ())
    np.testing.assert_allclose(
        [own.lower, own.upper], [[-np.pi, 0.25], [np.pi, 1.25]]
    )  # -1 <= 1.5 - 2 q <= 1
    np.testing.assert_allclose(own.speed, [4, 1.5])


def test_a_limit_of_no_joint_is_that_of_joints_without_one(tmp_path):
    """The file's limits and those of a joint come before it."""
    text = Path(robot_file("scara")).read_text()
    path = tmp_path / "scara.urdf"
    path.write_text(text.replace(' effort="200" velocity="6.737"', ' effort="200"', 1))
    known = motion_bounds(Job.of(SCARA).load(), []).speed
    assert known[0] == 6.737
    for given, first in (
        [(("", "velocity", 3.0),), 3.0],
        [
            (("", "velocity", 3.0), ("shoulder", "velocity", 2.0)),
            2.0,
        ],
    ):
        found = motion_bounds(Job.of(path).load(), given).speed
        np.testing.assert_array_equal(found, [first, *known[1:]])


def test_forces_count_as_limits():
    """With less force than the motion would use, the motion uses less."""
    whole = task(SCARA)
    loaded = Job.of(SCARA).load()
    tight = ExcitationTask(
        whole.names,
        whole.dynamics,
        whole.parameters,
        motion_bounds(loaded, [("shoulder", "effort", 12.0), ("elbow", "effort", 5.0)]),
        whole.plan,
    )
    _, tau = states_and_forces(SCARA, excite(tight).motion, whole.fine)
    assert (np.abs(tau[:, :2]).max(axis=0) <= [0.9 * 12.001, 0.9 * 5.001]).all()
    assert np.abs(tau[:, 0]).max() > 6
    _, loose = states_and_forces(SCARA, excite(whole).motion, whole.fine)
    assert np.abs(loose[:, 0]).max() > 12


def test_the_command_writes_motion_and_picture_and_the_same_again(tmp_path):
    arguments = [
        robot_file("pendulum"),
        "-o",
        tmp_path / "m.csv",
        "--plot",
        tmp_path / "m.png",
        "--harmonics",
        3,
        "--period",
        4,
        "--rate",
        50,
        "--budget",
        10,
        "--rest",
    ]
    first = run(*arguments)
    assert first.exit_code == 0, first.output
    assert "Condition number" in first.output and "Collisions are not checked" in first.output
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(files) == {"m.csv", "m.png"} and OWNER.encode() in files["m.png"]
    assert run(*arguments).exit_code == 0
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files
    names = files["m.csv"].decode().splitlines()[0].split(",")
    assert names[:3] == ["t", "q_shoulder", "q_elbow"] and len(names) == 7
    rows = np.loadtxt(tmp_path / "m.csv", delimiter=",", skiprows=1)
    assert rows.shape == (201, 7)
    np.testing.assert_allclose(rows[[0, 200], 3:], 0, atol=1e-9)
    np.testing.assert_allclose(rows[0, 1:3], rows[200, 1:3], atol=1e-9)
    np.testing.assert_allclose(
        np.gradient(rows[:, 1:3], 0.02, axis=0)[1:200], rows[1:200, 3:5], atol=0.15
    )


def test_twelve_digits_are_written():
    found = excite(task(SCARA, budget=2))
    rows = np.loadtxt(motion_csv(found).decode().splitlines(), delimiter=",", skiprows=1)
    np.testing.assert_allclose(
        rows[:, 1:5], found.motion.states(found.task.plan.times)[0], rtol=1e-11, atol=1e-11
    )
