"""The command line and the Python interface: every option, every refusal in one sentence, proofs
that can fail."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from tools import ROOT, generated, imported, invoke, robot_file, run, snapshot

import symgen
from symgen.algorithms import QUANTITIES
from symgen.api import trace
from symgen.cli.main import COMMANDS, main
from symgen.compiler.aims import SLACK
from symgen.errors import OptionError, RobotError, SymgenError
from symgen.languages import LANGUAGES
from symgen.text import hint
from symgen.tracing.options import CORE

PENDULUM = robot_file("pendulum")


def refusal(*arguments):
    """What the command line says, in one line, when it refuses."""
    done = invoke(*arguments)
    assert done.exit_code == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done.output
    return done.stderr[:-1]


# -- help ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_mentions_every_option_with_words(name, flag):
    done = invoke(name, flag)
    assert done.exit_code == 0 and done.stderr == ""
    for parameter in main.get_command(click.Context(main), name).params:
        spelling = parameter.opts[-1] if isinstance(parameter, click.Option) else parameter.metavar
        assert spelling in done.stdout
        assert not isinstance(parameter, click.Option) or (parameter.help or "").endswith("."), (
            spelling
        )


def test_group_help_and_version():
    done = invoke("--help")
    assert all(name in done.stdout for name in main.commands)
    assert invoke("--version").stdout == f"symgen, version {symgen.__version__}\n"


def test_the_examples_of_the_help_work(tmp_path):
    said = re.sub(r" \\\n +", " ", invoke("generate", "-h").stdout)
    for line in re.findall(r"^  symgen generate (\S+ -o \S+ .*)$", said, re.MULTILINE):
        robot, _, out, *options = line.split()
        assert invoke("generate", robot, "-o", tmp_path / out, *options).exit_code == 0, line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["bogus"], "No such command 'bogus'"),
        (["generate", PENDULUM], "Missing option '-o' / '--out'"),
        (["generate", PENDULUM, "-o", "x", "--bogus"], "No such option '--bogus'"),
        (["generate", PENDULUM, PENDULUM, "-o", "x"], "unexpected extra argument"),
        (["generate", "-o", "x"], "Missing argument 'FILE'"),
        (["generate", PENDULUM, "-o", "x", "--snap-angles", "x"], "'x' is not a valid float"),
        (["verify"], "Missing argument 'DIR'"),
        (["dump", PENDULUM], "Missing option '--quantity'"),
    ],
)
def test_misuse(arguments, said):
    done = invoke(*arguments)
    assert done.exit_code == 2 and done.stdout == "" and said in done.stderr.splitlines()[-1]


# -- bad values ------------------------------------------------------------------------------------

LINKS = "'base', 'upper', 'lower' and 'tip'"
IDENTIFIER = "is not usable; take a lower-case identifier that no language reserves"
KINDS = "use constant, runtime or runtime:LINK[,LINK...]"
ANGLE = "give an angle from 0 to 0.1 rad"
VECTOR = "give three numbers X,Y,Z (m/s^2) or runtime"
PAIR = "give JOINT=VALUE (rad or m), as in finger_joint1=0.02"

BAD = [
    (["--root", "x"], f"--root 'x': the robot has no such link; there are {LINKS}"),
    (["--root", "Upper"], "--root 'Upper': the robot has no such link; near names: 'upper'"),
    (
        ["--root", "tip"],
        f"{PENDULUM}:14: error: <robot>: has no moving joint left after --root, --tip and --lock; "
        "dynamics need a revolute, continuous or prismatic joint, or a base that "
        "moves: --base floating",
    ),
    (["--tip", ""], f"--tip '': the robot has no such link; there are {LINKS}"),
    (
        ["--root", "lower", "--tip", "upper"],
        "--tip 'upper': the link is not carried by the root 'lower'; give a link "
        "further out, or a --root nearer to the base",
    ),
    (["--lock", "elbow"], f"--lock 'elbow': {PAIR}"),
    (["--lock", "elbow="], f"--lock 'elbow=': {PAIR}"),
    (["--lock", "elbow=nan"], f"--lock 'elbow=nan': {PAIR}"),
    (["--lock", "elbow=1,2"], f"--lock 'elbow=1,2': {PAIR}"),
    (
        ["--lock", "=1"],
        "--lock '': the robot has no such joint; there are 'shoulder', 'elbow' and 'tip_joint'",
    ),
    (["--lock", "elbow=1", "--lock", "elbow=2"], "--lock 'elbow': given twice; keep one value"),
    (
        ["--lock", "tip_joint=1"],
        "--lock 'tip_joint': a fixed joint cannot be held at one value; remove the option",
    ),
    (["--gravity", "1,2"], f"--gravity '1,2': {VECTOR}"),
    (["--gravity", "0 0 -9.81"], f"--gravity '0 0 -9.81': {VECTOR}"),
    (["--gravity", "0,0,inf"], f"--gravity '0,0,inf': {VECTOR}"),
    (["--gravity", ""], f"--gravity '': {VECTOR}"),
    (["--snap-angles", "-1"], f"--snap-angles -1: {ANGLE}"),
    (["--snap-angles", "nan"], f"--snap-angles nan: {ANGLE}"),
    (["--snap-angles", "1"], f"--snap-angles 1: {ANGLE}"),
]
BAD_TRACE = [
    (["--parameters", "variable"], f"--parameters 'variable': {KINDS}"),
    (["--parameters", "runtime:"], f"--parameters 'runtime:': {KINDS}"),
    (["--parameters", "constant:tip"], f"--parameters 'constant:tip': {KINDS}"),
    (
        ["--parameters", "runtime:zz"],
        "--parameters: no link is called 'zz'; there are 'upper', 'lower' and 'tip'",
    ),
    (
        ["--parameters", "runtime:base"],
        "--parameters: link 'base' does not move, so no term depends on it",
    ),
    (["--quantity", "zzz"], "no quantity is called 'zzz'; symgen list shows them all"),
    (["--quantity", ""], "no quantity is called ''; symgen list shows them all"),
    (["--quantity", "t=bias+"], "no quantity is called ''; symgen list shows them all"),
    (
        ["--quantity", "bias+gravity"],
        "'bias+gravity' needs a name for the function, as in terms=bias+gravity",
    ),
    (["--quantity", "t=bias+bias"], "'t=bias+bias' names a quantity twice"),
]
BAD_FORMULATION = [
    (
        ["--formulation", "bias"],
        "--formulation 'bias': give QUANTITY=NAME, as in mass_matrix=composite/minimal",
    ),
    (["--formulation", "x=y"], "no quantity is called 'x'; symgen list shows them all"),
    (
        ["--formulation", "bias=fast"],
        "bias has no formulation 'fast'; there are "
        + ", ".join(way.name for way in QUANTITIES["bias"].formulations),
    ),
]
BAD_NAMES = [
    (
        ["--quantity", "bias", "--quantity", "bias"],
        "two functions would be called 'bias'; name one of them otherwise",
    ),
    *[
        (["--quantity", f"{name}=bias"], f"the name of a function: {name!r} {IDENTIFIER}")
        for name in (
            "T",
            "a b",
            "1a",
            "int",
            "lambda",
            "sin",
            "np",
            "selftest",
            "regroup",
            "a" * 65,
            "é",
        )
    ],
]
BAD_WRITE = [
    (
        ["--lang", "fortran"],
        f"no language is called 'fortran'; {hint('fortran', LANGUAGES)}",
    ),
    (["--scalar", "half"], "--scalar 'half': use one of double, float"),
    (["--chunk", "0"], "--chunk 0: give a number of statements, such as 100"),
    *[
        (["--prefix", name], f"--prefix: {name!r} {IDENTIFIER}")
        for name in (
            "",
            "Arm",
            "../x",
            "a-b",
            "double",
            "import",
            "math",
            "test",
            "sys",
            "_a",
            "a" * 65,
            "a\n",
        )
    ],
]


@pytest.mark.parametrize(
    ("options", "said"), [*BAD, *BAD_TRACE, *BAD_FORMULATION, *BAD_NAMES, *BAD_WRITE]
)
def test_bad_values_of_generate(options, said, tmp_path):
    found = refusal("generate", PENDULUM, "-o", tmp_path / "out", *options)
    assert found == (said if said.startswith("/") else f"error: {said}")
    assert snapshot(tmp_path) == {}


@pytest.mark.parametrize("command", ["check", "ops", "dump"])
def test_bad_values_are_the_same_everywhere(command):
    more = {"check": [], "ops": [], "dump": ["--quantity", "bias"]}[command]
    for options, said in [*BAD, *(BAD_TRACE[:5] if command != "check" else [])]:
        found = refusal(command, PENDULUM, *more, *options)
        assert found == (said if said.startswith("/") else f"error: {said}")


def test_empty_out_is_not_this_folder():
    assert (
        refusal("generate", PENDULUM, "-o", "") == "error: --out '': give a folder, . for this one"
    )


def test_missing_robot(tmp_path):
    said = "1: error: file: cannot be read (No such file or directory); give the path of a robot's file"
    assert refusal("check", tmp_path / "none.urdf") == f"{tmp_path}/none.urdf:{said}"


# -- what goes where -------------------------------------------------------------------------------


def test_the_name_table_and_the_notes_when_piped():
    done = run("check", robot_file("axis_scaled"))
    assert done.returncode == 0 and "\x1b" not in done.stdout + done.stderr
    assert (
        all(re.match(r".+:\d+: (note|warning): ", line) for line in done.stderr.splitlines())
        and done.stderr
    )
    for name in generated("axis_scaled")[0].robot.model.joint_names:
        assert re.search(rf"^ \d+ +{name} ", done.stdout, re.MULTILINE)


def test_silence_on_stderr_where_there_is_nothing_to_say(tmp_path):
    done = run("generate", PENDULUM, "-o", tmp_path / "out", "--quantity", "gravity")
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.endswith(
        f"files in {tmp_path}/out; prove them: symgen verify {tmp_path}/out\n"
    )


def test_any_name_prints_in_any_locale(tmp_path):
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for command, said in (("generate", "\\xe9cole"), ("check", "\\u624b"), ("dump", "\u624b")):
        gravity = ("--quantity", "gravity")
        more = {"generate": ("-o", tmp_path / "out", *gravity), "check": (), "dump": gravity}[
            command
        ]
        done = run(command, robot_file("utf8_names"), *more, env=plain)
        assert done.returncode == 0 and done.stderr == "" and said in done.stdout


# -- JSON ------------------------------------------------------------------------------------------

COUNT_KEYS = {"add", "mul", "div", "trig", "total"}


def data(*arguments):
    done = invoke(*arguments)
    assert done.exit_code == 0 and done.stderr == ""
    assert invoke(*arguments).stdout == done.stdout
    return json.loads(done.stdout)


def test_ops_json():
    found = data("ops", robot_file("ur5"), "--json")
    assert found.keys() == {"robot", "dof", "machine", "quantities"}
    assert (found["robot"], found["dof"], found["machine"]) == ("ur5", 6, "host")
    assert list(found["quantities"]) == list(CORE)
    for name, row in found["quantities"].items():
        assert row.keys() == {*COUNT_KEYS, "work", "path", "formulation", "trees"}
        assert row["work"] > 0 and row["path"] > 0
        assert row["total"] == row["add"] + row["mul"] + row["div"] + row["trig"] > 0
        assert row["formulation"] in {way.name for way in QUANTITIES[name].formulations}


def test_ops_all_json():
    found = data("ops", robot_file("ur5"), "--json", "--all")
    best = data("ops", robot_file("ur5"), "--json")["quantities"]
    for name, rows in found["quantities"].items():
        named = [row["formulation"] for row in rows]
        suited = [way.name for way in QUANTITIES[name].formulations if way.name in named]
        assert named == suited and len(named) > 1
        assert best[name] in rows
        assert best[name]["total"] <= SLACK * min(row["total"] for row in rows)


def test_ops_json_agrees_with_the_manifest_and_the_table():
    module, folder = generated("ur5")
    written = json.loads((folder / "manifest.json").read_text())["functions"]
    table = invoke("ops", robot_file("ur5")).stdout
    for name, row in data("ops", robot_file("ur5"), "--json")["quantities"].items():
        assert written[name]["operations"] == {key: row[key] for key in COUNT_KEYS}
        cells = [
            re.escape(row["formulation"]),
            *(str(row[key]) for key in ("add", "mul", "div", "trig", "total")),
            *(str(round(row[key])) for key in ("work", "path")),
        ]
        assert re.search(rf"^ {name} +{' +'.join(cells)} *$", table, re.MULTILINE)
    assert module.dof == 6


def test_list_json():
    found = data("list", "--json")
    assert found.keys() == {"quantities", "languages"} and found["languages"] == list(LANGUAGES)
    for row in found["quantities"].values():
        assert row.keys() == {"formula", "of_link", "inputs", "outputs", "formulations", "sources"}
        assert all(out.keys() == {"name", "shape", "unit"} for out in row["outputs"])
        assert row["formulations"] and row["sources"] and row["inputs"]
    table = invoke("list").stdout
    assert all(name in table for name in (*found["quantities"], *LANGUAGES))


BY_NAME = {"quantities", "functions", "files", "formulations"}
"""Keys of objects from names to values."""


def keys(value):
    """All keys with a fixed meaning in a JSON value."""
    if isinstance(value, list):
        return set().union(*map(keys, value))
    if not isinstance(value, dict):
        return set()
    inner = [
        list(v.values()) if k in BY_NAME and isinstance(v, dict) else v for k, v in value.items()
    ]
    return set(value) | keys(inner)


def documented(heading):
    """The keys of a section of docs/formats.md."""
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    section = re.search(rf"^## {heading}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)[1]
    rows = re.findall(r"^ *- (`\w+`(?:, `\w+`)*)(?=:|$)", section, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"\w+", row)}


def test_every_key_is_documented():
    _, folder = generated("ur5", parameters="runtime:flange", gravity="runtime")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert list(manifest["runtime"].pop("parameters")) == ["flange"]
    assert keys(manifest) == documented("manifest.json")
    assert keys(data("list", "--json")) == documented("symgen list --json")
    for more in ([], ["--all"]):
        assert keys(data("ops", PENDULUM, "--json", *more)) == documented("symgen ops --json")


# -- options that shape the result -----------------------------------------------------------------


def test_part_of_a_robot():
    done = invoke(
        "check", robot_file("panda"), "--root", "link2", "--tip", "link5", "--lock", "joint4=0.5"
    )
    assert done.exit_code == 0 and "panda: 2 joints" in done.stdout
    assert re.findall(r"^ \d +(\S+)", done.stdout, re.MULTILINE) == ["joint3", "joint5"]


def test_prefix_and_languages(tmp_path):
    options = ("--prefix", "arm_7", "--lang", "c", "--quantity", "t=bias+gravity")
    assert invoke("generate", PENDULUM, "-o", tmp_path, *options).exit_code == 0
    assert snapshot(tmp_path).keys() == {
        "CMakeLists.txt",
        "arm_7.c",
        "arm_7.h",
        "arm_7_selftest.c",
        "arm_7_t.c",
        "arm_7_trig.h",
        "arm_7_report.json",
        "manifest.json",
    }
    assert "void arm_7_t(" in (tmp_path / "arm_7.h").read_text()
    invoke("generate", PENDULUM, "-o", tmp_path, "--lang", "python", "--lang", "python")
    assert snapshot(tmp_path).keys() == {"pendulum.py", "manifest.json"}


def test_gravity():
    def code(*gravity):
        return invoke("dump", PENDULUM, "--quantity", "gravity", *gravity).stdout

    assert code() == code("--gravity", "0,0,-9.81") == code("--gravity", " 0, -0 ,-9.81e0")
    assert code() != code("--gravity", "1,0,0")
    assert "9.81" in code() and "input g[3]" in code("--gravity", "runtime")


def test_formulation():
    ways = [way.name for way in QUANTITIES["bias"].formulations]
    for name in ways:
        found = data(
            "ops",
            robot_file("ur5"),
            "--json",
            "--quantity",
            "bias",
            "--formulation",
            f"bias={name}",
        )
        assert found["quantities"]["bias"]["formulation"] == name
    assert len(ways) > 1


def test_chunk(tmp_path):
    options = ("--lang", "c", "--quantity", "bias")
    for size in ("20", "100000"):
        assert (
            invoke(
                "generate", robot_file("ur5"), "-o", tmp_path / size, "--chunk", size, *options
            ).exit_code
            == 0
        )
        assert invoke("verify", tmp_path / size).exit_code == 0
    pieces = [
        (tmp_path / size / "ur5_bias.c").read_text().count("\nstatic ") for size in ("20", "100000")
    ]
    assert pieces[0] > 3 and pieces[1] == 0


def test_dump_is_the_program():
    done = invoke("dump", PENDULUM, "--quantity", "gravity")
    program = trace(PENDULUM, "gravity").program
    assert done.stdout == f"{program!r}\n" and "output tau_g[2]" in done.stdout


# -- verify ----------------------------------------------------------------------------------------

VERIFIED = {
    "plain": ("pendulum", {}),
    "float": ("pendulum", {"scalar": "float"}),
    "runtime": ("pendulum", {"parameters": "runtime", "gravity": "runtime"}),
    "body": (
        "ur5",
        {"parameters": "runtime:link3", "quantities": ("t=bias+mass_matrix", "inverse_dynamics")},
    ),
    "payload": (
        "ur5",
        {"parameters": "runtime:flange", "scalar": "float", "quantities": ("gravity",)},
    ),
    "c": ("pendulum", {"languages": ("c",)}),
    "python": ("pendulum", {"languages": ("python",)}),
    "slider": ("gravity_slider", {"gravity": "runtime"}),
}


@pytest.mark.parametrize("name", VERIFIED)
def test_verify_passes(name):
    robot, options = VERIFIED[name]
    module, folder = generated(robot, **options)
    before = snapshot(folder)
    done = invoke("verify", folder)
    assert done.exit_code == 0 and done.stderr == "" and "FAILED" not in done.stdout, done.stdout
    assert re.search(r"^all \d+ checks passed$", done.stdout, re.MULTILINE)
    c, python = ("C equals" in done.stdout), ("Python equals" in done.stdout)
    assert (c, python) == (name != "python", name != "c")
    assert snapshot(folder) == before
    assert "regroup: C equals" in done.stdout or not module.robot.runtime


def mutated(folder, name, pattern, replacement, rehash=True):
    """Change one place of a generated file, and its hash in the manifest as one who covers it up
    would."""
    path, manifest = folder / name, folder / "manifest.json"
    old = path.read_text()
    new, count = re.subn(pattern, replacement, old, count=1)
    assert count == 1 and new != old
    path.write_text(new)
    if rehash:
        text = json.loads(manifest.read_text())
        text["files"][name] = hashlib.sha256(new.encode()).hexdigest()
        manifest.write_text(json.dumps(text))


@pytest.fixture
def copy(tmp_path):
    """A copy of the pendulum's files that a test may spoil."""
    return Path(shutil.copytree(generated("pendulum")[1], tmp_path / "copy"))


