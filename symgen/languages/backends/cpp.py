"""C++: how it is written, and the two headers of a module."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from symgen.languages.c.expressions import INLINE, LIMITS, ULP, VECTORS, rows, steps
from symgen.languages.c.options import COptions
from symgen.languages.c.syntax import WIDTH, comment, literal, string, wrapped
from symgen.languages.describe import Argument, FunctionDescription, descriptions
from symgen.languages.dialect import COSINE_ARRAY, SINE_ARRAY, Dialect, call, functions
from symgen.languages.external_runner import ExternalRunner, run_driver, run_program
from symgen.languages.module import Module
from symgen.languages.sine_loops import forms
from symgen.languages.text_backend import TextBackend, called_functions
from symgen.languages.verification import VerificationTarget
from symgen.native.compiler import platform
from symgen.render import render

OWN: Final = ("sign",)
"""Functions of the tape that C++ lacks: templates in the namespace `detail` of the header."""


def dialect(module: Module) -> Dialect:
    """How C++ is written, with sines of the header or of the standard library."""
    inline = _inline(module)
    called = {
        **dict.fromkeys(OWN, "detail::{}"),
        **dict.fromkeys(INLINE if inline else (), "detail::{}<Real>"),
    }
    return Dialect(
        operations=functions(lambda op: call(called.get(op.name, "{}").format(op.name))),
        literal=lambda x: f"Real({literal(x, 'double')})",
        declare="const Real {name}",
        pair="const auto [{sine}, {cosine}] = detail::sincos<Real>({angle});" if inline else "",
        loop=_loop if inline else None,
    )


def _inline(module: Module) -> bool:
    """Whether the header computes sines itself."""
    return module[COptions].trig == "inline"


def _loop(angles: Sequence[str], number: str) -> list[str]:
    """The sines and cosines of several angles, as arrays."""
    start = f"const auto [{SINE_ARRAY}{number}, {COSINE_ARRAY}{number}] = detail::sincos_all<Real>("
    line = f"{start}{', '.join(angles)});"
    return [line] if len(line) <= WIDTH else [start, *wrapped("    ", angles, ");")]


def files(module: Module) -> dict[str, str]:
    """The header, and one that gives its functions vectors and matrices of Eigen."""
    described = descriptions(module)
    sines = forms(d.program for d in described)
    style = TextBackend(dialect(module), comment, string, "/* {} */")
    context = style.context(module) | {
        "space": f"{module.name}_robot",
        "guard": f"{module.name.upper()}_ROBOT",
        "matrix": matrix,
        "called": {d.name: _called(module, d) for d in described},
        "sines": sines if _inline(module) and sines.some else None,
        "own": INLINE,
        "limits": LIMITS,
        "steps": {scalar: steps(scalar) for scalar in LIMITS},
        "rows": rows,
        "ulp": ULP,
        "vectors": VECTORS,
    }
    return {
        f"{module.name}_robot.hpp": render("cpp/module.hpp.jinja", **context),
        f"{module.name}_robot_eigen.hpp": render("cpp/eigen.hpp.jinja", **context),
    }


def _called(module: Module, d: FunctionDescription) -> list[str]:
    """The functions that are found by their argument, or else in std."""
    own = {*OWN, *(INLINE if _inline(module) else ())}
    return [name for name in called_functions([d.program]) if name not in own]


def matrix(a: Argument) -> tuple[int, int]:
    """Rows and columns of an array in Eigen: those of a matrix, one column of all else."""
    return (a.sizes[0], a.sizes[1]) if len(a.sizes) == 2 else (a.size, 1)


FLAGS: Final = (
    "-std=c++17",
    "-O1",
    "-ffp-contract=off",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wshadow",
    "-Werror",
)


def compiler() -> list[str]:
    """$CXX with its arguments, else c++."""
    return platform().split(os.environ.get("CXX", "")) or ["c++"]


def run(target: VerificationTarget, folder: Path, functions: Sequence[FunctionDescription]) -> None:
    """Compiles the header of a folder in a driver, and runs functions. Raises RunnerError."""
    header = f"{target.module.name}_robot.hpp"
    shutil.copyfile(target.folder / header, folder / header)
    driver = render(
        "cpp/driver.cpp.jinja", module=target.module, functions=descriptions(target.module)
    )
    (folder / "driver.cpp").write_text(driver, encoding="utf-8")
    run_program([*compiler(), *FLAGS, "driver.cpp", "-o", "driver"], folder)
    run_driver(folder, functions)


CPP_RUNNER: Final = ExternalRunner("C++", (compiler()[0],), run)

checks: Final = CPP_RUNNER.checks
"""The checks of the C++ header of a folder."""
