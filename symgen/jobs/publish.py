"""Writing of files: all files of a run appear or none, and only files of symgen are replaced.

A file that exists is replaced only if an earlier run of the same command wrote it: inside a folder
the files that its listing names, elsewhere the files that bear the mark of the command. The files
that a run reads are never replaced.

Files are written under temporary names in their folders and renamed when all of them are complete.
A run that is killed leaves temporary files, which a later run removes."""

import contextlib
import errno
import json
import os
import re
import secrets
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import BinaryIO, Final

from symgen.errors import OptionError
from symgen.jobs.manifest import NAME, is_inside
from symgen.text import reason, shown

# -- files that may be replaced --------------------------------------------------------------------

EDGE_BYTES: Final = 1 << 16
"""Bytes at either end of a file among which a mark is looked for."""


@dataclass(frozen=True)
class Mark:
    """How the command `owner` recognizes a file of an earlier run: `ours` examines its content."""

    owner: str
    ours: Callable[[BinaryIO], bool]


def edges(stream: BinaryIO) -> bytes:
    """The first and the last bytes of a file."""
    head = stream.read(EDGE_BYTES)
    stream.seek(max(stream.seek(0, os.SEEK_END) - EDGE_BYTES, len(head)))
    return head + stream.read()


def holding(owner: str, begin: bytes, sign: bytes) -> Mark:
    """The mark of a file that begins with `begin` and contains `sign` near its beginning or end."""

    def ours(stream: BinaryIO) -> bool:
        ends = edges(stream)
        return ends.startswith(begin) and sign in ends

    return Mark(owner, ours)


@dataclass(frozen=True)
class OutputFile:
    """A file to write; `inputs` are the files that the run reads, which are never replaced."""

    path: Path
    mark: Mark
    inputs: tuple[str, ...] = ()

    def check(self) -> None:
        """Raises OptionError if the file exists and must not be replaced or cannot be read."""
        if not os.path.lexists(self.path):
            return
        try:
            if not self._ours():
                raise _foreign(self.path, self.mark.owner, "choose another name or move it away")
        except OSError as error:
            raise OptionError(f"cannot replace {str(self.path)!r}: {reason(error)}") from error

    def _ours(self) -> bool:
        read = (path for path in map(Path, self.inputs) if path.exists())
        if not self.path.is_file() or any(map(self.path.samefile, read)):
            return False
        with self.path.open("rb") as stream:
            return self.mark.ours(stream)


Files = Mapping[OutputFile, bytes]
"""The contents of single files."""
NO_FILES: Final[Files] = MappingProxyType({})


def _foreign(path: Path, owner: str, advice: str) -> OptionError:
    """The error for an existing file that symgen did not write and must not replace."""
    return OptionError(f"{str(path)!r} exists and was not written by {owner}; {advice}")


def check_targets(targets: Iterable[OutputFile], taken: Iterable[Path] = ()) -> None:
    """Raises OptionError if a target must not be written, or if two targets, or a target and a path
    of `taken`, are the same file."""
    paths = {path.resolve() for path in taken}
    for target in targets:
        target.check()
        if target.path.resolve() in paths:
            raise OptionError(
                f"{str(target.path)!r} is the path of two outputs; choose another path for one "
                "of them"
            )
        paths.add(target.path.resolve())


# -- folders ---------------------------------------------------------------------------------------


