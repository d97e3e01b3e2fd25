"""C++: how it is written, and the two headers of a module."""

import os
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from symgen.languages.backends import TextBackend, called_functions
from symgen.languages.c.options import COptions
from symgen.languages.c.syntax import MAX_DECLARATION_LENGTH, comment, literal, string, wrap_list
from symgen.languages.describe import Argument, FunctionDescription, descriptions
from symgen.languages.dialect import COSINE_ARRAY, SINE_ARRAY, Dialect, operation_table
from symgen.languages.external_runner import ExternalRunner, run_driver, run_program
from symgen.languages.module import Module
from symgen.languages.sines import (
    INLINE_FUNCTIONS,
    MAX_SINE_ULP,
    SINE_LIMITS,
    SINE_VECTORS,
    definition_lines,
    sine_steps,
    sine_use,
)
from symgen.languages.verification import VerificationTarget
from symgen.native.compiler import platform
from symgen.render import render

DEFINED_FUNCTIONS: Final = ("sign",)
"""Functions of the tape that C++ lacks: templates in the namespace `detail` of the header."""


def dialect(module: Module) -> Dialect:
    """How C++ is written, with sines of the header or of the standard library."""
    inline = _has_inline_sines(module)
    called = {
        **dict.fromkeys(DEFINED_FUNCTIONS, "detail::{}"),
        **dict.fromkeys(INLINE_FUNCTIONS if inline else (), "detail::{}<Real>"),
    }
    return Dialect(
        operations=operation_table(lambda op: called.get(op.name, "{}").format(op.name) + "({a})"),
        literal=lambda x: f"Real({literal(x, 'double')})",
        declare="const Real {name}",
        sincos_call="const auto [{sine}, {cosine}] = detail::sincos<Real>({angle});"
        if inline
        else "",
        sincos_loop=_sincos_loop if inline else None,
    )


def _has_inline_sines(module: Module) -> bool:
    """Whether the header computes sines itself."""
    return module[COptions].trig == "inline"


def _sincos_loop(angles: Sequence[str], number: str) -> list[str]:
    """The sines and cosines of several angles, as arrays."""
    start = f"const auto [{SINE_ARRAY}{number}, {COSINE_ARRAY}{number}] = detail::sincos_all<Real>("
    line = f"{start}{', '.join(angles)});"
    return (
        [line] if len(line) <= MAX_DECLARATION_LENGTH else [start, *wrap_list("    ", angles, ");")]
    )


def files(module: Module) -> dict[str, str]:
    """The header, and one that gives its functions vectors and matrices of Eigen."""
    described = descriptions(module)
    sines = sine_use(d.program for d in described)
    own = {*DEFINED_FUNCTIONS, *(INLINE_FUNCTIONS if _has_inline_sines(module) else ())}
    style = TextBackend(dialect(module), comment, string, "/* {} */")
    context = style.context(module) | {
        "space": f"{module.name}_robot",
        "guard": f"{module.name.upper()}_ROBOT",
        "matrix": eigen_shape,
        "called": {  # functions that are found by their argument, or else in std
            d.name: [name for name in called_functions([d.program]) if name not in own]
            for d in described
        },
        "sines": sines if _has_inline_sines(module) and sines.some else None,
        "own": INLINE_FUNCTIONS,
        "limits": SINE_LIMITS,
        "steps": {x: sine_steps(x, partial(literal, scalar=x)) for x in SINE_LIMITS},
        "rows": definition_lines,
        "ulp": MAX_SINE_ULP,
        "vectors": SINE_VECTORS,
    }
    return {
        f"{module.name}_robot.hpp": render("cpp/module.hpp.jinja", **context),
        f"{module.name}_robot_eigen.hpp": render("cpp/eigen.hpp.jinja", **context),
    }


def eigen_shape(a: Argument) -> tuple[int, int]:
    """Rows and columns of an array in Eigen: those of a matrix, one column of all else."""
    return (a.sizes[0], a.sizes[1]) if len(a.sizes) == 2 else (a.size, 1)


CPP_FLAGS: Final = (
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


def cpp_compiler() -> list[str]:
    """$CXX with its arguments, else c++."""
    return platform().split(os.environ.get("CXX", "")) or ["c++"]


def run_cpp(
    target: VerificationTarget, folder: Path, functions: Sequence[FunctionDescription]
) -> None:
    """Compiles the header of a folder in a driver, and runs functions. Raises RunnerError."""
    header = f"{target.module.name}_robot.hpp"
    shutil.copyfile(target.folder / header, folder / header)
    driver = render(
        "cpp/driver.cpp.jinja", module=target.module, functions=descriptions(target.module)
    )
    (folder / "driver.cpp").write_text(driver, encoding="utf-8")
    run_program([*cpp_compiler(), *CPP_FLAGS, "driver.cpp", "-o", "driver"], folder)
    run_driver(folder, functions)


CPP_RUNNER: Final = ExternalRunner("C++", (cpp_compiler()[0],), run_cpp)

checks: Final = CPP_RUNNER.checks
"""The checks of the C++ header of a folder."""
