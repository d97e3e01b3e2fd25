"""The formats of robots' files: which one a file is in is seen in its root element, not in its
name; each has a reader, and all readers give the same `Description`."""

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Final

from symgen.errors import Notice, OptionError, RobotError, SourceLocation
from symgen.reading import denavit_hartenberg, urdf
from symgen.reading.description import Description
from symgen.reading.expansion import Expansion, existing, expanded, is_named, needs_expansion
from symgen.reading.leftovers import xacro_nodes
from symgen.reading.options import NO_XACRO, XacroOptions
from symgen.reading.xml_reader import XmlNode, file_bytes, parsed
from symgen.text import quoted, shown

Reader = Callable[[XmlNode, Path, str], Description]
"""From the root element, the file's path (where other files are looked for beside it), and the
SHA-256 of its bytes."""


def _loaded(room: str) -> Reader:
    """The reader in a folder beside this file, which is loaded when it has something to read."""
    return lambda *given: import_module(f"symgen.reading.{room}").described(*given)


READERS: Final[dict[str, Reader]] = {"mujoco": _loaded("mjcf"), "sdf": _loaded("sdf")}
"""The readers by root element; every other file is read as a URDF, whose reader says what is
missing."""


def read(path: str | os.PathLike[str], xacro: XacroOptions = NO_XACRO) -> Description:
    """The robot in a file (or pipe) of any format; one with xacro in it, whatever it is called, is
    expanded first.

    Raises RobotError, one line with file, line and element, for everything that is not one valid
    robot."""
    if denavit_hartenberg.is_table(path):
        not_expanded(path, xacro)
        return without_packages(denavit_hartenberg.read(path), xacro.package_paths)
    data = file_bytes(path)
    root = parsed(data, shown(os.fspath(path)))
    expansion = _expansion(path, root, xacro)
    if expansion is None:
        robot = _reader(root)(root, Path(path), hashlib.sha256(data).hexdigest())
        return without_packages(robot, xacro.package_paths)
    inside = parsed(expansion.text, f"{shown(os.fspath(path))} (expanded)")
    inside.source.notices.extend((*root.source.notices, *expansion.notices))
    try:
        robot = _reader(inside)(inside, Path(path), expansion.digest)
    except RobotError as error:
        if is_named(path):
            raise
        raise _of_content(root, error) from None
    return without_packages(robot, expansion.idle)


def not_expanded(path: str | os.PathLike[str], xacro: XacroOptions) -> None:
    """Refuse what only an expansion takes. Raises OptionError."""
    if xacro.xacro_args:
        raise OptionError(
            f"--xacro-arg: '{shown(os.fspath(path))}' has no xacro in it; remove the option"
        )
    existing(xacro.package_paths)


def without_packages(robot: Description, idle: Sequence[str]) -> Description:
    """The robot, with a note of folders given by --package-path that nothing came from."""
    if not idle:
        return robot
    text = f"nothing comes from {quoted(idle)}: no $(find PACKAGE) of the file leads there"
    note = Notice(SourceLocation(robot.file, robot.line), "note", "--package-path", text)
    return replace(robot, notices=(*robot.notices, note))


def _of_content(root: XmlNode, error: RobotError) -> RobotError:
    """The fault in the expansion of a file that does not say that it is to be expanded: at
    its first element of xacro, because nobody sees the lines of the expansion."""
    node = next(xacro_nodes(root), root)
    text = f"what xacro makes of this file is no robot: {error.element}: {error.message}"
    return node.called(f"<{shown(node.tag)}>").error(text)


def text_of(path: str | os.PathLike[str], xacro: XacroOptions = NO_XACRO) -> bytes:
    """The bytes of a file, expanded where it has xacro in it. Raises RobotError."""
    data = file_bytes(path)
    expansion = _expansion(path, parsed(data, shown(os.fspath(path))), xacro)
    return data if expansion is None else expansion.text


def _expansion(
    path: str | os.PathLike[str], root: XmlNode, xacro: XacroOptions
) -> Expansion | None:
    """The expansion of a file by xacro, None where it has none in it."""
    if needs_expansion(path, root):
        return expanded(path, root, xacro)
    not_expanded(path, xacro)
    return None


def _reader(root: XmlNode) -> Reader:
    return READERS.get(root.tag, urdf.described)
