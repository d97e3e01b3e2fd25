"""Free fall in the axes of another root: that of the whole file, unless --gravity says otherwise."""

import re

import numpy as np
import pytest

from symgen.errors import OptionError
from symgen.jobs.api import generate, trace
from symgen.reading.assemble import load
from tests.support.tools import ROOT, invoke, robot_file, verified

BODY = (
    '<inertial><origin xyz="{x} 0.1 0.2"/><mass value="{m}"/>'
    '<inertia ixx="0.2" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.2"/></inertial>'
)


def robot(tmp_path, mount='rpy="-1.5707963267948966 0 0"', kind="fixed"):
    """A torso with a waist and an arm of two joints on a turned mount."""
    parts = [("torso", 9), ("chest", 5), ("base", 1), ("upper", 2), ("fore", 1.5)]
    joints = [
        ("waist", kind, "torso", "chest", 'xyz="0 0 1" rpy="0.3 0 0"', "0 1 0"),
        ("mount", "fixed", "chest", "base", f'xyz="0 0.2 0.1" {mount}', "0 0 1"),
        ("one", "revolute", "base", "upper", 'xyz="0 0 0.2" rpy="0 0.4 0"', "0 0 1"),
        ("two", "revolute", "upper", "fore", 'xyz="0.3 0 0"', "0 1 0"),
    ]
    text = '<robot name="two_arms">'
    for k, (name, m) in enumerate(parts):
        text += f'<link name="{name}">{BODY.format(x=0.1 * k, m=m)}</link>'
    for name, type_, parent, child, origin, axis in joints:
        text += f'<joint name="{name}" type="{type_}"><parent link="{parent}"/>'
        text += f'<child link="{child}"/><origin {origin}/><axis xyz="{axis}"/>'
        text += '<limit lower="-3" upper="3" effort="9" velocity="9"/></joint>'
    path = tmp_path / "two_arms.urdf"
    path.write_text(text + "</robot>", encoding="utf-8")
    return path


def gravity(file, q, **options):
    return np.array(trace(file, "gravity", **options).run(q=q)["tau_g"], float)


MOUNTS = ('rpy="-1.5707963267948966 0 0"', 'rpy="0.3 -0.2 1.1"', 'rpy="3.141592653589793 0 0"')


@pytest.mark.parametrize("mount", MOUNTS)
@pytest.mark.parametrize("kind", ["fixed", "revolute"])
def test_what_a_root_carries_hangs_as_in_the_whole_robot(mount, kind, tmp_path):
    file, q = robot(tmp_path, mount, kind), [0.4, 0.8]
    whole = gravity(file, [0.0] * (kind == "revolute") + q)[-2:]
    assert np.allclose(gravity(file, q, root="base"), whole, rtol=1e-12, atol=1e-12)
    assert np.abs(whole).max() > 1


def test_a_joint_left_out_counts_where_lock_holds_it(tmp_path):
    file, q = robot(tmp_path, kind="revolute"), [0.4, 0.8]
    whole = gravity(file, [0.7, *q])[-2:]
    found = gravity(file, q, root="base", lock=(("waist", 0.7),))
    assert np.allclose(found, whole, rtol=1e-12, atol=1e-12)
    said = str(load(file, root="base", lock=(("waist", 0.7),)).notices)
    assert "joint 'waist' at 0.7" in said and "no effect" not in said
    given = load(file, root="base", lock=(("waist", 0.7),), gravity=(0, 0, -9.81))
    assert "--lock has no effect" in str(given.notices)


def test_given_gravity_is_in_the_axes_of_the_root(tmp_path):
    loaded = load(robot(tmp_path), root="base", gravity=(0.0, 0.0, -9.81))
    assert loaded.model.gravity == (0.0, 0.0, -9.81)
    assert "--gravity is in the axes of link 'base', whose orientation --root" in str(
        loaded.notices
    )
    tau = gravity(robot(tmp_path), [0.4, 0.8], root="base", gravity=(0.0, 0.0, -9.81))
    assert not np.allclose(tau, gravity(robot(tmp_path), [0.4, 0.8], root="base"))
    with pytest.raises(OptionError, match="gravity needs three finite numbers"):
        load(robot(tmp_path), root="base", gravity=(0.0, 0.0))


