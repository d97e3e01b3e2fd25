"""symgen, a compiler for robot dynamics: from a robot's file to small, verified C and Python.

A robot is an object, from a file, from Python or from another library:

>>> import symgen
>>> robot = symgen.Robot("robots/ur5.urdf")
>>> robot.joints, robot.check(), robot.inspect()
>>> robot.symbolic.mass_matrix()                  # SymPy, in closed form
>>> arm = robot.compile("inverse_dynamics")       # compiled for this machine
>>> tau = arm.inverse_dynamics(q, qd, qdd)
>>> robot.generate("build/ur5")                   # C and Python in a folder
>>> A, B = robot.linearize(q)
>>> motion = robot.simulate(2.0, q)
>>> found = robot.identify(symgen.read_log("log.parquet"))

Robots without a file: `Builder`, with links and joints of any type, and `from_dh`, with a table of
Denavit and Hartenberg's parameters. The functions `compile`, `generate`, `trace`, `load` and
`linearize` take a path, XML (text, bytes, an open file, a document) or any of these objects. What
cannot be used raises `SymgenError`, one sentence. The command line is ``symgen --help``."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from symgen.errors import SymgenError
    from symgen.identification.data.open_log import read_log
    from symgen.jobs.api import compile, generate, trace
    from symgen.jobs.job import Job
    from symgen.reading.assemble import load
    from symgen.reading.builder import Builder
    from symgen.reading.denavit_hartenberg import DH, dh_builder
    from symgen.reading.sources import example
    from symgen.robot.linearization import linearize
    from symgen.robot.robot import Robot, from_dh

__all__ = [
    "DH",
    "Builder",
    "Job",
    "Robot",
    "SymgenError",
    "compile",
    "dh_builder",
    "example",
    "from_dh",
    "generate",
    "linearize",
    "load",
    "read_log",
    "trace",
]

_WHERE = {
    "load": "symgen.reading.assemble",
    "Job": "symgen.jobs.job",
    "SymgenError": "symgen.errors",
    "Builder": "symgen.reading.builder",
    "DH": "symgen.reading.denavit_hartenberg",
    "dh_builder": "symgen.reading.denavit_hartenberg",
    "example": "symgen.reading.sources",
    "Robot": "symgen.robot.robot",
    "from_dh": "symgen.robot.robot",
    "linearize": "symgen.robot.linearization",
    "read_log": "symgen.identification.data.open_log",
}


def __getattr__(name: str) -> Any:
    """Loads the public functions when they are first asked for, so that ``symgen --help`` is
    quick."""
    if name not in __all__:
        raise AttributeError(f"module 'symgen' has no attribute {name!r}")
    return getattr(import_module(_WHERE.get(name, "symgen.jobs.api")), name)


def __dir__() -> list[str]:
    """The names offered, loaded or not, for ``help(symgen)`` and for completion."""
    return [*globals(), *(name for name in __all__ if name not in globals())]
