"""Angles of many turns in self-tests and in `symgen verify`: the range reduction of sines is tried
there."""

import shutil
import subprocess
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from symgen.jobs.job import Job
from symgen.jobs.verify import verify
from symgen.languages.c.syntax import literal
from symgen.numbers.trig import SINES
from symgen.proof.state_generation import with_large_angles
from tests.support.tools import c_files, compiled, generated, invoke, robot_file

ROBOTS = ["pendulum", "ur5", "panda", "humanoid25"]


def planted():
    """The sines of double precision with an error of 1e-4 in the second part of pi/2."""
    sines = SINES["double"]
    first, second, *others = sines.half_pi
    return replace(sines, half_pi=(first, second * 1.0001, *others))


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_self_test_sees_a_wrong_second_part_of_half_pi(robot, tmp_path):
    """Of the size of 6e-12 rad at 65,000 rad; without such angles all self-tests pass."""
    _, folder = generated(robot, quantities=("gravity", "inverse_dynamics"))
    copy = shutil.copytree(folder, tmp_path / "copy")
    (header,) = copy.glob("*_trig.h")
    right, wrong = (literal(s.half_pi[1] / s.scale, "double") for s in (SINES["double"], planted()))
    assert right in header.read_text()
    for text, passes in (
        (header.read_text(), True),
        (header.read_text().replace(right, wrong), False),
    ):
        header.write_text(text)
        compiled("-O2", f"-I{copy}", *c_files(copy), "-lm", "-o", "selftest", cwd=tmp_path)
        done = subprocess.run([tmp_path / "selftest"], check=False)
        assert (done.returncode == 0) == passes


def test_verify_sees_a_wrong_second_part_of_half_pi(tmp_path, monkeypatch):
    """Where symgen itself has the wrong number, C and the algorithms on floats agree."""
    monkeypatch.setitem(SINES, "double", planted())
    wanted = ("--quantity", "gravity", "--quantity", "inverse_dynamics")
    assert not invoke("generate", robot_file("ur5"), "-o", tmp_path / "x", *wanted).exit_code
    checks = [check for check in verify(tmp_path / "x") if "Newton-Euler" in check.what]
    assert len(checks) >= 2
    assert not any(
        check.passed for check in checks if check.what.startswith(("gravity", "inverse"))
    )


@pytest.mark.parametrize("scalar", SINES)
@pytest.mark.parametrize("robot", [*ROBOTS, "quadruped"])
def test_no_angle_or_sum_of_angles_leaves_the_range_of_the_sines(robot, scalar):
    model = Job.of(robot_file(robot)).load().model
    q = [0.1] * model.dof
    large = np.array(with_large_angles(model, q, scalar, Random(3)))
    changed = large != q
    assert changed.any() and np.abs(large).max() > SINES[scalar].bound / 8
    for i in model.outward:
        total = 0.0
        while i:
            total, i = total + large[i - 1], model.body(i).parent
            assert abs(total) <= SINES[scalar].bound
    assert (large[changed] * 16 == np.rint(large[changed] * 16)).all()


SLIDING = """<robot name="s"><link name="a"/><link name="b">{0}</link><link name="c">{0}</link>
<link name="d">{0}</link><joint name="p" type="prismatic"><parent link="a"/><child link="b"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="q" type="continuous"><parent link="b"/><child link="c"/><axis xyz="1 0 0"/></joint>
<joint name="r" type="continuous"><parent link="c"/><child link="d"/><axis xyz="0 1 0"/>
<mimic joint="{1}" multiplier="2"/></joint></robot>"""
BODY = (
    '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    "</inertial>"
)


@pytest.mark.parametrize(("leader", "turned"), [("p", [False, True]), ("q", [False, False])])
def test_coordinates_that_slide_or_lead_others_keep_their_values(leader, turned):
    model = Job.of(SLIDING.format(BODY, leader)).load().model
    large = with_large_angles(model, [0.5, 0.5], "double", Random(1))
    assert [x != 0.5 for x in large] == turned
