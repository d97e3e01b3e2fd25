"""CasADi proven: it runs the graphs, and the compiled C as external functions, in every state; the
Jacobians are held against derivatives of the algorithms by the complex step."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from symgen.languages.casadi.files import package as package_name
from symgen.languages.module import Module
from symgen.languages.outside import Call, Failed, Outside, Runner
from symgen.languages.subject import Arrays, Check, Subject, described, relative_error
from symgen.numbers.types import AnyArray
from symgen.tracing.function import Function

PACKAGES: Final = ("casadi",)

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


def checks(subject: Subject, progress: Callable[[str], None]) -> Iterator[Check]:
    """The checks of the package of a folder."""
    package, outside = package_name(subject.module), external(subject.module)
    yield from graphs(subject.module).checks(subject, progress)
    yield from outside.checks(subject, progress)
    if not outside.missing:
        progress("Jacobians")
        moved = BUILT.format(package=package) + MOVED.format(package=package)
        yield from _jacobians(subject, package, Runner(moved))


def graphs(module: Module) -> Outside:
    """The check of a package's graphs, the functions made of CasADi's own operations."""
    runner = Runner(RESULTS.format(package=package_name(module), function="robot.graph(name)"))
    return Outside("CasADi graph", (), runner.started, packages=PACKAGES)


def external(module: Module) -> Outside:
    """The check of a package's external functions."""
    package = package_name(module)
    called = RESULTS.format(package=package, function="robot.external(name)")
    runner = Runner(BUILT.format(package=package) + called)
    return Outside("external function of CasADi", (), runner.started, packages=PACKAGES)


def _jacobians(subject: Subject, package: str, runner: Runner) -> Iterator[Check]:
    names = [f.name for f in subject.module.functions if _differentiated(subject, package, f.name)]
    try:
        with runner.started(subject, names) as call:
            for function in subject.module.functions:
                if function.name in names:
                    yield _jacobian(subject, function, call)
    except Failed as error:
        yield Check("Jacobians of external functions compile", False, str(error))


def _differentiated(subject: Subject, package: str, name: str) -> bool:
    """Whether a function has a Jacobian."""
    file = subject.folder / package / "c" / f"{package}_{name}.c"
    return f"int jac_{package}_{name}(" in file.read_text(encoding="utf-8")


def _jacobian(subject: Subject, function: Function, call: Call) -> Check:
    claim = f"jac_{function.name}: equals the complex step of the algorithm"
    d = described(subject, function.name)
    states = subject.some(function)[:FEW]
    try:
        rows = call(d, states)
    except Failed as error:
        return Check(claim, False, str(error))
    names = [a.name for a in d.outs]
    worst = 0.0
    for state, row in zip(states, rows, strict=False):
        wanted = _slopes(function, state)
        blocks = zip(names, row, strict=True)
        worst = max(worst, *(relative_error(np.ravel(x), wanted[name]) for name, x in blocks))
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
