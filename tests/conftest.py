"""For all tests: nothing is compiled twice (tests/support/cc.py); `--update` writes the goldens
anew."""

import os
import shutil
from pathlib import Path

import pytest

if shutil.which("gcc"):
    os.environ.setdefault("CC", str(Path(__file__).resolve().parent / "support" / "cc.py"))


def pytest_addoption(parser):
    parser.addoption(
        "--update", action="store_true", help="write generated/ and docs/quantities.md anew"
    )


@pytest.fixture
def update(request):
    """Whether what is written is to be the golden from now on."""
    return request.config.getoption("--update")
