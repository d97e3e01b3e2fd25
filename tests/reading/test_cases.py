"""The public cases through the whole compiler: the right values in C and Python, the right refusals
on the shell."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from symgen.jobs.api import generate
from symgen.languages.c.checks import build
from symgen.native.compiler import EXACT
from tests.support.tools import CASES, ROOT, generated, imported, invoke, robot_file, snapshot

VALUES = [name for name, case in CASES.items() if case["expect"] == "values"]
ERRORS = [
    name for name, case in CASES.items() if case["expect"] == "error" and name != "planar_joint"
]
"""The planar joint, which a case allows to refuse, is supported."""

VECTORS = {"inverse_dynamics": "tau", "gravity": "gravity", "bias": "nle"}
INPUTS = {"inverse_dynamics": "qva", "gravity": "q", "bias": "qv", "mass_matrix": "q"}
QUANTITIES = (*VECTORS, "mass_matrix")


def functions(name, **options):
    """The case's quantities in both languages: compiled C, imported Python."""
    module, folder = generated(name, quantities=QUANTITIES, **options)
    python = imported(folder / f"{module.name}.py")
    compiled = build(module, folder, (*EXACT, "-O0"))
    return {"c": compiled, "python": python}, module.robot.model.joint_names


def by_name(names, values):
    return np.array([values[name] for name in names])


def called(code, quantity, names, sample):
    return getattr(code, quantity)(*(by_name(names, sample[key]) for key in INPUTS[quantity]))


def vector_error(got, wanted, tau):
    return np.max(np.abs(got - wanted)) / max(np.max(np.abs(wanted)), 1e-3 * np.max(np.abs(tau)))


def matrix_error(got, wanted):
    return np.max(np.abs(got - wanted) / np.max(np.abs(wanted), axis=1, keepdims=True))


def test_the_cases_are_here():
    assert len(VALUES) == 20 and len(ERRORS) == 8  # and planar_joint


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    codes, names = functions(name)
    assert list(names) == CASES[name]["joint_order"]
    for language, code in codes.items():
        for sample in CASES[name]["samples"]:
            tau = by_name(names, sample["tau"])
            for quantity, key in VECTORS.items():
                got = called(code, quantity, names, sample)
                assert vector_error(got, by_name(names, sample[key]), tau) <= 1e-9, (
                    language,
                    sample["name"],
                    key,
                )
            mass = np.array([by_name(names, sample["M"][row]) for row in names])
            assert matrix_error(called(code, "mass_matrix", names, sample), mass) <= 1e-9, (
                language,
                sample["name"],
            )


@pytest.mark.parametrize("name", ["arm7_general", "tiny_arm", "branch_order", "fixed_mid_rotated"])
def test_values_in_float(name):
    codes, names = functions(name, scalar="float")
    for sample in CASES[name]["samples"]:
        wanted = by_name(names, sample["tau"])
        assert (
            vector_error(called(codes["c"], "inverse_dynamics", names, sample), wanted, wanted)
            <= 1e-4
        )


def test_angles_are_snapped_on_request():
    case = CASES["right_angles_short"]
    codes, names = functions("right_angles_short", snap_angles=1e-5)
    changes = case["if_angles_were_snapped"]["max_abs_change_of_tau_per_sample"]
    for sample, change in zip(case["samples"], changes, strict=True):
        got = called(codes["c"], "inverse_dynamics", names, sample)
        assert np.max(np.abs(got - by_name(names, sample["tau"]))) == pytest.approx(
            change, rel=1e-6
        )


def test_each_snapped_angle_is_reported(tmp_path):
    file = robot_file("right_angles_short")
    _, plain, _ = generate(file, tmp_path / "a", quantities=("gravity",))
    _, snapped, _ = generate(file, tmp_path / "b", quantities=("gravity",), snap_angles=1e-5)
    assert not [n for n in plain.notices if "made exact" in n.message or "snapped" in n.message]
    said = "\n".join(map(str, snapped.notices))
    for angle in ("1.5708", "1.5707963", "3.14159"):
        assert re.search(rf"(?<![\d.]){re.escape(angle)}(?!\d)", said), said


@pytest.mark.parametrize("name", ["transmission_reduction", "axis_scaled"])
def test_notes_are_one_line_each(name, tmp_path):
    done = invoke("generate", robot_file(name), "-o", tmp_path / "out", "--lang", "python")
    assert done.exit_code == 0 and done.stderr
    for line in done.stderr.splitlines():
        assert re.match(rf"{re.escape(robot_file(name))}:\d+: (note|warning): \S+.*: \S", line), (
            line
        )


# -- refusals --------------------------------------------------------------------------------------

MEASURED = """
import json, os, sys, time
import symgen.cli.code_commands, symgen.reading.urdf
from symgen.cli.main import main
loaded = time.process_time()
for line in sys.stdin:
    arguments, *files = json.loads(line)
    child = os.fork()
    if not child:
        for number, file in enumerate(files, 1):
            os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), number)
        main(arguments)
    _, status, used = os.wait4(child, 0)
    seconds = loaded + used.ru_utime + used.ru_stime
    print(json.dumps([os.waitstatus_to_exitcode(status), seconds, used.ru_maxrss / 1024]), flush=True)
"""
"""Runs commands in copies of a process that has loaded the program: their exit status, processor
seconds, with those of loading it, and peak memory in MiB."""