def failures(folder):
    done = invoke("verify", folder)
    assert done.exit_code == 1 and done.stderr == ""
    assert re.search(r"^\d+ of \d+ checks failed$", done.stdout, re.MULTILINE)
    return [
        line.split("FAILED")[1].strip() for line in done.stdout.splitlines() if "FAILED" in line
    ]


MUTATIONS = {
    "constant": (
        "pendulum_gravity.c",
        r"1\.2\b",
        "1.2000000000000002",
        "gravity: C equals the float run bit for bit",
    ),
    "sign": ("pendulum_bias.c", r" - ", " + ", "bias: C equals the float run"),
    "output index": ("pendulum_gravity.c", r"tau_g\[1\]", "tau_g[0]", "C compiles"),
    "reference value": (
        "pendulum_selftest.c",
        r"(want_tau\[STATES\]\[2\] = \{\s*\{-?)",
        r"\g<1>9",
        "C compiles",
    ),
    "syntax": ("pendulum.h", r"#endif", "", "C compiles"),
    "Python constant": ("pendulum.py", r"= 9\.81", "= 9.82", "inverse_dynamics: Python equals"),
    "Python name": ("pendulum.py", r"cos\(q1\)", "cos(q0)", "inverse_dynamics: Python equals"),
    "Python syntax": ("pendulum.py", r"return", "retrun", "Python module loads"),
    "Python index": (
        "pendulum.py",
        r"tau\[1\]",
        "tau[0]",
        "inverse_dynamics: Python equals",
    ),
    "Python not finite": ("pendulum.py", r"= 9\.81", "= np.nan", "inverse_dynamics: Python equals"),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_verify_catches(name, copy):
    file, pattern, replacement, caught = MUTATIONS[name]
    mutated(copy, file, pattern, replacement)
    assert any(line.startswith(caught) for line in failures(copy)), failures(copy)


@pytest.mark.parametrize("file", ["pendulum.h", "pendulum.py", "CMakeLists.txt"])
def test_verify_catches_any_change(file, copy):
    path = copy / file
    path.write_text(path.read_text() + "\n")
    found = failures(copy)
    assert len(found) == 1 and found[0].startswith("files are as generated")
    assert f"changed or missing: {file}" in found[0]


@pytest.mark.parametrize(
    "file", ["pendulum.h", "pendulum_bias.c", "pendulum_selftest.c", "pendulum.py"]
)
def test_verify_catches_a_missing_file(file, copy):
    (copy / file).unlink()
    assert any(f"changed or missing: {file}" in line for line in failures(copy))


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        (None, "error: cannot read '{}': No such file or directory; give a generated folder"),
        ("", "error: '{}' is not a manifest of symgen (no JSON); generate it anew"),
        (
            "[1]",
            "error: '{}' is not a manifest of symgen (is a list where an object is needed); "
            "generate it anew",
        ),
        (
            '{"format": 2}',
            "error: '{}' is not a manifest of symgen (has no 'conventions', 'dof', 'files' and 11 "
            "more); generate it anew",
        ),
        ('{"format": 99}', "error: '{}': is of format 99, not 2; generate it anew"),
    ],
)
def test_verify_refuses_what_is_no_generated_folder(manifest, said, tmp_path):
    path = tmp_path / "manifest.json"
    if manifest is not None:
        path.write_text(manifest)
    assert refusal("verify", tmp_path) == said.format(path)


