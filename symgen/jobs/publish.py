"""Writing of files: all files of a run appear or none, and only files of symgen are replaced.

Files are written under temporary names on the same file system and renamed when all of them are
complete. A run that is killed leaves temporary files, which the next run removes."""

import contextlib
import errno
import json
import os
import re
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Final

from symgen.errors import OptionError
from symgen.jobs.manifest import NAME, is_inside
from symgen.jobs.output_files import Files, check_targets, exists, foreign
from symgen.text import reason, shown

NOTHING: Final[Files] = MappingProxyType({})
PREFIX: Final = ".symgen-"
STAGED: Final = re.compile(r"\.symgen-[a-z0-9_]{8}")
"""The names of temporary files and folders."""
MIN_STALE_AGE: Final = 60.0
"""Seconds in which a temporary file may not be locked yet by the run that made it."""
BETWEEN: Final = ".between"
"""The name, in the staging folder, of the listing that is valid while files are moved."""
BEFORE: Final = ".before"
"""The folder, in the staging folder, of the files that are replaced."""

StagedFiles = list[tuple[Path, Path]]
"""The temporary and the final path of each file."""


# -- folders ---------------------------------------------------------------------------------------


def check_folder(folder: Path) -> None:
    """Raises OptionError where something else than a folder has that name."""
    if exists(folder) and not folder.is_dir():
        raise OptionError(f"cannot write to {str(folder)!r}: it is not a folder")


@dataclass(frozen=True)
class EarlierRun:
    """An earlier run in a folder: the files of its listing that exist, and the robot's name."""

    names: frozenset[str] = frozenset()
    robot: object = None

    @classmethod
    def of(cls, folder: Path, listing: str) -> "EarlierRun":
        """The earlier run by the listing in a folder; an empty one if there is no listing of
        symgen."""
        check_folder(folder)
        try:
            data = json.loads((folder / listing).read_text(encoding="utf-8"))
            generated = str(data["generator"]).startswith("symgen ")
            plain = {
                name
                for name in data["files"]
                if is_inside(name)
                and not any(x.is_symlink() for x in _folders(folder, name))
                and (folder / name).is_file()
            }
            return cls(frozenset(plain | {listing}), data.get("robot")) if generated else cls()
        except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
            return cls()


def publish(
    files: Mapping[str, str | bytes],
    folder: Path,
    listing: str = NAME,
    beside: Files = NOTHING,
) -> list[Path]:
    """Write `files` (name to text or bytes) into `folder`, in place of the files of an earlier run
    for the same robot.

    `listing` is the file that lists the others, for the next run; `beside` are single files outside
    the folder that appear with them.

    Everything is written on the same file system first and then renamed; signals are deferred until
    that is done. If a run is killed in between, the listing names all files, so that the next run
    may replace them. Raises OptionError if that cannot be done; then nothing was changed."""
    try:
        earlier = EarlierRun.of(folder, listing)
        _check(files, folder, earlier, listing)
        check_targets(beside, [folder, *(folder / name for name in files)])
        folder.parent.mkdir(parents=True, exist_ok=True)
        single = ((target.path, content) for target, content in beside.items())
        with _staged(single) as staged, _deferred_signals(), _staging(folder) as stage:
            for name, text in files.items():
                (stage / name).parent.mkdir(parents=True, exist_ok=True)
                (stage / name).write_bytes(text.encode() if isinstance(text, str) else text)
            (stage / BETWEEN).write_bytes(_between(files[listing], earlier))
            with _undone_on_failure(stage, folder, files, earlier.names):
                _move(stage, folder, files, earlier, listing)
                _rename(staged)
    except (OSError, ValueError) as error:
        raise OptionError(f"cannot write to {str(folder)!r}: {reason(error)}") from error
    return [folder / name for name in files]


