"""xacro files: expanded by the library of ROS, with packages found without ROS (the optional extra
``xacro``)."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from lxml import etree

from symgen.errors import OptionError, Place, RobotError
from symgen.reading import xacro_child
from symgen.reading.xml_reader import file_bytes, parsed
from symgen.text import repeated, shown

MISSING: Final = "needs xacro to be expanded; install it: pip install 'symgen[xacro]'"
WAIT: Final = 12 * xacro_child.SECONDS
"""Seconds until a process that does not even compute is given up."""
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
    twice = repeated(name for name, _ in arguments)
    if twice is not None:
        raise OptionError(f"--xacro-arg '{shown(twice)}': given twice; keep one value")
    text = _expanded(Path(path), dict(arguments))
    return text.encode(), _digest(text.encode())


BEGIN: Final = (
    "import json, sys; request = json.load(sys.stdin); sys.path[:] = request['path']; "
    "from symgen.reading.xacro_child import main; main(request)"
)
"""What the process that expands is told; isolated, it looks into no folder but those given."""


def _expanded(path: Path, arguments: dict[str, str]) -> str:
    """The expansion, made by a process of its own with bounds on time and memory."""
    if not (find_spec("xacro") and find_spec("xacrodoc")):
        raise _error(path, MISSING)
    request = {
        "file": os.fspath(path),
        "arguments": arguments,
        "path": [str(Path(entry).absolute()) for entry in sys.path],
    }
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", BEGIN],
            input=json.dumps(request).encode(),
            capture_output=True,
            check=False,
            timeout=WAIT,
        )
        answer = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):  # no JSON: the system ended it
        raise _error(
            path,
            f"expanding it takes more than {xacro_child.SECONDS} s of computing or "
            f"{xacro_child.MEBIBYTES} MiB of memory; simplify its ${{...}} expressions",
        ) from None
    if "error" in answer:
        raise _error(path, f"xacro cannot expand it: {shown(answer['error']).rstrip(':')}")
    return str(answer["text"])


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