@pytest.fixture(scope="module")
def measured():
    with subprocess.Popen(
        [sys.executable, "-c", MEASURED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:

        def ask(folder, *arguments):
            files = [folder / name for name in ("stdout", "stderr")]
            process.stdin.write(json.dumps([arguments, *files], default=str) + "\n")
            process.stdin.flush()
            figures = json.loads(process.stdout.readline())
            return *figures, *(file.read_text() for file in files)

        yield ask
        process.stdin.close()


@pytest.fixture
def earlier(tmp_path):
    """A folder of an earlier run with a file of the user's beside."""
    folder = tmp_path / "out"
    generate(robot_file("pendulum"), folder)
    (folder / "mine.txt").write_text("mine")
    return folder


def check_refusal(name: str, stdout: str, stderr: str) -> None:
    wanted = CASES[name]["error"]
    match = re.fullmatch(
        rf"{re.escape(robot_file(name))}:(\d+): error: (\S[^:]*|<\S+>): (\S.*)\n", stderr
    )
    assert match, stderr
    assert int(match[1]) in wanted["lines_accepted"]
    for options in wanted["must_mention"]:
        assert any(option in stderr for option in options.split("|")), stderr
    assert stdout == ""
    for word in wanted["never_print"]:
        assert word not in stderr


@pytest.mark.parametrize("name", ERRORS)
def test_refusal(name, tmp_path, tmp_path_factory, earlier, measured):
    before, said = snapshot(tmp_path), tmp_path_factory.mktemp("said")
    status, seconds, mib, *printed = measured(said, "generate", robot_file(name), "-o", earlier)
    assert status == 2
    check_refusal(name, *printed)
    limits = CASES[name]["error"]
    assert seconds < (2 if name == "entity_bomb" else limits["max_seconds"])
    assert 10 < mib < (200 if name == "entity_bomb" else limits["max_rss_mib"])
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("name", ERRORS)
def test_refusal_leaves_no_new_folder(name, tmp_path):
    done = invoke("generate", robot_file(name), "-o", tmp_path / "deep" / "out")
    assert done.exit_code == 2 and done.stderr.count("\n") == 1
    assert snapshot(tmp_path) == {}


def test_a_planar_joint_has_three_coordinates_in_the_plane():
    """A puck of 0.4 kg, its centre on the axis: it slides freely, level and turning."""
    codes, names = functions("planar_joint")
    assert names == ("glide.x", "glide.y", "glide.theta")
    q, qd, qdd = np.array([0.3, -0.2, 0.5]), np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 2.0])
    for code in codes.values():
        assert code.inverse_dynamics(q, qd, qdd) == pytest.approx([0.2, -0.4, 0.0016], abs=1e-15)
        assert code.mass_matrix(q) == pytest.approx(np.diag([0.4, 0.4, 0.0008]), abs=1e-15)


MORE = {"coriolis_matrix": "qv", "inverse_dynamics_derivatives": "qva", "forward_dynamics": "qv"}


def test_a_mimicking_joint_in_all_that_is_listed():
    """C, derivatives and accelerations of the gripper, with one coordinate for both jaws."""
    module, folder = generated("mimic_gripper", quantities=tuple(MORE))
    names = module.robot.model.joint_names
    for code in (build(module, folder), imported(folder / f"{module.name}.py")):
        for sample in CASES["mimic_gripper"]["samples"]:
            call = {
                quantity: [by_name(names, sample[key]) for key in keys]
                for quantity, keys in MORE.items()
            }
            least = 1e-3 * np.max(np.abs(by_name(names, sample["tau"])))
            found = code.coriolis_matrix(*call["coriolis_matrix"]), *derivatives(code, call)
            for got, key in zip(found, ("C_christoffel", "dtau_dq", "dtau_dv"), strict=True):
                wanted = np.array([by_name(names, sample[key][row]) for row in names])
                scale = np.maximum(np.max(np.abs(wanted), axis=1, keepdims=True), least)
                assert np.max(np.abs(np.asarray(got) - wanted) / scale) <= 1e-9, (
                    sample["name"],
                    key,
                )
            qdd = code.forward_dynamics(*call["forward_dynamics"], by_name(names, sample["tau"]))
            assert qdd == pytest.approx(by_name(names, sample["a"]), rel=1e-9, abs=1e-9)


def derivatives(code, call):
    return list(code.inverse_dynamics_derivatives(*call["inverse_dynamics_derivatives"]))[:2]


def test_paths_are_said_as_given(monkeypatch):
    monkeypatch.chdir(ROOT / "tests")
    done = invoke("check", Path("cases") / "two_roots.urdf")
    assert done.stderr.startswith("cases/two_roots.urdf:2: error: <robot>: ")
