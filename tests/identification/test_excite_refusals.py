"""What ``symgen excite`` refuses, in one sentence."""

import json
from pathlib import Path

import numpy as np
import pytest

from symgen.errors import SymgenError
from symgen.identification.excitation.motion_limits import motion_bounds
from symgen.jobs.job import Job
from tests.support.excited import SCARA, run
from tests.support.tools import invoke, robot_file


def altered(tmp_path, old, new):
    text = Path(SCARA).read_text()
    assert old in text
    path = tmp_path / "altered.urdf"
    path.write_text(text.replace(old, new, 1))
    return path


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            ' effort="200" velocity="6.737"',
            ' effort="200"',
            "joint 'shoulder': has no velocity limit; give --limit shoulder.",
        ),
        ('effort="90"', 'effort="0"', "joint 'elbow': cannot move: its effort limit is 0"),
        (
            'lower="-0.21" upper="0"',
            'lower="0.1" upper="0.1"',
            "cannot move: its lower limit 0.1 is not below",
        ),
        ('lower="-0.21" ', "", "has no lower limit"),
    ],
)
def test_limits_that_are_missing_or_impossible_are_one_sentence_with_a_place(
    tmp_path, old, new, said
):
    result = run(altered(tmp_path, old, new), "-o", tmp_path / "m.csv")
    assert result.exit_code == 2 and said in result.output, result.output
    assert (
        "altered.urdf:" in result.output and result.output.count("\n") <= 2
    )  # a note on limits may come first
    assert not (tmp_path / "m.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--harmonics", "0"], "--harmonics 0: give a number from 1 to 50"),
        (["--harmonics", "1", "--rest"], "--harmonics 1: give a number from 2 to 50"),
        (["--rate", "0.33"], "a whole number of samples"),
        (["--rate", "1"], "5 harmonics in 10 s need at least 2 Hz"),
        (["--limit", "elbow=3"], "--limit elbow: no limit is called 'elbow'; "),
        (["--limit", "=3"], "give JOINT.KIND=VALUE or KIND=VALUE"),
        (["--limit", "effort=3", "--limit", "effort=4"], "--limit effort: two values are given"),
        (
            ["--limit", "elbo.velocity=3"],
            "--limit elbo.velocity: no joint is called 'elbo'; near names: 'elbow'",
        ),
        (
            ["--limit", "quill_slide.effort=5"],
            "joint 'quill_slide' cannot hold the robot at rest: it needs",
        ),
        (["--base", "floating"], "is floating, and symgen excite supports only joints with one"),
        (["--gravity", "runtime"], "--gravity runtime"),
        (["--friction", "sticky"], "--friction sticky"),
        (
            ["--limit", "elbow.velocity=1e308"],
            "joint 'elbow': its velocity limit 1e+308 is too large to be a real limit; give --limit elbow.vel",
        ),
        (["--plot", "m.jpg"], "--plot 'm.jpg': give a name that ends in .png, .svg or .pdf"),
        (["-o", "m.parquet"], "--out 'm.parquet': give a name that ends in .csv"),
    ],
)
def test_options_that_do_not_fit_are_one_sentence(tmp_path, arguments, said):
    out = () if "-o" in arguments else ("-o", tmp_path / "m.csv")
    result = run(SCARA, *out, *arguments)
    assert result.exit_code == 2 and said in result.output, result.output
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    "there", [b"t,q_shoulder,tau_shoulder\n0,0,0\n", b"\x89PNG of somebody", b""]
)
def test_what_is_not_ours_is_not_overwritten(tmp_path, there):
    path = tmp_path / "m.csv"
    path.write_bytes(there)
    result = run(SCARA, "-o", path, "--budget", 1, "--rate", 10)
    assert result.exit_code == 2 and "was not written by symgen excite" in result.output
    assert path.read_bytes() == there


def test_nothing_is_written_where_one_of_two_files_cannot_be(tmp_path):
    (tmp_path / "m.png").mkdir()
    result = run(
        SCARA, "-o", tmp_path / "m.csv", "--plot", tmp_path / "m.png", "--budget", 1, "--rate", 10
    )
    assert result.exit_code == 2 and not (tmp_path / "m.csv").exists()


def test_a_name_that_no_file_can_have_is_one_sentence(tmp_path):
    result = run(SCARA, "-o", tmp_path / f"{'m' * 300}.csv", "--budget", 1, "--rate", 10)
    assert (
        result.exit_code == 2
        and "File name too long" in result.output
        and not any(tmp_path.iterdir())
    )


def test_a_continuous_joint_goes_half_a_turn_and_options_come_before_the_file():
    loaded = Job.of(robot_file("continuous_pair")).load()
    names = loaded.model.joint_names
    with pytest.raises(SymgenError, match="has no"):
        motion_bounds(loaded, ())
    given = [
        (name, kind, value)
        for name in names
        for kind, value in (("velocity", 2.0), ("effort", 9.0))
    ]
    own = motion_bounds(loaded, [*given, (names[0], "upper", 0.5)])
    np.testing.assert_allclose(
        [own.lower[0], own.upper[0], own.speed[0], own.force[0]], [-np.pi, 0.5, 2, 9]
    )


def test_friction_of_a_follower_is_part_of_its_leaders(tmp_path):
    """Columns that depend on others made the condition number 1e18, which no motion improves."""
    inertia = '<inertia ixx=".1" ixy="0" ixz="0" iyy=".1" iyz="0" izz=".1"/>'
    link = f'<inertial><origin xyz=".3 .1 0"/><mass value="1"/>{inertia}</inertial>'
    joint = (
        '<joint name="j{0}" type="revolute"><parent link="l{0}"/><child link="l{1}"/>{2}'
        '<origin xyz=".3 0 0" rpy=".4 0 0"/><axis xyz="0 1 0"/>'
        '<limit lower="-1" upper="1" velocity="3" effort="30"/></joint>'
    )
    mimic = '<mimic joint="j0" multiplier="-0.5"/>'
    joints = (joint.format(k, k + 1, mimic * (k == 1)) for k in range(2))
    links = "".join(f'<link name="l{k}">{link}</link>' for k in range(3))
    path = tmp_path / "arm.urdf"
    path.write_text(f'<robot name="arm">{links}{"".join(joints)}</robot>')
    options = ("--budget", 4, "--friction", "viscous,coulomb", "--springs", "--json")
    done = invoke("excite", path, "-o", tmp_path / "motion.csv", *options)
    found = json.loads(done.stdout)
    assert found["left_out"][:2] == ["viscous j1", "coulomb j1"], found
    assert found["condition"]["found"] < 1e6
