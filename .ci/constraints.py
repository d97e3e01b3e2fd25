"""Write constraints.txt: the versions that pip chooses for all extras, with their Requires-Python.

Run it with the oldest Python that symgen supports, so that every pin installs on all of them:

    /usr/bin/python3 .ci/constraints.py

Packages are downloaded or read from an index, but nothing is installed."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = "dev,bench,fleet"
HEAD = """\
# Versions that the tests run with. Each line ends with the Requires-Python of its version, which
# tests/house/test_constraints.py compares with the versions of Python that symgen supports.
# Written by .ci/constraints.py.
"""


def main() -> None:
    """Resolve all extras and write the file."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed"]
        command += ["--quiet", "--report", str(report), f"{ROOT}[{EXTRAS}]"]
        subprocess.run(command, check=True)
        chosen = [row["metadata"] for row in json.loads(report.read_text("utf-8"))["install"]]
    rows = [row for row in chosen if row["name"] != "symgen"]
    lines = [line(row) for row in sorted(rows, key=lambda row: row["name"].lower())]
    (ROOT / "constraints.txt").write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


def line(metadata: dict[str, str]) -> str:
    """A pin and its Requires-Python, empty if the package has none."""
    pin = f"{metadata['name']}=={metadata['version']}"
    return f"{pin}  # Python {metadata.get('requires_python', '')}".rstrip()


if __name__ == "__main__":
    main()
