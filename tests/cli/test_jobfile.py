"""Job files: the same bytes as the command line, overridden by it, refused in one sentence, written
by init."""

import dataclasses
import json
import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools import ROOT, invoke, robot_file, run, snapshot

from symgen.errors import RobotError
from symgen.jobs.job import Job
from symgen.jobs.jobfile import quoted, read, written
from symgen.jobs.options import JOB
from symgen.reading.actuators import Actuator

PENDULUM, PANDA = robot_file("pendulum"), robot_file("panda")


def job(tmp_path, text, file=PENDULUM, name="job.toml"):
    path = tmp_path / name
    path.write_text(f"file = {quoted(file)}\n{text}", encoding="utf-8")
    return path


def refusal(*arguments):
    done = invoke(*arguments)
    assert done.exit_code == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done.output
    return done.stderr[:-1]


# -- the same as the command line ------------------------------------------------------------------

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
        'quantities = ["bias", "terms=gravity+mass_matrix"]\nexternal_wrench = ["tip", "lower"]\n'
        'formulations = { bias = "newton_euler/minimal" }',
        [
            "--quantity",
            "bias",
            "--quantity",
            "terms=gravity+mass_matrix",
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


# -- refusals --------------------------------------------------------------------------------------

REFUSED = [
    ("snap_angle = 1", 3, "snap_angle: no key is called 'snap_angle'; near names: 'snap_angles'"),
    ('\n"\\u0007zz" = 1', 4, "\\x07zz: no key is called '\\x07zz'; there are 'file', 'out'"),
    ("[prefix]\nx = 1", 3, "prefix: is a table in place of a text; write it like"),
    ("chunk = 2.5", 3, "chunk: is a number (2.5) in place of a whole number; write it like 0"),
    ("chunk = true", 3, "chunk: is a boolean (True) in place of a whole number"),
    ("snap_angles = '1'", 3, "snap_angles: is a text (1) in place of a number"),
    ("gravity = [\n  0,\n  'x', 1]", 3, "gravity: holds something else than three numbers"),
    ("gravity = 9.81", 3, 'gravity: is a number (9.81) in place of three numbers or "runtime"'),
    ("quantities = 'bias'", 3, "quantities: is a text (bias) in place of a list of texts"),
    (
        "lock = ['elbow=1']",
        3,
        "lock: is a list in place of a table of joints and values; write it like {",
    ),
    ("lock = { elbow = [1] }", 3, "lock: holds something else than a table of joints"),
    (
        "external_wrench = ['a,b']",
        3,
        "external_wrench: holds something else than a list of names without commas",
    ),
    ("file = 'x'", 3, "TOML: not well-formed"),
    ("chunk = ", 3, "TOML: not well-formed"),
    # values of the right type that are refused as on the command line
    ("gravity = [0, 0]", 3, "error: --gravity '0,0': give three numbers"),
    ("\nroot = 'x'", 4, "error: --root 'x': the robot has no such link"),
    ("chunk = 0", 3, "error: --chunk 0: give a number of statements"),
    ("friction_width = 1" + "0" * 400, 3, "error: --friction-width inf: give a rate"),
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
    assert "Missing option '-o'" in invoke("generate", path).stderr
    assert "has no out; add out" in refusal("verify", path)
    path = job(tmp_path, "out = 'x'", "gone.urdf")
    assert refusal("generate", path).startswith(
        f"{tmp_path / 'gone.urdf'}:1: error: file: cannot be read"
    )


# -- init ------------------------------------------------------------------------------------------


def test_every_field_of_a_job_has_its_key():
    keys = {option.name for option in JOB} | {"file"}
    assert Job.of("").choices.flat().keys() == keys - {"file", "out", "languages"}


def section(heading):
    """The keys that a section of docs/formats.md lists."""
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    own = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.partition(":")[0] for line in own.splitlines() if line.startswith("- ")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_every_key_is_documented():
    assert section("Job files") == {option.name for option in JOB} | {"file"}
    assert section("Files of actuators") == {field.name for field in dataclasses.fields(Actuator)}


def uncommented(text):
    """The file with its examples switched on."""
    lines = (
        line[2:]
        if line.startswith("# ") and " = " in line and line.split()[1].isidentifier()
        else line
        for line in text.splitlines()
    )
    return tomllib.loads("\n".join(lines))


def test_init_writes_every_option_and_it_loads_and_generates(tmp_path):
    path = tmp_path / "sub" / "arm.toml"
    path.parent.mkdir()
    done = invoke("init", PENDULUM, "-o", path)
    assert done.exit_code == 0 and done.stdout == f"wrote {path}\n", done.output
    text = path.read_text(encoding="utf-8")
    assert set(uncommented(text)) == {"file", *(option.name for option in JOB)}
    assert all((option.help or "").split()[-2] in text for option in JOB)
    assert invoke("generate", path).exit_code == 0
    assert invoke("generate", PENDULUM, "-o", tmp_path / "plain").exit_code == 0
    assert snapshot(path.parent / "build" / "pendulum") == snapshot(tmp_path / "plain")


def test_the_examples_of_init_are_of_the_right_type(tmp_path):
    (tmp_path / "all.toml").write_text(
        "\n".join(
            line.removeprefix("# ")
            if line.split()[1:2] and line.split()[1].isidentifier() and " = " in line
            else line
            for line in written("x", "r.urdf", {"out": '"x"'}).splitlines()
        ),
        encoding="utf-8",
    )
    assert {"lock", "prefix", "formulations"} <= set(read(tmp_path / "all.toml").values)


def test_init_never_overwrites_and_refuses_what_is_no_robot(tmp_path):
    for name in ("a.toml", "b.toml"):
        (tmp_path / name).write_text("mine")
    (tmp_path / "r.urdf").write_text("<robot/>")
    assert refusal("init", PENDULUM, "-o", tmp_path / "a.toml").endswith(
        "a.toml' exists; give another name with -o, or move it away"
    )
    assert refusal("init", tmp_path / "r.urdf", "-o", tmp_path / "c.toml").startswith(
        f"{tmp_path / 'r.urdf'}:1:"
    )
    assert "ends in .toml" in refusal("init", PENDULUM, "-o", tmp_path / "c.urdf")
    assert "cannot write" in refusal("init", PENDULUM, "-o", tmp_path / "no" / "c.toml")
    assert set(snapshot(tmp_path)) == {"a.toml", "b.toml", "r.urdf"}
    assert (tmp_path / "a.toml").read_text() == "mine"


def test_init_without_a_name_writes_beside_the_user(tmp_path):
    done = run("init", PENDULUM, cwd=tmp_path)
    assert done.returncode == 0 and set(snapshot(tmp_path)) == {"pendulum.toml"}, done.stderr


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_survives_being_quoted(text):
    assert tomllib.loads(f"x = {quoted(text)}") == {"x": text}


def test_names_that_are_no_text(tmp_path):
    with pytest.raises(RobotError, match="cannot be read"):
        read(tmp_path / "\x00.toml")