def _check(
    files: Mapping[str, str | bytes], folder: Path, earlier: EarlierRun, listing: str
) -> None:
    links = [x for name in files for x in _folders(folder, name) if x.is_symlink()]
    if links:
        raise OptionError(
            f"{str(links[0])!r} is a symbolic link; choose another folder or move it away"
        )
    others = sorted(name for name in files if name not in earlier.names and exists(folder / name))
    if others:
        owner = f"symgen (no {listing} lists it)"
        raise foreign(folder / others[0], owner, "choose another folder or move it away")
    if not earlier.names and (found := _first_entry(folder)):
        raise OptionError(
            f"{str(folder)!r} holds files that are not from symgen, such as '{shown(found)}'; "
            "choose a new or empty folder"
        )
    robot = json.loads(files[listing]).get("robot")
    if None not in (robot, earlier.robot) and robot != earlier.robot:
        raise OptionError(
            f"{str(folder)!r} contains the files of robot '{shown(str(earlier.robot))}'; choose "
            f"another folder for robot '{shown(str(robot))}', or remove the folder"
        )


def _first_entry(folder: Path) -> str:
    """The first name in a folder without temporary files; empty if there is none."""
    try:
        return min((x.name for x in folder.iterdir() if not STAGED.fullmatch(x.name)), default="")
    except FileNotFoundError:
        return ""


def _between(listing: str | bytes, earlier: EarlierRun) -> bytes:
    """The new listing with the files of the earlier one, so that it lists every file whenever the
    run is killed."""
    data = json.loads(listing)
    return json.dumps(
        {**data, "files": {**dict.fromkeys(sorted(earlier.names)), **data["files"]}}
    ).encode()


def _move(
    stage: Path, folder: Path, files: Collection[str], earlier: EarlierRun, listing: str
) -> None:
    """Move the files to their places, the listing of both runs first and the new listing last."""
    folder.mkdir(exist_ok=True)
    (stage / BETWEEN).replace(folder / listing)
    for name in [*(name for name in files if name != listing), listing]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if name == listing:
            for old in earlier.names - set(files):
                (folder / old).unlink(missing_ok=True)
                _remove_folders(folder, old)
        (stage / name).replace(folder / name)


# -- temporary files and folders -------------------------------------------------------------------


@contextlib.contextmanager
def _staging(folder: Path) -> Iterator[Path]:
    """A locked temporary folder on the file system of `folder`, removed afterwards.

    It is inside `folder` if that exists, because `folder` may be a mount point or the only place
    with write permission."""
    for place in (folder, folder.parent):
        clear(place)
    stage = Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder if folder.exists() else folder.parent))
    try:
        with locked(stage):
            yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Lock a file or folder for this process, as far as the system can. The value is True if no
    other process has the lock."""
    try:
        import fcntl

        number = os.open(path, os.O_RDONLY)
    except (ImportError, OSError):
        yield False
        return
    try:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            exclusive = True
        except OSError:
            exclusive = False
        yield exclusive
    finally:
        os.close(number)


def clear(place: Path) -> None:
    """Remove the temporary files in a folder that killed runs have left: those that are older than
    MIN_STALE_AGE and not locked by a running process."""
    try:
        staged = [path for path in place.iterdir() if STAGED.fullmatch(path.name)]
    except OSError:
        return
    for path in staged:
        with contextlib.suppress(OSError):
            if path.is_symlink() or time.time() - path.lstat().st_mtime < MIN_STALE_AGE:
                continue
            with locked(path) as exclusive:
                if exclusive and path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                elif exclusive:
                    path.unlink()


def _folders(folder: Path, name: str) -> list[Path]:
    """The folders inside `folder` that contain the file `name`, innermost first."""
    return [folder / x for x in PurePosixPath(name).parents if x.name]


def _remove_folders(folder: Path, name: str) -> None:
    """Remove the folders that contained the file `name`, as far as they are empty."""
    with contextlib.suppress(OSError):
        for place in _folders(folder, name):
            place.rmdir()


@contextlib.contextmanager
def _undone_on_failure(
    stage: Path, folder: Path, new: Collection[str], old: Collection[str]
) -> Iterator[None]:
    """On an error, restore the `old` files of `folder` and remove the `new` ones, as far as the
    system allows it. Raises the error."""
    fresh = not folder.exists()
    for name in filter(lambda name: (folder / name).is_file(), old):
        copy = stage / BEFORE / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        try:
            copy.hardlink_to(folder / name)
        except OSError:  # a file system without links
            shutil.copy2(folder / name, copy)
    try:
        yield
    except Exception:
        for name in old:
            with contextlib.suppress(OSError):
                (stage / BEFORE / name).replace(folder / name)
        for name in set(new) - set(old):
            with contextlib.suppress(OSError):
                (folder / name).unlink(missing_ok=True)
                _remove_folders(folder, name)
        if fresh:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


DEFERRED: Final = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
"""The signals by which users and systems end a program."""


@contextlib.contextmanager
def _deferred_signals() -> Iterator[None]:
    """Defer the signals that end a program until the end of the block.

    Handlers do it, because a mask would leave the process to the other threads, which NumPy starts.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers
        return
    waiting: list[int] = []
    usual = {n: signal.signal(n, lambda n, frame: waiting.append(n)) for n in DEFERRED}
    try:
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler or signal.SIG_DFL)
        for number in waiting:
            signal.raise_signal(number)


