"""Where the robots of the PyPI packages example-robot-data and icub-models are, if they are
installed."""

from functools import cache
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest

from symgen.errors import SymgenError
from symgen.reading.assemble import LoadedRobot, load

PACKAGE = "example-robot-data"
ICUB = "icub-models"


@cache
def robots(package: str) -> list[Path]:
    """Every URDF file of a package, sorted; none if it is not installed."""
    try:
        listed = files(package) or []
    except PackageNotFoundError:
        return []
    return sorted(Path(str(file.locate())).resolve() for file in listed if file.suffix == ".urdf")


def example_robots() -> list[Path]:
    """The files of example-robot-data."""
    return robots(PACKAGE)


def icub_robots() -> list[Path]:
    """The files of icub-models."""
    return robots(ICUB)


@cache
def real_files() -> list[LoadedRobot]:
    """All of them that can be read, read once; skips the test without any."""
    loaded = []
    for file in (*example_robots(), *icub_robots()):
        try:
            loaded.append(load(file))
        except SymgenError:
            continue
    if not loaded:
        pytest.skip(f"{PACKAGE} and {ICUB} are not installed")
    return loaded


def example_robot(name: str) -> Path:
    """The file that ends in `name`, such as ``ur_description/urdf/ur5_robot.urdf``; skips the test
    without it."""
    found = [
        path for path in (*example_robots(), *icub_robots()) if path.as_posix().endswith(f"/{name}")
    ]
    if not found:
        pytest.skip(f"neither {PACKAGE} nor {ICUB} is installed and has {name}")
    return found[0]
