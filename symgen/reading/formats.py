"""The formats of robots' files: which one a file is in is seen in its root element, not in its
name; each has a reader, and all readers give the same `RobotDescription`."""

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Final

from symgen.errors import Notice, OptionError, RobotError, SourceLocation
from symgen.reading import denavit_hartenberg, urdf
from symgen.reading.description import RobotDescription
from symgen.reading.expansion import (
    Expansion,
    check_folders_exist,
    expand,
    is_named,
    needs_expansion,
)
from symgen.reading.leftovers import xacro_nodes
from symgen.reading.macro_files import check_is_robot
from symgen.reading.options import NO_SOURCE_OPTIONS, SourceOptions
from symgen.reading.sizes import check_joint_elements
from symgen.reading.tree import check_one_root
from symgen.reading.xml_reader import STANDARD_INPUT, XmlNode, file_bytes, parsed
from symgen.text import quoted, shown

Reader = Callable[..., RobotDescription]
"""From the root element, the file's path (where other files are looked for beside it), and the
SHA-256 of its bytes; where a file may have several models, also from the name of one or None."""


@dataclass(frozen=True)
class FileFormat:
    """A format: its reader, and whether a file of it may have several models."""

    reader: Reader
    has_models: bool = False


def _loaded(package: str) -> Reader:
    """The reader in a folder beside this file, which is loaded when it has something to read."""
    return lambda *given: import_module(f"symgen.reading.{package}").described(*given)


FORMATS: Final[dict[str, FileFormat]] = {
    "mujoco": FileFormat(_loaded("mjcf")),
    "sdf": FileFormat(_loaded("sdf"), has_models=True),
}
"""The formats by root element; every other file is read as a URDF, whose reader says what is
missing."""
URDF: Final = FileFormat(urdf.described)


def read_element(
    root: XmlNode, path: Path, digest: str, options: SourceOptions
) -> RobotDescription:
    """The robot in the root element of a file. Raises RobotError, and OptionError for an option
    that the format does not have."""
    row = FORMATS.get(root.tag, URDF)
    if row.has_models:
        return row.reader(root, path, digest, options.model)
    check_single_model(f"'{root.source.file}'", options)
    return row.reader(root, path, digest)


def check_single_model(source: str, options: SourceOptions) -> None:
    """Raises OptionError for --model where there is only one."""
    if options.model is not None:
        raise OptionError(
            f"--model '{shown(options.model)}': {source} has one robot, because only SDF "
            "files can have several models; remove the option"
        )


def read(
    path: str | os.PathLike[str], options: SourceOptions = NO_SOURCE_OPTIONS
) -> RobotDescription:
    """The robot in a file (or pipe) of any format; one with xacro in it, whatever it is called, is
    expanded first.

    Raises RobotError, one line with file, line and element, for everything that is not one valid
    robot."""
    if denavit_hartenberg.is_table(path):
        check_single_model(f"'{shown(os.fspath(path))}'", options)
        not_expanded(path, options)
        return without_packages(denavit_hartenberg.read(path), options.package_paths)
    data = file_bytes(path)
    root = parsed(data, shown(os.fspath(path)))
    check_joint_elements(root)
    expansion = _expansion(path, root, options)
    if expansion is None:
        robot = read_element(root, Path(path), hashlib.sha256(data).hexdigest(), options)
        return without_packages(robot, options.package_paths)
    inside = parsed(expansion.text, f"{shown(os.fspath(path))} (expanded)")
    inside.source.notices.extend((*root.source.notices, *expansion.notices))
    check_is_robot(path, root, inside)
    try:
        robot = read_element(inside, Path(path), expansion.digest, options)
        if not is_named(path):
            check_one_root(robot)  # macros that are not defined leave links without joints
    except RobotError as error:
        if is_named(path):
            raise
        raise _of_content(root, error) from None
    return without_packages(robot, expansion.idle)


def not_expanded(path: str | os.PathLike[str], options: SourceOptions) -> None:
    """Refuse what only an expansion takes. Raises OptionError."""
    if options.xacro_args:
        raise OptionError(
            f"--xacro-arg: '{shown(os.fspath(path))}' contains no xacro; remove the option"
        )
    check_folders_exist(options.package_paths)


def without_packages(robot: RobotDescription, idle: Sequence[str]) -> RobotDescription:
    """The robot, with a note of folders given by --package-path that nothing came from."""
    if not idle:
        return robot
    text = (
        f"no file was taken from {quoted(idle)}, because no $(find PACKAGE) refers to a "
        "package in it"
    )
    note = Notice(SourceLocation(robot.file, robot.line), "note", "--package-path", text)
    return replace(robot, notices=(*robot.notices, note))


def _of_content(root: XmlNode, error: RobotError) -> RobotError:
    """The fault in the expansion of a file that does not say that it is to be expanded: at
    its first element of xacro, because nobody sees the lines of the expansion."""
    node = next(xacro_nodes(root), root)
    text = f"the output of xacro is not a robot: {error.element}: {error.message}"
    return node.called(f"<{shown(node.tag)}>").error(text)


def expanded_text(
    path: str | os.PathLike[str], options: SourceOptions = NO_SOURCE_OPTIONS
) -> bytes:
    """The bytes of a file, expanded where it has xacro in it. Raises RobotError."""
    data = file_bytes(path)
    expansion = _expansion(path, parsed(data, shown(os.fspath(path))), options)
    return data if expansion is None else expansion.text


def _expansion(
    path: str | os.PathLike[str], root: XmlNode, options: SourceOptions
) -> Expansion | None:
    """The expansion of a file by xacro, None where it has none in it."""
    if needs_expansion(path, root):
        if os.fspath(path) == STANDARD_INPUT:
            raise root.error("xacro on standard input is not supported; give the path of the file")
        return expand(path, root, options)
    not_expanded(path, options)
    return None
