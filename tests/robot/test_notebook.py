"""What notebooks show, and the notebook of the documentation."""

import json
import os
import pydoc
import re
import subprocess
import sys

import pytest
from lxml import html as lxml_html

import symgen
from tests.support.papers import arm
from tests.support.tools import ROOT, robot_file

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def shown(thing):
    """The page that a notebook shows, checked to be one."""
    text = thing._repr_html_()
    assert lxml_html.fromstring(f"<div>{text}</div>") is not None
    return text


def test_robots_show_their_joints_and_tree():
    text = shown(symgen.Robot(robot_file("quadruped")))
    assert text.count("<rect") >= 13 and "<table>" in text
    for name in symgen.Robot(robot_file("quadruped")).velocities:
        assert name in text


def test_names_are_data_in_pages():
    evil = "<script>alert(1)</script>"
    made = symgen.Builder(evil).link(evil).link("b", 1.0, (0.1, 0, 0), (1, 0, 0, 1, 0, 1))
    robot = symgen.Robot(made.joint("j&\"'", "revolute", evil, "b"))
    assert "<script>alert" not in shown(robot) + shown(robot.check()) + shown(
        robot.trace("gravity")
    )


def test_functions_show_counts_and_operations():
    function = symgen.Robot(robot_file("pendulum")).trace("mass_matrix")
    text = shown(function)
    assert function.formulation in text and str(function.counts.total) in text and "<pre>" in text
    committed = (ROOT / "generated/pendulum/pendulum_mass_matrix.c").read_text(encoding="ascii")
    body = committed.split("\n{\n", 1)[1]
    assert body in function.code and lxml_html.fromstring(text).text_content().count(body) == 1


def test_results_show_themselves():
    robot = arm()
    assert "pseudo-inertia" in shown(robot.check())
    assert "m2" in shown(robot.symbolic.meanings("mass_matrix", masses="symbols"))
    relations = robot.symbolic.base_parameters(lengths="symbols")
    assert relations._repr_latex_().startswith("$") and r"\mathrm{ZZR}_{1}" in relations.latex()
    assert "\\\\" in relations.latex()
    assert "iframe" in shown(robot.inspect()) and robot.inspect()["dof"] == 3
    assert "the table shows" in shown(robot.simulate(0.01, times=[0.0, 0.01]))
    assert robot.symbolic.mass_matrix()._repr_latex_().startswith("$")


def test_pictures_of_trees_do_not_overlap():
    text = shown(symgen.Robot(robot_file("humanoid25")))
    boxes = re.findall(r'<rect x="(\d+)" y="(\d+)"', text)
    assert len(boxes) == len(set(boxes)) > 25


def _marked(path):
    return pytest.param(path, marks=[] if path.stem == "robot" else pytest.mark.slow, id=path.stem)


@pytest.mark.parametrize("path", [_marked(path) for path in NOTEBOOKS])
def test_notebooks_run(path, tmp_path, monkeypatch):
    nbformat, client = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    if path.stem == "identification":
        for package in ("scipy", "pyarrow", "clarabel"):
            pytest.importorskip(package)
    _with_symgen(tmp_path, monkeypatch)
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    client.NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
        said = "".join(out.get("text", "") for out in cell.outputs)
        assert cell.source and not re.search(r"(^|: )error: ", said, re.MULTILINE), said


def test_notebooks_need_no_other_files():
    """They run in any folder: robots come from the package."""
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        text = "".join("".join(cell["source"]) for cell in cells)
        assert "symgen.example(" in text and "robots/" not in text, path.name
        assert "root of the repository" not in re.sub(r"\s+", " ", text), path.name


def _with_symgen(folder, monkeypatch):
    """The command and the package are those that are tested, and no log is the user's own."""
    command = folder / "symgen"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m symgen "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("SYMGEN_LOG", raising=False)


def test_notebooks_are_small_and_their_outputs_are_there():
    assert {path.stem for path in NOTEBOOKS} >= {"robot", "identification", "control"}
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert path.stat().st_size < 50_000 and any(cell.get("outputs") for cell in cells)
        assert "error" not in {out["output_type"] for c in cells for out in c.get("outputs", [])}
        assert "\\u001b" not in path.read_text(encoding="utf-8")


def test_the_package_is_light_until_it_is_used():
    """Importing symgen loads nothing else; SymPy comes with the first symbolic result alone."""
    code = (
        "import sys, symgen; assert [m for m in sys.modules if m.startswith('symgen')] == ['symgen']; "
        "robot = symgen.Robot('robots/pendulum.urdf'); robot.joints, robot._repr_html_(), robot.check(); "
        "robot.trace('gravity'); assert 'sympy' not in sys.modules; robot.symbolic.gravity(); "
        "assert 'sympy' in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == 0


def test_help_reads_well():
    text = pydoc.render_doc(symgen, renderer=pydoc.plaintext)
    for name in symgen.__all__:
        assert re.search(rf"(class {name}\b|^    {name}\()", text, re.MULTILINE), name
    own = pydoc.render_doc(symgen.Robot, renderer=pydoc.plaintext)
    public = [name for name in vars(symgen.Robot) if not name.startswith("_") and name != "name"]
    assert all(re.search(rf"^ \|  {name}\b.*\n \|      \w", own, re.MULTILINE) for name in public)
