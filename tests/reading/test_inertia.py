"""Inertia that no body has stops what needs it and nothing else; repaired on request. Robots without
mass."""

import json
import random

import numpy as np
import pytest

from symgen.mechanics.inertia_checks import INDEFINITE, check_inertias
from symgen.reading.assemble import load
from symgen.reading.description_changes import eigen
from tests.support.tools import invoke

GOOD = {"ixx": 0.01, "ixy": 0, "ixz": 0, "iyy": 0.01, "iyz": 0, "izz": 0.01}
BAD = {"ixx": 0.006, "ixy": 0.009, "ixz": 0.003, "iyy": 0.0086, "iyz": 0.009, "izz": 0.0065}
FLAT = {"ixx": 0.1, "ixy": 0, "ixz": 0, "iyy": 0.1, "iyz": 0, "izz": 0.5}  # izz > ixx + iyy


def inertial(tensor, mass=2.25):
    numbers = " ".join(f'{name}="{x}"' for name, x in tensor.items())
    return (
        f'<inertial><origin xyz="0.05 0.02 -0.03" rpy="0.1 0.2 0.3"/><mass value="{mass}"/>'
        f"<inertia {numbers}/></inertial>"
    )


def arm(path, *tensors, fixed=None):
    """A chain of revolute joints; the last link carries one with tensor `fixed`."""
    parts = ['<link name="l0"/>']
    for k, tensor in enumerate(tensors, 1):
        inside = "" if tensor is None else inertial(tensor)
        parts.append(
            f'<link name="l{k}">{inside}</link><joint name="j{k}" type="revolute">'
            f'<parent link="l{k - 1}"/><child link="l{k}"/><origin xyz="0.3 0 0"/>'
            f'<axis xyz="0 {k % 2} {1 - k % 2}"/><limit lower="{k - 1}" upper="3"/></joint>'
        )
    if fixed is not None:
        parts.append(
            f'<link name="tip">{inertial(fixed, 1e-6)}</link><joint name="f" type="fixed">'
            f'<parent link="l{len(tensors)}"/><child link="tip"/></joint>'
        )
    path.write_text(f'<robot name="arm">{"".join(parts)}</robot>')
    return path


def refused(*arguments):
    done = invoke(*arguments)
    assert done.exit_code == 2 and done.stderr.count("\n") == 1 and not done.stdout, done.output
    return done.stderr


@pytest.fixture
def bad(tmp_path):
    return arm(tmp_path / "arm.urdf", BAD, GOOD, BAD)


def test_what_needs_it_is_refused_with_all_of_them_at_once(bad, tmp_path):
    said = refused("generate", bad, "-o", tmp_path / "out")
    assert said.startswith(
        f"{bad}:1: error: link 'l1', link 'l3': inertia has a negative principal"
    )
    moments = "-0.003811, 0.003253, 0.02166"
    assert f"(the three are {moments}; {moments} kg m^2)" in said
    assert "--parameters runtime:l1,l3" in said and "--repair-inertia nearest" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "options",
    [
        ("--quantity", "gravity"),
        ("--quantity", "potential_energy"),
        ("--quantity", "com_jacobian"),
        ("--quantity", "frame_pose:l2"),
        ("--quantity", "frame_jacobian_body:l3"),
        ("--quantity", "regressor"),
        ("--quantity", "base_regressor"),
        ("--parameters", "runtime"),
        ("--parameters", "runtime:l1,l3"),
        ("--tip", "l1", "--parameters", "runtime:l1"),
    ],
)
def test_what_does_not_need_it_goes_on(options, bad, tmp_path):
    done = invoke("generate", bad, "-o", tmp_path / "out", "--lang", "c", *options)
    assert done.exit_code == 0, done.output
    assert "warning: " in done.stderr


def test_a_part_of_them_as_input_is_not_enough(bad, tmp_path):
    said = refused("generate", bad, "-o", tmp_path / "o", "--parameters", "runtime:l1")
    assert ": error: link 'l3': inertia" in said


def test_structure_is_shown(bad):
    done = invoke("check", bad)
    assert done.exit_code == 0 and "l3" in done.stdout
    assert (
        "warning: file: 2 links have a physically impossible inertia (link 'l1', link 'l3')"
        in done.stderr
    )


def test_a_robot_is_inspected(bad):
    done = invoke("inspect", bad, "--json")
    data = json.loads(done.stdout)
    assert data["dof"] == 3 and data["operations"] == {}


