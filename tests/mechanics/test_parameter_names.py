"""Names of base parameters: their own, the same everywhere, with sums that SymPy reads."""

import json
import re

import numpy as np
import pytest
import sympy

from symgen.identification.model.estimate import BaseMapping
from symgen.identification.model.problem import problem_for, standard_parameters, torque_mapping
from symgen.identification.model.settings import Settings
from symgen.jobs.api import trace
from symgen.jobs.job import Job
from symgen.mechanics.base_parameters import (
    REGROUPED,
    base_parameters,
    base_values,
    grouping_text,
    latex_name,
    latex_sum,
)
from symgen.mechanics.parameters import lump_links
from tests.support.random_trees import FEW, RANDOM, model
from tests.support.tools import generated, invoke, robot_file

robots = pytest.mark.parametrize("name", [*RANDOM, *FEW, "scara", "ur5", "panda_arm", "quadruped"])


def mapping(name):
    robot = model(name)
    return torque_mapping(robot)


@robots
def test_names_are_no_parameters_of_the_file_and_no_two_are_equal(name):
    found = base_parameters(model(name))
    assert len(set(found.columns)) == len(found) and not set(found.columns) & set(found.names)
    for column, link, key in zip(found.columns, found.links, found.independent.keys, strict=True):
        stem, body = column.rsplit("_", 1)
        assert int(body) == key[0] and link == found.model.body(key[0]).name
        assert stem in {*REGROUPED.values(), "ZZR"}


@robots
def test_sums_in_full_digits_are_the_numbers(name):
    """Read by SymPy, at the file's parameters: K π, and the base parameters of the algorithm."""
    found = mapping(name)
    values = dict(zip(found.standard, found.prior.tolist(), strict=True))
    terms = [sympy.sympify(text) for text in found.groupings]
    sums = np.array([float(sum(c * values[str(s)] for s, c in _linear(t))) for t in terms])
    wanted = found.base(found.prior)
    scale = np.abs(found.factors) @ np.abs(found.prior) + 1e-300
    assert np.abs(sums - wanted).max() <= 1e-14 * scale.max()
    base = base_parameters(lump_links(model(name), [b.name for b in model(name).moving]))
    assert base.groupings == found.groupings and base.columns == found.names
    exact = np.array(base_values(base.robot, found.prior.tolist()), float)
    assert (np.abs(sums - exact) <= 1e-11 * scale.max()).all()


def _linear(expression):
    for symbol in expression.free_symbols:
        yield symbol, expression.coeff(symbol)


def test_what_is_kept_of_a_body_is_what_the_name_says():
    """UR5, whose link frames are canonical but for places: the factors of a body's own ten."""
    found = base_parameters(model("ur5"))
    own = {
        "MXR": {"hx": 1},
        "MYR": {"hy": 1},
        "SXXR": {"Ixx": -0.5, "Iyy": 0.5, "Izz": 0.5},
        "SYYR": {"Ixx": 0.5, "Iyy": -0.5, "Izz": 0.5},
        "SXYR": {"Ixy": -1},
        "SXZR": {"Ixz": -1},
        "SYZR": {"Iyz": -1},
        "ZZR": {"Izz": 1},
    }
    for column, row in zip(found.columns, found.factors, strict=True):
        stem, body = column.rsplit("_", 1)
        factors = {n: x for n, x in zip(found.names, row.tolist(), strict=True) if x}
        mine = {n.rsplit("_", 1)[0]: x for n, x in factors.items() if n.endswith(f"_{body}")}
        assert {k: x for k, x in mine.items() if k in own[stem]} == own[stem]
    assert found.columns[0] == "ZZR_1" and not any(c.startswith("MR") for c in found.columns)


def test_the_printed_equations_are_no_identities_of_one_name():
    text = invoke("inspect", robot_file("panda"), "--latex").stdout
    for line in text.splitlines():
        if "&=" in line:
            left, right = line.split("&=")
            assert left.strip() not in right and "R}" not in right


def test_header_python_inspect_and_identify_have_the_same_names(tmp_path):
    quantities = ("base_regressor", "base_parameters")
    folder = generated("ur5", quantities=quantities)[1]
    names = list(
        json.loads(invoke("inspect", robot_file("ur5"), "--json").stdout)["base_parameters"][
            "links"
        ]
    )
    for file in ("ur5.h", "ur5.py"):
        text = re.sub(r"\n( \*)?\s+", " ", (folder / file).read_text())
        listed = (
            "The base parameters, in the order of beta and of regressor columns, are ([^.]*)\\."
        )
        found = re.search(listed, text)
        assert found and found[1].split(", ") == names
        assert "in the name of a base parameter is that of its body: 1 link1, 2 link2" in text
    job = Job.of(robot_file("ur5"))
    assert list(problem_for(job, job.load(), Settings()).mapping.names) == names
    assert "base parameter" not in (generated("ur5")[1] / "ur5.h").read_text()
    assert len(trace(robot_file("ur5"), "base_parameters").program.outputs[0].refs) == len(names)


def test_what_a_wrench_sensor_finds_has_names_of_its_own_too():
    job = Job.of(robot_file("ur5"))
    found = problem_for(job, job.load(), Settings(sensor="wrench:joint3")).mapping
    assert isinstance(found, BaseMapping) and not set(found.names) & set(found.standard)
    whole = standard_parameters(found.model)
    values = dict(zip(found.standard, whole.tolist(), strict=True))
    for text, wanted in zip(found.groupings, found.base(whole), strict=True):
        terms = _linear(sympy.sympify(text))
        assert float(sum(c * values[str(s)] for s, c in terms)) == pytest.approx(wanted, rel=1e-12)


def test_sums_as_text_and_as_latex():
    names = ("m_1", "hx_2", "Ixx_10", "J_3")
    assert grouping_text([1, -1, 0, 0], names) == "m_1 - hx_2"
    assert grouping_text([-0.5, 0, 1, 1e-5], names) == "-0.5*m_1 + Ixx_10 + 1e-05*J_3"
    assert grouping_text([0, 0, 0, 0], names) == "0"
    said = latex_sum(grouping_text([-0.5, 0, 1, 2.5e-5], names))
    assert said == r"-0.5 \, m_{1} + I_{xx,10} + 2.5 \cdot 10^{-5} \, J_{3}"
    assert latex_name("MXR_2") == r"\mathrm{MXR}_{2}" and latex_sum("0") == "0"
