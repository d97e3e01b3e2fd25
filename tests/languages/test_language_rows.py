"""A row of a language, or a dialect, that cannot work is rejected when it is defined."""

from dataclasses import replace

import pytest

from symgen.jobs.job import Job
from symgen.languages import LANGUAGES
from symgen.languages.backends.javascript import DIALECT
from symgen.languages.language import by_name
from symgen.languages.writer import function_body
from symgen.tracing.request import FunctionRequest
from symgen.tracing.trace import trace

RUST = LANGUAGES["rust"]


@pytest.mark.parametrize(
    "change, words",
    [
        ({"main": "Cargo.toml"}, "main has no {name}"),
        ({"checker": "nothing"}, "no module nothing"),
        ({"reporter": "report"}, "no module report"),
    ],
)
def test_a_row_without_what_it_names_is_rejected(change, words):
    with pytest.raises(ValueError, match=words):
        replace(RUST, **change)


def test_a_row_needs_the_backend_of_its_language():
    with pytest.raises(ValueError, match=r"no module symgen\.languages\.backends\.nolanguage"):
        replace(RUST, name="nolanguage")


@pytest.mark.parametrize(
    "change, words",
    [
        ({}, "two languages have the name rust"),
        ({"name": "jax"}, "two languages have the name rs"),
        ({"name": "jax", "aliases": ()}, "two languages have the main file"),
    ],
)
def test_languages_differ_in_names_and_files(change, words):
    other = replace(RUST, **change)
    with pytest.raises(ValueError, match=words):
        by_name([RUST, other])


@pytest.mark.parametrize(
    "change, words",
    [
        ({"operations": {}}, "a dialect needs operations: add"),
        ({"declare": "const x"}, "a dialect needs {name} in declare"),
        ({"sincos_call": "sincos({angle})"}, "a dialect needs {sine} in sincos_call"),
        ({"declare_uninitialized": "var {name};"}, "needs sincos_call"),
        ({"sincos_loop": lambda angles, number: []}, "needs sincos_call"),
    ],
)
def test_a_dialect_that_cannot_write_a_program_is_rejected(change, words):
    with pytest.raises(ValueError, match=words):
        replace(DIALECT, **change)


def test_names_can_be_distinct_in_a_language_that_ignores_capitals():
    """MA5_xx and Ma5_xx of articulated bodies, as in Fortran."""
    robot = Job.of("robots/ur5.urdf")
    request = FunctionRequest.parse("forward_dynamics")
    formulation = {"forward_dynamics": "forward_dynamics_articulated/minimal"}
    program = trace(robot.robot(robot.load()), request, formulation).program
    arrays = [name.lower() for name, *_ in (*program.inputs, *program.outputs)]
    same = {}
    for case_sensitive in (True, False):
        dialect = replace(DIALECT, case_sensitive=case_sensitive)
        body = function_body(program, dialect, (), ())
        names = [*arrays, *(name.lower() for name in body.names.values())]
        same[case_sensitive] = len(names) - len(set(names))
    assert same[True] > 0 and same[False] == 0
