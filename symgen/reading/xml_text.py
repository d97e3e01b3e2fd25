"""The text of robots' files: bytes of a file or pipe, encodings, and deviations from well-formed
XML that other readers of robots' files accept."""

import codecs
import os
import re
import sys
from functools import cache
from pathlib import Path, PurePath
from typing import Final

from symgen.errors import WHOLE_FILE, Notice, RobotError, SourceLocation
from symgen.text import shown, unread

MAX_BYTES: Final = 64 * 2**20
"""The size of the largest file that is read."""
STANDARD_INPUT: Final = "-"
"""The path that means standard input."""
LATIN_1: Final = "iso-8859-1"
ENCODINGS: Final = {
    "utf-8": "utf-8",
    "utf8": "utf-8",
    "us-ascii": "utf-8",
    "ascii": "utf-8",
    "iso-8859-1": LATIN_1,
    "latin-1": LATIN_1,
    "latin1": LATIN_1,
    "windows-1252": "cp1252",
}
"""The codecs by the names of encodings in XML declarations."""

_DECLARED: Final = re.compile(rb"<\?xml[^>]*?encoding[ \t\r\n]*=[ \t\r\n]*[\"']([A-Za-z0-9._-]+)")
_CONTROLS: Final = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""Bytes that no text in Latin-1 contains."""


def file_bytes(
    path: str | os.PathLike[str], limit: int = MAX_BYTES, needed: str = "the path of a robot file"
) -> bytes:
    """The content of a file or pipe. Raises RobotError, which asks for what is `needed`, if it
    cannot be read or has more than `limit` bytes."""
    place = SourceLocation(shown(os.fspath(path)), WHOLE_FILE)
    try:
        if os.fspath(path) == STANDARD_INPUT:
            data = _standard_input()
        else:
            with Path(path).open("rb") as stream:
                data = stream.read(limit + 1)
    except (OSError, ValueError) as error:
        raise RobotError(place, "", f"{unread(path, error)}; give {needed}") from None
    if len(data) > limit:
        size = f"{limit >> 20} MiB" if limit >> 20 else f"{limit >> 10} KiB"
        raise RobotError(place, "", f"is larger than {size}; give {needed}")
    return data


@cache
def _standard_input() -> bytes:
    """The content of standard input, which can be read only once."""
    if sys.stdin is None:
        raise OSError("there is no standard input")
    return sys.stdin.buffer.read(MAX_BYTES + 1)


def decoded(data: bytes, file: str) -> tuple[str, list[Notice]]:
    """The text of an XML file, by its byte order mark or declaration, and a note if bytes that are
    not UTF-8 are read as Latin-1. Raises RobotError for an encoding that is not supported."""
    body, encoding = data.removeprefix(codecs.BOM_UTF8), encoding_of(data, file)
    if encoding.startswith("utf-16"):
        encoding = "utf-16"  # which takes the byte order mark away
    try:
        return body.decode(encoding), []
    except UnicodeDecodeError as error:
        place = SourceLocation(file, body.count(b"\n", 0, error.start) + 1)
    if encoding != "utf-8" or len(body) < len(data) or _CONTROLS.search(body):
        sentence = f"bytes that are not {encoding.upper()} text; save the file as UTF-8"
        raise RobotError(place, "XML", sentence)
    sentence = "bytes that are not UTF-8 are read as Latin-1; save the file as UTF-8"
    return body.decode(LATIN_1), [Notice(place, "note", "XML", sentence)]


def encoding_of(data: bytes, file: str) -> str:
    """The codec of an XML file after its byte order mark. Raises RobotError for an encoding that is
    not supported."""
    for mark, codec in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if data.startswith(mark):
            return codec
    declared = _DECLARED.match(data.removeprefix(codecs.BOM_UTF8).lstrip())
    name = declared[1].decode() if declared else "utf-8"
    if name.lower() not in ENCODINGS:
        message = f"encoding '{shown(name)}' is not supported; save the file as UTF-8"
        raise RobotError(SourceLocation(file, 1), "XML", message)
    return ENCODINGS[name.lower()]


# -- deviations from XML ---------------------------------------------------------------------------

VERSIONS: Final = ("1.0", "1.1")
_DECLARATION: Final = re.compile(r"(?>(?:[ \t\r\n]+|<!--.*?-->)*)(<\?xml\b[^>]*+>)", re.DOTALL)
_VERSION: Final = re.compile(r"""version\s*=\s*["']([^"']*)["']""")
_COMMENT: Final = re.compile(r"<!--(.*?)-->", re.DOTALL)
_BARE_AMPERSAND: Final = re.compile(r"&(?!#[0-9]+;|#x[0-9a-fA-F]+;|(?:amp|lt|gt|apos|quot);)")


def without_prolog(text: str) -> tuple[str, int, str]:
    """The text with blanks in place of the XML declaration, so that lines keep their numbers; the
    line of the declaration; and its fault (an unknown version, or text before it), or an empty
    string."""
    declaration = _DECLARATION.match(text)
    if declaration is None:
        return text, 1, ""
    start, end = declaration.span(1)
    version, faults = _VERSION.search(declaration[1]), []
    if version is not None and version[1] not in VERSIONS:
        faults.append(f"XML has no version {version[1]}")
    if start:
        faults.append("the XML declaration is not at the start of the file")
    blank = "\n" * declaration[1].count("\n")
    return text[:start] + blank + text[end:], text.count("\n", 0, start) + 1, "; ".join(faults)


def tolerant_xml(text: str) -> tuple[str, list[tuple[int, str]]]:
    """The text without two faults that the readers of ROS, Gazebo and MuJoCo (all on tinyxml2)
    accept: two hyphens in comments, and bare ampersands. Lines keep their numbers. Also the line of
    the first place of each fault, and a phrase that describes it."""
    found = []
    bad = next((m for m in _COMMENT.finditer(text) if "--" in f"{m[1]}-"), None)
    if bad is not None:
        found.append((text.count("\n", 0, bad.start()) + 1, "two hyphens inside a comment"))
        text = _COMMENT.sub(  # an empty comment with as many lines
            lambda m: "<!--" + "\n" * m[1].count("\n") + "-->" if "--" in f"{m[1]}-" else m[0], text
        )
    bare = _BARE_AMPERSAND.search(text)
    if bare is not None:
        line = text.count("\n", 0, bare.start()) + 1
        found.append((line, "an & that is not written as &amp;"))
        text = _BARE_AMPERSAND.sub("&amp;", text)
    return text, found


# -- files that are not XML ------------------------------------------------------------------------

CONTENTS: Final = {
    b"#usda": "USD",
    b"PXR-USDC": "USD",
    b"PK\x03\x04": "a ZIP archive (USDZ, 3MF)",
    b"glTF": "glTF",
    b"solid ": "STL",
    b"%YAML": "YAML",
    b"{": "JSON",
    b"[": "JSON",
}
"""The first bytes of a file, and its format."""
SUFFIXES: Final = {
    ".json": "JSON",
    ".yaml": "YAML",
    ".yml": "YAML",
    ".lua": "Lua",
    ".usd": "USD",
    ".usda": "USD",
    ".usdc": "USD",
    ".usdz": "USD",
    ".kindsl": "RobCoGen's kinematics DSL",
    ".dtdsl": "RobCoGen's description of transforms",
    ".wbt": "Webots' format",
    ".proto": "Webots' format",
    ".ttt": "CoppeliaSim's format",
    ".m": "MATLAB",
    ".py": "Python",
    ".stl": "STL",
    ".obj": "OBJ",
    ".step": "STEP",
    ".iges": "IGES",
}
"""The suffix of a file that is no XML, and its format."""


def foreign_format(data: bytes, file: str) -> str | None:
    """The format of a file that is not XML; None if it may be XML or the format is not known."""
    start = data.removeprefix(codecs.BOM_UTF8).lstrip()
    if not start or start.startswith((b"<", codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return None
    by_content = next((word for first, word in CONTENTS.items() if start.startswith(first)), None)
    return SUFFIXES.get(PurePath(file).suffix.lower()) or by_content
