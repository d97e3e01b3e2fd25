"""Job files: the same bytes as the command line, overridden by it, refused in one sentence."""

import json
from pathlib import Path

import pytest

from symgen.jobs.jobfile import quoted, read
from tests.support.jobfiles import PANDA, PENDULUM, refusal
from tests.support.tools import ROOT, invoke, snapshot


def job(tmp_path, text, file=PENDULUM, name="job.toml"):
    path = tmp_path / name
    path.write_text(f"file = {quoted(file)}\n{text}", encoding="utf-8")
    return path


DRIVES = (
    "[joints.shoulder]\ngear_ratio = 50\nrotor_inertia = 1e-5\nviscous = 0.1\ncoulomb = "
    "0.2\noffset = 0.3\n"
)


SAME = [
    (PENDULUM, "", []),
    (
        PENDULUM,
        'parameters = "runtime:tip"\ngravity = "runtime"\nscalar = "float"\nlanguages = ["c"]',
        ["--parameters", "runtime:tip", "--gravity", "runtime", "--scalar", "float", "--lang", "c"],
    ),
    (
        PENDULUM,
        'gravity = [1, -2.5, 1e-3]\nsnap_angles = 0\nchunk = 10\nprefix = "arm"\nroot = '
        '"upper"\ntip = "lower"',
        [
            "--gravity",
            "1,-2.5,1e-3",
            "--snap-angles",
            "0",
            "--chunk",
            "10",
            "--prefix",
            "arm",
            "--root",
            "upper",
            "--tip",
            "lower",
        ],
    ),
    (
        PENDULUM,
        'quantities = ["bias", "terms=inverse_dynamics+mass_matrix"]\n'
        'external_wrench = ["tip", "lower"]\n'
        'formulations = { bias = "newton_euler/minimal" }',
        [
            "--quantity",
            "bias",
            "--quantity",
            "terms=inverse_dynamics+mass_matrix",
            "--external-wrench",
            "tip,lower",
            "--formulation",
            "bias=newton_euler/minimal",
        ],
    ),
    (
        PENDULUM,
        'actuators = "drives.toml"\nrotors = "reflected"\nfriction = "viscous,coulomb,offset"\n'
        'friction_width = 0.01\nquantities = ["inverse_dynamics_derivatives"]',
        [
            "--actuators",
            "drives.toml",
            "--rotors",
            "reflected",
            "--friction",
            "viscous,coulomb,offset",
            "--friction-width",
            "0.01",
            "--quantity",
            "inverse_dynamics_derivatives",
        ],
    ),
    (
        PANDA,
        'quantities = ["gravity"]\n[lock]\nleft_finger_joint = 0.02\nright_finger_joint = 1',
        [
            "--quantity",
            "gravity",
            "--lock",
            "left_finger_joint=0.02",
            "--lock",
            "right_finger_joint=1",
        ],
    ),
]


