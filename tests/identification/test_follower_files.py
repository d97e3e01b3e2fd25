"""What is written of a robot with a follower and springs foretells the log again: terms that no
motion tells from others are not left to the robot's file."""

import json
import shlex

import numpy as np
import pytest

import symgen
from tests.support.arm_logs import log, quick  # noqa: F401
from tests.support.tools import invoke

INERTIAL = (
    '<inertial><origin xyz="{}" rpy=".1 .2 .3"/><mass value="{}"/>'
    '<inertia ixx=".21" ixy=".01" ixz="-.02" iyy=".2" iyz=".03" izz=".22"/></inertial>'
)
JOINT = (
    '<joint name="{}" type="{}"{}><parent link="{}"/><child link="{}"/>'
    '<origin xyz=".1 0 .2" rpy="{} .3 0"/><axis xyz="0 1 1"/>{}<dynamics {}/>'
    '<limit lower="-2" upper="2" effort="60" velocity="5"/></joint>'
)
SPRING = 'damping="0.5" friction="0.8" spring_stiffness="4" spring_reference="0.2"'
MIMIC = '<mimic joint="j0" multiplier="-0.5" offset=".1"/>'


def text(scale):
    masses = ((".1 .2 .3", 2.0), (".2 0 .1", 1.5), ("0 .3 .1", 1.0))
    links = [
        f'<link name="l{k}">{INERTIAL.format(x, m * scale)}</link>'
        for k, (x, m) in enumerate(masses)
    ]
    joints = (
        JOINT.format("j0", "screw", ' pitch="-0.4"', "b", "l0", 0.5, "", SPRING),
        JOINT.format("j1", "prismatic", "", "l0", "l1", 0.2, "", 'damping="3" friction="1.5"'),
        JOINT.format("j2", "revolute", "", "l1", "l2", 0, MIMIC, 'damping="0.4" friction="0.3"'),
    )
    return f'<robot name="odd"><link name="b"/>{"".join((*links, *joints))}</robot>'


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A log of the true robot, and a prior that is off."""
    folder, random = tmp_path_factory.mktemp("follower"), np.random.default_rng(0)
    (folder / "true.urdf").write_text(text(1.0))
    (folder / "prior.urdf").write_text(text(1.3))
    t = np.arange(0, 16, 0.004)
    rates = np.array([1.1, 1.9, 2.7, 4.1])[:, None, None]
    size = random.uniform(0.15, 0.4, (4, 1, 2)) * [1.0, 0.5]
    phase = rates * t[:, None] + random.uniform(0, 6, (4, 1, 2))
    q, qd, qdd = ((size * rates**n * np.sin(phase + n * np.pi / 2)).sum(axis=0) for n in range(3))
    options = {"friction": "viscous,coulomb", "springs": True}
    arm = symgen.compile(folder / "true.urdf", "inverse_dynamics", **options)
    tau = arm.inverse_dynamics(q, qd, qdd) + 0.02 * random.normal(size=q.shape)
    columns = {"q": q, "qd": qd, "qdd": qdd, "tau": tau}
    rows = {f"{p}_j{k}": x[:, k] for p, x in columns.items() for k in range(2)}
    return folder / "prior.urdf", log(folder, {"t": t, **rows})


def test_files_that_are_written_foretell_the_log(tmp_path, measured):
    more = ("--friction", "viscous,coulomb", "--armature", "--full")
    urdf, drives = tmp_path / "out.urdf", tmp_path / "drives.toml"
    done = invoke(
        "identify", *measured, *more, "--springs", "--urdf", urdf, "--actuators-out", drives
    )
    assert done.exit_code == 0 and "preload j0" in done.stderr, done.output
    said = invoke("predict", urdf, measured[1], "--actuators", drives, "--json")
    for channel in json.loads(said.stdout)["channels"]:
        assert channel["all"]["error_rms"] == pytest.approx(0.02, rel=0.1), channel


def test_coulomb_friction_of_a_follower_is_that_of_its_leader(measured):
    options = ("--friction", "viscous,coulomb", "--springs", "--json")
    done = invoke("identify", *measured, *options)
    assert "viscous j2, coulomb j2, stiffness j2, preload j2 cannot be distinguished" in done.stderr
    found = json.loads(done.stdout)["parameters"]
    assert found["coulomb j0"]["estimate"] == pytest.approx(0.8 + 0.5 * 0.3, abs=0.01)
    assert found["viscous j0"]["estimate"] == pytest.approx(0.5 + 0.25 * 0.4, abs=0.01)


def test_the_command_that_is_printed_makes_the_robot_that_was_identified(tmp_path, measured):
    options = ("--lock", "j1=0.3", "--gravity", "0,0,-9.8", "--full", "--force")
    drives = tmp_path / "my drives.toml"
    done = invoke(
        "identify", *measured, *options, "--friction", "viscous", "--actuators-out", drives
    )
    line = next(line for line in done.stdout.splitlines() if "symgen generate" in line)
    words = shlex.split(line.partition("symgen ")[2])
    words[words.index("-o") + 1] = tmp_path / "out"
    made = invoke(*words, "--lang", "python", "--quantity", "inverse_dynamics")
    assert made.exit_code == 0, made.output
    found = json.loads((tmp_path / "out" / "manifest.json").read_text())["options"]
    assert found["lock"] == [["j1", 0.3]] and found["gravity"] == [0.0, 0.0, -9.8]
    assert found["friction"] == "viscous" and found["actuators"] == "my drives.toml"


def test_an_estimate_of_the_robot_held_otherwise_is_refused(tmp_path, measured):
    held = ("--lock", "j1=0.3"), ("--lock", "j1=0.5")
    options = ("--full", "--friction", "viscous,coulomb", "-o", tmp_path / "made")
    assert invoke("identify", *measured, *held[0], *options).exit_code == 0
    stored = tmp_path / "made" / "model.toml"
    same, other = (invoke("predict", *measured, *x, "--estimate", stored) for x in held)
    assert same.exit_code == 0, same.output
    assert other.exit_code == 2 and "has another definition than for this robot" in other.stderr
