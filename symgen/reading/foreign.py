"""Files of formats that are not read, recognised by their content and suffix, so that the message
names the format and not a fault of XML."""

from pathlib import PurePath
from typing import Final

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
    """The format of a file that is not XML; None where it may be, or where that is not known."""
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start or start.startswith((b"<", b"\xff\xfe", b"\xfe\xff")):
        return None
    by_content = next((word for first, word in CONTENTS.items() if start.startswith(first)), None)
    return SUFFIXES.get(PurePath(file).suffix.lower()) or by_content