@pytest.mark.parametrize(("file", "text", "options"), SAME)
def test_the_same_bytes_as_the_command_line_and_from_any_folder(
    file, text, options, tmp_path, monkeypatch
):
    (tmp_path / "jobs").mkdir()
    for folder in (tmp_path, tmp_path / "jobs"):
        (folder / "drives.toml").write_text(DRIVES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    path = job(tmp_path / "jobs", f'out = "made"\n{text}', file)
    assert invoke("generate", file, "-o", "plain", *options).exit_code == 0
    done = invoke("generate", path)
    assert done.exit_code == 0, done.output
    assert snapshot(tmp_path / "jobs" / "made") == snapshot(tmp_path / "plain")


def test_options_of_the_command_line_come_first(tmp_path):
    path = job(tmp_path, 'out = "x"\nscalar = "float"\nquantities = ["bias"]\ngravity = "runtime"')
    assert (
        invoke(
            "generate", path, "--scalar", "double", "--gravity", "0,0,-1", "-o", tmp_path / "y"
        ).exit_code
        == 0
    )
    assert not (tmp_path / "x").exists()
    said = json.loads((tmp_path / "y" / "manifest.json").read_text())["options"]
    assert (said["scalar"], said["gravity"], said["quantities"]) == ("double", [0, 0, -1], ["bias"])


def test_every_command_that_takes_a_robot_takes_a_job(tmp_path):
    path = job(
        tmp_path, 'out = "made"\nroot = "upper"\nquantities = ["gravity"]\nparameters = "runtime"'
    )
    assert invoke("generate", path).exit_code == invoke("verify", path).exit_code == 0
    counts = json.loads(invoke("ops", path, "--json").stdout)
    assert (counts["dof"], list(counts["quantities"])) == (1, ["gravity"])
    for command in (
        ["inspect", path, "--json"],
        ["dump", path, "--quantity", "bias"],
        ["check", path],
    ):
        plain = [command[0], PENDULUM, *command[2:], "--root", "upper"]
        plain += ["--parameters", "runtime"] if command[0] == "dump" else []
        assert invoke(*command).stdout == invoke(*plain).stdout != "", command


def test_the_sample_is_what_its_job_file_writes(tmp_path):
    path = ROOT / "robots" / "ur5.toml"
    out = Path(read(path).values["out"])
    assert out.resolve() == ROOT / "generated" / "ur5"
    assert invoke("generate", path, "-o", tmp_path / "ur5").exit_code == 0
    assert snapshot(tmp_path / "ur5") == snapshot(out)


def test_a_leading_tilde_is_the_home_folder(tmp_path, monkeypatch):
    home = tmp_path / "home"
    robot = home / "robots" / "pendulum.urdf"
    robot.parent.mkdir(parents=True)
    robot.write_bytes(Path(PENDULUM).read_bytes())
    monkeypatch.setenv("HOME", str(home))
    path = job(tmp_path, 'out = "~/made"\nquantities = ["gravity"]', "~/robots/pendulum.urdf")
    assert invoke("generate", path).exit_code == 0
    assert (home / "made" / "pendulum.h").is_file() and not (tmp_path / "~").exists()
    paths = read(job(tmp_path, 'package_paths = ["~", "./~", "x"]')).values["package_paths"]
    assert paths == [str(home), str(tmp_path / "~"), str(tmp_path / "x")]


REFUSED = [
    (
        "actuators = '~nobody_here/x'",
        3,
        "actuators: the home folder of ~nobody_here is not known",
    ),
    ("snap_angle = 1", 3, "snap_angle: no key is called 'snap_angle'; near names: 'snap_angles'"),
    ('\n"\\u0007zz" = 1', 4, "\\x07zz: no key is called '\\x07zz'; there are 'file', 'out'"),
    ("[prefix]\nx = 1", 3, "prefix: expected a text, but found a table; write it as in"),
    (
        "chunk = 2.5",
        3,
        "chunk: expected a whole number, but found a number (2.5); write it as in 0",
    ),
    ("chunk = true", 3, "chunk: expected a whole number, but found a boolean (True)"),
    ("snap_angles = '1'", 3, "snap_angles: expected a number, but found a text (1)"),
    ("gravity = [\n  0,\n  'x', 1]", 3, "gravity: expected three numbers"),
    (
        "gravity = 9.81",
        3,
        'gravity: expected three numbers or "runtime", but found a number (9.81)',
    ),
    ("quantities = 'bias'", 3, "quantities: expected a list of texts, but found a text (bias)"),
    (
        "lock = ['elbow=1']",
        3,
        "lock: expected a table of joints and values, but found a list; write it as in {",
    ),
    (
        "lock = { elbow = [1] }",
        3,
        "lock: expected a table of joints and values, but it has other entries",
    ),
    (
        "external_wrench = ['a,b']",
        3,
        "external_wrench: expected a list of names without commas, but it has other entries",
    ),
    ("file = 'x'", 3, "TOML: not well-formed"),
    ("chunk = ", 3, "TOML: not well-formed"),
    # values of the right type that are refused as on the command line
    ("gravity = [0, 0]", 3, "error: --gravity '0,0': give three numbers"),
    ("\nroot = 'x'", 4, "error: --root 'x': the robot has no such link"),
    ("chunk = 0", 3, "error: --chunk 0: give a number of statements"),
    ("friction_width = 1" + "0" * 400, 3, "error: --friction-width inf: give a velocity"),
    ("scalar = 'half'", 3, "error: --scalar 'half': use one of double, float"),
    ("lock = { elbow = 'x' }", 3, "error: --lock 'elbow=x': give JOINT=VALUE"),
]


@pytest.mark.parametrize(("text", "line", "said"), REFUSED)
def test_refused_in_one_line_with_the_place(text, line, said, tmp_path):
    path = job(tmp_path, 'out = "made"\n' + text)
    found = refusal("generate", path)
    assert found.startswith(f"{path}:{line}: error: {said.removeprefix('error: ')}"), found
    assert set(snapshot(tmp_path)) == {"job.toml"}


def test_an_option_of_the_command_line_is_not_blamed_on_the_job(tmp_path):
    path = job(tmp_path, 'out = "made"\nroot = "upper"')
    assert refusal("generate", path, "--root", "x").startswith("error: --root 'x'")


def test_what_is_missing(tmp_path):
    (tmp_path / "a.toml").write_text("chunk = 1\n")
    assert refusal("ops", tmp_path / "a.toml") == (
        f'{tmp_path / "a.toml"}:1: error: file: has no file; add file = "..."'
    )
    assert "cannot be read" in refusal("generate", tmp_path / "b.toml")
    path = job(tmp_path, "")
    assert "missing option '-o'" in invoke("generate", path).stderr
    assert "has no out; add out" in refusal("verify", path)
    path = job(tmp_path, "out = 'x'", "gone.urdf")
    assert refusal("generate", path).startswith(f"{tmp_path / 'gone.urdf'}: error: cannot be read")
