"""Whether a robot's file is all that is read of it, seen without reading it."""

import re
from typing import Final

_BEFORE: Final = rb"(?:\xef\xbb\xbf)?(?:\s|<\?xml[^>]*\?>|<!--(?:[^-]|-(?!->))*-->)*"
_ALONE: Final = re.compile(_BEFORE + rb"<(?:robot|sdf)[\s>]")

LEADS: Final = (b"<include", b"xacro", b"$(")
"""What may lead to other files."""


def is_self_contained(name: str, data: bytes) -> bool:
    """Whether a file with that name and content is a URDF or SDF that leads to no other file.

    False for all that is not surely one: files with xacro in them, whatever they are called, and
    those with a document type or with models of other files."""
    if name.lower().endswith(".xacro") or any(sign in data for sign in LEADS):
        return False
    return _ALONE.match(data) is not None
