"""May this file be replaced? One answer for all that symgen writes.

A file that stands where one is to be written is replaced only if an earlier run of the same command
wrote it: inside a folder those that its listing names, elsewhere those that bear the mark of the
command. The files that a run reads are never replaced."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from symgen.errors import OptionError
from symgen.text import reason

EDGE: Final = 1 << 16
"""Bytes at either end of a file among which a mark is looked for."""


def exists(path: Path) -> bool:
    """True if the file or folder exists; False for a name that is not possible."""
    return os.path.lexists(path)


def foreign(
    path: Path, owner: str, advice: str = "choose another name or move it away"
) -> OptionError:
    """The error for an existing file that symgen did not write and must not replace."""
    return OptionError(f"{str(path)!r} exists and was not written by {owner}; {advice}")


@dataclass(frozen=True)
class Mark:
    """How the command `owner` recognizes a file of an earlier run: `ours` examines its content."""

    owner: str
    ours: Callable[[BinaryIO], bool]


def edges(stream: BinaryIO) -> bytes:
    """The first and the last bytes of a file."""
    head = stream.read(EDGE)
    end = stream.seek(0, os.SEEK_END)
    stream.seek(max(end - EDGE, len(head)))
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
        if not exists(self.path):
            return
        try:
            if not self._ours():
                raise foreign(self.path, self.mark.owner)
        except OSError as error:
            raise OptionError(f"cannot replace {str(self.path)!r}: {reason(error)}") from error

    def _ours(self) -> bool:
        if not self.path.is_file() or any(self._is(path) for path in self.inputs):
            return False
        with self.path.open("rb") as stream:
            return self.mark.ours(stream)

    def _is(self, path: str) -> bool:
        return os.path.exists(path) and self.path.samefile(path)  # noqa: PTH110


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


Files = Mapping[OutputFile, bytes]
"""The contents of single files."""
