"""Files as users bring them: those of the team's notes about reading, where the notes are there
(the laws themselves are held by small files of our own in the tests beside)."""

import json
import subprocess
import sys

import numpy as np
import pytest

from symgen.reading.assemble import load
from symgen.tracing.robot import ParametricModel
from tests.support.states import run
from tests.support.tools import CC, ROOT, invoke

WILD = next((p / "shared" / "wild" for p in ROOT.parents if (p / "shared" / "wild").is_dir()), None)
pytestmark = pytest.mark.skipif(WILD is None, reason="the notes with users' files are not here")


def wild(name):
    return WILD / name


def numbers(name):
    return json.loads(wild(f"{name}.json").read_text())


def said(name, *options):
    done = invoke("check", wild(name), *options)
    assert done.exit_code == 0, done.output
    return done.stderr


def refused(*arguments):
    done = invoke(*arguments)
    assert done.exit_code == 2 and done.stderr.count("\n") == 1 and not done.stdout, done.output
    return done.stderr


@pytest.mark.parametrize(
    ("name", "options"),
    [("two_arms", {"root": "left_base", "tip": "left_tool"}), ("quat_origin", {})],
)
def test_gravity_is_that_of_the_whole_file(name, options):
    wanted = numbers(name)
    robot = ParametricModel(load(wild(f"{name}.urdf"), **options).model)
    found = run(robot, "gravity", {"q": wanted["q"]})["tau_g"]
    assert np.allclose(found, wanted["tau_g"], rtol=1e-12, atol=1e-12)


def test_a_robot_of_meshes_is_one_sentence(tmp_path):
    assert said("mesh_only.urdf").count("\n") == 1
    assert "no moving link has mass or inertia" in said("mesh_only.urdf")
    for quantity in ("com", "com_jacobian", "centroidal_momentum_matrix", "forward_dynamics"):
        text = refused("generate", wild("mesh_only.urdf"), "--quantity", quantity, "-o", tmp_path)
        assert "no moving link has" in text and "--parameters runtime" in text


def test_fingers_are_locked_at_once(tmp_path):
    file, quantity = wild("fingers_bare.urdf"), ("--quantity", "forward_dynamics")
    text = refused("ops", file, *quantity)
    locks = text.split("lock them with ")[1].split()
    assert locks == ["--lock", "fl=0", "--lock", "fr=0"]
    assert invoke("ops", file, *quantity, *locks).exit_code == 0


@pytest.mark.parametrize(
    ("name", "words"), [("mm_inertia", "kg mm^2"), ("gram_mass", "are masses in g")]
)
def test_units_are_doubted(name, words):
    assert "warning: link 'a'" in said(f"{name}.urdf") and words in said(f"{name}.urdf")


@pytest.mark.parametrize("name", ["type_ball", "type_universal"])
def test_joint_types_work(name):
    assert load(wild(f"{name}.urdf")).model.dof > 2


def test_a_screw_without_a_pitch_says_what_it_lacks():
    assert "needs one pitch" in refused("check", wild("type_screw.urdf"))


def test_a_variable_is_a_clear_sentence():
    done = invoke("check", wild("length_variable.urdf"))
    first, second = done.stderr.splitlines()
    assert ":7: error: joint 'j': xyz of <origin> holds '$length', and the file has no var" in first
    assert ":13: error: link 'a': xyz of <origin> holds '-$length', and the file has" in second
    assert done.exit_code == 2


@pytest.mark.parametrize("name", ["model.sdf", "model_mjcf.xml"])
def test_other_formats_are_read(name):
    if name.endswith(".xml"):
        pytest.importorskip("mujoco")
    assert load(wild(name)).model.joint_names == ("j",)


def test_impossible_inertia_stops_what_needs_it(tmp_path):
    file, out = wild("impossible_inertia.urdf"), ("-o", tmp_path / "out")
    assert "link 'a': inertia has a negative principal" in refused("generate", file, *out)
    for options in (
        ("--quantity", "frame_pose:b"),
        ("--quantity", "regressor"),
        ("--parameters", "runtime"),
        ("--parameters", "runtime:a"),
        ("--repair-inertia", "nearest"),
    ):
        assert invoke("generate", file, *out, *options).exit_code == 0, options


@pytest.mark.parametrize("name", ["xacro_left", "xacro_in_mesh"])
def test_xacro_without_a_say_in_dynamics_is_noted(name):
    assert said(f"{name}.urdf").count("\n") == 1


def test_no_joint_names_the_way_out():
    assert "--base floating" in refused("check", wild("no_joint.urdf"))
    assert invoke("check", wild("no_joint.urdf"), "--base", "floating").exit_code == 0


def test_a_plain_transmission_is_no_news():
    assert said("transmission_plain.urdf") == ""


@pytest.mark.parametrize("name", ["arm3", "walker", "platform", "parallelogram"])
def test_what_was_right_has_no_warning(name):
    assert "warning" not in said(f"{name}.urdf")


def test_a_tree_of_two_packages_to_verified_c(tmp_path):
    """Without ROS: the command that the message gave, then verify."""
    pytest.importorskip("xacro")
    folder = wild("workspace") / "arm_support" / "urdf"
    assert load(folder / "arm.xacro").model.body(1).links[0].parameters[0] == 1.5  # found beside
    text = refused("generate", folder / "arg.xacro", "-o", tmp_path / "out")
    assert "argument 'payload' has no value; give --xacro-arg payload=VALUE" in text
    option = ("--xacro-arg", "payload=2")
    done = invoke("generate", folder / "arg.xacro", "-o", tmp_path / "out", "--lang", "c", *option)
    assert done.exit_code == 0, done.output
    verified = subprocess.run(
        [sys.executable, "-m", "symgen", "verify", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert verified.returncode == 0 and CC, verified.stdout
