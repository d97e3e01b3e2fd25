"""Proof of a generated folder: that it is unchanged, and that each of its languages computes what
it should."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from symgen.jobs.manifest import contained, digest_of, written
from symgen.jobs.manifest_reader import read
from symgen.languages.subject import Check, Subject
from symgen.native.compiler import workspace


def verify(
    folder: Path,
    progress: Callable[[str], None] = lambda step: None,
    run_changed: bool = False,
) -> Iterator[Check]:
    """Check the generated folder; the checks come one by one. Raises SymgenError where there is
    nothing to check.

    The folder's code is compiled and run. Files that are not as they were generated end it at once,
    unless `run_changed`. What is run is a copy of the bytes whose digests were compared, and no
    other file of the folder is looked at.
    """
    module, hashes = read(folder)
    progress("files")
    contents = contained(folder, hashes)
    unchanged = _unchanged(contents, hashes, run_changed)
    yield unchanged
    if not unchanged.passed and not run_changed:
        return
    with workspace() as copy:
        for name, content in contents.items():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes(content)
        subject = Subject(copy, module, hashes)
        for language in written(module.name, hashes):
            yield from language.checks(subject, progress)


def _unchanged(
    contents: Mapping[str, bytes], hashes: Mapping[str, str], run_changed: bool
) -> Check:
    bad = [name for name, digest in hashes.items() if digest_of(contents.get(name)) != digest]
    after = "" if run_changed else "; so nothing was run (--run-changed does)"
    detail = f"changed or missing: {', '.join(bad)}{after}" if bad else f"{len(hashes)} files"
    return Check("files are as generated (SHA-256)", not bad, detail)
