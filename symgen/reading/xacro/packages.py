"""Where the packages of ROS are that ``$(find PACKAGE)`` names, found without ROS.

A package is a folder with a ``package.xml`` that names it (the old ``manifest.xml`` takes the
folder's name), or, where no such is found, a folder that is called like it. It is looked for in the
folders that the user gives and below them; in the folders above the file, the nearest first, and
beside them below these, up to the root of the repository; then where ROS says: ROS_PACKAGE_PATH,
and ``share`` in AMENT_PREFIX_PATH."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, starmap
from pathlib import Path
from typing import Final

DEEPEST: Final = 3
"""Packages are this many folders below those that are looked into, or less."""
NEAREST: Final = 4
"""Folders above a file outside any repository that are searched with their subfolders."""
MOST: Final = 10_000
"""More folders are not opened."""
BUILT: Final = frozenset({"build", "log", "node_modules"})
REPOSITORY: Final = (".git", ".hg", ".svn")

_NAME = re.compile(rb"<name>\s*([^<>\s]+)\s*</name>")
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)


@dataclass
class Packages:
    """The packages around a `file`, and in the folders `given`."""

    file: Path
    given: Sequence[Path] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    named: dict[str, Path] = field(default_factory=dict)
    """Found so far, by the name that they state."""
    called: dict[str, Path] = field(default_factory=dict)
    """Folders seen so far, by what they are called."""
    opened: int = 0

    def __post_init__(self) -> None:
        self._rest = chain.from_iterable(starmap(self._below, self._places()))

    def find(self, name: str) -> Path | None:
        """The folder of a package, None where it is not found."""
        while name not in self.named:
            if next(self._rest, None) is None:
                prefixes = self.environment.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
                places = (Path(prefix) / "share" / name for prefix in prefixes if prefix)
                return next(filter(os.path.isdir, places), None) or self.called.get(name)
        return self.named[name]

    def _places(self) -> Iterator[tuple[Path, int]]:
        for folder in self.given:
            yield folder.absolute(), DEEPEST
        above = list(self.file.resolve().parents)[:-1]  # not the root of the system
        inside = [any((folder / sign).exists() for sign in REPOSITORY) for folder in above]
        if True in inside:
            yield from ((folder, DEEPEST) for folder in above[: inside.index(True) + 1])
        else:
            yield from ((folder, DEEPEST) for folder in above[:NEAREST])
            yield from ((folder, 0) for folder in above[NEAREST:])
        for path in self.environment.get("ROS_PACKAGE_PATH", "").split(os.pathsep):
            if path:
                yield Path(path), DEEPEST + 2

    def _below(self, top: Path, depth: int) -> Iterator[Path]:
        """A folder and those below it, level by level; not those inside a package."""
        level = [top]
        for levels in range(depth, -1, -1):
            below: list[Path] = []
            for folder in level:
                is_package = self._remember(folder)
                yield folder
                if not is_package and levels:
                    below += self._folders(folder)
            level = below

    def _folders(self, folder: Path) -> list[Path]:
        self.opened += 1
        if self.opened > MOST:
            return []
        try:
            with os.scandir(folder) as entries:
                names = [entry.name for entry in entries if entry.is_dir()]
        except OSError:
            return []
        return [folder / n for n in sorted(names) if not n.startswith(".") and n not in BUILT]

    def _remember(self, folder: Path) -> bool:
        """Whether the folder is a package."""
        name = _name_of(folder)
        if name is not None:
            self.named.setdefault(name, folder)
        self.called.setdefault(folder.name, folder)
        return name is not None


def _name_of(folder: Path) -> str | None:
    """The name of the package that a folder is, None where it is none."""
    try:
        match = _NAME.search(_COMMENT.sub(b"", (folder / "package.xml").read_bytes()))
    except OSError:
        return folder.name if (folder / "manifest.xml").is_file() else None
    return match[1].decode("utf-8", "replace") if match else folder.name