def test_verify_leaves_nothing_behind(copy, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = run("verify", copy, env={"TMPDIR": str(scratch)})
    assert done.returncode == 0 and done.stderr == "" and snapshot(scratch) == {}


# -- from Python -----------------------------------------------------------------------------------


def test_compile_and_python_agree_on_batches():
    robot = symgen.compile(robot_file("ur5"), "inverse_dynamics", "t=bias+mass_matrix")
    module, folder = generated("ur5", quantities=("inverse_dynamics", "t=bias+mass_matrix"))
    python = imported(folder / f"{module.name}.py")
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 4, 5, 6))
    for code in (robot, python):
        tau, (bias, mass) = code.inverse_dynamics(q, qd, qdd), code.t(q, qd)
        assert (tau.shape, bias.shape, mass.shape) == ((4, 5, 6), (4, 5, 6), (4, 5, 6, 6))
        assert np.einsum("...ij,...j", mass, qdd) + bias == pytest.approx(
            tau, rel=0, abs=1e-12 * np.abs(tau).max()
        )
        alone = code.inverse_dynamics(q[2, 3], qd[2, 3], qdd[2, 3])
        assert tau[2, 3] == pytest.approx(alone, rel=1e-13, abs=1e-14)
        mixed = code.inverse_dynamics(q[0], qd[0, 0], qdd[0, 0])
        alone = code.inverse_dynamics(q[0, 4], qd[0, 0], qdd[0, 0])
        assert mixed[4] == pytest.approx(alone, rel=1e-13, abs=1e-14)
        assert code.inverse_dynamics(q[:0], qd[:0], qdd[:0]).shape == (0, 5, 6)
        assert code.inverse_dynamics([0] * 6, (0,) * 6, np.zeros(6, int)).shape == (6,)
    np.testing.assert_allclose(
        robot.inverse_dynamics(q, qd, qdd),
        python.inverse_dynamics(q, qd, qdd),
        rtol=1e-12,
        atol=1e-13,
    )


