"""Packed layouts: the index functions of C and Python agree with the documented formula and with
the full array."""

import ast
import shutil
import subprocess
from functools import partial
from itertools import product

import numpy as np
import pytest

from symgen.algorithms import QUANTITIES
from symgen.algorithms.registry import PACKED_PAIRS
from symgen.languages import LANGUAGES
from symgen.languages.describe import descriptions
from tests.support.tools import STRICT_C, c_files, compiled, generated, imported

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


def from_command(folder, *commands):
    """The numbers that the last of some commands prints."""
    for command in commands:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return [int(x) for x in done.stdout.split()]


def of_cpp(name, folder, n):
    text = f"""#include "{name}_robot.hpp"
        #include <cstdio>
        int main() {{ for (std::size_t i = 0; i < {n}; ++i) for (std::size_t j = 0; j < {n}; ++j)
        for (std::size_t k = 0; k < {n}; ++k) std::printf("%zu ", {name}_robot::gamma_index(i, j, k)); }}"""
    (folder / "main.cpp").write_text(text)
    return from_command(folder, ["c++", "-std=c++17", "main.cpp", "-o", "main"], ["./main"])


def of_rust(name, folder, n):
    crate = folder / f"{name}_rust"
    text = f"""fn main() {{ for i in 0..{n} {{ for j in 0..{n} {{ for k in 0..{n} {{
        println!("{{}}", {name}::gamma_index(i, j, k)) }} }} }} }}"""
    (folder / "main.rs").write_text(text)
    library = f"lib{name}.rlib"
    rustc = ["rustc", "--edition", "2021", "-A", "warnings"]
    make = [*rustc, "--crate-type", "rlib", "--crate-name", name, "--cfg", 'feature="std"']
    return from_command(
        folder,
        [*make, crate / "src" / "lib.rs", "-o", library],
        [*rustc, "main.rs", "--extern", f"{name}={library}", "-o", "main"],
        ["./main"],
    )


def of_javascript(name, folder, n):
    script = f"""import {{ gamma_index }} from "./{name}.mjs";
        for (let i = 0; i < {n}; ++i) for (let j = 0; j < {n}; ++j) for (let k = 0; k < {n}; ++k)
        console.log(gamma_index(i, j, k));"""
    return from_command(folder, ["node", "--input-type=module", "-e", script])


def of_matlab(name, folder, n):
    script = f"""for i = 1:{n}, for j = 1:{n}, for k = 1:{n}
        printf("%d ", {name}_robot.gamma_index(i, j, k) - 1); end, end, end"""
    command = ["octave-cli", "--norc", "--no-history", "--quiet", "--eval", script]
    by_columns = from_command(folder / f"{name}_matlab", command)
    pairs = n * (n + 1) // 2
    return [place % n * pairs + place // n for place in by_columns]


def of_cuda(name, folder, n):
    header = (folder / f"{name}_cuda" / f"{name}_cuda.h").read_text()
    (macro,) = [
        line for line in header.splitlines() if line.startswith("#define") and "GAMMA(" in line
    ]
    text = f"""#include <cstdio>
        {macro}
        int main() {{ for (int i = 0; i < {n}; ++i) for (int j = 0; j < {n}; ++j)
        for (int k = 0; k < {n}; ++k) std::printf("%d ", {name.upper()}_GAMMA(i, j, k)); }}"""
    (folder / "main.cpp").write_text(text)
    return from_command(folder, ["c++", "-std=c++17", "main.cpp", "-o", "main"], ["./main"])


def of_package(name, folder, n, ending):
    found = ast.parse((folder / f"{name}_{ending}" / "__init__.py").read_text())
    (index,) = [x for x in found.body if getattr(x, "name", "") == "gamma_index"]
    place = {}
    exec(ast.unparse(index), place)
    return [place["gamma_index"](*ijk) for ijk in product(range(n), repeat=3)]


INDEX = {
    "cpp": ("c++", of_cpp),
    "rust": ("rustc", of_rust),
    "javascript": ("node", of_javascript),
    "matlab": ("octave-cli", of_matlab),
    "cuda": ("c++", of_cuda),
    "casadi": ("", partial(of_package, ending="casadi")),
    "jax": ("", partial(of_package, ending="jax")),
    "torch": ("", partial(of_package, ending="torch")),
}
"""By language: the program that runs it, and what all indices are there, row by row."""


@robots
@pytest.mark.parametrize("language", INDEX)
def test_the_index_function_of_every_language_is_the_documented_formula(name, language, tmp_path):
    program, indices = INDEX[language]
    if program and shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    module, folder = generated(name, languages=(language,), quantities=BOTH[:1])
    shutil.copytree(folder, tmp_path / "x")
    assert indices(name, tmp_path / "x", module.dof) == places(module.dof)


def test_the_index_of_every_language_is_tried():
    missing = {*LANGUAGES} - {*INDEX, "c", "python"}
    assert not missing, f"give INDEX of {__name__} the index function of {missing}"


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
    assert used == {PACKED_PAIRS}


def test_the_layout_reaches_the_languages():
    module, _ = generated("pendulum", quantities=BOTH)
    assert [
        a.layout for d in descriptions(module) for a in d.arguments if a.direction == "out"
    ] == ["packed pairs", ""]
