"""CasADi: a package with the graphs of the functions, and C by the convention of external
functions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from symgen.languages.backends.casadi_externals import externals, shape_of
from symgen.languages.backends.python import BACKEND as PYTHON
from symgen.languages.backends.python import package_files
from symgen.languages.c.options import COptions
from symgen.languages.c.syntax import LARGEST_MACROS, literal, string, trig_header
from symgen.languages.c.syntax import comment as c_comment
from symgen.languages.dialect import operation_table
from symgen.languages.external_runner import (
    ExternalRunner,
    RunnerError,
    package_runner,
)
from symgen.languages.module import Module
from symgen.languages.verification import (
    Arrays,
    Check,
    VerificationTarget,
    relative_error,
)
from symgen.numbers.scalar import AnyArray
from symgen.render import render
from symgen.tracing.function import Function

BACKEND: Final = replace(
    PYTHON,
    dialect=replace(PYTHON.dialect, operations=operation_table(lambda op: f"ca.{op.name}({{a}})")),
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
    texts = {"__init__.py": render("casadi/package.py.jinja", **context)}
    facts = {"framework": "CasADi", "requirement": "casadi>=3.6", "without": WITHOUT_COMPILER}
    texts |= package_files(module, folder, **facts)
    return {f"{folder}/{name}": text for name, text in (texts | _c_files(module)).items()}


WITHOUT_COMPILER: Final = "the graphs of the package need none"
"""What still works without a C compiler."""


def _c_files(module: Module) -> dict[str, str]:
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
    for family in all_externals:
        texts[f"{family[0].name}.c"] = render(
            "casadi/function.c.jinja",
            **shared,
            function=family[0],
            family=family,
            calls=sorted(
                {x[0] for f in family if f.core.description.pivots for x in f.core.finite_tests}
            ),
        )
    if inner[COptions].trig == "inline":
        programs = [f.core.description.program for family in all_externals for f in family]
        texts[f"{inner.name}_trig.h"] = trig_header(inner, programs)
    return {f"c/{name}": text for name, text in texts.items()}


BUILD_SETUP: Final = "from {package}.build import build, library\nlibrary().is_file() or build()\n"

RUN_FUNCTIONS: Final = """
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

DIRECTIONAL_DERIVATIVES: Final = """
import casadi as ca
robot = __import__({package!r})

def results(name, arrays):
    f = robot.external(name)
    shapes = list(robot.ARGUMENTS[name][0].values())
    ends = np.cumsum([0, *(x.shape[1] for x in arrays)])
    way = [np.cos(1.0 + np.arange(a, b)) for a, b in zip(ends, ends[1:])]
    way = [x.reshape(s).ravel(order="F") for x, s in zip(way, shapes)]
    made = [[] for _ in range(f.n_out())]
    for row in zip(*arrays):
        given = [ca.DM(x.reshape(s)) for x, s in zip(row, shapes)]
        given += [ca.DM(*f.size_out(k)) for k in range(f.n_out())]
        for k, moved in enumerate(made):
            moved.append(along(f, given, way, k).reshape(f.size_out(k), order="F").ravel())
    return made

def units(f, k):
    for entry in range(f.numel_out(k)):
        weights = [ca.DM.zeros(*f.size_out(j)) for j in range(f.n_out())]
        weights[k][entry] = 1
        yield weights

def full(x):
    return ca.densify(x).full()

def total(parts, way):
    return sum(full(x) @ step for x, step in zip(parts, way))
"""
"""The derivatives of outputs where entry k of all inputs moves by cos(1 + k); `along` gives those
of output k at some inputs and outputs."""

DERIVATIVE_KINDS: Final = {
    "jac": """
def along(f, given, way, k):
    return total(f.jacobian().call(given)[k * f.n_in() : (k + 1) * f.n_in()], way)
""",
    "adj1": """
def along(f, given, way, k):
    products = (f.reverse(1).call([*given, *weights]) for weights in units(f, k))
    return np.array([total((ca.vec(x).T for x in row), way).item() for row in products])
""",
    "jac_adj1": """
def along(f, given, way, k):
    made, n, adjoint = [], f.n_in(), f.reverse(1)
    unread = [ca.DM(*f.size_in(j)) for j in range(n)]
    for weights in units(f, k):
        blocks = adjoint.jacobian().call([*given, *weights, *unread])
        width = adjoint.n_in()
        rows = [total(blocks[j * width : j * width + n], way) for j in range(n)]
        made.append(sum(step @ row for step, row in zip(way, rows)))
    return np.array(made)
""",
}
"""By the beginning of the names of external functions, which derivative of a function it is."""

