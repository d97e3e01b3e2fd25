"""For all tests: nothing is compiled twice (tests/support/cc.sh); `--update` writes the goldens
anew."""

import os
import shutil
from pathlib import Path

import pytest

if shutil.which("gcc"):
    os.environ.setdefault("CC", str(Path(__file__).resolve().parent / "support" / "cc.sh"))
os.environ["SYMGEN_CACHE"] = os.environ.get(
    "SYMGEN_TEST_CACHE",
    str(Path(__file__).resolve().parents[1] / "build" / "tests" / "compiled-modules"),
)


def pytest_addoption(parser):
    parser.addoption(
        "--update", action="store_true", help="write generated/ and docs/quantities.md anew"
    )


@pytest.fixture
def update(request):
    """Whether what is written is to be the golden from now on."""
    return request.config.getoption("--update")