def check_folder(folder: Path) -> None:
    """Raises OptionError where something else than a folder has that name."""
    if os.path.lexists(folder) and not folder.is_dir():
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
    beside: Files = NO_FILES,
) -> list[Path]:
    """Write `files` (name to text or bytes) into `folder`, in place of the files of an earlier run
    for the same robot.

    `listing` is the file that lists the others, for the next run; `beside` are single files outside
    the folder that appear with them. If a run is killed while files are renamed, the listing names
    the files of both runs, so that the next run may replace them. Raises OptionError if that cannot
    be done; then nothing was changed."""
    contents = {name: x.encode() if isinstance(x, str) else x for name, x in files.items()}
    last = contents.pop(listing)
    try:
        earlier = EarlierRun.of(folder, listing)
        _check(files, folder, earlier, json.loads(last).get("robot"), listing)
        check_targets(beside, [folder, *(folder / name for name in files)])
        data = json.loads(last)
        files_of_both_runs = {
            **data,
            "files": {**dict.fromkeys(sorted(earlier.names)), **data["files"]},
        }
        pairs = [
            *((target.path, content) for target, content in beside.items()),
            (folder / listing, json.dumps(files_of_both_runs).encode()),
            *((folder / name, content) for name, content in contents.items()),
            (folder / listing, last),
        ]
        old = [folder / name for name in sorted(earlier.names - set(files))]
        _write(pairs, Path.replace, old, folder)
        for name in earlier.names:
            with contextlib.suppress(OSError):  # a folder that is not empty stays
                for place in _folders(folder, name):
                    place.rmdir()
    except (OSError, ValueError) as error:
        raise OptionError(f"cannot write to {str(folder)!r}: {reason(error)}") from error
    return [folder / name for name in files]


def _check(
    files: Collection[str], folder: Path, earlier: EarlierRun, robot: object, listing: str
) -> None:
    links = [x for name in files for x in _folders(folder, name) if x.is_symlink()]
    if links:
        raise OptionError(
            f"{str(links[0])!r} is a symbolic link; choose another folder or move it away"
        )
    new = (folder / name for name in sorted(files) if name not in earlier.names)
    for path in filter(os.path.lexists, new):
        owner = f"symgen (no {listing} lists it)"
        raise _foreign(path, owner, "choose another folder or move it away")
    entries = [] if earlier.names or not folder.exists() else [x.name for x in folder.iterdir()]
    others = [name for name in entries if not STAGED.fullmatch(name)]
    if others:
        raise OptionError(
            f"{str(folder)!r} holds files that are not from symgen, such as "
            f"'{shown(min(others))}'; choose a new or empty folder"
        )
    if None not in (robot, earlier.robot) and robot != earlier.robot:
        raise OptionError(
            f"{str(folder)!r} contains the files of robot '{shown(str(earlier.robot))}'; choose "
            f"another folder for robot '{shown(str(robot))}', or remove the folder"
        )


def _folders(folder: Path, name: str) -> list[Path]:
    """The folders inside `folder` that contain the file `name`, innermost first."""
    return [folder / x for x in PurePosixPath(name).parents if x.name]


# -- single files ----------------------------------------------------------------------------------


def write_files(files: Files) -> None:
    """Write single files: all of them appear or none. Raises OptionError, also if a file exists
    that must not be replaced."""
    check_targets(files)
    _write([(target.path, content) for target, content in files.items()], Path.replace)


def write_new(path: Path, content: bytes) -> None:
    """Write a file that does not exist yet, into a folder that exists. Raises OptionError."""
    with _write_errors(path):
        _check_new(path)
        if not path.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    _write([(path, content)], _link)


def write_new_files(files: Mapping[Path, bytes]) -> None:
    """Write files that do not exist yet, and their folders: all of them or none. A file that exists
    with the same content stays. Raises OptionError, also if a file has another content."""
    new = []
    for path, content in files.items():
        with _write_errors(path):
            if not path.is_file() or path.read_bytes() != content:
                _check_new(path)
                new.append((path, content))
    _write(new, _link)


def _check_new(path: Path) -> None:
    if os.path.lexists(path):
        raise OptionError(
            f"{str(path)!r} already exists; choose another name with -o, or move the file away"
        )


def _link(temporary: Path, path: Path) -> None:
    """Give a temporary file a name that is not used yet; unlike a rename, a hard link fails for a
    name that is used meanwhile."""
    try:
        path.hardlink_to(temporary)
    except OSError:  # used meanwhile, or a file system without links
        _check_new(path)
        temporary.replace(path)


