"""Bad values of options: each is refused in one sentence, before anything is read or written."""

import pytest

from symgen.algorithms import QUANTITIES
from symgen.languages import LANGUAGES
from symgen.text import hint
from tests.support.shell import PENDULUM, refusal
from tests.support.tools import snapshot

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
        "add a revolute, continuous or prismatic joint, or give --base floating",
    ),
    (["--tip", ""], f"--tip '': the robot has no such link; there are {LINKS}"),
    (
        ["--root", "lower", "--tip", "upper"],
        "--tip 'upper': the link is not carried by the root 'lower'; give a link "
        "farther from the base, or a --root nearer to it",
    ),
    (["--lock", "elbow"], f"--lock 'elbow': {PAIR}"),
    (["--lock", "elbow="], f"--lock 'elbow=': {PAIR}"),
    (["--lock", "elbow=nan"], f"--lock 'elbow=nan': {PAIR}"),
    (["--lock", "elbow=1,2"], f"--lock 'elbow=1,2': {PAIR}"),
    (
        ["--lock", "=1"],
        "--lock '': the robot has no such joint; there are 'shoulder', 'elbow' and 'tip_joint'",
    ),
    (
        ["--lock", "elbow=1", "--lock", "elbow=2"],
        "--lock 'elbow': two values are given; keep one of them",
    ),
    (
        ["--lock", "tip_joint=1"],
        "--lock 'tip_joint': a fixed joint cannot be locked at one value; remove the option",
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
        "--parameters: link 'base' does not move, so no function depends on it",
    ),
    (["--quantity", "zzz"], "no quantity is called 'zzz'; symgen list shows them all"),
    (["--quantity", ""], "no quantity is called ''; symgen list shows them all"),
    (["--quantity", "t=bias+"], "no quantity is called ''; symgen list shows them all"),
    (
        ["--quantity", "bias+gravity"],
        "'bias+gravity' needs a name for the function, as in terms=bias+gravity",
    ),
    (["--quantity", "t=bias+bias"], "'t=bias+bias' contains a quantity twice"),
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
        "two functions have the name 'bias'; give one of them another name",
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
        ["--lang", "nolanguage"],
        f"no language is called 'nolanguage'; {hint('nolanguage', LANGUAGES, len(LANGUAGES))}",
    ),
    (["--scalar", "half"], "--scalar 'half': use one of double, float, q31, q15"),
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
        refusal("generate", PENDULUM, "-o", "")
        == "error: --out '': give a folder, . for the current one"
    )


def test_missing_robot(tmp_path):
    said = "error: cannot be read (No such file or directory); give the path of a robot file"
    assert refusal("check", tmp_path / "none.urdf") == f"{tmp_path}/none.urdf: {said}"
