"""Files of a run appear together or not at all, and nothing that is not symgen's is ever
overwritten."""

import contextlib
import errno
import json
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from symgen.errors import OptionError
from symgen.jobs.manifest import NAME, is_inside

NOTHING: Final[Mapping[Path, bytes]] = MappingProxyType({})


def exists(path: Path) -> bool:
    """Whether there is such a file or folder; of a name that none can have there is none."""
    return os.path.exists(path)  # noqa: PTH110  (Path.exists raises for such names)


def check_folder(folder: Path) -> None:
    """Raises OptionError where something else than a folder has that name."""
    if exists(folder) and not folder.is_dir():
        raise OptionError(f"cannot write to {str(folder)!r}: it is not a folder")


def publish(
    files: Mapping[str, str | bytes],
    folder: Path,
    listing: str = NAME,
    beside: Mapping[Path, bytes] = NOTHING,
) -> list[Path]:
    """Write `files` (name to text or bytes) into `folder`, in place of what an earlier run put
    there.

    `listing` is the one of them that lists the others, for the next run; `beside` are single files
    that appear with them and replace what stands there.

    Everything is written on the same file system first and then renamed, and signals wait until
    that is done. Raises OptionError, leaving all as it was, if that cannot be done."""
    try:
        earlier = _earlier(folder, listing)
        _check(files, folder, earlier, listing)
        _check_beside(files, folder, beside)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _beside(beside) as appear, _undisturbed(), _staging(folder) as stage:
            for name, text in files.items():
                (stage / name).parent.mkdir(exist_ok=True)
                (stage / name).write_bytes(text.encode() if isinstance(text, str) else text)
            _move(stage, folder, files, earlier)
            appear()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OptionError(f"cannot write to {str(folder)!r}: {reason}") from error
    return [folder / name for name in files]


def _earlier(folder: Path, listing: str) -> set[str]:
    """The files that are left of the run whose listing lies in the folder."""
    check_folder(folder)
    try:
        data = json.loads((folder / listing).read_text(encoding="utf-8"))
        own = str(data["generator"]).startswith("symgen ")
        plain = {
            name for name in data["files"] if _ours(folder, name) and (folder / name).is_file()
        }
        return plain | {listing} if own else set()
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return set()


def _ours(folder: Path, name: str) -> bool:
    """Whether a file of that name is in the folder itself, not behind a link."""
    return is_inside(name) and ("/" not in name or not (folder / name).parent.is_symlink())


def _check(files: Iterable[str], folder: Path, earlier: set[str], listing: str) -> None:
    linked = [name for name in files if not _ours(folder, name)]
    if linked:
        raise OptionError(
            f"{str((folder / linked[0]).parent)!r} is a link; choose another folder or move it away"
        )
    foreign = sorted(name for name in files if name not in earlier and (folder / name).exists())
    if foreign:
        raise OptionError(
            f"{str(folder / foreign[0])!r} exists and is not from symgen (no {listing} lists it); "
            "choose another folder or move it away"
        )


def _check_beside(files: Iterable[str], folder: Path, beside: Iterable[Path]) -> None:
    """A single file may lie in the folder, but not be one of its files nor the folder itself."""
    taken = {folder.resolve(), *((folder / name).resolve() for name in files)}
    twice = next((path for path in beside if path.resolve() in taken), None)
    if twice is not None:
        raise OptionError(
            f"{str(twice)!r} would be written twice; choose another name or another folder"
        )


@contextlib.contextmanager
def _staging(folder: Path) -> Iterator[Path]:
    """A folder on the same file system, gone afterwards whatever happens.

    It is inside a folder that exists, which may be a mount point or the only one that may be
    written to."""
    stage = Path(
        tempfile.mkdtemp(prefix=".symgen-", dir=folder if folder.exists() else folder.parent)
    )
    try:
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


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


def _move(stage: Path, folder: Path, files: Collection[str], earlier: set[str]) -> None:
    folder.mkdir(exist_ok=True)
    for name in files:
        (folder / name).parent.mkdir(exist_ok=True)
        (stage / name).replace(folder / name)
    for name in earlier - set(files):
        (folder / name).unlink(missing_ok=True)
        if (folder / name).parent != folder:
            with contextlib.suppress(OSError):  # other files may be there
                (folder / name).parent.rmdir()


def write_files(files: Mapping[Path, bytes]) -> None:
    """Write single files, each under another name first, so that all of them appear or none; what
    stands there is replaced. Raises OptionError."""
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


def _check_new(path: Path) -> None:
    if os.path.lexists(path):
        raise OptionError(f"{str(path)!r} exists; give another name with -o, or move it away")


def _name(stage: Path, path: Path) -> None:
    """Give a file its name; unlike a rename, a link fails where that is taken."""
    try:
        path.hardlink_to(stage)
    except OSError:  # taken meanwhile, or a file system without links
        _check_new(path)
        stage.replace(path)


@contextlib.contextmanager
def _beside(files: Mapping[Path, bytes]) -> Iterator[Callable[[], None]]:
    """Single files under other names, and what gives them their own; what is left is gone
    afterwards."""
    staged = list[tuple[Path, Path]]()
    try:
        for path, content in files.items():
            with _may_fail(path):
                _stage(path, content, staged)
        yield lambda: _appear(staged)
    finally:
        for stage, _ in staged:
            stage.unlink(missing_ok=True)


def _stage(path: Path, content: bytes, staged: list[tuple[Path, Path]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():  # which raises for names that no file can have
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    with tempfile.NamedTemporaryFile(prefix=".symgen-", dir=path.parent, delete=False) as stream:
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
        raise OptionError(
            f"cannot write {str(path)!r}: {getattr(error, 'strerror', None) or error}"
        ) from error