# -- temporary files -------------------------------------------------------------------------------

PREFIX: Final = ".symgen-"
STAGED: Final = re.compile(r"\.symgen-[a-z0-9_]{8}")
"""The names of temporary files."""
MIN_STALE_AGE: Final = 3600.0
"""Seconds after which a temporary file belongs to no running process any more: files are renamed
as soon as all of a run are written."""


def _write(
    contents: Collection[tuple[Path, bytes]],
    give_name: Callable[[Path, Path], object],
    old: Collection[Path] = (),
    folder: Path | None = None,
) -> None:
    """Write files under temporary names, then give all of them their names in order, and remove the
    `old` files before the last one.

    If that fails, files that existed are restored and new ones removed, as far as the system allows
    it. Raises OptionError, which names the `folder` for the files in it."""
    staged, stack = list[tuple[Path, Path]](), contextlib.ExitStack
    with _deferred_signals(), stack() as made, stack() as always, stack() as on_error:
        for path, content in contents:
            with _write_errors(path, folder):
                _make_folders(path.parent, made)
                remove_stale_files(path.parent)
                if path.is_dir():  # which raises for names that no file can have
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
                with tempfile.NamedTemporaryFile(
                    prefix=PREFIX, dir=path.parent, delete=False
                ) as stream:
                    staged.append((Path(stream.name), path))
                    always.callback(_try_action, staged[-1][0].unlink, missing_ok=True)
                    stream.write(content)
                staged[-1][0].chmod(0o644)
        existing = [x for x in {*old, *(path for _, path in staged)} if x.is_file()]
        for path in existing:
            copy = path.with_name(PREFIX + secrets.token_hex(4))
            always.callback(_try_action, copy.unlink, missing_ok=True)
            with _write_errors(path, folder):
                _copy(path, copy)
            on_error.callback(_try_action, copy.replace, path)
        for k, (temporary, path) in enumerate(staged, 1):
            with _write_errors(path, folder):
                for outdated in old if k == len(staged) else ():
                    outdated.unlink(missing_ok=True)
                give_name(temporary, path)
            if path not in existing:
                on_error.callback(_try_action, path.unlink, missing_ok=True)
        on_error.pop_all()
        made.pop_all()


def _make_folders(folder: Path, made: contextlib.ExitStack) -> None:
    """Make a folder and those above it that do not exist; `made` removes them again."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        place.mkdir(exist_ok=True)
        made.callback(_try_action, place.rmdir)


def _copy(path: Path, copy: Path) -> None:
    """Make a copy that lasts while the file is replaced."""
    try:
        copy.hardlink_to(path)
    except OSError:  # a file system without links
        shutil.copy2(path, copy)


def _try_action(action: Callable[..., object], *arguments: Path, **options: bool) -> None:
    """Call an action that the system may refuse."""
    with contextlib.suppress(OSError):
        action(*arguments, **options)


def remove_stale_files(place: Path) -> None:
    """Remove the temporary files in a folder that killed runs have left: those that are older than
    MIN_STALE_AGE."""
    with contextlib.suppress(OSError):
        for path in [path for path in place.iterdir() if STAGED.fullmatch(path.name)]:
            if path.is_symlink() or time.time() - path.lstat().st_mtime < MIN_STALE_AGE:
                continue
            if path.is_dir():  # as earlier versions made them
                shutil.rmtree(path, ignore_errors=True)
            else:
                _try_action(path.unlink)


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


@contextlib.contextmanager
def _write_errors(path: Path, folder: Path | None = None) -> Iterator[None]:
    """Raises OptionError if the system refuses to write the file."""
    try:
        yield
    except (OSError, ValueError) as error:
        is_inside_folder = folder is not None and folder in path.parents
        where = f"to {str(folder)!r}" if is_inside_folder else repr(str(path))
        raise OptionError(f"cannot write {where}: {reason(error)}") from error
