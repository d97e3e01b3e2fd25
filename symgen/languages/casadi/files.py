"""CasADi: a package with the graphs of the functions, and C by the convention of external
functions."""

from dataclasses import replace
from typing import Any, Final

from symgen.languages.c.dialect import trig_header
from symgen.languages.c.files import LARGEST_MACROS
from symgen.languages.c.options import COptions
from symgen.languages.c.text import comment as c_comment
from symgen.languages.c.text import literal, string
from symgen.languages.casadi.external import External, externals
from symgen.languages.casadi.patterns import shape_of
from symgen.languages.conventions import convention_lines
from symgen.languages.describe import FunctionDescription, descriptions, laid_out, tables
from symgen.languages.dialect import call, functions
from symgen.languages.local_names import legend
from symgen.languages.module import Module
from symgen.languages.python.files import DIALECT as PYTHON
from symgen.languages.python.files import LAYOUTS, block_lines, comment, unpacked, variable_names
from symgen.languages.writer import blocks, statements, variables, zeros
from symgen.render import render

DIALECT: Final = replace(PYTHON, operations=functions(lambda op: call(f"ca.{op.name}")))


def package(module: Module) -> str:
    """The name of the package, and the first part of all names of its C."""
    return f"{module.name}_casadi"


def files(module: Module) -> dict[str, str]:
    """The package: graphs, how the C is compiled, and the C."""
    folder = package(module)
    context = {
        "module": module,
        "package": folder,
        "functions": descriptions(module),
        "bodies": {d.name: _body(d) for d in descriptions(module)},
        "unpacked": lambda d, a: unpacked(d, a, DIALECT),
        "shape": shape_of,
        "layouts": [LAYOUTS[a.layout](a) for a in laid_out(descriptions(module))],
        "conventions": convention_lines(module),
        "legend": legend(descriptions(module), variable_names(descriptions(module), DIALECT)),
        "tables": tables(module, comment),
        "comment": comment,
        "text": ascii,
    }
    texts = {
        "__init__.py": render("casadi/package.py.jinja", **context),
        "build.py": render(
            "python/build.py.jinja", module=module, package=folder, headers="", without=WITHOUT
        ),
        "py.typed": "",
    }
    return {f"{folder}/{name}": text for name, text in (texts | _c(module)).items()}


WITHOUT: Final = "the graphs of the package need none"
"""What still works without a C compiler."""


def _body(d: FunctionDescription) -> list[list[str]]:
    """The blocks of lines of a function."""
    steps = statements(d.program, DIALECT, zeros(d.program))
    return [block_lines(b) for b in blocks(steps, variables(d.program, steps), DIALECT)]


def _c(module: Module) -> dict[str, str]:
    """The C in the package's folder ``c``."""
    choices = module.choices.changed(scalar="double", zeros="always", batch=None)
    inner = replace(module, name=package(module), choices=choices)
    all_externals = externals(inner)
    shared: dict[str, Any] = {
        "module": inner,
        "c": inner[COptions],
        "source": module,
        "every": all_externals,
        "comment": c_comment,
        "string": string,
        "zero": literal(0.0, "double"),
        "largest": LARGEST_MACROS["double"],
        "shape": shape_of,
    }
    texts = {
        f"{inner.name}.h": render("casadi/module.h.jinja", **shared),
        f"{inner.name}_tables.h": render("casadi/tables.h.jinja", **shared),
    }
    for function, jacobian in all_externals:
        compiled = [f for f in (function, jacobian) if f is not None]
        texts[f"{function.name}.c"] = render(
            "casadi/function.c.jinja",
            **shared,
            function=function,
            jacobian=jacobian,
            both=compiled,
            calls=_calls(compiled),
        )
    if inner[COptions].trig == "inline":
        programs = [f.core.d.program for pair in all_externals for f in pair if f is not None]
        texts[f"{inner.name}_trig.h"] = trig_header(inner, programs)
    return {f"c/{name}": text for name, text in texts.items()}


def _calls(externals: list[External]) -> list[str]:
    """The first letters of what checks that results are finite."""
    return sorted({text[0] for f in externals if f.core.d.pivots for text in f.core.finite})
