"""The order of coordinates: that of the file, but no joint before one that carries it."""

import json
from itertools import permutations

import numpy as np
import pytest

import symgen
from symgen.errors import SymgenError
from symgen.mechanics.model import RigidBodyModel
from symgen.reading.assemble import load
from tests.support.jobfiles import PENDULUM
from tests.support.public_robots import example_robots
from tests.support.random_trees import ROBOTS
from tests.support.shell import refusal
from tests.support.tools import invoke

LINK = (
    '<link name="{0}"><inertial><origin xyz="0.1 0.02 0.3"/><mass value="1.5"/>'
    '<inertia ixx="0.2" ixy="0" ixz="0" iyy="0.3" iyz="0" izz="0.25"/></inertial></link>'
)
HINGE = (
    '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/>'
    '<origin xyz="0.1 0 0.3"/><axis xyz="{3}"/></joint>'
)
FIXED = '<joint name="{0}" type="fixed"><parent link="{1}"/><child link="{2}"/></joint>'

CHAIN = {
    "shoulder": HINGE.format("shoulder", "base", "upper", "0 0 1"),
    "elbow": HINGE.format("elbow", "upper", "lower", "0 1 0"),
    "flange": FIXED.format("flange", "lower", "tool"),
    "wrist": HINGE.format("wrist", "tool", "hand", "1 0 0"),
}
LINKS = ("base", "upper", "lower", "tool", "hand")


def chain(*order: str) -> str:
    """A serial arm whose file lists its joints in this order."""
    parts = [*map(LINK.format, LINKS), *(CHAIN[name] for name in order)]
    return f'<robot name="arm">{"".join(parts)}</robot>'


def notes(loaded) -> list[str]:
    return [n.message for n in loaded.notices if "--joint-order" in n.message]


@pytest.mark.parametrize("order", list(permutations(CHAIN)), ids="-".join)
def test_a_chain_runs_from_base_to_tip(order):
    loaded = load(chain(*order))
    assert loaded.model.joint_names == ("shoulder", "elbow", "wrist")
    in_file = tuple(name for name in order if name != "flange")
    assert bool(notes(loaded)) == (in_file != loaded.model.joint_names)
    kept = load(chain(*order), joint_order="file")
    assert kept.model.joint_names == in_file and not notes(kept)


def test_the_note_names_the_joints_and_the_option():
    (note,) = notes(load(chain("wrist", "flange", "elbow", "shoulder")))
    assert "'shoulder' is before 'wrist'" in note and "--joint-order file" in note


def test_branches_keep_the_order_of_the_file():
    """Only joints that stand before one that carries them are moved, and no further than needed."""
    tree = {"a1": "base", "a2": "la1", "b1": "base", "b2": "lb1"}
    links = ["base", *(f"l{name}" for name in tree)]

    def names(*order: str) -> tuple[str, ...]:
        joints = (HINGE.format(name, tree[name], f"l{name}", "0 0 1") for name in order)
        text = f'<robot name="t">{"".join((*map(LINK.format, links), *joints))}</robot>'
        return load(text).model.joint_names

    assert names("b1", "a1", "a2", "b2") == ("b1", "a1", "a2", "b2")
    assert names("b2", "a1", "b1", "a2") == ("a1", "b1", "b2", "a2")
    assert names("a2", "a1", "b2", "b1") == ("a1", "a2", "b1", "b2")


def test_followers_and_floating_bases_follow_the_order():
    """A joint that is followed is the one whose place counts, and the base stays first."""
    mimic = CHAIN["wrist"].replace("</joint>", '<mimic joint="elbow" multiplier="2"/></joint>')
    text = chain("wrist", "flange", "elbow", "shoulder").replace(CHAIN["wrist"], mimic)
    floating = load(text, base="floating").model
    assert floating.joint_names[6:] == ("shoulder", "elbow")
    assert floating.joint_names[0].startswith("floating_base")
    led = load(text, coordinates="joints").model
    assert led.joint_names == ("shoulder", "elbow")


def test_terms_of_both_orders_are_the_same_robot():
    reverse = chain("wrist", "flange", "elbow", "shoulder")
    ours = symgen.compile(reverse, "gravity", "mass_matrix")
    kept = symgen.compile(reverse, "gravity", "mass_matrix", joint_order="file")
    q = np.array([0.3, -0.8, 1.1])
    assert np.allclose(ours.gravity(q), kept.gravity(q[::-1])[::-1], atol=1e-12)
    assert np.allclose(ours.mass_matrix(q), kept.mass_matrix(q[::-1])[::-1, ::-1], atol=1e-12)


