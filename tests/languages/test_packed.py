"""Packed layouts: the index functions of C and Python agree with the documented formula and with
the full array."""

import subprocess
from itertools import product

import numpy as np
import pytest
from tools import STRICT_C, c_files, compiled, generated, imported

from symgen.algorithms import QUANTITIES
from symgen.languages.c.files import LAYOUTS as OF_C
from symgen.languages.describe import descriptions
from symgen.languages.python.files import LAYOUTS as OF_PYTHON

BOTH = ("christoffel_symbols", "christoffel_symbols_full")
robots = pytest.mark.parametrize("name", ["pendulum", "scara", "ur5"])
CPP = (
    "-std=c++11",
    "-pedantic",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wold-style-cast",
    "-Wshadow",
    "-Werror",
)
USERS = {
    "c": (STRICT_C, "gcc", "user.c", "(int)"),
    "c++": (CPP, "g++", "user.cpp", "static_cast<int>"),
}
"""By language: flags, compiler, file and a cast."""

PRINT = """
#include <stddef.h>
#include <stdio.h>
#include "{name}.h"
int main(void)
{{
    const {type} n = {upper}_DOF;
    {type} i, j, k;
    for (i = 0; i < n; ++i)
        for (j = 0; j < n; ++j)
            for (k = 0; k < n; ++k)
                printf("%d %d\\n", {to_int}({upper}_GAMMA(i, j, k)), {to_int}(3 * {upper}_GAMMA(i | 0, j | 0, k ^ 0)));
    return 0;
}}
"""
"""Arguments that bind loosely, in an expression that binds tightly."""


def documented(n, i, j, k):
    """As the docstring of `christoffel_symbols` has it, for j <= k."""
    return i * n * (n + 1) // 2 + j * n - j * (j - 1) // 2 + k - j


def places(n):
    return [documented(n, i, min(j, k), max(j, k)) for i, j, k in product(range(n), repeat=3)]


@robots
def test_the_python_function_is_the_documented_formula(name):
    module, folder = generated(name, quantities=BOTH)
    index = imported(folder / f"{module.name}.py").gamma_index
    n = module.dof
    assert [index(*ijk) for ijk in product(range(n), repeat=3)] == places(n)
    assert sorted(set(places(n))) == list(range(n * n * (n + 1) // 2))


@robots
@pytest.mark.parametrize("language", USERS)
@pytest.mark.parametrize("type_", ["int", "long", "short", "size_t"])
def test_the_macro_is_the_documented_formula(name, language, type_, tmp_path):
    module, folder = generated(name, quantities=BOTH)
    flags, compiler, user, to_int = USERS[language]
    text = PRINT.format(name=module.name, upper=module.name.upper(), type=type_, to_int=to_int)
    (tmp_path / user).write_text(text)
    compiled(
        *flags, "-Wsign-conversion", f"-I{folder}", user, "-o", "x", cwd=tmp_path, compiler=compiler
    )
    found = subprocess.run(
        [tmp_path / "x"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert [int(x) for x in found[::2]] == places(module.dof)
    assert [int(x) for x in found[1::2]] == [3 * x for x in places(module.dof)]


@robots
def test_the_files_compile_and_pass(name, tmp_path):
    _, folder = generated(name, quantities=BOTH)
    compiled(*STRICT_C, "-O2", f"-I{folder}", *c_files(folder), "-lm", "-o", "x", cwd=tmp_path)
    assert subprocess.run([tmp_path / "x"], check=False).returncode == 0


@robots
def test_by_index_the_packed_symbols_are_the_full_ones(name):
    module, folder = generated(name, quantities=BOTH)
    code, n = imported(folder / f"{module.name}.py"), module.dof
    q = np.random.default_rng(4).uniform(-2, 2, n)
    packed, full = code.christoffel_symbols(q).ravel(), code.christoffel_symbols_full(q)
    for i, j, k in product(range(n), repeat=3):
        assert packed[code.gamma_index(i, j, k)] == full[i, j, k] == full[i, k, j]


def test_two_functions_with_one_array_share_its_index():
    _, folder = generated(
        "ur5", quantities=("christoffel_symbols", "terms=gravity+christoffel_symbols")
    )
    assert (folder / "ur5.h").read_text().count("#define UR5_GAMMA(") == 1
    assert (folder / "ur5.py").read_text().count("def gamma_index(") == 1


def test_no_index_without_a_packed_array():
    _, folder = generated("ur5", quantities=("gravity", "christoffel_symbols_full"))
    assert (
        "GAMMA" not in (folder / "ur5.h").read_text()
        and "_index(" not in (folder / "ur5.py").read_text()
    )


def test_every_language_knows_every_layout():
    used = {out.layout for q in QUANTITIES.values() for out in q.outputs} - {""}
    assert used == set(OF_C) == set(OF_PYTHON)


def test_the_layout_reaches_the_languages():
    module, _ = generated("pendulum", quantities=BOTH)
    assert [
        a.layout for d in descriptions(module) for a in d.arguments if a.direction == "out"
    ] == ["packed pairs", ""]
