"""What a shell completes: values of options, and names of the robot's file that is on the line."""

import os
import shutil
import subprocess
import sys

import pytest
from click.shell_completion import ShellComplete

from symgen.algorithms import LINK_QUANTITIES, QUANTITIES
from symgen.algorithms.controllers import CONTROLLERS
from symgen.cli.main import COMMANDS, main
from symgen.identification.model.settings import LOSSES
from symgen.languages import LANGUAGES
from symgen.languages.c.options import GLUE
from symgen.mechanics.joint_forces import FRICTION
from symgen.reading.options import ROTORS
from tests.support.tools import ROOT, robot_file

UR5, PANDA = robot_file("ur5"), robot_file("panda")
JOINTS = [f"joint{k}" for k in range(1, 7)]


def completed(*words):
    """What may stand in the place of the last word."""
    found = ShellComplete(main, {}, "symgen", "_X").get_completions(list(words[:-1]), words[-1])
    return [item.value for item in found]


CASES = [
    (["ide"], ["identify"]),
    (["generate", UR5, "--lang", ""], [*LANGUAGES]),
    (["generate", UR5, "--lang", "cu"], ["cuda"]),
    (["generate", UR5, "--scalar", ""], ["double", "float", "q31", "q15"]),
    (["generate", UR5, "--glue", "cmake,esp"], [f"cmake,{x}" for x in GLUE if x.startswith("esp")]),
    (["generate", UR5, "--controller", ""], [*CONTROLLERS]),
    (["generate", UR5, "--rotors", ""], [*ROTORS]),
    (["generate", UR5, "--quantity", "mass_matrix_i"], ["mass_matrix_inverse"]),
    (["generate", UR5, "--quantity", "t=bias+mass_matrix_i"], ["t=bias+mass_matrix_inverse"]),
    (["ops", UR5, "--formulation", "gravity="], None),
    (["generate", UR5, "--tip", "link3"], ["link3"]),
    (["generate", UR5, "--lock", ""], [f"{joint}=" for joint in JOINTS]),
    (["generate", UR5, "--lock", "joint3="], []),
    (["excite", UR5, "--limit", "joint3.v"], ["joint3.velocity="]),
    (["generate", UR5, "--couple", "joint2=joint3"], ["joint2=joint3:"]),
    (["generate", UR5, "--couple", "joint2=joint3:1,joint4"], ["joint2=joint3:1,joint4:"]),
    (["generate", UR5, "--parameters", ""], ["constant", "runtime", "runtime:"]),
    (["generate", UR5, "--parameters", "runtime:link2,link"], None),
    (
        ["generate", UR5, "--friction", "r"],
        [f"runtime:{law}" for law in FRICTION],
    ),
    (["generate", UR5, "--friction", "viscous,c"], ["viscous,coulomb"]),
    (["generate", UR5, "--gravity", "r"], ["runtime"]),
    (["identify", UR5, "log.csv", "--loss", ""], [*LOSSES]),
    (["identify", UR5, "log.csv", "--payload", "link6"], ["link6"]),
    (["identify", UR5, "log.csv", "--sensor", "wrench:joint6"], ["wrench:joint6"]),
    (["dump", UR5, "--quantity", "inverse_dynamics_d"], ["inverse_dynamics_derivatives"]),
    (["inspect", UR5, "--symbolic", "masses,l"], ["masses,lengths"]),
    (["docs", "quan"], ["quantities"]),
    (["generate", "no-such-file", "--tip", ""], []),
    (["generate", "--tip", ""], []),
    (["generate", "a" * 300, "--tip", ""], []),
]


@pytest.mark.parametrize(("words", "wanted"), CASES, ids=lambda x: " ".join(x[-2:]) if x else "")
def test_a_value_is_completed(words, wanted, monkeypatch):
    monkeypatch.chdir(ROOT)
    found = completed(*words)
    if wanted is not None:
        assert found == wanted
    else:
        assert len(found) > 1 and all(x.startswith(words[-1]) for x in found)


def test_quantities_are_all_there_and_those_of_links_go_on_with_these():
    found = completed("generate", UR5, "--quantity", "")
    assert found == ["all", *QUANTITIES, *(f"{name}:" for name in LINK_QUANTITIES)]
    link = next(iter(LINK_QUANTITIES))
    for typed in (f"{link}:", f"a=bias+{link}:"):
        links = completed("generate", UR5, "--quantity", typed)
        assert f"{typed}link6" in links and f"{typed}flange" in links


def test_every_option_that_takes_links_or_joints_has_them():
    """A row whose metavar is LINK or JOINT, so that none is forgotten."""
    context = main.make_context("symgen", [], resilient_parsing=True)
    for name in COMMANDS:
        for param in main.get_command(context, name).params:
            if (param.metavar or "").startswith(("LINK", "JOINT")):
                robot = ["x.csv", "--robot", UR5] if name == "log" else [UR5]
                found = completed(name, *robot, param.opts[-1], "")
                assert any("link" in x or "joint" in x for x in found), (name, param.opts)


def test_a_job_file_is_followed(tmp_path):
    job = tmp_path / "x.toml"
    job.write_text(f'file = "{UR5}"\n')
    assert completed("generate", str(job), "--tip", "link3") == ["link3"]


def test_a_name_that_a_shell_would_carry_out_is_not_offered(tmp_path):
    text = (ROOT / "robots" / "pendulum.urdf").read_text()
    link = text.split('<link name="')[-1].split('"')[0]
    for name in ("$HOME", "a;b", "a b", "`c`", "-&gt;d"):
        file = tmp_path / "x.urdf"
        file.write_text(text.replace(f'"{link}"', f'"{name}"'))
        found = completed("check", str(file), "--tip", "")
        assert found and name not in found and all(set(x).isdisjoint("$;` >()") for x in found)


def test_files_are_the_shell_s_matter():
    found = ShellComplete(main, {}, "symgen", "_X").get_completions(["generate"], "rob")
    assert [item.type for item in found] == ["file"]
    found = ShellComplete(main, {}, "symgen", "_X").get_completions(["generate", UR5, "-o"], "")
    assert [item.type for item in found] == ["dir"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_asks_the_program(tmp_path):
    words = f"symgen generate {UR5} --tip link3"
    asked = {"_SYMGEN_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": "4"}
    program = "from symgen.cli.main import main; main(prog_name='symgen')"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | asked | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "plain,link3\n" and not done.stderr
