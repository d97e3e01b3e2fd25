"""Robots with many joints: nothing grows faster than what is computed, and more joints than can be
computed with are refused at once."""

import numpy as np
import pytest

import symgen
from symgen.errors import RobotError
from symgen.jobs import generating as expected_size
from symgen.jobs.generating import notes_on_large_functions
from symgen.jobs.job import Job
from symgen.numbers.decimals import decimal_precision
from symgen.proof import textbook
from symgen.proof.laws import dynamics
from symgen.proof.state_generation import _solution
from symgen.proof.states import States, decimals
from symgen.reading import plausibility as sizes
from symgen.reading import sources as formats
from symgen.reading import xacro_expansion
from symgen.tracing import singular, trace
from symgen.tracing import singular as articulated
from symgen.tracing.request import FunctionRequest
from tests.support.shell import refusal
from tests.support.tools import invoke, robot_file

BODY = (
    '<inertial><origin xyz="0.03 0.02 0.1"/><mass value="1.5"/><inertia ixx="0.01" iyy="0.012" '
    'izz="0.008" ixy="0.0003" ixz="0.0001" iyz="0.0002"/></inertial>'
)
AXES = ("1 0 0", "0 1 0", "0 0 1")


def chain(count):
    """A chain of revolute joints as a URDF."""
    parts = ['<robot name="chain"><link name="l0"/>']
    for k in range(1, count + 1):
        parts.append(
            f'<link name="l{k}">{BODY}</link><joint name="j{k}" type="continuous"><parent '
            f'link="l{k - 1}"/><child link="l{k}"/><origin xyz="0 0.02 0.2"/>'
            f'<axis xyz="{AXES[k % 3]}"/></joint>'
        )
    return "".join([*parts, "</robot>"])


def never(*_, **__):
    raise AssertionError("this is not needed")


def test_a_regular_chain_is_recognised_without_its_mass_matrix(monkeypatch):
    monkeypatch.setattr(singular, "_pivots", never)
    assert singular.singular_joints(Job.of(chain(60)).load().model) == []
    floating = Job.of(robot_file("quadruped"), base="floating").load().model
    assert singular.singular_joints(floating) == []


def test_the_recursion_takes_linear_time(monkeypatch):
    """Counted in 6 x 6 matrices of bodies."""
    count, usual = [0], articulated._spatial

    def counted(inertia):
        count[0] += 1
        return usual(inertia)

    monkeypatch.setattr(articulated, "_spatial", counted)
    for n in (20, 40):
        count[0] = 0
        assert singular.singular_joints(Job.of(chain(n)).load().model) == []
        assert count[0] == n


@pytest.mark.parametrize(("count", "tried"), [(12, True), (60, False)])
def test_deep_chains_are_not_traced_with_factors_of_the_mass_matrix(count, tried, monkeypatch):
    names, usual = set(), trace.trace_parts

    def recorded(regroups, wanted, parts):
        names.update(formulation.name.split("/")[0] for _, formulation in parts)
        return usual(regroups, wanted, parts)

    monkeypatch.setattr(trace, "trace_parts", recorded)
    job = Job.of(chain(count), quantities=("forward_dynamics",))
    assert "articulated" in job.module(job.load()).functions[0].parts[0][1].name
    assert ("forward_dynamics" in names) == tried
    assert "forward_dynamics_by_tree" not in names


def test_factors_of_deep_chains_can_be_asked_for_by_name():
    wanted = (("forward_dynamics", "forward_dynamics/minimal"),)
    job = Job.of(chain(40), quantities=("forward_dynamics",), formulations=wanted)
    assert job.module(job.load()).functions[0].parts[0][1].name == "forward_dynamics/minimal"


def test_refined_solutions_are_those_of_elimination():
    job = Job.of(chain(12))
    robot = job.robot(job.load())
    q = [[0.3 * k - 2.0 for k in range(12)], [0.5 - 0.1 * k for k in range(12)]]
    with decimal_precision(75):
        x = States.of(robot, {"q": q}, False)
        m, right = dynamics.mass(x), decimals(np.arange(24.0).reshape(2, 12) - 7.5)
        refined, exact = dynamics._refined(m, right), dynamics.solve(m, right[..., None])[..., 0]
        assert np.abs((refined - exact) / np.abs(exact).max()).max() < 1e-55
        assert dynamics._refined(0 * m, right) is None