def test_inputs_are_left_alone():
    robot = symgen.compile(PENDULUM, "gravity")
    q = np.array([[0.1, 0.2], [0.3, 0.4]])
    strided = np.asfortranarray(q)
    before = q.copy()
    assert np.array_equal(robot.gravity(q), robot.gravity(strided)) and np.array_equal(q, before)
    assert np.array_equal(robot.gravity(q[::-1]), robot.gravity(q)[::-1])


def test_shapes_are_checked():
    robot, (_, folder) = symgen.compile(PENDULUM), generated("pendulum")
    python = imported(folder / "pendulum.py")
    for code in (robot, python):
        for wrong, shape in (
            ([0.0] * 3, r"\(3,\)"),
            (0.0, r"\(\)"),
            (np.zeros((2, 3)), r"\(2, 3\)"),
        ):
            with pytest.raises(
                ValueError, match=rf"q must have 2 entries along its last axis, not shape {shape}"
            ):
                code.gravity(wrong)
        with pytest.raises(ValueError, match="broadcast"):
            code.bias(np.zeros((3, 2)), np.zeros((4, 2)))
        with pytest.raises(TypeError):
            code.bias(np.zeros(2))
    with pytest.raises(TypeError, match="bias takes q, qd"):
        robot.bias(np.zeros(2))
    with pytest.raises(AttributeError, match=f"no function 'nope'; it has {', '.join(CORE)}"):
        _ = robot.nope


