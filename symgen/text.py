"""Text from files made fit for people: names are data, whatever they hold."""

import difflib
import os
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from html import escape
from pathlib import Path


def escaped(text: str) -> str:
    """`text` with every character that cannot be seen as its escape, ends of lines excepted."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def in_ascii(text: str, code: str, unsafe: str = "") -> str:
    """`text` in printable ASCII; every other character, and each of `unsafe`, as `code`, a format
    of its number, has it."""
    return "".join(
        c if c.isascii() and c.isprintable() and c not in unsafe else code.format(ord(c))
        for c in text
    )


def shown(text: str, width: int = 160) -> str:
    """`text` fit for one line of output: unprintable characters escaped, cut after `width`
    characters."""
    line = escaped(text[: width + 1]).replace("\n", "\\n")
    return line if len(line) <= width else line[:width] + "..."


def cited(value: object, width: int = 80) -> str:
    """A value that somebody gave, for a message that says what to give instead: as Python writes
    it, the middle of a long one left out, so that what helps stays in sight."""
    text, half = repr(value), (width - 3) // 2
    return text if len(text) <= width else f"{text[:half]}...{text[-half:]}"


def quoted(names: Iterable[str], most: int = 6) -> str:
    """Names in quotes for a message, the first `most` of them."""
    all_quoted = [f"'{shown(name)}'" for name in names]
    if len(all_quoted) > most:
        all_quoted[most:] = [f"{len(all_quoted) - most} more"]
    return " and ".join(filter(None, (", ".join(all_quoted[:-1]), *all_quoted[-1:])))


def hint(name: str, known: Collection[str], most: int = 6) -> str:
    """The hint for somebody who gave a name that is not among those known: the names near to it,
    those that differ in capitals first, or else all of them (the first `most`)."""
    lower = [candidate for candidate in known if candidate.lower() == name.lower()]
    near = lower or difflib.get_close_matches(name, known, 3, 0.5)
    return f"near names: {quoted(near)}" if near else f"there are {quoted(known, most) or 'none'}"


def reason(error: Exception) -> str:
    """Why something failed, in one line: what the system says of it, else the exception's words."""
    text = getattr(error, "strerror", None) or str(error)
    return " ".join(text.split())


def unread(path: str | os.PathLike[str], error: Exception) -> str:
    """A sentence that a file cannot be read, why, and the names near to its own where it is not
    there."""
    near: list[str] = []
    if isinstance(error, FileNotFoundError):
        missing = Path(path)
        with suppress(OSError):
            beside_it = sorted(file.name for file in missing.parent.iterdir())
            near = difflib.get_close_matches(missing.name, beside_it, 3, 0.7)
    beside = f"; near names beside it: {quoted(near)}" if near else ""
    return f"cannot be read ({shown(reason(error), 200)}){beside}"


def repeated(names: Iterable[str]) -> str | None:
    """The first of some names that stands there a second time, None if each does once."""
    before = set[str]()
    for name in names:
        if name in before:
            return name
        before.add(name)
    return None


def html(text: str) -> str:
    """`text` as it is in a page."""
    return escape(escaped(text))


def html_table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table for notebooks, every cell escaped."""
    cells = "".join(
        "<tr>" + "".join(f"<td>{html(str(x))}</td>" for x in row) + "</tr>" for row in rows
    )
    names = "".join(f"<th>{html(name)}</th>" for name in head)
    return (
        f"<table><caption>{html(title)}</caption><thead><tr>{names}</tr></thead>"
        f"<tbody>{cells}</tbody></table>"
    )
