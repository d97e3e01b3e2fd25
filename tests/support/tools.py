"""What the tests of generated files and of the command line share: cases, runs, imports,
compilers."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest
from click.testing import CliRunner, Result

from symgen.algorithms import QUANTITIES
from symgen.cli.main import main
from symgen.jobs.api import generate
from symgen.languages.module import Module
from tests.support.store import kept

HERE = Path(__file__).resolve().parents[1]
ROOT = HERE.parent
CASES: dict[str, dict[str, Any]] = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((HERE / "cases").glob("*.json"))
}
CC = os.environ.get("CC", "gcc")
STRICT_C = (
    "-std=c99",
    "-pedantic",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wdouble-promotion",
    "-Wshadow",
    "-Werror",
)


LONG: Final = ("by_parameters", "hessian", "second_derivatives", "rk4", "gradient", "least_squares")
SIMPLE: Final = tuple(name for name in QUANTITIES if not any(word in name for word in LONG))
"""Quantities that generate and compile quickly."""
TRIED: Final[dict[str, dict[str, Any]]] = {
    "pendulum": {"quantities": SIMPLE},
    "biped": {
        "base": "floating",
        "quantities": ("forward_dynamics", "regressor", "christoffel_symbols"),
    },
    "ur5": {"parameters": "runtime:flange", "gravity": "runtime", "friction": "runtime:coulomb"},
}
"""Robots that languages are tried with, and what is generated of each."""


def robot_file(name: str) -> str:
    """The URDF of a case, of the library, or of the tests' own biped."""
    places = dict.fromkeys(CASES, HERE / "cases") | {"biped": HERE / "support"}
    return str(places.get(name, ROOT / "robots") / f"{name}.urdf")


@cache
def generated(name: str, **options: Any) -> tuple[Module, Path]:
    """The module and folder of a robot's generated files; made once, so only to be read."""
    make = lambda folder: generate(robot_file(name), folder / name, **options)[0]  # noqa: E731
    module, folder = kept((name, sorted(options.items())), make)
    return module, folder / name


def invoke(*arguments: object) -> Result:
    """The command line in this process; a traceback fails the test."""
    return CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)


def verified(folder: Path) -> str:
    """What ``symgen verify`` prints of a folder, all of whose checks pass."""
    done = invoke("verify", folder)
    assert done.exit_code == 0, done.output
    return str(done.output)


def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """The command line as a process of its own; its standard output goes to the file `to`, if
    there is one."""
    to = options.pop("to", subprocess.PIPE)
    command = [sys.executable, "-m", "symgen", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
    return subprocess.run(
        command,
        stdout=to,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env=environment,
        **options,
    )


def compiled(*arguments: object, compiler: str = "gcc", **options: Any) -> None:
    """Run the C compiler; a message of it fails the test. Another compiler that is not installed
    skips the test."""
    if compiler != "gcc" and shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    command = [CC if compiler == "gcc" else compiler, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0 and not done.stderr, done.stderr[:2000]


def c_files(folder: Path, without: Sequence[str] = ()) -> list[Path]:
    return [path for path in sorted(folder.glob("*.c")) if not path.stem.endswith(tuple(without))]


def runs_beside(
    objects: Path, source: str, *flags: object, libraries: Sequence[str] = ("-lm",)
) -> None:
    """A C++ program of the folder of some objects compiles, links with them, and ends with 0."""
    files = [source, *objects.glob("*.o")]
    compiled(*flags, *files, *libraries, "-o", "x", cwd=objects, compiler="g++")
    assert subprocess.run([objects / "x"], check=False).returncode == 0


def imported(path: Path) -> ModuleType:
    """A generated Python module, loaded from its file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder, None for a folder."""
    found = sorted(folder.rglob("*"))
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in found
    }
