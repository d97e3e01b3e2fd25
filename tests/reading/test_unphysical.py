"""Inertia that no body has, used as written where the mass matrix is positive definite
(--allow-unphysical): against Pinocchio, through the command line, job files, Python and C."""

import json

import numpy as np
import pytest

import symgen
from symgen.errors import OptionError
from symgen.reading.assemble import load
from tests.support.tools import invoke

LINK = """<link name="{}"><inertial><origin xyz="0 0 {}"/><mass value="{}"/>
<inertia ixx="1" iyy="{}" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="j{0}" type="continuous"><parent link="l{1}"/><child link="l{0}"/>
<origin xyz="0 0 {2}"/><axis xyz="0 1 0"/></joint>"""


def pendulum(path, first=-4.7, second=-1.0):
    """Two links whose parameters came from joint forces: central moments about y are negative, the
    moments about the joints are not."""
    links = '<link name="l0"/>' + LINK.format("l1", -1.67, 2.4, first)
    links += LINK.format("l2", -1.57, 0.62, second)
    joints = JOINT.format(1, 0, 0) + JOINT.format(2, 1, -0.25)
    path.write_text(f'<robot name="acrobot">{links}{joints}</robot>')
    return path


@pytest.fixture
def file(tmp_path):
    return pendulum(tmp_path / "acrobot.urdf")


def test_it_moves_as_pinocchio_has_it(file):
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromUrdf(str(file))
    data = model.createData()
    robot = symgen.Robot(file, allow_unphysical=True)
    mass, inverse = robot.trace("mass_matrix"), robot.trace("inverse_dynamics")
    rng = np.random.default_rng(0)
    for angles, qd, qdd in rng.uniform(-3, 3, (20, 3, 2)):
        q = np.ravel(np.column_stack([np.cos(angles), np.sin(angles)]))
        expected = pin.crba(model, data, q)
        found = np.reshape(mass.run(q=angles)["M"], (2, 2))
        assert np.allclose(found, expected, rtol=1e-12), angles
        tau = inverse.run(q=angles, qd=qd, qdd=qdd)["tau"]
        assert np.allclose(tau, pin.rnea(model, data, q, qd, qdd), rtol=1e-11, atol=1e-11)


def test_the_refusal_names_the_way_out_and_the_way_out_warns(file, tmp_path):
    done = invoke("ops", file)
    assert done.exit_code == 2 and "--allow-unphysical uses it as written" in done.stderr
    out = tmp_path / "out"
    done = invoke("generate", file, "-o", out, "--allow-unphysical", "--lang", "python")
    assert done.exit_code == 0, done.output
    assert "warning: links 'l1' and 'l2': inertia has a negative principal moment" in done.stderr
    assert "used as written (--allow-unphysical)" in done.stderr
    options = json.loads((out / "manifest.json").read_text())["options"]
    assert options["allow_unphysical"] is True
    done = invoke("verify", out)
    assert done.exit_code == 0, done.output


def test_a_job_file_has_it(file, tmp_path):
    job = tmp_path / "job.toml"
    job.write_text('file = "acrobot.urdf"\nout = "o"\nallow_unphysical = true\n')
    assert invoke("ops", job).exit_code == 0
    job.write_text('file = "acrobot.urdf"\nout = "o"\nallow_unphysical = false\n')
    assert invoke("ops", job).exit_code == 2


def test_a_mass_matrix_that_is_not_positive_definite_is_refused_all_the_same(tmp_path):
    file = pendulum(tmp_path / "acrobot.urdf", second=-2.0)  # 0.62 * 1.57**2 = 1.53 < 2
    assert "--allow-unphysical" not in invoke("ops", file).stderr
    done = invoke("ops", file, "--allow-unphysical")
    assert done.exit_code == 2 and done.stderr.count("\n") == 1
    assert "--allow-unphysical has no effect, because the mass matrix is not" in done.stderr


def test_without_such_inertia_the_option_has_no_effect_and_a_note_says_so(tmp_path):
    done = invoke("ops", pendulum(tmp_path / "a.urdf", 1, 1), "--allow-unphysical")
    assert done.exit_code == 0 and "note: --allow-unphysical: " in done.stderr
    assert "the option has no effect" in done.stderr


def test_two_answers_to_one_question_are_refused(file):
    with pytest.raises(OptionError, match="remove one of them"):
        load(file, allow_unphysical=True, repair_inertia="nearest")


def test_a_repair_states_how_much_the_mass_matrix_changes(file):
    """At q2 = pi the change is the largest; M here by hand, about the joints."""
    done = invoke("ops", file, "--repair-inertia", "nearest")
    assert "warning: --repair-inertia: the repaired inertia changes the mass matrix by up to" in (
        done.stderr
    )
    percent = float(done.stderr.partition("by up to ")[2].partition(" %")[0])
    matrices = []
    for options in ({"allow_unphysical": True}, {"repair_inertia": "nearest"}):
        function = symgen.Robot(file, **options).trace("mass_matrix")
        matrices.append([np.array(function.run(q=[0, x])["M"]) for x in np.linspace(-3, 3, 999)])
    changes = [np.linalg.norm(b - a) / np.linalg.norm(a) for a, b in zip(*matrices, strict=True)]
    assert percent == pytest.approx(100 * max(changes), rel=0.02)


def test_check_calls_no_such_body_ok(file):
    done = invoke("check", file)
    rows = [line.split() for line in done.stdout.splitlines() if "indefinite" in line]
    assert [(row[0], row[2]) for row in rows if row[1] == "body"] == [
        ("warning", "l1"),
        ("warning", "l2"),
    ]


def test_where_mass_is_on_the_axes_inertia_is_what_lacks(tmp_path):
    path = tmp_path / "masses.urdf"
    link = '<link name="{}"><inertial><mass value="3"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    joints = JOINT.format(1, 0, 0) + JOINT.format(2, 1, 0)
    path.write_text(
        f'<robot name="m"><link name="l0"/>{link.format("l1")}{link.format("l2")}{joints}</robot>'
    )
    done = invoke("ops", path, "--quantity", "forward_dynamics")
    assert "give the links beyond them moments of inertia about the axes" in done.stderr
    assert "beyond them mass" not in done.stderr


def test_a_huge_product_of_inertia_is_refused(tmp_path):
    """A product of inertia of 2**64 kg m^2 whose effect cancels at this joint, but for rounding
    errors that are larger than the inertia of the body: the mass matrix would be 0."""
    file = tmp_path / "huge.urdf"
    file.write_text(
        '<robot name="huge"><link name="l0"/><link name="l1"><inertial><origin '
        'xyz="0.19 -0.13 0" rpy="1.5707963267948966 3.1416 0"/><mass value="4.6"/><inertia '
        'ixx="0.15" ixy="0" ixz="0" iyy="0.2" iyz="18446744073709551616" izz="0.27"/></inertial>'
        "</link>" + JOINT.format(1, 0, 0).replace("0 1 0", "0 0 1") + "</robot>"
    )
    done = invoke("ops", file)
    assert done.exit_code == 2 and "physically impossible, and" in done.stderr
