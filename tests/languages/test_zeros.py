"""--zeros once: the caller sets outputs to zero, and the C functions leave what vanishes in every
state alone."""

import re
import subprocess
from functools import cache

import numpy as np

from symgen.jobs.manifest_reader import read
from symgen.languages.c.checks import build
from symgen.languages.c.options import COptions
from symgen.native.compiler import EXACT
from tests.support.tools import STRICT_C, compiled, generated, invoke, robot_file, verified

QUANTITIES = ("regressor", "mass_matrix")


@cache
def module(zeros):
    made, folder = generated("biped", quantities=QUANTITIES, zeros=zeros)
    return made, folder, build(made, folder, EXACT)


def states(made):
    rng = np.random.default_rng(3)
    return [rng.uniform(-1, 1, made.dof) for _ in range(3)]


def test_results_are_the_same():
    made, _, always = module("always")
    _, _, once = module("once")
    q, qd, qdd = states(made)
    assert np.array_equal(always.regressor(q, qd, qdd), once.regressor(q, qd, qdd))
    assert np.array_equal(always.mass_matrix(q), once.mass_matrix(q))


def test_exactly_the_structural_zeros_are_left_alone(tmp_path):
    made, folder, _ = module("once")
    (out,) = [out for f in made.functions for out in f.program.outputs if out.name == "Y"]
    zero = [k for k, ref in enumerate(out.refs) if ref is None]
    size, name = len(out.refs), made.name
    work = "w, " if f"{name.upper()}_REGRESSOR_WORK" in (folder / f"{name}.h").read_text() else ""
    (tmp_path / "main.c").write_text(f"""
#include <stdio.h>
#include "{name}.h"
int main(void)
{{
    static double w[4096], q[64], Y[{size}];
    int k;
    (void)w;
    for (k = 0; k < {size}; ++k) {{ Y[k] = 12345.0; }}
    for (k = 0; k < 64; ++k) {{ q[k] = 0.1 + 0.01 * k; }}
    {name}_regressor(q, q, q, {work}Y);
    for (k = 0; k < {size}; ++k) {{ if (Y[k] == 12345.0) {{ printf("%d ", k); }} }}
    return 0;
}}
""")
    files = [str(folder / f"{name}{part}.c") for part in ("", "_regressor")]
    compiled(
        *STRICT_C,
        f"-I{folder}",
        str(tmp_path / "main.c"),
        *files,
        "-lm",
        "-o",
        str(tmp_path / "main"),
    )
    said = subprocess.run(
        [str(tmp_path / "main")], capture_output=True, text=True, check=True
    ).stdout
    assert zero and [int(k) for k in said.split()] == zero


def test_it_is_said_where_it_must_be_known():
    made, folder, _ = module("once")
    for file in (f"{made.name}.h", f"{made.name}_regressor.c"):
        assert re.search("[Ss]et the array to 0 before the first call", (folder / file).read_text())
    assert read(folder)[0][COptions].zeros == "once"


def test_the_self_test_keeps_the_promise():
    made, folder, _ = module("once")
    assert (
        f"got_Y[{made.dof * 10 * made.dof}] = {{0.0}};"
        in (folder / f"{made.name}_selftest.c").read_text()
    )
    assert invoke("verify", folder).exit_code == 0


def test_another_word(tmp_path):
    result = invoke("generate", robot_file("ur5"), "-o", tmp_path / "x", "--zeros", "never")
    assert result.exit_code == 2 and "--zeros 'never': use one of always, once" in result.output
    assert not (tmp_path / "x").exists()


def test_blocks_of_states_are_written_whole(tmp_path):
    options = ("--trig", "inline", "--batch", "auto", "--zeros", "once")
    result = invoke("generate", robot_file("pendulum"), "-o", tmp_path / "out", *options)
    assert (
        result.exit_code == 2
        and "remove one of them" in result.stderr
        and not (tmp_path / "out").exists()
    )


def test_an_output_without_any_other_entry_compiles(tmp_path):
    """A rotor about the vertical axis: gravity has no force on it, and nothing is written."""
    robot = tmp_path / "wheel.urdf"
    robot.write_text(
        '<robot name="wheel"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia '
        'ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link><joint name="j" '
        'type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>'
    )
    folder, chosen = tmp_path / "out", ("--zeros", "once", "--quantity", "gravity")
    assert invoke("generate", robot, "-o", folder, *chosen).exit_code == 0
    verified(folder)
