"""Other libraries that tests compare with. A test that uses a missing one is skipped with a reason;
tests of the same file that do not use it run."""

from importlib import import_module
from typing import Any, Final, NoReturn

import pytest

EXTRAS: Final = {
    "pinocchio": "oracles",
    "mujoco": "test",
    "scipy.optimize": "test",
    "mypy.api": "lint",
}
"""The extra of pyproject.toml that installs each."""


class Missing:
    """A stand-in for a module that is not installed: whatever test uses it is skipped."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> NoReturn:
        advice = f"pip install '.[{EXTRAS[self._name]}]'"
        pytest.skip(f"{self._name} is not installed: {advice}", allow_module_level=True)


def oracle(name: str) -> Any:
    """The module of that name, or a stand-in for a missing one."""
    assert name in EXTRAS, name
    try:
        return import_module(name)
    except ImportError:
        return Missing(name)


def mypy_must_be_installed() -> None:
    """Skip a test that runs mypy as a process where it is not installed."""
    assert oracle("mypy.api").run
