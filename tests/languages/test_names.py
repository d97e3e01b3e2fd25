"""Hostile names: whatever a robot's file calls things, the code compiles, imports and carries the
true names."""

import re
import subprocess
import sys

import pytest

from symgen.jobs.api import generate
from symgen.languages import LANGUAGES
from symgen.languages.language import identifier
from tests.support.hostile import hostile
from tests.support.tools import STRICT_C, c_files, compiled, imported, invoke

NAMES = [
    '"',
    "'",
    "\\",
    "*/",
    "/*",
    "//",
    "??/",
    "a\nb",
    "a\rb",
    "a\tb",
    "{{7*7}}",
    "{% raw %}",
    "%s%n",
    "__import__('os')",
    'x"""',
    "#",
    "</robot>",
    "`id`",
    "x" * 3000,
    "\u00e4",
    "\u202e",
    "\U0001f600",
    "a ",
    "a-",
    "a_",
    "A",
    "double",
    "lambda",
    "sin",
    "I",
    "t1",
    "q",
    "np",
    "batch",
    "[bold]",
    "[/]",
    "a,b",
    "\\\n",
    "\\u000a",
    "'''",
    "trailing\\",
]


ROBOTS = [
    "math",
    "numpy",
    "..",
    "/etc/passwd",
    "",
    " ",
    '"',
    "*/",
    "a\nb",
    "{{7*7}}",
    "%s",
    "__import__('os')",
    "x" * 3000,
    "\u00e4",
    "\u624b",
    "double",
    "lambda",
    "2-link",
    "selftest",
    "real",
    "test",
    "m",
    "sys",
    "typing",
    "features",
    "errno",
    "limits",
    "std",
    "main",
    "linux",
    "q",
    "np",
    "con",
    "a__b_",
    "../../x",
    "C:\\x",
    "-o",
    "--help",
    "$HOME",
]


@pytest.fixture
def file(tmp_path):
    """Where a test writes its robot."""
    return tmp_path / "r.urdf"


PRINT_NAMES = """
#include <stdio.h>
#include "{name}.h"
int main(void)
{{
    int k;
    for (k = 0; k < {upper}_DOF; ++k) {{
        fputs({name}_info.joints[k].name, stdout);
        putchar(0);
    }}
    return 0;
}}
"""


def c_names(module, folder, work):
    """The joint names in the compiled module."""
    (work / "n.c").write_text(PRINT_NAMES.format(name=module.name, upper=module.name.upper()))
    compiled(*STRICT_C, f"-I{folder}", "n.c", folder / f"{module.name}.c", "-o", "n", cwd=work)
    return (
        subprocess.run([work / "n"], capture_output=True, check=True)
        .stdout.decode()
        .split("\0")[:-1]
    )


def test_joint_and_link_names(file, tmp_path):
    file.write_text(hostile('*/ """ ??/ \n\\', NAMES), encoding="utf-8")
    out = tmp_path / "deep" / "out"
    module, _, _ = generate(file, out, quantities=("gravity",), parameters="runtime")
    assert {path.name for path in tmp_path.iterdir()} == {"r.urdf", "deep"}
    compiled(*STRICT_C, "-trigraphs", f"-I{out}", "-c", *c_files(out), cwd=tmp_path)
    python = imported(out / f"{module.name}.py")
    assert list(python.JOINT_NAMES) == NAMES == c_names(module, out, tmp_path)
    assert list(python.PARAMETERS) == [f"L{name}" for name in NAMES]
    assert all(path.read_bytes().isascii() for path in out.iterdir())


def test_names_are_data_not_templates(file, tmp_path):
    file.write_text(hostile("{{7*7}}", ["{{7*7}}", "{% if %}"]), encoding="utf-8")
    module, _, _ = generate(file, tmp_path / "out", quantities=("gravity",))
    assert "49" not in "".join(
        re.findall(r".*robot.*", (tmp_path / "out" / f"{module.name}.h").read_text())
    )
    assert "{{7" in (tmp_path / "out" / f"{module.name}.h").read_text()


def test_names_are_printed_in_full_without_markup(file):
    file.write_text(hostile("[red]r", NAMES), encoding="utf-8")
    done = invoke("check", file)
    assert done.exit_code == 0
    for text in ("[red]r", "[bold]", "[/]", "__import__('os')", "{{7*7}}"):
        assert text in done.stdout


def test_an_error_with_names_is_one_line(file):
    file.write_text(hostile("r", NAMES), encoding="utf-8")
    for option in (
        ("--parameters", "runtime:zz"),
        ("--parameters", "runtime:a\nb"),
        ("--root", "z\n"),
        ("--tip", "z"),
    ):
        done = invoke("ops", file, *option)
        assert done.exit_code == 2 and done.stdout == ""
        assert done.stderr.endswith("\n") and done.stderr[:-1].isprintable(), done.stderr


@pytest.mark.parametrize("robot", ROBOTS)
def test_robot_names(robot, file, tmp_path):
    file.write_text(hostile(robot, ["j"]), encoding="utf-8")
    out = tmp_path / "out"
    module, _, paths = generate(file, out, quantities=("gravity",))
    assert re.fullmatch(r"[a-z][a-z0-9_]{0,50}", module.name)
    assert {path.parent for path in paths} == {out} and {
        path.name for path in tmp_path.iterdir()
    } == {"r.urdf", "out"}
    compiled(*STRICT_C, f"-I{out}", *c_files(out), "-lm", "-o", "x", cwd=tmp_path)
    assert module.name not in sys.stdlib_module_names
    assert imported(out / f"{module.name}.py").JOINT_NAMES == ("j",)


def test_a_generated_module_hides_no_other(file, tmp_path):
    file.write_text(hostile("typing", ["j"]), encoding="utf-8")
    module, _, _ = generate(file, tmp_path / "out", quantities=("gravity",))
    done = subprocess.run(
        [sys.executable, "-c", f"import {module.name} as m; print(m.gravity([0.5]))"],
        cwd=tmp_path / "out",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


CMAKE_TARGETS = [
    "all",
    "clean",
    "help",
    "install",
    "package",
    "test",
    "edit_cache",
    "rebuild_cache",
]


@pytest.mark.parametrize(
    "name", [*CMAKE_TARGETS, "math", "stdio", "features", "json", "while", "import", "m", "2"]
)
def test_names_that_others_need_are_not_taken(name):
    assert identifier(name, LANGUAGES.values()) == f"r_{name}"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("UR5e", "ur5e"),
        ("Élan-2 (left)", "elan_2_left"),
        ("__x__", "x"),
        ("r" * 60, "r" * 48),
        ("手", "robot"),
    ],
)
def test_identifier(text, name):
    assert identifier(text, LANGUAGES.values()) == name
