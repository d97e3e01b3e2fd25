"""The functions of ``import symgen``: the quantities of a robot as a compiled module, which is made
once and kept, as generated files, and as a traced program.

What is known from earlier runs is found without reading the robot: a script that runs again is at
its first call in some milliseconds."""

import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from symgen import __version__
from symgen.errors import OptionError, SymgenError
from symgen.native.compiler import compiler_identity, processor_description
from symgen.native.store import SUFFIX, Compiled, Store, digest

if TYPE_CHECKING:
    from symgen.languages.module import Module
    from symgen.reading.assemble import LoadedRobot
    from symgen.tracing.function import Function

FILE_OPTIONS: Final = ("actuators", "estimate")
"""Options that are paths of files, of which the content counts."""


def compile(
    robot: Any, *quantities: str | Sequence[str], exact: bool = False, **options: Any
) -> Compiled:
    """Generate C for some quantities of a robot, compile it and load it.

    >>> robot = symgen.compile("robots/ur5.urdf", "inverse_dynamics", "mass_matrix")
    >>> tau = robot.inverse_dynamics(q, qd, qdd)

    Parameters
    ----------
    robot
        The path of a robot file, its content or an object, as for `symgen.Robot`.
    *quantities
        Names of quantities (see ``symgen list``), one by one or as one list. The default is that of
        ``symgen generate``.
    exact
        False: the fastest code for this machine, with fused products and sums and with vectors. Its
        last bits can differ between machines. True: the bits of the C that ``symgen generate``
        writes with the same options and ``symgen verify`` checks.
    **options
        Options of `symgen.jobs.job.Job.of`. The sines are accurate up to 65536 rad (1024 rad in
        float); ``trig="libm"`` is accurate beyond that.

    Returns
    -------
    Compiled
        An object with one function per quantity. An argument of n entries has the shape (n,), or
        (..., n) for many states; the leading axes broadcast. Units are those of ``symgen list
        --all``. A function that inverts the mass matrix raises numpy.linalg.LinAlgError if it is
        not positive definite.

    Raises
    ------
    SymgenError
        If the robot cannot be read, an option does not fit it, or no C compiler is found.

    Notes
    -----
    Modules are cached in the folder SYMGEN_CACHE (`symgen.native.store`); a second call neither
    reads, traces nor compiles. Without the headers of Python, calls go through cffi, which a note
    reports.
    """
    store, names = Store.of_user(), quantities
    if len(quantities) == 1 and isinstance(quantities[0], (list, tuple)):
        names = tuple(quantities[0])
    key = _digest_of_call(robot, names, exact, options)
    module = store.load(key) if key else None
    if module is not None:
        return Compiled.of(module)
    # What reads, traces and writes code takes a while to load.
    from symgen.jobs.extension_modules import compiled_job

    return compiled_job(robot, names, exact, options, store, environment, key)


def _digest_of_call(
    robot: Any, quantities: Sequence[Any], exact: bool, options: Mapping[str, Any]
) -> str | None:
    """A digest of a call and of everything that its result depends on; None if the robot must be
    read to know that."""
    try:
        path = Path(os.fspath(robot))
        if not path.is_file():  # a pipe could be read once only
            return None
        data = path.read_bytes()
        if not is_self_contained(path.name, data):
            return None
        chosen = dict(options)
        for name in (name for name in FILE_OPTIONS if options.get(name)):
            file = Path(options[name])
            chosen[name] = [file.name, hashlib.sha256(file.read_bytes()).hexdigest()]
        call = [path.name, hashlib.sha256(data).hexdigest(), quantities, exact, chosen]
        return digest("call", environment(), call)
    except (OSError, ValueError, TypeError, SymgenError):
        return None


_PROLOG: Final = rb"(?:\xef\xbb\xbf)?(?:\s|<\?xml[^>]*\?>|<!--(?:[^-]|-(?!->))*-->)*"
_SELF_CONTAINED_ROOT: Final = re.compile(_PROLOG + rb"<(?:robot|sdf)[\s>]")

