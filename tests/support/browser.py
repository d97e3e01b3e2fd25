"""Pages in headless Chromium, where it is installed."""

import shutil
import subprocess
from pathlib import Path

import pytest

PROGRAM = shutil.which("chromium") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(PROGRAM is None, reason="chromium is not installed")
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=5000",
)


def shown(page: Path, address: str = "", profile: Path | None = None) -> str:
    """What a page is after its scripts have run, as HTML; `address` is what follows its path."""
    assert PROGRAM is not None
    folder = profile or page.parent / "profile"
    done = subprocess.run(
        [PROGRAM, *QUIET, f"--user-data-dir={folder}", "--dump-dom", page.as_uri() + address],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout
