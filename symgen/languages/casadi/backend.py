"""CasADi: a package with the graphs of the functions, and C by the convention of external
functions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from symgen.languages.c.constants import LARGEST_MACROS
from symgen.languages.c.expressions import trig_header
from symgen.languages.c.options import COptions
from symgen.languages.c.syntax import comment as c_comment
from symgen.languages.c.syntax import literal, string
from symgen.languages.casadi.external import externals, shape_of
from symgen.languages.dialect import call, functions
from symgen.languages.external_runner import ExternalRunner, Outputs, RunnerError, package_runner
from symgen.languages.module import Module
from symgen.languages.python.backend import BACKEND as PYTHON
from symgen.languages.verification import (
    Arrays,
    Check,
    VerificationTarget,
    relative_error,
)
from symgen.numbers.types import AnyArray
from symgen.render import render
from symgen.tracing.function import Function

BACKEND: Final = replace(
    PYTHON,
    dialect=replace(PYTHON.dialect, operations=functions(lambda op: call(f"ca.{op.name}"))),
    tests_pivots=False,
)


def package_name(module: Module) -> str:
    """The name of the package, and the first part of all names of its C."""
    return f"{module.name}_casadi"


def files(module: Module) -> dict[str, str]:
    """The package: graphs, how the C is compiled, and the C."""
    folder = package_name(module)
    context = BACKEND.context(module) | {
        "package": folder,
        "shape": shape_of,
        "legend": replace(BACKEND, tests_pivots=True).context(module)["legend"],  # order of the C
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


def _c(module: Module) -> dict[str, str]:
    """The C in the package's folder ``c``."""
    choices = module.choices.changed(scalar="double", zeros="always", batch=None)
    inner = replace(module, name=package_name(module), choices=choices)
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
            calls=sorted({x[0] for f in compiled if f.core.d.pivots for x in f.core.finite}),
        )
    if inner[COptions].trig == "inline":
        programs = [f.core.d.program for pair in all_externals for f in pair if f is not None]
        texts[f"{inner.name}_trig.h"] = trig_header(inner, programs)
    return {f"c/{name}": text for name, text in texts.items()}


BUILT: Final = "from {package}.build import build, library\nlibrary().is_file() or build()\n"

RESULTS: Final = """
import casadi as ca
robot = __import__({package!r})

def results(name, arrays):
    f = {function}
    shapes = list(robot.ARGUMENTS[name][0].values())
    n = len(arrays[0])
    columns = [
        x.reshape(n, *s).transpose(1, 0, 2).reshape(s[0], -1) for x, s in zip(arrays, shapes)
    ]
    made = f.map(n)(*map(ca.DM, columns))
    made = made if isinstance(made, tuple) else (made,)
    return [
        ca.densify(x).full().reshape(x.shape[0], n, -1).transpose(1, 0, 2) for x in made
    ]
"""

MOVED: Final = """
import casadi as ca
robot = __import__({package!r})

def results(name, arrays):
    f = robot.external(name)
    shapes, jacobian = list(robot.ARGUMENTS[name][0].values()), f.jacobian()
    ends = np.cumsum([0, *(x.shape[1] for x in arrays)])
    ways = [np.cos(1.0 + np.arange(a, b)) for a, b in zip(ends, ends[1:])]
    ways = [way.reshape(s).ravel(order="F") for way, s in zip(ways, shapes)]
    made = [[] for _ in range(f.n_out())]
    for row in zip(*arrays):
        given = [ca.DM(x.reshape(s)) for x, s in zip(row, shapes)]
        blocks = jacobian.call([*given, *(ca.DM(*f.size_out(k)) for k in range(f.n_out()))])
        for k, told in enumerate(made):
            parts = blocks[k * f.n_in() : (k + 1) * f.n_in()]
            moved = sum(ca.densify(x).full() @ way for x, way in zip(parts, ways))
            told.append(moved.reshape(f.size_out(k), order="F").ravel())
    return made
"""
"""What outputs change by when entry k of all inputs moves by cos(1 + k)."""

STEP: Final = 1e-30
FEW: Final = 3
TOLERANCE: Final = 1e-8
"""The part of the largest entry that is left where a derivative nearly cancels."""


def checks(target: VerificationTarget, progress: Callable[[str], None]) -> Iterator[Check]:
    """The checks of the package of a folder."""
    runner = external(target.module)
    yield from graphs(target.module).checks(target, progress)
    yield from runner.checks(target, progress)
    if not runner.missing:
        progress("Jacobians")
        yield from _jacobians(target)


def graphs(module: Module) -> ExternalRunner:
    """The check of a package's graphs, the functions made of CasADi's own operations."""
    setup = RESULTS.format(package=package_name(module), function="robot.graph(name)")
    return package_runner("CasADi graph", setup, "casadi")


def external(module: Module) -> ExternalRunner:
    """The check of a package's external functions."""
    package = package_name(module)
    called = RESULTS.format(package=package, function="robot.external(name)")
    setup = BUILT.format(package=package) + called
    return package_runner("external function of CasADi", setup, "casadi")


def _jacobians(target: VerificationTarget) -> Iterator[Check]:
    package = package_name(target.module)
    functions = dict[str, Function]()
    for f in target.module.functions:
        file = target.folder / package / "c" / f"{package}_{f.name}.c"
        if f"int jac_{package}_{f.name}(" in file.read_text(encoding="utf-8"):
            functions[f.name] = f
    setup = BUILT.format(package=package) + MOVED.format(package=package)
    try:
        outputs = package_runner("Jacobian", setup, "casadi").outputs(target, functions)
    except RunnerError as error:
        yield Check("Jacobians of external functions compile", False, str(error))
        return
    for name, rows in outputs.items():
        yield _jacobian(target, functions[name], rows)


def _jacobian(target: VerificationTarget, function: Function, rows: Outputs | RunnerError) -> Check:
    claim = f"jac_{function.name}: equals the complex step of the algorithm"
    if isinstance(rows, RunnerError):
        return Check(claim, False, str(rows))
    states = target.some(function)[:FEW]
    worst = 0.0
    for state, row in zip(states, rows, strict=False):
        wanted = _slopes(function, state)
        worst = max(worst, *(relative_error(x, wanted[name]) for name, x in row.items()))
    return Check(claim, worst <= TOLERANCE, f"largest error {worst:.1e}, {len(states)} states")


def _slopes(function: Function, state: Arrays) -> dict[str, AnyArray]:
    """The rates at which outputs change where the inputs move as in `MOVED`."""
    displaced: dict[str, Sequence[complex]] = {}
    first = 0
    for name in function.inputs:
        x = np.asarray(state[name], float)
        direction = np.cos(1.0 + np.arange(first, first + x.size))
        displaced[name] = (x + 1j * STEP * direction).tolist()
        first += x.size
    moved: Mapping[str, Sequence[Any]] = function.run(**displaced)
    return {
        name: np.array([getattr(x, "imag", 0.0) for x in values], float) / STEP
        for name, values in moved.items()
    }
