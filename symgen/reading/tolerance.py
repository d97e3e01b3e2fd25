"""Text that is no well-formed XML, but that the readers of robots' files in ROS, Gazebo and MuJoCo
(all on tinyxml2) accept: mended, with the lines where they were."""

import re
from typing import Final

_COMMENT: Final = re.compile(r"<!--(.*?)-->", re.DOTALL)
_BARE_AMPERSAND: Final = re.compile(r"&(?!#[0-9]+;|#x[0-9a-fA-F]+;|(?:amp|lt|gt|apos|quot);)")


def tolerant_xml(text: str) -> tuple[str, list[tuple[int, str]]]:
    """The text with two hyphens in comments and bare ampersands mended; the line of the first place
    of each kind, and a phrase on it."""
    found = []
    bad = next((m for m in _COMMENT.finditer(text) if _has_hyphens(m[1])), None)
    if bad is not None:
        found.append((_line(text, bad.start()), "two hyphens inside a comment"))
        text = _COMMENT.sub(_emptied, text)
    bare = _BARE_AMPERSAND.search(text)
    if bare is not None:
        found.append((_line(text, bare.start()), "an & that is not written as &amp;"))
        text = _BARE_AMPERSAND.sub("&amp;", text)
    return text, found


def _has_hyphens(comment: str) -> bool:
    return "--" in comment or comment.endswith("-")


def _emptied(comment: re.Match[str]) -> str:
    return (
        "<!--" + "\n" * comment[1].count("\n") + "-->" if _has_hyphens(comment[1]) else comment[0]
    )


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
