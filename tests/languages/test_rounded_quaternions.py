"""A quaternion of rounded numbers is no unit one: right code must not fail by that."""

from decimal import localcontext

import numpy as np
import pytest

from symgen.jobs.job import Job
from symgen.proof.states import DIGITS, States
from tests.support.tools import invoke

LINK = (
    '<link name="b"><inertial><origin xyz="-0.1553 0.1 0.2"/><mass value="4.774"/><inertia '
    'ixx="0.1457" ixy="0" ixz="0" iyy="0.1495" iyz="0" izz="0.2952"/></inertial></link>'
)
ROBOT = (
    f'<robot name="w"><link name="a"/>{LINK}<joint name="j" type="continuous"><parent link="a"/>'
    '<child link="b"/><origin xyz="0.1 0.2 0.3" rpy="0.1 0.2 0.3"/><axis xyz="0 0 1"/></joint>'
    "</robot>"
)
QUANTITIES = ("regressor", "wrench_regressor:a", "slotine_li_regressor", "frame_pose:b")


@pytest.fixture
def robot(tmp_path):
    path = tmp_path / "w.urdf"
    path.write_text(ROBOT)
    return path


@pytest.mark.parametrize("scalar", ["double", "float"])
def test_what_the_quaternion_has_no_part_in_is_proved(robot, tmp_path, scalar):
    """In the body's own axes the first rows depend on no orientation; the textbook turns there and
    back, which leaves |q|⁴ - 1 of them."""
    chosen = [word for name in QUANTITIES for word in ("--quantity", name)]
    out = tmp_path / "out"
    made = invoke("generate", robot, "-o", out, "--base", "floating", "--scalar", scalar, *chosen)
    assert made.exit_code == 0, made.output
    done = invoke("verify", out)
    assert done.exit_code == 0, done.output


def test_laws_are_asked_at_unit_quaternions(robot):
    job = Job.of(str(robot), base="floating")
    q = np.array([[1.0, 2.0, 3.0, 0.1, 0.2, 0.3, 0.9, 0.5]])
    found = States.of(job.module(job.load()).robot, {"q": q}, False).inputs["q"][0]
    assert [float(x) for x in (*found[:3], found[7])] == [1.0, 2.0, 3.0, 0.5]
    with localcontext(prec=DIGITS):
        assert abs(sum(x * x for x in found[3:7]) - 1) < 1e-70
    assert np.allclose(found[3:7].astype(float) * np.linalg.norm(q[0, 3:7]), q[0, 3:7], atol=1e-15)