def test_builders_have_the_same_order():
    arm = symgen.Builder("arm").link("base")
    for name in ("upper", "lower"):
        arm = arm.link(name, mass=1.0, center_of_mass=(0, 0, 0.1), inertia=(1, 0, 0, 1, 0, 1))
    arm = arm.joint("elbow", "revolute", "upper", "lower", axis=(1, 0, 0))
    arm = arm.joint("shoulder", "revolute", "base", "upper")
    assert symgen.Robot(arm).model.joint_names == ("shoulder", "elbow")
    assert symgen.Robot(arm, joint_order="file").model.joint_names == ("elbow", "shoulder")


def test_command_line_and_job_file_have_the_option(tmp_path):
    robot = tmp_path / "arm.urdf"
    robot.write_text(chain("wrist", "flange", "elbow", "shoulder"), encoding="utf-8")
    job = tmp_path / "job.toml"
    job.write_text('file = "arm.urdf"\nout = "by_job"\njoint_order = "file"\n', encoding="utf-8")
    by_flag = tmp_path / "by_flag"
    flags = ("--joint-order", "file", "--lang", "c", "--lang", "python")
    assert invoke("generate", robot, "-o", by_flag, *flags).exit_code == 0
    assert invoke("generate", job, "--lang", "c", "--lang", "python").exit_code == 0
    manifests = [
        json.loads((folder / "manifest.json").read_text())
        for folder in (by_flag, tmp_path / "by_job")
    ]
    assert manifests[0] == manifests[1]
    assert manifests[0]["options"]["joint_order"] == "file"
    assert [row["joint"] for row in manifests[0]["joints"]] == ["wrist", "elbow", "shoulder"]


def test_an_unknown_order_is_refused_in_one_sentence(tmp_path):
    done = invoke("generate", PENDULUM, "-o", tmp_path / "out", "--joint-order", "alphabet")
    assert done.exit_code == 2 and "base-to-tip" in done.output
    assert not (tmp_path / "out").exists()


def is_serial(model: RigidBodyModel) -> bool:
    """Whether every body carries at most one other."""
    return all(len(model.children(i)) <= 1 for i in range(model.size + 1))


def test_serial_robots_have_pinocchios_order():
    """Every serial robot of example-robot-data, SO-101 among them, whose file runs from the gripper
    to the shoulder, and our own: the same names in the same order, so the same q."""
    pin = pytest.importorskip("pinocchio")
    compared = []
    for path in (*example_robots(), *sorted(ROBOTS.glob("*.urdf"))):
        try:
            loaded = load(path)
        except SymgenError:
            continue
        if not is_serial(loaded.model) or loaded.model.size != loaded.model.dof:
            continue
        theirs = pin.buildModelFromUrdf(str(path))
        if theirs.nv != loaded.model.dof:
            continue
        compared.append(path.name)
        assert tuple(theirs.names)[1:] == loaded.model.joint_names, path.name
    if example_robots():
        assert "so101.urdf" in compared and len(compared) > 10
    assert len(compared) >= 2


def test_numbered_columns_of_a_log_need_an_order(tmp_path):
    """A log may have either order. The prediction is right with each of the ways to state it."""
    robot, log = tmp_path / "arm.urdf", tmp_path / "log.npz"
    robot.write_text(chain("wrist", "flange", "elbow", "shoulder"), encoding="utf-8")
    t = np.arange(400) / 100
    motion = np.sin(np.outer(t, [0.7, 1.1, 1.9]))
    rate = np.cos(np.outer(t, [0.7, 1.1, 1.9])) * [0.7, 1.1, 1.9]
    change = -motion * np.square([0.7, 1.1, 1.9])
    kept = symgen.compile(str(robot), "inverse_dynamics", joint_order="file")
    tau = kept.inverse_dynamics(motion, rate, change)
    np.savez(log, t=t, q=motion, qd=rate, qdd=change, tau=tau)
    message = refusal("predict", robot, log)
    in_file, ordered = "--joints wrist,elbow,shoulder", "--joints shoulder,elbow,wrist"
    assert "columns such as 'q[0]' are numbered" in message
    assert f"{in_file} for the order of the file, or {ordered} for" in message
    errors = []
    for words in (in_file.split(), ["--joint-order", "file"], ordered.split()):
        done = invoke("predict", robot, log, "--json", *words)
        assert done.exit_code == 0, done.output
        channels = json.loads(done.stdout)["channels"]
        errors.append(max(row["all"]["relative"] for row in channels))
    assert max(errors[:2]) < 1e-9 and errors[2] > 0.1
