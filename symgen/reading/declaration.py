"""XML declarations that parsers refuse and that robots' files have all the same: versions that do
not exist, and something before them."""

import re
from typing import Final

_DECLARATION = re.compile(r"(?:[ \t\r\n]++|<!--.*?-->)*+(<\?xml\b[^>]*+>)", re.DOTALL)
_VERSION = re.compile(r"""version\s*=\s*["']([^"']*)["']""")
KNOWN: Final = ("1.0", "1.1")


def without_declaration(text: str) -> tuple[str, int, str]:
    """The text with blanks in the declaration's place, all lines where they were; the line of the
    declaration; and what is wrong with it, empty where nothing is."""
    found = _DECLARATION.match(text)
    if found is None:
        return text, 1, ""
    version, line = _VERSION.search(found[1]), text.count("\n", 0, found.start(1)) + 1
    wrong = []
    if version is not None and version[1] not in KNOWN:
        wrong.append(f"XML has no version {version[1]}")
    if found.start(1):
        wrong.append("the XML declaration is not the first thing in the file")
    blank = "\n" * found[1].count("\n")
    return text[: found.start(1)] + blank + text[found.end(1) :], line, "; ".join(wrong)
