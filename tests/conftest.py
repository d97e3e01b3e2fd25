"""For all tests: nothing is compiled twice (tests/support/cc.py)."""

import os
import shutil
from pathlib import Path

if shutil.which("gcc"):
    os.environ.setdefault("CC", str(Path(__file__).resolve().parent / "support" / "cc.py"))