def test_compiled_with_runtime_parameters():
    fixed = symgen.compile(PENDULUM, "inverse_dynamics")
    free = symgen.compile(PENDULUM, "inverse_dynamics", parameters="runtime", gravity="runtime")
    module, _ = generated("pendulum", parameters="runtime", gravity="runtime")
    par = free.regroup([x for ten in module.robot.blocks.values() for x in ten])
    q, qd, qdd = np.random.default_rng(3).uniform(-2, 2, (3, 7, 2))
    moon = symgen.compile(PENDULUM, "inverse_dynamics", gravity=(0.0, 0.0, -1.62))
    for code, pull in ((fixed, -9.81), (moon, -1.62)):
        found = free.inverse_dynamics(q, qd, qdd, [0, 0, pull], par)
        assert found == pytest.approx(code.inverse_dynamics(q, qd, qdd), rel=1e-11)


def test_float_results_are_float():
    robot = symgen.compile(PENDULUM, "gravity", scalar="float")
    assert robot.gravity([0.1, 0.2]).dtype == np.float32


def test_trace_load_and_generate(tmp_path):
    function = trace(Path(PENDULUM), "t=bias+gravity")
    assert function.name == "t" and function.inputs == ("q", "qd") and function.counts.total > 0
    loaded = symgen.load(PENDULUM, lock=[("elbow", 0.1)])
    assert loaded.model.joint_names == ("shoulder",)
    steps = []
    module, loaded, paths = symgen.generate(
        PENDULUM, tmp_path / "out", ["python"], steps.append, prefix="p"
    )
    assert module.name == "p" and loaded.file == PENDULUM and len(steps) == 3
    assert sorted(paths) == [tmp_path / "out" / "manifest.json", tmp_path / "out" / "p.py"]
    assert symgen.Job.of(PENDULUM).choices.flat()["scalar"] == "double"


