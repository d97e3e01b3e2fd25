"""``symgen inspect`` for people: tables that fit a screen, pictures, hostile names."""

import re
import struct

import numpy as np
import pytest

from symgen.inspection.robot_data import sparsity
from symgen.inspection.robot_report import REASON_MARKS, constant_text
from symgen.jobs.job import Job
from tests.support.hostile import hostile
from tests.support.inspected import HOSTILE, PENDULUM, data
from tests.support.tools import invoke, robot_file


def test_a_panda_fits_on_one_screen():
    lines = invoke("inspect", robot_file("panda_arm")).stdout.splitlines()
    assert 30 < len(lines) <= 42 and max(map(len, lines)) <= 100
    text = "\n".join(lines)
    assert all(b["name"] in text and b["joint"] in text for b in data("panda_arm")["bodies"])
    marks = re.findall(r"^ link\d((?: +[·●○→]){10}) *$", text, re.MULTILINE)
    reasons = list(data("panda_arm")["base_parameters"]["parameters"].values())
    shown = [mark for row in marks for mark in row.split()]
    assert shown == [
        next(m for s, (m, _) in REASON_MARKS.items() if r.startswith(s)) for r in reasons
    ]


def test_groupings_are_printed():
    text = invoke("inspect", PENDULUM, "--groupings").stdout
    for name, expression in data("pendulum")["base_parameters"]["groupings"].items():
        link = data("pendulum")["base_parameters"]["links"][name]
        assert re.search(rf"^ {name} +{link} +{re.escape(expression)} *$", text, re.MULTILINE)


def test_names_are_printed_as_they_are(tmp_path):
    file = tmp_path / "r.urdf"
    file.write_text(hostile("</title><script>", HOSTILE), encoding="utf-8")
    assert all(name in invoke("inspect", file).stdout for name in ("{{7*7}}", "[bold]", "]]>"))


def pixels(path):
    """Width and height of a PNG."""
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n" and head[12:16] == b"IHDR"
    return struct.unpack(">II", head[16:24])


def test_plot_is_a_picture_that_fits_a_page(tmp_path):
    """And the same each time, as tests/jobs/test_targets.py has it of every format."""
    pytest.importorskip("matplotlib")
    done = invoke("inspect", PENDULUM, "--plot", tmp_path / "0.png")
    assert done.exit_code == 0 and done.stdout == done.stderr == ""
    width, height = pixels(tmp_path / "0.png")
    assert 800 <= width <= 3600 and 200 <= height <= 1800


def test_sparsity_is_what_vanishes_in_every_state():
    job = Job.of(
        robot_file("scara"), quantities=("regressor", "mass_matrix", "christoffel_symbols_full")
    )
    module = job.module(job.load())
    found, random = sparsity(module), np.random.default_rng(5)
    for function in module.functions:
        runs = [
            function.run(**{k: random.uniform(-2, 2, 4).tolist() for k in function.inputs})
            for _ in range(5)
        ]
        for out, pattern in ((out, found[out.name]) for out in function.program.outputs):
            values = np.array([[float(x) for x in run[out.name]] for run in runs])
            assert ((np.abs(values).max(axis=0) > 1e-12).reshape(out.shape) == pattern).all()
    assert (
        set(found) == {"Y", "M", "Gamma_full"}
        and found["M"].shape == (4, 4)
        and not found["M"][0, 2]
    )


def test_latex_of_the_groupings_can_be_set(tmp_path):
    """Every line through TeX's rules as far as matplotlib knows them."""
    mathtext = pytest.importorskip("matplotlib.mathtext")
    lines = invoke("inspect", robot_file("ur5"), "--latex").stdout.splitlines()
    assert lines[:6] == [f"% body {k}: link link{k}" for k in range(1, 7)]
    assert (lines[6], lines[-1]) == (r"\begin{align*}", r"\end{align*}") and len(
        lines
    ) == 6 + 36 + 2
    parser = mathtext.MathTextParser("path")
    for line in lines[7:-1]:
        left, right = re.fullmatch(r"  (\S+) &= (.+) \\\\", line).groups()
        assert parser.parse(f"${left} = {right}$")


def test_constants_are_written_as_people_do_and_tiny_ones_as_they_are():
    for x, text in ((0, "·"), (np.pi / 2, "π/2"), (-np.pi, "-π"), (3e-13, "3e-13")):
        assert constant_text(x, "gamma") == text
    assert (
        constant_text(3 * np.pi / 2, "theta0") == "4.7124" and constant_text(np.pi, "r") == "3.1416"
    )