def test_the_mass_matrix_of_the_textbook_is_that_of_kinetic_energies():
    """Sums over all links of w · L + v · p at unit rates of two joints."""
    job = Job.of(robot_file("panda"))
    robot = job.robot(job.load())
    with decimal_precision(75):
        x = States.of(robot, {"q": [[0.3 * k - 1.0 for k in range(robot.model.dof)]]}, False)
        m, bodies = (
            dynamics.mass(x)[0],
            textbook.body_poses(x.mechanism, x.textbook.trajectory.positions),
        )
        n = len(x.mechanism.parts)
        energies = np.full((n, n), decimals(0.0), object)
        for i, link in textbook.moving_inertias(x.mechanism, x.textbook):
            for j in x.mechanism.path(i):
                p, spin = link.momentum(*bodies[j].twist(link.origin))
                for k in x.mechanism.path(i):
                    w, v = bodies[k].twist(link.origin)
                    energy = w.dot(spin) + v.dot(p)
                    energies[j - 1, k - 1] += np.ravel(energy)[0]
        of_user = x.mechanism.pull_back(energies, 2)
        assert np.abs(of_user - m).max() < 1e-60


def test_accelerations_of_plausible_states_solve_the_equations():
    m = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
    assert np.allclose(m @ _solution(m.tolist(), [1.0, -2.0, 3.0]), [1.0, -2.0, 3.0])
    assert _solution([[0.0]], [1.0]) == [0.0]  # a singular mass matrix


def test_what_a_joint_of_a_long_chain_carries_is_found_without_recursion():
    model = Job.of(chain(1100)).load().model
    assert singular._subtree(model, [3, 5]) == [*model.bodies[2:]]


def sdf_chain(count):
    """The links and joints of a chain as an SDF model that another model contains."""
    joint = '<joint name="j{0}" type="ball"><parent>l{0}</parent><child>l{1}</child></joint>'
    links = "".join(f'<link name="l{k}"/>' for k in range(count + 1))
    joints = "".join(joint.format(k, k + 1) for k in range(count))
    inner = f'<model name="inner">{links}{joints}</model>'
    return f'<sdf version="1.9"><model name="m">{inner}<plugin><joint/></plugin></model></sdf>'


def mjcf_bodies(count):
    """As many bodies with a hinge each."""
    body = '<body><joint/><geom size="1"/></body>'
    return f"<mujoco><default><joint/></default><worldbody>{body * count}</worldbody></mujoco>"


@pytest.mark.parametrize("write", [chain, sdf_chain, mjcf_bodies], ids=lambda write: write.__name__)
def test_more_joints_than_the_limit_are_refused_before_they_are_read(write, tmp_path, monkeypatch):
    """From a file and from text. What else examines all elements of a file is not called."""
    file = tmp_path / "long.xml"
    monkeypatch.setattr(sizes, "MAX_JOINTS", 6)
    file.write_text(write(6))
    assert "that symgen takes" not in invoke("check", file).output
    monkeypatch.setattr(xacro_expansion, "expressions_read", never)
    monkeypatch.setattr(formats, "import_module", never)
    file.write_text(write(7))
    said = refusal("check", file)
    assert "has 7 joints, more than the limit of 6" in said
    assert "symgen.reading.plausibility.MAX_JOINTS" in said
    with pytest.raises(RobotError, match="has 7 joints"):
        symgen.Robot(write(7)).model  # noqa: B018


def test_size_and_time_of_large_functions_are_estimated_before_they_are_generated(tmp_path):
    """Measured: 30,000 entries of the derivatives of a chain of 100 joints take 15 MB of C, 2.0 GB
    and 42 s."""
    wanted = [
        FunctionRequest.parse("inverse_dynamics_derivatives"),
        FunctionRequest.parse("gravity"),
    ]
    (sentence,) = notes_on_large_functions(Job.of(chain(100)).load().model, wanted)
    assert sentence.startswith("inverse_dynamics_derivatives has 30,000 entries")
    assert "15 MB of C, 1.9 GB of memory and 45 s" in sentence
    assert not notes_on_large_functions(Job.of(chain(20)).load().model, wanted)


def test_the_estimate_is_printed_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(expected_size, "LARGE_OUTPUT", 4)
    wanted = ("--quantity", "mass_matrix")
    done = invoke("generate", robot_file("pendulum"), "-o", tmp_path / "out", *wanted)
    assert done.exit_code == 0
    assert done.stderr.startswith("note: mass_matrix has 4 entries, which can take up to 0 MB of C")
