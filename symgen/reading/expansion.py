"""xacro files: expanded by the library of ROS, with packages found without ROS (the optional extra
``xacro``)."""

import contextlib
import hashlib
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from lxml import etree

from symgen.errors import OptionError, Place, RobotError
from symgen.reading.xml_reader import file_bytes, parsed
from symgen.text import shown

MISSING: Final = "needs xacro to be expanded; install it: pip install 'symgen[xacro]'"
UNREAD: Final = ("visual", "collision", "gazebo", "param")
"""Elements that hold no dynamics but paths of this machine, which a digest must not depend on."""


def is_xacro(path: str | os.PathLike[str]) -> bool:
    """Whether a file's name says that it is to be expanded."""
    return Path(path).suffix.lower() == ".xacro"


def expanded(
    path: str | os.PathLike[str], arguments: Sequence[tuple[str, str]] = ()
) -> tuple[bytes, str]:
    """A xacro file's expansion as URDF, and a SHA-256 of it.

    ``$(find PACKAGE)`` looks for the package in the folders above the file and where ROS looks
    (ROS_PACKAGE_PATH). The digest is of the expanded elements without those that symgen never reads
    (UNREAD), comments and layout, so that it is the same on every machine. Raises RobotError, one
    line with the file, whatever goes wrong."""
    parsed(
        file_bytes(path), shown(os.fspath(path))
    )  # refused as any XML is, before the library sees it
    names = [name for name, _ in arguments]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise OptionError(f"--xacro-arg '{shown(twice)}': given twice; keep one value")
    text = _expanded(Path(path), dict(arguments))
    return text.encode(), _digest(text.encode())


def _expanded(path: Path, arguments: dict[str, str]) -> str:
    try:
        import xacro
        from xacrodoc import packages
    except ImportError:
        raise _error(path, MISSING) from None
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            packages.reset()
            packages.walk_up_from(path)
            document = xacro.process_file(os.fspath(path), mappings=arguments)
        return str(document.toprettyxml(indent="  "))
    except (
        Exception,
        SystemExit,
    ) as error:  # the library lets every kind through, those of expressions too
        raise _error(path, f"xacro cannot expand it: {_reason(error)}") from None


def _reason(error: BaseException) -> str:
    """The first line of what the library says."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return shown(lines[0] if lines else type(error).__name__).rstrip(":")


def _error(path: Path, message: str) -> RobotError:
    return RobotError(Place(shown(os.fspath(path)), 1), "xacro", message)


def _digest(data: bytes) -> str:
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        remove_comments=True,
        remove_pis=True,
        remove_blank_text=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        return hashlib.sha256(data).hexdigest()  # to be refused when it is read
    etree.strip_elements(root, *(f"{{*}}{tag}" for tag in UNREAD), with_tail=False)
    return hashlib.sha256(etree.tostring(root, method="c14n")).hexdigest()
