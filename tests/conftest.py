"""For all tests: nothing is compiled twice, neither C (tests/support/cc.sh) nor Python; `--update`
writes the goldens anew."""

import gc
import os
import shutil
import sys
from pathlib import Path

import pytest

if shutil.which("gcc"):
    os.environ.setdefault("CC", str(Path(__file__).resolve().parent / "support" / "cc.sh"))
# Workers share the cores; threads of linear algebra beside them only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ["SYMGEN_CACHE"] = os.environ.get(
    "SYMGEN_TEST_CACHE",
    str(Path(__file__).resolve().parents[1] / "build" / "tests" / "compiled-modules"),
)
# Tests, with their asserts rewritten, and symgen are kept as bytecode, also where the environment
# says otherwise: workers and the processes that tests start would each compile all of it.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
gc.set_threshold(50_000, 20, 100)
"""Python does not look through ten thousand tests for circles whenever some more are collected, or
a tape has grown."""


def pytest_collection_finish():
    """What tests generate and import leaves nothing in the folders that they share; and what is
    collected is in no circle.

    Whoever verifies a module runs its functions on floats at 4 to 50 states, of which long ones get
    few; here all get few: what a test finds is wrong at each."""
    sys.dont_write_bytecode = True
    gc.collect()
    gc.freeze()
    if verifying := sys.modules.get("symgen.languages.verification"):
        verifying.OPERATIONS = 1_000


def pytest_addoption(parser):
    parser.addoption(
        "--update", action="store_true", help="write generated/ and docs/quantities.md anew"
    )


@pytest.fixture
def update(request):
    """Whether what is written is to be the golden from now on."""
    return request.config.getoption("--update")
