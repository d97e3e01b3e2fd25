"""Findings on disk: by kind, with the files, the command, and how to make the same input again."""

import json
import re
import shlex
import shutil
from pathlib import Path

from fuzz.case import Case, Finding, lay


def folder_of(kind: str) -> str:
    """A folder's name for a kind of trouble."""
    return re.sub(r"[^a-z0-9]+", "-", kind.lower()).strip("-")[:80] or "trouble"


def command(case: Case) -> str:
    """The command as a shell would have it."""
    given = [f"{key}={shlex.quote(value)}" for key, value in case.environment.items()]
    return " ".join([*given, "symgen", *map(_word, case.arguments)])


def _word(word: str) -> str:
    """A word for bash, unprintable characters escaped."""
    if word.isprintable():
        return shlex.quote(word)
    return (
        "$'"
        + word.replace("\\", "\\\\")
        .replace("'", "\\'")
        .encode("unicode_escape")
        .decode()
        .replace("\\\\", "\\")
        + "'"
    )


def write(place: Path, finding: Finding, small: Case, again: str) -> Path:
    """Write a finding, its case made small, and what reproduces it."""
    folder = place / folder_of(finding.kind)
    shutil.rmtree(folder / "input", ignore_errors=True)
    (folder / "input").mkdir(parents=True)
    lay(small, folder / "input")
    fault = f"machine: {small.fault.kind}, at {small.fault.at}\n" if small.fault else ""
    (folder / "finding.txt").write_text(
        f"{finding.kind}\n\nin {folder / 'input'}:\n  {command(small)}\n{fault}\n"
        f"the whole input again:\n  python -m fuzz {again}\n\n"
        f"{finding.detail}\n",
        encoding="utf-8",
        errors="backslashreplace",
    )
    return folder


def summary(place: Path, figures: dict[str, object]) -> None:
    """Write the figures of a run as JSON."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "summary.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
