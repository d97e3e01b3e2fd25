"""Numbers of a robot that the scalar type does not have: limits are clamped, the rest is
refused."""

import re

import pytest

from symgen.jobs.verify import verify
from symgen.languages.c.syntax import LARGEST_FINITE, fits, literal
from tests.support.tools import ROOT, invoke

PENDULUM = (ROOT / "robots" / "pendulum.urdf").read_text(encoding="utf-8")


def pendulum(tmp_path, **changes):
    """The pendulum with other values of attributes of its limits and masses."""
    text = PENDULUM
    for name, value in changes.items():
        text, count = re.subn(rf'\b{name}="[^"]*"', f'{name}="{value}"', text)
        assert count
    path = tmp_path / "pendulum.urdf"
    path.write_text(text, encoding="utf-8")
    return path


DYNAMICS = ("--quantity", "inverse_dynamics", "--quantity", "forward_dynamics")
"""What is tried at states within the limits: positions, rates, and forces of motors."""


@pytest.mark.parametrize(
    "effort, trig", [("1.79769e+308", "libm"), ("1e39", "inline"), ("3.5e38", "libm")]
)
def test_a_limit_beyond_the_type_is_no_limit(effort, trig, tmp_path):
    file, out = pendulum(tmp_path, effort=effort, velocity=effort), tmp_path / "out"
    options = ("--scalar", "float", "--trig", trig, "--prefix", "pendulum", *DYNAMICS)
    assert invoke("generate", file, "-o", out, *options).exit_code == 0
    table = (out / "pendulum.c").read_text()
    assert '{"shoulder", "rad", -6.28f, 6.28f, FLT_MAX, FLT_MAX}' in table
    assert not re.search(r"\binf\b", table)
    assert all(check.passed for check in verify(out))  # without a warning
    assert invoke("generate", file, "-o", tmp_path / "d", *DYNAMICS).exit_code == 0
    assert ("DBL_MAX" in (tmp_path / "d" / "pendulum.c").read_text()) is False


@pytest.mark.parametrize("end", ["1.79769e+308", "1e16", "1e9"])
@pytest.mark.parametrize("scalar", ["float", "double"])
def test_ends_that_mean_none(end, scalar, tmp_path):
    file, out = pendulum(tmp_path, lower=f"-{end}", upper=end), tmp_path / "out"
    done = invoke("generate", file, "-o", out, "--scalar", scalar, "--trig", "inline", *DYNAMICS)
    assert done.exit_code == 0
    text = (out / "pendulum.c").read_text()
    assert ("FLT_MAX" in text) == (scalar == "float" and "308" in end)
    assert not re.search(r"\binf\b", text)
    assert "not finite" not in (out / "pendulum_inverse_dynamics.c").read_text()
    assert all(check.passed for check in verify(out))


TOO_LARGE = [
    ({"mass value": "1e39"}, ()),
    ({"mass value": "1e38"}, ()),
    ({"mass value": "1e39"}, ("--parameters", "runtime")),
]


@pytest.mark.parametrize(("changes", "options"), TOO_LARGE)
def test_other_numbers_are_refused_in_one_sentence(changes, options, tmp_path):
    text = PENDULUM
    for name, value in changes.items():
        text = re.sub(rf'<{name}="[^"]*"', f'<{name}="{value}"', text)
    file, out = tmp_path / "pendulum.urdf", tmp_path / "out"
    file.write_text(text, encoding="utf-8")
    done = invoke("generate", file, "-o", out, "--scalar", "float", *options)
    said = " ".join(done.stderr.split())
    assert done.exit_code == 2 and said.startswith("error: --scalar float: a number of the code")
    assert said.endswith("use --scalar double") and not out.exists()


def test_double_has_a_largest_number_too(tmp_path):
    file, out = pendulum(tmp_path), tmp_path / "out"
    done = invoke("generate", file, "-o", out, "--gravity", "0,0,-1.7e308")
    assert done.exit_code == 2 and not out.exists() and "\n" not in done.stderr.strip()


def test_the_largest_of_each_type_fits():
    for scalar, most in LARGEST_FINITE.items():
        assert fits(most, scalar) and fits(-most, scalar) and not fits(float("inf"), scalar)
    assert not fits(3.5e38, "float") and fits(3.5e38, "double")
    assert literal(LARGEST_FINITE["float"], "float") == "3.4028235e+38f"
    assert literal(1e-50, "float") == "0.0f"


VAST = """<robot name="vast"><link name="floor"/>
<link name="mast"><inertial><origin xyz="2e7 1e7 2e8"/><mass value="2.5"/>
<inertia ixx="0.04" ixy="0.001" ixz="0" iyy="0.04" iyz="0.0007" izz="0.01"/></inertial></link>
<link name="boom"><inertial><origin xyz="1.5e8 0 2e7"/><mass value="0.9"/>
<inertia ixx="0.002" ixy="0.0003" ixz="0" iyy="0.011" iyz="0.0001" izz="0.0115"/></inertial></link>
<joint name="yaw" type="continuous"><origin xyz="0 0 1e8" rpy="0.1 0 0"/>
<parent link="floor"/><child link="mast"/><axis xyz="0 0 1"/></joint>
<joint name="pitch" type="continuous"><origin xyz="5e7 0 4e8"/>
<parent link="mast"/><child link="boom"/><axis xyz="0 1 0"/></joint></robot>"""


def test_inertias_that_are_lost_beside_the_squares_of_lengths(tmp_path):
    """A product of inertia of 3e-4 beside moments of 1e16 kg m2: zero in the code, in the bounds
    of what zero may be (fuzz 40)."""
    file, out = tmp_path / "vast.urdf", tmp_path / "out"
    file.write_text(VAST, encoding="utf-8")
    done = invoke("generate", file, "-o", out, "--trig", "libm")
    assert done.exit_code == 0 and "are lengths in mm" in done.stderr
    assert "M[2 * 0 + 1] = 0.0;" in (out / "vast_mass_matrix.c").read_text()
    assert all(check.passed for check in verify(out))
