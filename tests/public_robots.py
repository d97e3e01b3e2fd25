"""Where the robots of the PyPI package example-robot-data are, if it is installed."""

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest

PACKAGE = "example-robot-data"


def example_robots() -> list[Path]:
    """Every URDF file of the package, sorted; none if it is not installed."""
    try:
        listed = files(PACKAGE) or []
    except PackageNotFoundError:
        return []
    return sorted(Path(str(file.locate())).resolve() for file in listed if file.suffix == ".urdf")


def example_robot(name: str) -> Path:
    """The file that ends in `name`, such as ``ur_description/urdf/ur5_robot.urdf``; skips the test without it."""
    found = [path for path in example_robots() if path.as_posix().endswith(f"/{name}")]
    if not found:
        pytest.skip(f"{PACKAGE} is not installed or has no {name}")
    return found[0]
