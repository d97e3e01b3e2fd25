"""Packages of JAX, CasADi and PyTorch are installed by pip."""

import subprocess
import sys
from importlib.metadata import distributions
from importlib.util import find_spec

import pytest

from tests.support.tools import generated

BUILDS_WHEELS = find_spec("setuptools") is not None and (
    find_spec("wheel") is not None or find_spec("setuptools.command.bdist_wheel") is not None
)
USES = {
    "casadi": "print(robot.gravity([0.1, 0.2]).shape)",
    "jax": "print(robot.gravity([0.1, 0.2]).shape)",
    "torch": "import torch; print(robot.gravity(torch.zeros(2, dtype=torch.float64)).shape)",
}


@pytest.mark.skipif(not any(distributions(name="pip")), reason="pip is not installed")
@pytest.mark.skipif(not BUILDS_WHEELS, reason="setuptools cannot build wheels: install wheel")
@pytest.mark.parametrize("language", USES)
def test_pip_installs_a_package(language, tmp_path):
    """The installed package has its C, and works where its framework is installed."""
    _, folder = generated(
        "pendulum", languages=(language,), quantities=("gravity",), module_version="1.2.3"
    )
    name, target = f"pendulum_{language}", tmp_path / "installed"
    flags = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    pip = [sys.executable, "-m", "pip", "install", *flags, "--target", target, folder / name]
    subprocess.run(pip, check=True, capture_output=True)
    assert list(target.glob("pendulum_*-1.2.3.dist-info"))
    assert list((target / name / "c").glob("*.c"))
    if find_spec(language) is None:
        pytest.skip(f"{language} is not installed")
    code = (
        f"import sys; sys.path.insert(0, {str(target)!r}); import {name} as robot; {USES[language]}"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "2" in done.stdout