COMPLEX_STEP: Final = 1e-30
MAX_STATES: Final = 3
CENTRAL_STEP: Final = 1e-4
"""The step of central differences of complex steps, in units of the inputs; their error is about
its square times a third derivative."""
TOLERANCES: Final = {"jac": 1e-8, "adj1": 1e-8, "jac_adj1": 1e-5}
"""The part of the largest entry that is left where a derivative nearly cancels."""


def checks(target: VerificationTarget, progress: Callable[[str], None]) -> Iterator[Check]:
    """The checks of the package of a folder."""
    runner = external_runner(target.module)
    yield from graph_runner(target.module).checks(target, progress)
    yield from runner.checks(target, progress)
    if not runner.missing:
        for kind in DERIVATIVE_KINDS:
            progress(f"derivatives {kind}")
            yield from _derivatives(target, kind)


def graph_runner(module: Module) -> ExternalRunner:
    """The check of a package's graphs, the functions made of CasADi's own operations."""
    setup = RUN_FUNCTIONS.format(package=package_name(module), function="robot.graph(name)")
    return package_runner("CasADi graph", setup, "casadi")


def external_runner(module: Module) -> ExternalRunner:
    """The check of a package's external functions."""
    package = package_name(module)
    called = RUN_FUNCTIONS.format(package=package, function="robot.external(name)")
    setup = BUILD_SETUP.format(package=package) + called
    return package_runner("external function of CasADi", setup, "casadi")


def _derivatives(target: VerificationTarget, kind: str) -> Iterator[Check]:
    """The checks of the derivatives of one kind that the external functions have."""
    package = package_name(target.module)
    functions = dict[str, Function]()
    for f in target.module.functions:
        file = target.folder / package / "c" / f"{package}_{f.name}.c"
        if f"int {kind}_{package}_{f.name}(" in file.read_text(encoding="utf-8"):
            functions[f.name] = f
    setup = (
        BUILD_SETUP.format(package=package)
        + DIRECTIONAL_DERIVATIVES.format(package=package)
        + DERIVATIVE_KINDS[kind]
    )
    try:
        outputs = package_runner("Derivative", setup, "casadi").outputs(target, functions)
    except RunnerError as error:
        yield Check("derivatives of external functions compile", False, str(error))
        return
    slopes = _second_directional_derivatives if kind == "jac_adj1" else _directional_derivatives
    for name, rows in outputs.items():
        claim = f"{kind}_{name}: equals the complex step of the algorithm"
        if isinstance(rows, RunnerError):
            yield Check(claim, False, str(rows))
            continue
        states, worst = target.run_states(functions[name])[:MAX_STATES], 0.0
        for state, row in zip(states, rows, strict=False):
            wanted = slopes(functions[name], state)
            worst = max(worst, *(relative_error(x, wanted[out]) for out, x in row.items()))
        detail = f"largest error {worst:.1e}, {len(states)} states"
        yield Check(claim, worst <= TOLERANCES[kind], detail)


def _direction(function: Function, state: Arrays) -> dict[str, AnyArray]:
    """The motion of the inputs in `DIRECTIONAL_DERIVATIVES`."""
    sizes = [np.size(state[name]) for name in function.inputs]
    steps = np.split(np.cos(1.0 + np.arange(sum(sizes))), np.cumsum(sizes)[:-1])
    return dict(zip(function.inputs, steps, strict=True))


def _directional_derivatives(function: Function, state: Arrays) -> dict[str, AnyArray]:
    """The rates at which outputs change where the inputs move as in `DIRECTIONAL_DERIVATIVES`."""
    displaced: dict[str, Sequence[complex]] = {
        name: (np.asarray(state[name], float) + 1j * COMPLEX_STEP * step).tolist()
        for name, step in _direction(function, state).items()
    }
    moved: Mapping[str, Sequence[Any]] = function.run(**displaced)
    return {
        name: np.array([getattr(x, "imag", 0.0) for x in values], float) / COMPLEX_STEP
        for name, values in moved.items()
    }


def _second_directional_derivatives(function: Function, state: Arrays) -> dict[str, AnyArray]:
    """The rates of `_directional_derivatives`, by their central difference."""
    after, before = (
        _directional_derivatives(
            function,
            {
                name: np.asarray(state[name], float) + sign * CENTRAL_STEP * step
                for name, step in _direction(function, state).items()
            },
        )
        for sign in (1.0, -1.0)
    )
    return {name: (after[name] - before[name]) / (2 * CENTRAL_STEP) for name in after}