# -- single files ----------------------------------------------------------------------------------


def write_files(files: Files) -> None:
    """Write single files: all of them appear or none. Raises OptionError, also if a file exists
    that must not be replaced."""
    check_targets(files)
    contents = ((target.path, content) for target, content in files.items())
    with _staged(contents) as staged, _deferred_signals():
        _rename(staged)


def write_new(path: Path, content: bytes) -> None:
    """Write a file that does not exist yet, into a folder that exists. Raises OptionError."""
    with _deferred_signals(), _write_errors(path):
        _check_new(path)
        if not path.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        with _staged([(path, content)]) as staged:
            _link(staged)


def write_new_files(files: Mapping[Path, bytes]) -> None:
    """Write files that do not exist yet, and their folders: all of them or none. A file that exists
    with the same content stays. Raises OptionError, also if a file has another content."""
    new = {path: content for path, content in files.items() if not _has(path, content)}
    with _deferred_signals():
        for path in new:
            with _write_errors(path):
                _check_new(path)
        with _staged(new.items()) as staged:
            _link(staged)


def _has(path: Path, content: bytes) -> bool:
    try:
        return path.read_bytes() == content
    except (OSError, ValueError):
        return False


def _check_new(path: Path) -> None:
    if os.path.lexists(path):
        raise OptionError(
            f"{str(path)!r} already exists; choose another name with -o, or move the file away"
        )


@contextlib.contextmanager
def _staged(files: Iterable[tuple[Path, bytes]]) -> Iterator[StagedFiles]:
    """The files under temporary names in their folders. Those that are not renamed are removed
    afterwards. Raises OptionError."""
    staged: StagedFiles = []
    try:
        for path, content in files:
            with _write_errors(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                clear(path.parent)
                if path.is_dir():  # which raises for names that no file can have
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
                with tempfile.NamedTemporaryFile(
                    prefix=PREFIX, dir=path.parent, delete=False
                ) as stream:
                    staged.append((Path(stream.name), path))
                    stream.write(content)
                staged[-1][0].chmod(0o644)
        yield staged
    finally:
        for stage, _ in staged:
            stage.unlink(missing_ok=True)


def _rename(staged: StagedFiles) -> None:
    """Give staged files their names. Existing files are replaced."""
    for stage, path in staged:
        with _write_errors(path):
            stage.replace(path)


def _link(staged: StagedFiles) -> None:
    """Give staged files names that are not used yet; unlike a rename, a hard link fails for a name
    that is used meanwhile."""
    for stage, path in staged:
        with _write_errors(path):
            try:
                path.hardlink_to(stage)
            except OSError:  # used meanwhile, or a file system without links
                _check_new(path)
                stage.replace(path)


@contextlib.contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    """Raises OptionError if the system refuses to write the file."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise OptionError(f"cannot write {str(path)!r}: {reason(error)}") from error
