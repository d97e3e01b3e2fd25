"""Files of a run appear together or not at all, and nothing that is not symgen's is ever
overwritten."""

import contextlib
import errno
import json
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from symgen.errors import OptionError
from symgen.jobs.manifest import NAME, is_inside
from symgen.jobs.staging import (
    PREFIX,
    STAGED,
    clear,
    folders,
    remove_folders,
    staging,
    undone_on_failure,
)
from symgen.jobs.targets import Files, check_targets, exists, foreign
from symgen.text import reason, shown

NOTHING: Final[Files] = MappingProxyType({})


def check_folder(folder: Path) -> None:
    """Raises OptionError where something else than a folder has that name."""
    if exists(folder) and not folder.is_dir():
        raise OptionError(f"cannot write to {str(folder)!r}: it is not a folder")


@dataclass(frozen=True)
class EarlierRun:
    """An earlier run in a folder: the files of its listing that are there, and the name of its
    robot."""

    names: frozenset[str] = frozenset()
    robot: object = None

    @classmethod
    def of(cls, folder: Path, listing: str) -> "EarlierRun":
        """The earlier run by the listing that lies in a folder; nothing where there is none of
        ours."""
        check_folder(folder)
        try:
            data = json.loads((folder / listing).read_text(encoding="utf-8"))
            generated = str(data["generator"]).startswith("symgen ")
            plain = {n for n in data["files"] if _within(folder, n) and (folder / n).is_file()}
            return cls(frozenset(plain | {listing}), data.get("robot")) if generated else cls()
        except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
            return cls()


def publish(
    files: Mapping[str, str | bytes],
    folder: Path,
    listing: str = NAME,
    beside: Files = NOTHING,
) -> list[Path]:
    """Write `files` (name to text or bytes) into `folder`, in place of what an earlier run for the
    same robot put there.

    `listing` is the one of them that lists the others, for the next run; `beside` are single files
    that appear with them.

    Everything is written on the same file system first and then renamed, and signals wait until
    that is done. A run that is killed in between leaves files that the next run knows as ours.
    Raises OptionError, leaving all as it was, if that cannot be done."""
    try:
        earlier = EarlierRun.of(folder, listing)
        _check(files, folder, earlier, listing)
        check_targets(beside, [folder, *(folder / name for name in files)])
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _beside(beside) as appear, _undisturbed(), staging(folder) as stage:
            for name, text in files.items():
                (stage / name).parent.mkdir(parents=True, exist_ok=True)
                (stage / name).write_bytes(text.encode() if isinstance(text, str) else text)
            between = _between(files[listing], earlier)
            (stage / BETWEEN).write_bytes(between)
            with undone_on_failure(stage, folder, files, earlier.names):
                _move(stage, folder, files, earlier, listing)
                appear()
    except (OSError, ValueError) as error:
        raise OptionError(f"cannot write to {str(folder)!r}: {reason(error)}") from error
    return [folder / name for name in files]


def _within(folder: Path, name: str) -> bool:
    """Whether a file of that name is in the folder itself, not behind a link."""
    return is_inside(name) and not any(x.is_symlink() for x in folders(folder, name))


def _check(
    files: Mapping[str, str | bytes], folder: Path, earlier: EarlierRun, listing: str
) -> None:
    links = [x for name in files for x in folders(folder, name) if x.is_symlink()]
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
    """The first name in a folder, without those of runs that were killed; empty for none."""
    try:
        return min((x.name for x in folder.iterdir() if not STAGED.fullmatch(x.name)), default="")
    except FileNotFoundError:
        return ""


BETWEEN: Final = ".between"
"""The name, in the staging folder, of the listing that holds while files are moved."""


def _between(listing: str | bytes, earlier: EarlierRun) -> bytes:
    """The new listing with the files of the earlier one: whenever a run is killed, it lists all
    that is there, though not with its digests."""
    data = json.loads(listing)
    return json.dumps(
        {**data, "files": {**dict.fromkeys(sorted(earlier.names)), **data["files"]}}
    ).encode()


