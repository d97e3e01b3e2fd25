"""Quantities that divide: by a mass matrix, by mass. Where the divisor is zero in every state they
are refused in one sentence, and where parameters of run time can make it one they work."""

import numpy as np
import pytest

from symgen.algorithms import QUANTITIES, composite
from symgen.compiler.evaluate import evaluate
from symgen.errors import OptionError
from symgen.jobs.job import Job
from symgen.mechanics.joint_type import quaternion_rows
from symgen.numbers.scalar import plain
from symgen.proof.state_generation import UNIT_QUATERNIONS
from symgen.tracing.singular import singular_joints
from tests.support.shell import refusal
from tests.support.tools import invoke, robot_file

INVERTING = [name for name, q in QUANTITIES.items() if q.needs_inverse]
CENTRES = [name for name, q in QUANTITIES.items() if q.needs_mass]
BARE = """<robot name="bare"><link name="base"/><link name="a"/><link name="b"/>
<joint name="j" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="k" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 0.4"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


@pytest.fixture
def bare(tmp_path):
    """A robot that is meshes alone: no link has an inertia."""
    path = tmp_path / "bare.urdf"
    path.write_text(BARE)
    return path


def traced(file, quantity, **options):
    job = Job.of(str(file), quantities=(quantity,), **options)
    return job.module(job.load()).functions[0]


@pytest.mark.parametrize("quantity", INVERTING)
@pytest.mark.parametrize(("robot", "link"), [("ur5", "flange"), ("pendulum", "lower")])
def test_runtime_parameters_of_another_link_do_not_make_a_floating_base_heavy(
    quantity, robot, link
):
    with pytest.raises(OptionError, match=f"{quantity} needs .*'floating_base' moves no inertia"):
        traced(robot_file(robot), quantity, base="floating", parameters=f"runtime:{link}")


def test_runtime_parameters_of_the_floating_base_itself_do():
    function = traced(
        robot_file("pendulum"), "mass_matrix_inverse", base="floating", parameters="runtime:base"
    )
    layout = next(iter(function.regroups.values()))
    ten = [3.0, 0.1, 0.2, 0.3, 2.0, 0.0, 0.0, 2.5, 0.0, 3.0]
    par = evaluate(layout.program, {"pi": ten})["par"]
    q = [0.1, 0.2, 0.3, 0.5, 0.5, 0.5, 0.5, 0.4, -0.7]
    n = layout.robot.model.dof
    found = np.array(evaluate(function.program, {"q": q, "par": par})["Minv"], float).reshape(n, n)
    matrix = traced(
        robot_file("pendulum"), "mass_matrix", base="floating", parameters="runtime:base"
    )
    par = evaluate(next(iter(matrix.regroups.values())).program, {"pi": ten})["par"]
    m = np.array(evaluate(matrix.program, {"q": q, "par": par})["M"], float).reshape(n, n)
    assert np.allclose(found @ m, np.eye(n), atol=1e-12)


@pytest.mark.parametrize("quantity", CENTRES)
def test_a_robot_without_mass_has_no_centre_of_it(quantity, bare, tmp_path):
    said = refusal("generate", bare, "--quantity", quantity, "-o", tmp_path / "out")
    assert said.startswith(f"error: {quantity} needs the mass of the robot, but no moving link has")
    assert refusal("inspect", bare, "--entry", f"{quantity}:1,1"[: None if "_" in quantity else -2])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("quantity", CENTRES)
def test_its_mass_may_come_at_run_time(quantity, bare):
    assert traced(bare, quantity, parameters="runtime").counts.div == 1


def test_every_quantity_of_a_robot_without_mass_is_refused_or_traced(bare):
    for name in QUANTITIES:
        try:
            traced(bare, name)
        except OptionError as error:
            assert name in INVERTING + CENTRES, error
        else:
            assert name not in INVERTING + CENTRES


def test_no_force_is_carried_through_a_massless_chain(tmp_path, monkeypatch):
    """The mass matrix of n massless joints takes steps in proportion to n, not to n²."""
    n, count = 40, [0]
    links = "".join(f'<link name="l{k}"/>' for k in range(n + 1))
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/>'
        '<origin xyz="0.1 0 0" rpy="0.3 0 0"/></joint>'
        for k in range(n)
    )
    path = tmp_path / "chain.urdf"
    path.write_text(f'<robot name="chain">{links}{joints}</robot>')
    job = Job.of(str(path))
    layout = job.robot(job.load()).regroup("minimal").layout
    usual = composite.shift_to_parent_named

    def counted(thing, steps, label):
        count[0] += 1
        return usual(thing, steps, label)

    monkeypatch.setattr(composite, "shift_to_parent_named", counted)
    composite.mass_matrix(layout, [0.1] * n)
    assert n <= count[0] <= 2 * n


@pytest.mark.parametrize("quantity", INVERTING)
def test_a_joint_that_moves_nothing_is_refused_where_another_body_is_impossible_too(
    quantity, tmp_path
):
    """What asks whether the impossible inertia counts traces the quantity, which would divide by
    the mass matrix's zero."""
    body = (
        '<inertial><mass value="1"/><inertia ixx="-1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        "</inertial>"
    )
    file = tmp_path / "both.urdf"
    file.write_text(BARE.replace('<link name="a"/>', f'<link name="a">{body}</link>'))
    with pytest.raises(OptionError, match=r"joint 'k' moves no inertia of its own"):
        traced(file, quantity)


