"""CasADi proven: it runs the graphs, and the compiled C as external functions, in every state."""

from collections.abc import Callable, Iterator
from typing import Final

from symgen.languages.outside import Outside
from symgen.languages.packages import Runner
from symgen.languages.subject import Check, Subject

PACKAGES: Final = ("casadi",)

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


def _runner(subject: Subject, function: str, before: str = "") -> Runner:
    package = f"{subject.module.name}_casadi"
    return Runner(
        before.format(package=package) + RESULTS.format(package=package, function=function)
    )


def checks(subject: Subject, progress: Callable[[str], None]) -> Iterator[Check]:
    """The checks of the package of a folder."""
    graphs = _runner(subject, "robot.graph(name)")
    yield from Outside("CasADi graph", (), graphs.started, packages=PACKAGES).checks(
        subject, progress
    )
    built = _runner(subject, "robot.external(name)", "from {package}.build import build\nbuild()\n")
    label = "external function of CasADi"
    yield from Outside(label, (), built.started, packages=PACKAGES).checks(subject, progress)
