"""Names under which files lie until they are whole, and what becomes of those that a killed run has
left."""

import contextlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath
from typing import Final

PREFIX: Final = ".symgen-"
STAGED: Final = re.compile(r"\.symgen-[a-z0-9_]{8}")
YOUNG: Final = 60.0
"""Seconds in which what is found may not yet be held by the run that made it."""


@contextlib.contextmanager
def staging(folder: Path) -> Iterator[Path]:
    """A folder on the same file system, gone afterwards whatever happens; those that killed runs
    have left go too.

    It is inside a folder that exists, which may be a mount point or the only one that may be
    written to."""
    for place in (folder, folder.parent):
        clear(place)
    stage = Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder if folder.exists() else folder.parent))
    try:
        with held(stage):
            yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


@contextlib.contextmanager
def held(path: Path) -> Iterator[None]:
    """Mark a staged file or folder as in use, as far as the system can; the mark ends with the
    process."""
    with _locked(path):
        yield


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[bool]:
    """Whether this process alone has the lock of a file or folder, while it lasts."""
    try:
        import fcntl

        number = os.open(path, os.O_RDONLY)
    except (ImportError, OSError):
        yield False
        return
    try:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            alone = True
        except OSError:
            alone = False
        yield alone
    finally:
        os.close(number)


def clear(place: Path) -> None:
    """Remove what killed runs have left in a folder: what bears a staging name, is not new, and is
    held by no process."""
    try:
        staged = [path for path in place.iterdir() if STAGED.fullmatch(path.name)]
    except OSError:
        return
    for path in staged:
        with contextlib.suppress(OSError):
            if path.is_symlink() or time.time() - path.lstat().st_mtime < YOUNG:
                continue
            with _locked(path) as alone:
                if alone and path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                elif alone:
                    path.unlink()


def folders(folder: Path, name: str) -> list[Path]:
    """The folders within `folder` that a file of that name is in, innermost first."""
    return [folder / x for x in PurePosixPath(name).parents if x.name]


def remove_folders(folder: Path, name: str) -> None:
    """Remove the folders that a file was in, as far as nothing else is there."""
    with contextlib.suppress(OSError):
        for place in folders(folder, name):
            place.rmdir()


BEFORE: Final = ".before"
"""The folder, in the staging folder, of what is to be replaced."""


@contextlib.contextmanager
def undone_on_failure(
    stage: Path, folder: Path, new: Collection[str], old: Collection[str]
) -> Iterator[None]:
    """Where the system refuses in the middle, `folder` gets its `old` files again and keeps none of
    the `new` ones, as far as the system lets it. Raises what was refused."""
    fresh = not folder.exists()
    for name in old:
        _keep(folder / name, stage / BEFORE / name)
    try:
        yield
    except Exception:
        for name in old:
            with contextlib.suppress(OSError):
                (stage / BEFORE / name).replace(folder / name)
        for name in set(new) - set(old):
            with contextlib.suppress(OSError):
                (folder / name).unlink(missing_ok=True)
                remove_folders(folder, name)
        if fresh:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


def _keep(path: Path, copy: Path) -> None:
    """A second name for a file; a copy where the file system has no links. Raises OSError."""
    if not path.is_file():
        return
    copy.parent.mkdir(parents=True, exist_ok=True)
    try:
        copy.hardlink_to(path)
    except OSError:
        shutil.copy2(path, copy)
