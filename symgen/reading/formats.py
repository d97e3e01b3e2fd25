"""The formats of robots' files: which one a file is in is seen in its root element, not in its
name; each has a reader, and all readers give the same `Description`."""

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from symgen.errors import OptionError
from symgen.reading import denavit_hartenberg, mjcf, sdf, urdf
from symgen.reading.description import Description
from symgen.reading.expansion import expanded, is_xacro
from symgen.reading.xml_reader import Node, file_bytes, parsed
from symgen.text import shown

Reader = Callable[[Node, Path, str], Description]
"""From the root element, the file's path (where other files are looked for beside it), and the
SHA-256 of its bytes."""

READERS: Final[dict[str, Reader]] = {
    "mujoco": mjcf.described,
    "sdf": sdf.described,
}
"""By root element; every other file is read as a URDF, whose reader says what is missing."""


def read(path: str | os.PathLike[str], xacro_args: Sequence[tuple[str, str]] = ()) -> Description:
    """The robot in a file (or pipe) of any format; a ``.xacro`` file is expanded first, with
    `xacro_args` for its arguments.

    Raises RobotError, one line with file, line and element, for everything that is not one valid
    robot."""
    if denavit_hartenberg.is_table(path):
        return denavit_hartenberg.read(path)
    if is_xacro(path):
        data, digest = expanded(path, xacro_args)
        return urdf.parse(data, f"{os.fspath(path)} (expanded)", digest)
    if xacro_args:
        raise OptionError(
            f"--xacro-arg: '{shown(os.fspath(path))}' is no .xacro file; remove the option"
        )
    data = file_bytes(path)
    root = parsed(data, shown(os.fspath(path)))
    reader = READERS.get(root.tag, urdf.described)
    return reader(root, Path(path), hashlib.sha256(data).hexdigest())
