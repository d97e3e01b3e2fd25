"""Proof of a generated folder: that it is unchanged, and that each of its languages computes what
it should."""

from collections.abc import Callable, Iterator
from pathlib import Path

from symgen.jobs.manifest import changed, written
from symgen.jobs.manifest_reader import read
from symgen.languages.subject import Check, Subject


def verify(folder: Path, progress: Callable[[str], None] = lambda step: None) -> Iterator[Check]:
    """Check the generated folder; the checks come one by one. Raises SymgenError where there is
    nothing to check."""
    module, hashes = read(folder)
    subject = Subject(folder, module, hashes)
    progress("files")
    yield _unchanged(subject)
    for language in written(module.name, hashes):
        yield from language.checks(subject, progress)


def _unchanged(subject: Subject) -> Check:
    bad = changed(subject.folder, subject.hashes)
    detail = f"{len(subject.hashes)} files" if not bad else f"changed or missing: {', '.join(bad)}"
    return Check("files are as generated (SHA-256)", not bad, detail)
