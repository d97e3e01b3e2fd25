"""Advice in messages works: its commands run, its packages, options and pages exist."""

import ast
import re
import shlex
import subprocess
import sys
import tomllib
from functools import cache

import click
import pytest

from symgen.cli.help import page_titles
from symgen.cli.main import COMMANDS as CLI
from symgen.cli.main import main
from symgen.jobs.verify import REFERENCE_LIBRARIES
from symgen.text import COMMANDS, PACKAGES, command, install, use_prior
from tests.support.house_files import FILES, nodes
from tests.support.shell import PENDULUM
from tests.support.tools import ROOT, invoke

FOREIGN = {
    "--version", "--help", "--help-all", "--no-sandbox", "--eval", "--no-gui", "--norc", "--arch",
    "--target", "--std", "--suppress", "--coverage", "--enable", "--addon", "--undefined-only",
    "--gc-sections",
}  # fmt: skip
"""Options of other programs, and those of click."""


def is_docstring(parents, node):
    owner = parents.get(node)
    return isinstance(owner, ast.Expr)


@cache
def messages():
    """The string constants of symgen that are not docstrings: (file, line, text)."""
    found = []
    for file in FILES:
        parents = {child: node for node in nodes(file) for child in ast.iter_child_nodes(node)}
        found += [
            (file, node.lineno, node.value)
            for node in nodes(file)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
            if not is_docstring(parents, node)
        ]
    return found


@cache
def options(name):
    """The options of a command."""
    return {flag for p in main.get_command(click.Context(main), name).params for flag in p.opts}


def test_packages_can_be_installed():
    """Each advised package is an optional dependency, pinned to a version that the index has."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {
        re.match(r"[\w-]+", text)[0]
        for x in project["optional-dependencies"].values()
        for text in x
    }
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    for package in PACKAGES:
        assert package in extras and re.search(rf"^{package}==", pins, re.MULTILINE), package
    assert install("scipy", "clarabel") == "pip install scipy clarabel"


def test_only_advice_installs_packages():
    """`pip install 'symgen[...]'` cannot work: symgen is on no index."""
    assert not [m for m in messages() if "pip install" in m[2] and m[0] != "text.py"]
    found = {
        word.value
        for file in FILES
        for node in nodes(file)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "install"
        for word in node.args
        if isinstance(word, ast.Constant)
    }
    assert found | {reader.install for reader in REFERENCE_LIBRARIES.values()} == set(PACKAGES)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_advised_commands_run(name, tmp_path):
    made = tmp_path / "made it"
    assert invoke("generate", PENDULUM, "-o", made, "--quantity", "gravity").exit_code == 0
    assert invoke("init", PENDULUM, "-o", tmp_path / "job.toml").exit_code == 0
    words = {
        "robot": PENDULUM,
        "folder": str(made) if name == "verify" else str(tmp_path / "new one"),
        "job": str(tmp_path / "job.toml"),
        "motion": str(tmp_path / "motion.csv"),
    }
    used = re.findall(r"\{(\w+)\}", COMMANDS[name])
    program, *arguments = shlex.split(command(name, **{key: words[key] for key in used}))
    more = ("--budget", "1", "--harmonics", "1") if name == "excite" else ()
    done = invoke(*arguments, *more)
    assert program == "symgen" and done.exit_code == 0, done.output


def test_commands_in_messages_exist():
    """`symgen COMMAND --option` in a message names a command and options that exist."""
    wrong = []
    for file, line, text in messages():
        for name, rest in re.findall(r"\bsymgen ([a-z]+)((?: -[-\w]+)*)", text):
            if name in CLI and not set(rest.split()) <= options(name) | FOREIGN:
                wrong.append((file, line, name, rest))
        wrong += [
            (file, line, page)
            for page in re.findall(r"\bsymgen docs ([a-z]+)", text)
            if page not in page_titles()
        ]
        wrong += [
            (file, line, name)
            for name in re.findall(r"(?:see|with|run|use|\() ?symgen ([a-z]+)", text)
            if name not in CLI
        ]
    assert not wrong


def test_options_in_messages_exist():
    known = {flag for name in CLI for flag in options(name)} | FOREIGN
    wrong = [
        (file, line, flag)
        for file, line, text in messages()
        for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", text)
        if flag not in known and not file.startswith(("languages/", "native/"))
    ]
    assert not wrong


def test_the_prior_is_advised_only_without_it():
    assert "--full" in use_prior(full=False) and use_prior(full=True) == ""
    texts = [m for m in messages() if re.search(r"(with|let|use).*--full", m[2])]
    assert {file for file, _, _ in texts} <= {"text.py", "identification/model/settings.py"}


def test_generated_files_name_a_command_that_runs(tmp_path):
    done = invoke("generate", PENDULUM, "-o", tmp_path / "a b", "--quantity", "gravity")
    advised = done.stdout.rpartition("; verify them: ")[2]
    assert invoke(*shlex.split(advised)[1:]).exit_code == 0


CLASH = """
import pkgutil, sys
listed = pkgutil.iter_modules
def more(path=None, prefix=""):
    if path and path[0].endswith("algorithms"):
        path.append(sys.argv.pop())
    return listed(path, prefix)
pkgutil.iter_modules = more
from symgen.cli.main import main
main()
"""
POWER = """
from symgen.algorithms.registry import Array, quantity
@quantity("power", "P", inputs=("q", "qd"), outputs=(Array("P", "power", "W", (1,)),), source="")
def power(system, q, qd):
    return [0.0]
"""


@pytest.mark.parametrize("line", ["list", f"check {PENDULUM}", f"ops {PENDULUM}"])
def test_a_quantity_that_cannot_be_registered_is_one_line(line, tmp_path):
    (tmp_path / "zz_power.py").write_text(POWER, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", CLASH, *line.split(), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: quantity 'power': the quantity 'momentum_regressor' has an output 'P' with "
        "another meaning; rename one of the two outputs\n"
    )