INCLUDE_MARKS: Final = (b"<include", b"xacro", b"$(")
"""What may lead to other files."""


def is_self_contained(name: str, data: bytes) -> bool:
    """Whether a file with that name and content is a URDF or SDF that leads to no other file.

    False for all that is not surely one: files with xacro in them, whatever they are called, and
    those with a document type or with models of other files."""
    if name.lower().endswith(".xacro") or any(sign in data for sign in INCLUDE_MARKS):
        return False
    return _SELF_CONTAINED_ROOT.match(data) is not None


def environment() -> list[Any]:
    """The state of everything that a compiled module depends on besides its source: the installed
    files of symgen, compiler, processor, Python and NumPy. Raises CompilerError."""
    return [_installed(), compiler_identity(), processor_description(), SUFFIX, np.__version__]


def _installed() -> list[Any]:
    """The version of symgen, and a digest of the sizes and times of its files, which change during
    development."""
    folder = Path(__file__).resolve().parents[1]
    states = hashlib.sha256()
    folders = [folder, folder.parent / "templates"]  # templates stand beside it in a checkout
    while folders:
        try:
            with os.scandir(folders.pop()) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
        except OSError:
            continue
        folders += [Path(x.path) for x in entries if x.is_dir() and x.name != "__pycache__"]
        for entry in entries:
            if entry.name.endswith((".py", ".jinja")):
                status = entry.stat()
                states.update(f"{entry.name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return [__version__, states.hexdigest()]


def trace(robot: Any, quantity: str, **options: Any) -> "Function":
    """Trace a quantity of a robot and return the cheapest program for it.

    Parameters
    ----------
    robot
        The path of a robot file, its content or an object, as for `symgen.Robot`.
    quantity
        A quantity of ``symgen list``, or ``NAME=A+B`` for one function that computes A and B.
    **options
        Options of `symgen.jobs.job.Job.of`, such as ``gravity="runtime"``.

    Returns
    -------
    Function
        The program, its operation counts and, in the attribute `code`, the generated C.

    Raises
    ------
    SymgenError
        If the robot cannot be read, or an option does not fit it.
    """
    if quantity == "all":
        raise OptionError(
            "a function computes certain quantities; name one, or several as in "
            "terms=bias+mass_matrix"
        )
    from symgen.jobs.job import Job
    from symgen.languages.c.backend import code_files
    from symgen.tracing.trace import trace_all

    job = Job.of(robot, quantities=(quantity,), **options)
    function = trace_all(job.robot(job.load()), job.wanted(), job.choice(), job.aim)[0]

    def code() -> str:
        module = job.module(job.load())
        return code_files(module)[f"{module.name}_{function.name}.c"]

    return replace(function, written=code)


def generate(
    robot: Any,
    out: str | os.PathLike[str],
    languages: Sequence[str] | None = None,
    progress: Callable[[str], None] | None = None,
    **options: Any,
) -> "tuple[Module, LoadedRobot, list[Path]]":
    """Generate a module for a robot in a folder. Either all files are written or none.

    Parameters
    ----------
    robot
        The path of a robot file, its content or an object, as for `symgen.Robot`.
    out
        The folder. Files of an earlier run for the same robot are replaced.
    languages
        Names of languages (see ``symgen list``), C and Python by default, and C
        alone in fixed point.
    progress
        A function that is called with a description of each step.
    **options
        Options of `symgen.jobs.job.Job.of`.

    Returns
    -------
    tuple of Module, LoadedRobot and list of Path
        The module, the robot with its notices, and the paths of the files.

    Raises
    ------
    SymgenError
        If the robot cannot be read, an option does not fit it, or a file cannot be written.
    """
    from symgen.jobs.generating import generated_files
    from symgen.jobs.job import Job

    tell = progress or (lambda step: None)
    return generated_files(Job.of(robot, **options), Path(out), languages, tell)