def test_right_angles_stay_exact_and_nothing_is_said_where_nothing_turns(tmp_path):
    file = robot(tmp_path)
    text = file.read_text().replace('rpy="0.3 0 0"', "")
    file.write_text(text)
    loaded = load(file, root="base")
    assert loaded.model.gravity == (0.0, 9.81, 0.0)
    (said,) = [str(n) for n in loaded.notices if "gravity" in str(n)]
    assert said.endswith(
        "note: <robot>: gravity is (0, 9.81, 0) m/s^2 in the axes of link 'base', whose orientation --root "
        "changed relative to link 'torso' of the file; its direction in the world is that of the file; "
        "use --gravity X,Y,Z to set it in these axes"
    )
    for options in ({}, {"root": "chest"}, {"root": "base", "base": "floating"}):
        found = load(file, **options)
        assert found.model.gravity == (0.0, 0.0, -9.81) and "fall" not in str(found.notices)
    assert load(robot_file("ur5")).model.gravity == (0.0, 0.0, -9.81)


def test_the_command_says_which_and_the_files_hold_it(tmp_path):
    file, out = robot(tmp_path), tmp_path / "out"
    done = invoke("generate", file, "--root", "base", "-o", out, "--quantity", "gravity")
    assert done.exit_code == 0
    assert " ".join(done.stderr.split()).count("gravity is (") == 1
    header = (out / "two_arms.h").read_text()
    x, y, z = load(file, root="base").model.gravity
    said = f"acceleration is ({x!r}, {y!r}, {z!r}) m/s^2 in the axes of the root link"
    assert said in re.sub(r"[\s*]+", " ", header)
    module, _, _ = generate(file, tmp_path / "b", root="base", gravity=(x, y, z))
    assert module.options["gravity"] == (x, y, z)
    assert (tmp_path / "b" / "two_arms.h").read_text() != ""
    again = (tmp_path / "b" / "two_arms_gravity.c").read_bytes()
    assert again == (out / "two_arms_gravity.c").read_bytes()
    done = invoke("generate", file, "--root", "base", "-o", out, "--gravity", "runtime")
    assert "the input g is in the axes of link 'base'" in " ".join(done.stderr.split())


def test_a_job_file_leaves_gravity_open(tmp_path):
    made = tmp_path / "job.toml"
    invoke("init", ROOT / "robots" / "pendulum.urdf", "-o", made)
    assert "# gravity = [0.0, 0.0, -9.81]" in made.read_text()


@pytest.mark.parametrize("gravity", ["0,0,-1e308", "1e101,0,0", "0,-1.5e155,1", "2,0,1e16"])
def test_a_gravity_that_leaves_no_digits_is_refused(gravity):
    done = invoke("inspect", robot_file("pendulum"), "--gravity", gravity)
    assert done.exit_code == 2 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: --gravity: ") and "too large" in done.stderr


@pytest.mark.parametrize("gravity", ["1e9,0,-1e9", "0,0,-9.81e8"])
def test_the_largest_gravity_is_verified(gravity, tmp_path):
    """Up to the limit the bias agrees with its law, within the bounds of rounding errors."""
    out = ("-o", tmp_path / "x", "--quantity", "bias", "--quantity", "gravity")
    assert invoke("generate", robot_file("ur5"), *out, "--gravity", gravity).exit_code == 0
    verified(tmp_path / "x")


def test_a_gravity_of_the_file_has_the_same_limit(tmp_path):
    file = tmp_path / "x.sdf"
    link = "<link name='a'><inertial><mass>1</mass></inertial></link>"
    file.write_text(
        "<sdf version='1.9'><world name='w'><gravity>0 0 -1e12</gravity><model name='m'>"
        f"{link}</model></world></sdf>",
        encoding="utf-8",
    )
    done = invoke("check", file, "--base", "floating")
    assert done.exit_code == 2 and done.stderr.count("\n") == 1
    assert "gravity of 1e+12 m/s^2 is too large; the limit is 1e+09 m/s^2" in done.stderr
    assert "components below 1e-13 of the largest one are treated as rounding" in done.stderr
