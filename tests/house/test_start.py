"""What a start costs: nothing is loaded that is not needed, and templates are compiled once."""

import json
import os
import subprocess
import sys

import pytest

from symgen import render
from tests.support.tools import invoke, robot_file

LATE = ("sympy", "mpmath", "pandas", "matplotlib", "symgen.languages.backends.matlab")
CODE = f"""
import sys, json
sys.argv = ["symgen", "generate", {robot_file("pendulum")!r}, "-o", sys.argv[1]]
from symgen.cli.main import main
try:
    main()
except SystemExit as end:
    assert not end.code
print(json.dumps([name for name in {LATE!r} if name in sys.modules]))
"""


def started(tmp_path, **environment):
    """What was loaded of `LATE`."""
    free = {k: v for k, v in os.environ.items() if not k.startswith("PYTHONDONT")}
    done = subprocess.run(
        [sys.executable, "-c", CODE, tmp_path / "out"],
        env=free | {k: str(v) for k, v in environment.items()},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def kept(folder):
    return {path: path.read_bytes() for path in folder.rglob("*jinja*.pyc")}


def test_generating_loads_no_symbols_and_no_other_language(tmp_path):
    assert started(tmp_path, PYTHONDONTWRITEBYTECODE=1) == []


@pytest.fixture
def no_templates():
    """None are known before and after."""
    render._environment.cache_clear()
    yield
    render._environment.cache_clear()


@pytest.mark.usefixtures("no_templates")
def test_compiled_templates_are_kept_as_python_keeps_modules(tmp_path, monkeypatch):
    """What Python makes of PYTHONDONTWRITEBYTECODE and PYTHONPYCACHEPREFIX is set here as it does:
    a start would compile all of symgen and of what it imports as well."""

    def generates(prefix, writes):
        render._environment.cache_clear()
        monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / prefix))
        monkeypatch.setattr(sys, "dont_write_bytecode", not writes)
        words = ("generate", robot_file("pendulum"), "-o", tmp_path / "out", "--quantity")
        assert invoke(*words, "gravity").exit_code == 0

    generates("no", writes=False)
    assert not kept(tmp_path)
    generates("kept", writes=True)
    first = kept(tmp_path / "kept")
    assert any("module.h" in path.name for path in first)
    for path in first:
        path.write_bytes(b"broken")
    generates("kept", writes=True)
    assert kept(tmp_path / "kept") == first


@pytest.mark.usefixtures("no_templates")
@pytest.mark.parametrize("text", ["A {{ x }}", "B {{ x }}\n"])
def test_a_changed_template_is_compiled_anew(text, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(render, "TEMPLATE_FOLDERS", (tmp_path,))
    file = tmp_path / "x.jinja"
    for now in ("before {{ x }}", text):
        file.write_text(now, encoding="utf-8")
        render._environment.cache_clear()
        assert render.render("x.jinja", x=1) == now.replace("{{ x }}", "1")
    assert len(kept(tmp_path)) == 1
