"""A row of a language, or a dialect, that cannot work is rejected when it is defined."""

from dataclasses import replace

import pytest

from symgen.languages import LANGUAGES
from symgen.languages.backends.javascript import DIALECT
from symgen.languages.language import registry

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
    with pytest.raises(ValueError, match=r"no module symgen\.languages\.backends\.julia"):
        replace(RUST, name="julia")


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
        registry([RUST, other])


@pytest.mark.parametrize(
    "change, words",
    [
        ({"operations": {}}, "a dialect needs operations: add"),
        ({"declare": "const x"}, "a dialect needs {name} in declare"),
        ({"pair": "sincos({angle})"}, "a dialect needs {sine} in pair"),
        ({"reserve": "var {name};"}, "needs pair"),
        ({"loop": lambda angles, number: []}, "needs pair"),
    ],
)
def test_a_dialect_that_cannot_write_a_program_is_rejected(change, words):
    with pytest.raises(ValueError, match=words):
        replace(DIALECT, **change)
