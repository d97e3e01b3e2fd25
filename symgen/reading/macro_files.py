"""Files of xacro that only define macros: which macros, and which files beside them call these."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from symgen.reading.expansion import SUFFIX
from symgen.reading.leftovers import is_xacro
from symgen.reading.xml_reader import XmlNode
from symgen.text import quoted, shown

MAX_FILES: Final = 200
"""The most files that are searched for calls."""
MAX_FILE_BYTES: Final = 2**20
"""Larger files are not searched."""
MAX_NAMED: Final = 4
"""The most files that are named."""


def check_is_robot(path: str | os.PathLike[str], root: XmlNode, expansion: XmlNode) -> None:
    """Raises RobotError for a file that defines macros and no robot."""
    macros = [node for node in root if is_xacro(node) and node.tag.endswith(":macro")]
    if not macros or expansion.children("link"):
        return
    names = [node.element.get("name") or "" for node in macros]
    callers = [shown(name) for name in _callers(Path(path), names)]
    if callers:
        advice = f"give a file that calls them, such as {quoted(callers[:MAX_NAMED])}"
    else:
        advice = "give a file that calls them"
    kind = "macro" if len(names) == 1 else "macros"
    raise (
        macros[0]
        .called("<robot>")
        .error(f"has no links and only defines the {kind} {quoted(names, 8)}; {advice}")
    )


def _callers(path: Path, names: list[str]) -> Iterator[str]:
    """The files in the folder of a file and in those beside it that call some macros, with their
    paths relative to that folder."""
    words = b"|".join(re.escape(name.encode()) for name in names)
    calls = re.compile(rb"<xacro:(?:%s)[\s/>]" % words)
    folder = path.resolve().parent
    for file in islice(_files_near(folder), MAX_FILES):
        with suppress(OSError):
            is_small = file.stat().st_size <= MAX_FILE_BYTES
            if is_small and file != path.resolve() and calls.search(file.read_bytes()):
                yield os.path.relpath(file, folder)


def _files_near(folder: Path) -> Iterator[Path]:
    """The files of xacro in a folder, then in the folders beside it."""
    yield from sorted(folder.glob(f"*{SUFFIX}"))
    with suppress(OSError):
        for beside in sorted(x for x in folder.parent.iterdir() if x.is_dir() and x != folder):
            yield from sorted(beside.glob(f"*{SUFFIX}"))