def test_the_body_as_a_whole_is_judged(tmp_path):
    """A typo in a link of a milligram on a sound body."""
    odd = dict(GOOD, ixx=1e-9, iyy=1e-9, izz=1e-9, ixz=4e-6)
    done = invoke("generate", arm(tmp_path / "arm.urdf", GOOD, fixed=odd), "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "warning: link 'tip': inertia has a negative principal moment" in done.stderr


def test_a_base_that_floats_needs_its_inertia(tmp_path):
    path = arm(tmp_path / "arm.urdf", GOOD)
    path.write_text(
        path.read_text().replace('<link name="l0"/>', f'<link name="l0">{inertial(BAD)}</link>')
    )
    assert invoke("ops", path).exit_code == 0
    assert ": error: link 'l0': inertia has" in refused("ops", path, "--base", "floating")


# -- repair ----------------------------------------------------------------------------------------


def seconds(model, k):
    """S about the centre of mass in the axes of link k."""
    m, hx, hy, hz, xx, xy, xz, yy, yz, zz = model.body(k).links[0].parameters
    h = np.array([hx, hy, hz])
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    inertia = inertia - ((h @ h) * np.eye(3) - np.outer(h, h)) / m
    return m, h, np.trace(inertia) / 2 * np.eye(3) - inertia


@pytest.mark.parametrize("tensor", [BAD, FLAT, dict(GOOD, izz=-0.02)])
def test_the_nearest_is_taken_and_said(tensor, tmp_path):
    """That S is nearest: it differs from the given one by a part that is negative and at right
    angles to it (the condition of optimality of a projection onto a cone)."""
    path = arm(tmp_path / "arm.urdf", tensor, GOOD)
    before, after = load(path), load(path, repair_inertia="nearest")
    (m, h, s), (new_m, new_h, new) = seconds(before.model, 1), seconds(after.model, 1)
    assert new_m == m and np.allclose(new_h, h, rtol=1e-15)
    size = np.abs(s).max()
    assert np.linalg.eigvalsh(new)[0] >= -1e-15 * size
    assert np.linalg.eigvalsh(s - new)[-1] <= 1e-14 * size
    assert abs(np.trace(new @ (s - new))) <= 1e-14 * size**2
    assert before.model.bodies[1] == after.model.bodies[1]
    assert all(v.status != INDEFINITE for v in check_inertias(after.model))
    (line,) = [n for n in after.notices if "repaired" in n.message]
    assert line.element == "link 'l1'" and "were replaced by" in line.message


def test_it_is_off_by_default_and_stands_in_the_manifest(bad, tmp_path):
    out = tmp_path / "out"
    done = invoke("generate", bad, "-o", out, "--repair-inertia", "nearest", "--lang", "python")
    assert done.exit_code == 0 and done.stderr.count("inertia repaired: the principal moments") == 2
    options = json.loads((out / "manifest.json").read_text())["options"]
    assert options["repair_inertia"] == "nearest"


def test_a_file_is_repaired_by_convert(bad, tmp_path):
    out = tmp_path / "sound.urdf"
    done = invoke("convert", bad, "-o", out, "--repair-inertia", "nearest")
    assert done.exit_code == 0 and done.stderr.count("inertia repaired") == 2
    assert invoke("ops", out).exit_code == 0
    repaired = load(bad, repair_inertia="nearest").model
    assert [b.links for b in load(out).model.bodies] == [b.links for b in repaired.bodies]


def test_sound_inertia_is_not_touched(tmp_path):
    path = arm(tmp_path / "arm.urdf", GOOD, dict(GOOD, izz=0.02), None)  # a plate, and nothing
    assert load(path).model == load(path, repair_inertia="nearest").model


def test_eigenvalues_are_those_of_numpy():
    rng = random.Random(1)
    for k in range(50):
        scale = 10.0 ** rng.randint(-12, 6)
        a = np.array([[rng.gauss(0, scale) for _ in range(3)] for _ in range(3)])
        a = a + a.T if k % 5 else np.diag(np.diag(a))
        values, vectors = eigen(a.tolist())
        v = np.array(vectors)
        assert np.allclose(v @ np.diag(values) @ v.T, a, rtol=0, atol=1e-14 * np.abs(a).max())
        assert np.allclose(v @ v.T, np.eye(3), atol=1e-14)
        assert np.allclose(
            sorted(values), np.linalg.eigvalsh(a), rtol=0, atol=1e-13 * np.abs(a).max()
        )


# -- without mass ----------------------------------------------------------------------------------

MASSLESS = "no moving link has mass or inertia, so all joint forces due to gravity and motion are 0"


def test_a_robot_without_mass_is_said_once(tmp_path):
    path = arm(tmp_path / "arm.urdf", None, None, None)
    for command in ("check", "ops"):
        done = invoke(command, path)
        assert done.exit_code == 0 and done.stderr.count("\n") == 1
        assert f"warning: <robot>: {MASSLESS}; use a file with" in done.stderr
    assert invoke("ops", path, "--parameters", "runtime").stderr == ""


def test_verify_says_it_too(tmp_path):
    path, out = arm(tmp_path / "arm.urdf", None), tmp_path / "out"
    assert invoke("generate", path, "-o", out, "--lang", "python").exit_code == 0
    done = invoke("verify", out)
    assert done.exit_code == 0 and "no moving link has mass or inertia" in done.stdout


def test_forward_dynamics_without_mass_is_refused_once(tmp_path):
    path = arm(tmp_path / "arm.urdf", None, None, None)
    said = refused("ops", path, "--quantity", "forward_dynamics")
    assert "no moving link has mass or inertia" in said and "--parameters runtime" in said
    runtime = ("--parameters", "runtime")
    assert invoke("ops", path, "--quantity", "forward_dynamics", *runtime).exit_code == 0


def test_all_joints_to_lock_are_one_command(tmp_path):
    path = arm(tmp_path / "arm.urdf", GOOD, None, None)
    said = refused("ops", path, "--quantity", "forward_dynamics")
    assert "joints 'j2' and 'j3' move no inertia of their own" in said
    locks = said.split("lock them with ")[1].split()
    assert locks == ["--lock", "j2=1", "--lock", "j3=2"]  # at the ends nearest to 0
    assert invoke("ops", path, "--quantity", "forward_dynamics", *locks).exit_code == 0
