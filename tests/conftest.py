"""Settings of all tests. Compiled C (tests/support/cc.sh) and Python bytecode are cached; the option
`--update` rewrites the golden files."""

import gc
import os
import shutil
import sys
from pathlib import Path

import pytest

if shutil.which("gcc"):
    os.environ.setdefault("CC", str(Path(__file__).resolve().parent / "support" / "cc.sh"))
# Workers share the cores; additional threads of linear algebra would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ["SYMGEN_CACHE"] = os.environ.get(
    "SYMGEN_TEST_CACHE",
    str(Path(__file__).resolve().parents[1] / "build" / "tests" / "compiled-modules"),
)
# The bytecode of tests, with rewritten asserts, and of symgen is cached even if the environment
# disables that. Otherwise each worker and each process that a test starts would compile all of it.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# `symgen verify` runs each function at 4 to 50 states, long functions at fewer. In tests all run at
# few states, because an error that a test makes shows at each of them.
os.environ.setdefault("SYMGEN_VERIFY_OPERATIONS", "1000")
gc.set_threshold(500_000, 20, 100)
"""Higher thresholds, so that garbage collection does not scan ten thousand tests whenever more are
collected or an expression graph grows."""


def pytest_collection_finish():
    """Write no bytecode from here on, since tests share folders, and exempt what was collected from
    garbage collection."""
    sys.dont_write_bytecode = True
    gc.collect()
    gc.freeze()


def pytest_addoption(parser):
    parser.addoption(
        "--update", action="store_true", help="rewrite generated/ and docs/quantities.md"
    )


@pytest.fixture
def update(request):
    """Whether tests rewrite the golden files instead of comparing with them."""
    return request.config.getoption("--update")


@pytest.fixture(scope="module")
def not_optimized():
    """What the tests of a module compile is not optimised, and is not mistaken for what is: for
    tests of results with a tolerance, which spend most of their time in the C compiler."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SYMGEN_TEST_FLAGS", "-O0")
        patch.setenv("SYMGEN_CACHE", f"{os.environ['SYMGEN_CACHE']}-not-optimized")
        yield