README_USE = (
    "import symgen; symgen.compile({0!r}, 'gravity'); print(symgen.trace({0!r}, "
    "'gravity').counts.total)"
)


def test_the_function_trace_after_compile():
    command = [sys.executable, "-c", README_USE.format(PENDULUM)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0 and int(done.stdout) > 0, done.stderr


def test_errors_from_python(tmp_path):
    with pytest.raises(RobotError, match="cannot be read"):
        symgen.compile(tmp_path / "none.urdf")
    with pytest.raises(OptionError, match="no quantity is called 'x'"):
        trace(PENDULUM, "x")
    with pytest.raises(SymgenError, match="no language is called 'x'"):
        symgen.generate(PENDULUM, tmp_path / "out", ["x"])
    with pytest.raises(TypeError):
        trace(PENDULUM, "bias", nonsense=1)
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        _ = symgen.nope
    assert snapshot(tmp_path) == {}


def test_no_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(SymgenError, match="error: no C compiler found; install gcc or set CC"):
        symgen.compile(PENDULUM, "gravity")


def test_all_means_every_quantity_and_may_be_joined_by_others():
    found = data("ops", PENDULUM, "--json", "--quantity", "all", "--quantity", "frame_pose:tip")
    names = (name.replace(":", "_") for name in QUANTITIES)
    assert list(found["quantities"]) == [*names, "frame_pose_tip"]
    with pytest.raises(OptionError, match="name one"):
        trace(PENDULUM, "all")


LOADED = """
import sys
from symgen import generate
generate(sys.argv[1], sys.argv[2], quantities=("all",))
print([name for name in ("sympy", "matplotlib", "dask", "pandas") if name in sys.modules])
"""


def test_generation_loads_nothing_that_it_does_not_need(tmp_path):
    """SymPy alone takes half a second; it is for closed forms."""
    command = [sys.executable, "-c", LOADED, ROOT / "robots/scara.urdf", tmp_path / "out"]
    assert (
        subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


# -- ends of other kinds ---------------------------------------------------------------------------


def test_an_interrupt_ends_with_the_status_of_one(monkeypatch, tmp_path):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("symgen.jobs.job.Job.of", stopped)
    done = invoke("generate", PENDULUM, "-o", tmp_path / "out")
    assert (done.exit_code, done.stdout) == (130, "") and not (tmp_path / "out").exists()
    assert done.stderr == "interrupted; nothing has been left half written\n"


def test_checks_as_data(tmp_path):
    assert invoke("generate", PENDULUM, "-o", tmp_path, "--quantity", "gravity").exit_code == 0
    plain, data = (invoke("verify", tmp_path, *more) for more in ((), ("--json",)))
    found = json.loads(data.stdout)
    assert found["passed"] and all(row["check"] in plain.stdout for row in found["checks"])
    with (tmp_path / "pendulum_gravity.c").open("a") as file:
        file.write("/* touched */\n")
    done = invoke("verify", tmp_path, "--json")
    assert done.exit_code == 1 and not json.loads(done.stdout)["passed"]


def test_a_judgement_as_data(tmp_path):
    found = data("check", PENDULUM, "--json")
    assert found["sound"] and [joint["name"] for joint in found["joints"]] == ["shoulder", "elbow"]
    path = tmp_path / "odd.urdf"
    text = Path(PENDULUM).read_text(encoding="utf-8")
    path.write_text(re.sub(r'ixx="[^"]*"', 'ixx="9"', text, count=1), encoding="utf-8")
    odd = json.loads(invoke("check", path, "--json").stdout)
    warned = [row for row in odd["inertia"] if row["warning"]]
    (notice,) = [row for row in odd["notices"] if row["level"] == "warning"]
    assert not odd["sound"] and [row["pseudo_inertia"] for row in warned] == ["indefinite"]
    assert warned[0]["message"] == notice["message"] and notice["line"] > 1
    drives = tmp_path / "drives.toml"
    drives.write_text("joints.elbow = { gear_ratio = 50, rotor_inertia = 1e-4 }\n")
    turned = data("check", PENDULUM, "--actuators", drives, "--json")
    assert turned["rotors"]["differences"]
    assert keys(found) | keys(odd) | keys(turned) == documented("symgen check --json")


def test_what_is_refused_as_data(tmp_path):
    path = tmp_path / "two.urdf"
    text = Path(PENDULUM).read_text(encoding="utf-8")
    path.write_text(re.sub(r'<axis xyz="[^"]*"', '<axis xyz="0 0 0"', text), encoding="utf-8")
    for command in ("check", "ops", "inspect"):
        done = invoke(command, path, "--json")
        rows = json.loads(done.stdout)["errors"]
        said = [f"{r['file']}:{r['line']}: error: {r['element']}: {r['message']}" for r in rows]
        assert done.exit_code == 2 and len(rows) == 2 and said == done.stderr.splitlines()
        assert keys(rows) | {"errors"} == documented("Errors as JSON")
    (row,) = json.loads(invoke("check", PENDULUM, "--root", "x", "--json").stdout)["errors"]
    assert row["file"] is None and row["message"].startswith("--root 'x'")
