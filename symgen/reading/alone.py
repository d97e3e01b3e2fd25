"""Whether a robot's file is all that is read of it, seen without reading it."""

import re
from typing import Final

_BEFORE: Final = rb"(?:\xef\xbb\xbf)?(?:\s|<\?xml[^>]*\?>|<!--(?:[^-]|-(?!->))*-->)*"
_ALONE: Final = re.compile(_BEFORE + rb"<(?:robot|sdf)[\s>]")


def is_alone(name: str, data: bytes) -> bool:
    """Whether a file with that name and content is a URDF or SDF that leads to no other file.

    False for all that is not surely one: xacro files, and those with a document type or with
    models of other files."""
    if name.lower().endswith(".xacro") or b"<include" in data:
        return False
    return _ALONE.match(data) is not None