POLITE: Final = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """The signals that end a program politely wait until the end.

    Handlers do it, since a mask would leave the process to the other threads, which NumPy starts.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers
        return
    waiting: list[int] = []
    usual = {number: signal.signal(number, lambda n, frame: waiting.append(n)) for number in POLITE}
    try:
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler or signal.SIG_DFL)
        for number in waiting:
            signal.raise_signal(number)


def _move(
    stage: Path, folder: Path, files: Collection[str], earlier: EarlierRun, listing: str
) -> None:
    """The listing of both runs goes first, the new one last."""
    folder.mkdir(exist_ok=True)
    (stage / BETWEEN).replace(folder / listing)
    for name in [*(name for name in files if name != listing), listing]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if name == listing:
            _remove(folder, earlier.names - set(files))
        (stage / name).replace(folder / name)


def _remove(folder: Path, names: Iterable[str]) -> None:
    for name in names:
        (folder / name).unlink(missing_ok=True)
        remove_folders(folder, name)


def write_files(files: Files) -> None:
    """Write single files, each under another name first, so that all of them appear or none. Raises
    OptionError, also where one stands there that may not be replaced."""
    check_targets(files)
    with _beside(files) as appear, _undisturbed():
        appear()


def write_new(path: Path, content: bytes) -> None:
    """Write a file that is not there yet, whole or not at all. Raises OptionError, also where it is
    there."""
    staged = list[tuple[Path, Path]]()
    with _undisturbed(), _may_fail(path):
        _check_new(path)
        if not path.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        try:
            _stage(path, content, staged)
            _name(staged[0][0], path)
        finally:
            for stage, _ in staged:
                stage.unlink(missing_ok=True)


def write_new_files(files: Mapping[Path, bytes]) -> None:
    """Write files that do not exist yet, and their folders: all of them or none. A file that exists
    with the same content stays. Raises OptionError, also if a file has another content."""
    new = {path: content for path, content in files.items() if not _has(path, content)}
    staged = list[tuple[Path, Path]]()
    with _undisturbed():
        try:
            for path, content in new.items():
                with _may_fail(path):
                    _check_new(path)
                    _stage(path, content, staged)
            for stage, path in staged:
                with _may_fail(path):
                    _name(stage, path)
        finally:
            for stage, _ in staged:
                stage.unlink(missing_ok=True)


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


def _name(stage: Path, path: Path) -> None:
    """Give a file its name; unlike a rename, a link fails where that is taken."""
    try:
        path.hardlink_to(stage)
    except OSError:  # taken meanwhile, or a file system without links
        _check_new(path)
        stage.replace(path)


@contextlib.contextmanager
def _beside(files: Files) -> Iterator[Callable[[], None]]:
    """Single files under other names, and what gives them their own; what is left is gone
    afterwards."""
    staged = list[tuple[Path, Path]]()
    try:
        for target, content in files.items():
            with _may_fail(target.path):
                _stage(target.path, content, staged)
        yield lambda: _appear(staged)
    finally:
        for stage, _ in staged:
            stage.unlink(missing_ok=True)


def _stage(path: Path, content: bytes, staged: list[tuple[Path, Path]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    clear(path.parent)
    if path.is_dir():  # which raises for names that no file can have
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    with tempfile.NamedTemporaryFile(prefix=PREFIX, dir=path.parent, delete=False) as stream:
        staged.append((Path(stream.name), path))
        stream.write(content)
    staged[-1][0].chmod(0o644)


def _appear(staged: Iterable[tuple[Path, Path]]) -> None:
    for stage, path in staged:
        with _may_fail(path):
            stage.replace(path)


@contextlib.contextmanager
def _may_fail(path: Path) -> Iterator[None]:
    """Raises OptionError where the system refuses to write the file."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise OptionError(f"cannot write {str(path)!r}: {reason(error)}") from error
