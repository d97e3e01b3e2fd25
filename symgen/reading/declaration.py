"""XML declarations that parsers refuse and that robots' files have all the same: versions that do
not exist, and something before them."""

import re
from typing import Final

_DECLARATION = re.compile(r"(?>(?:[ \t\r\n]+|<!--.*?-->)*)(<\?xml\b[^>]*+>)", re.DOTALL)
_VERSION = re.compile(r"""version\s*=\s*["']([^"']*)["']""")
KNOWN: Final = ("1.0", "1.1")


def without_declaration(text: str) -> tuple[str, int, str]:
    """The text with blanks in the declaration's place, all lines where they were; the line of the
    declaration; and what is wrong with it, empty where nothing is."""
    declaration = _DECLARATION.match(text)
    if declaration is None:
        return text, 1, ""
    version, line = _VERSION.search(declaration[1]), text.count("\n", 0, declaration.start(1)) + 1
    wrong = []
    if version is not None and version[1] not in KNOWN:
        wrong.append(f"XML has no version {version[1]}")
    if declaration.start(1):
        wrong.append("the XML declaration is not at the start of the file")
    blank = "\n" * declaration[1].count("\n")
    return text[: declaration.start(1)] + blank + text[declaration.end(1) :], line, "; ".join(wrong)