def test_pivots_that_rounding_has_left_are_none(tmp_path):
    """A floating base and two joints before the only link with mass, turned by angles beside right
    ones: what is left of the last pivot is rounding, made large by small pivots before it."""
    file, wanted = tmp_path / "light.urdf", ("--quantity", "forward_dynamics")
    file.write_text(
        '<robot name="light"><link name="l0"/><link name="l1"/><link name="l2"><inertial>'
        '<mass value="2.728"/><inertia ixx="0.08337679" ixy="0" ixz="0" iyy="0.09571892" iyz="0" '
        'izz="0.1541522"/></inertial></link><joint name="slide" type="prismatic">'
        '<origin rpy="0 1.5707963267948966 1.57"/><parent link="l0"/><child link="l1"/>'
        '<axis xyz="0.6 0 0.8"/></joint><joint name="turn" type="revolute">'
        '<parent link="l1"/><child link="l2"/><dynamics armature="0.01"/></joint></robot>'
    )
    done = invoke("generate", file, "-o", tmp_path / "out", "--base", "floating", *wanted)
    assert done.exit_code == 2 and "'floating_base' moves no inertia" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_body_that_seven_coordinates_move_is_refused(tmp_path):
    """The pivot before the one that vanishes is 2e-7 of its diagonal entry, so several roundings of
    M are magnified."""
    file = tmp_path / "robot.urdf"
    file.write_text(
        '<robot name="one_body"><link name="link_0"/><link name="link_1"><inertial>'
        '<origin xyz="0 0 0.1692" rpy="1.57 1.57 0"/><mass value="3.551"/><inertia '
        'ixx="0.17452606" ixy="0" ixz="0" iyy="0.18485278" iyz="0" izz="0.3141934"/></inertial>'
        '</link><joint name="joint_0" type="continuous"><origin xyz="0.2314 0 0" '
        'rpy="1.5707963267948966 1.5707963267948966 1.57"/><parent link="link_0"/>'
        '<child link="link_1"/><axis xyz="0 0 1"/></joint></robot>'
    )
    for name in ("forward_dynamics", "step:euler"):
        done = invoke(
            "generate", file, "-o", tmp_path / "out", "--base", "floating", "--quantity", name
        )
        assert done.exit_code == 2 and "'floating_base' moves no inertia" in done.stderr
        assert not (tmp_path / "out").exists()


def test_what_is_nowhere_defined_is_refused(tmp_path):
    """Roll and yaw of a link whose pitch is a right angle in every state."""
    file, wanted = tmp_path / "up.urdf", ("--quantity", "frame_jacobian_rpy:a")
    file.write_text(
        '<robot name="up"><link name="base"/><link name="a"><inertial><mass value="1"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
        '<joint name="j" type="continuous"><parent link="base"/><child link="a"/>'
        '<origin rpy="0 1.5707963267948966 0"/><axis xyz="1 0 0"/></joint></robot>'
    )
    done = invoke("generate", file, "-o", tmp_path / "out", *wanted)
    assert done.exit_code == 2 and "never defined" in done.stderr
    assert not (tmp_path / "out").exists()


def test_test_states_are_none_where_roll_and_yaw_are_undefined():
    """Unit quaternions of tests turn no axis into another one."""
    for quaternion in UNIT_QUATERNIONS:
        entries = [plain(x) for row in quaternion_rows(quaternion) for x in row]
        assert max(map(abs, entries)) < 0.999


@pytest.mark.parametrize("count", [20, 60])
def test_a_long_chain_of_heavy_links_is_regular(count):
    """Bounds that grow by a factor with each joint would call the pivots of a UR5's links, again
    and again, mere rounding from 40 on."""
    pytest.importorskip("pinocchio")
    from benchmarks.bench.plain import Plain, chain_urdf

    links = Plain.of(robot_file("ur5"), (), False).joints
    text = chain_urdf([links[k % len(links)] for k in range(count)])
    assert singular_joints(Job.of(text).load().model) == []
