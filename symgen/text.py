"""Text for messages: escaped and shortened names and values, lists of names, suggestions."""

import difflib
import os
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from html import escape
from pathlib import Path
from shlex import quote
from typing import Final


def escaped(text: str) -> str:
    """`text` with every unprintable character escaped, except line ends."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def in_ascii(text: str, code: str, unsafe: str = "") -> str:
    """`text` in printable ASCII: every other character, and each of `unsafe`, is replaced by `code`
    formatted with its code point."""
    return "".join(
        c if c.isascii() and c.isprintable() and c not in unsafe else code.format(ord(c))
        for c in text
    )


def shown(text: str, width: int = 160) -> str:
    """`text` for one line of output: unprintable characters are escaped, and it is cut after
    `width` characters."""
    line = escaped(text[: width + 1]).replace("\n", "\\n")
    return line if len(line) <= width else line[:width] + "..."


def cited(value: object, width: int = 80) -> str:
    """A given value for a message, as Python writes it; the middle of a long one is left out."""
    text, half = repr(value), (width - 3) // 2
    return text if len(text) <= width else f"{text[:half]}...{text[-half:]}"


def quoted(names: Iterable[str], most: int = 6) -> str:
    """A list of names in quotes for a message, the first `most` of them."""
    all_quoted = [f"'{shown(name)}'" for name in names]
    if len(all_quoted) > most:
        all_quoted[most:] = [f"{len(all_quoted) - most} more"]
    return " and ".join(filter(None, (", ".join(all_quoted[:-1]), *all_quoted[-1:])))


MIN_SIMILARITY: Final = 0.6
"""The least similarity (difflib's ratio) of a name that is suggested."""
MAX_SIMILARITY_LOSS: Final = 0.12
"""How much less similar than the best suggestion another one may be."""


def near_names(name: str, known: Iterable[str]) -> list[str]:
    """The known names that a user who typed `name` probably meant, at most three, the nearest
    first; none if no known name is similar. Capitals are ignored."""
    typed = name.lower()
    similarity = {
        candidate: difflib.SequenceMatcher(None, candidate.lower(), typed).ratio()
        for candidate in known
    }
    best = max(similarity.values(), default=0.0)
    if best < MIN_SIMILARITY:
        return []
    near = [key for key, value in similarity.items() if value >= best - MAX_SIMILARITY_LOSS]
    same = [candidate for candidate in near if candidate.lower() == typed]
    return same or sorted(near, key=similarity.__getitem__, reverse=True)[:3]


def hint(name: str, known: Collection[str], most: int = 6) -> str:
    """The end of a message about an unknown name: the names near to it, or else the known names
    (the first `most`)."""
    near = near_names(name, known)
    return f"near names: {quoted(near)}" if near else f"there are {quoted(known, most) or 'none'}"


def reason(error: Exception) -> str:
    """The reason of a failure in one line: the message of the system, else of the exception."""
    text = getattr(error, "strerror", None) or str(error)
    return " ".join(text.split())


def unread(path: str | os.PathLike[str], error: Exception) -> str:
    """The message that a file cannot be read, with the reason and, if it does not exist, the near
    names of files in its folder."""
    near: list[str] = []
    if isinstance(error, FileNotFoundError):
        missing = Path(path)
        with suppress(OSError):
            near = near_names(missing.name, sorted(f.name for f in missing.parent.iterdir()))
    beside = f"; near names: {quoted(near)}" if near else ""
    return f"cannot be read ({shown(reason(error), 200)}){beside}"


def repeated(names: Iterable[str]) -> str | None:
    """The first name that occurs a second time; None if all names differ."""
    before = set[str]()
    for name in names:
        if name in before:
            return name
        before.add(name)
    return None


def html(text: str) -> str:
    """`text` escaped for HTML."""
    return escape(escaped(text))


def html_table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """An HTML table for notebooks; every cell is escaped."""
    cells = "".join(
        "<tr>" + "".join(f"<td>{html(str(x))}</td>" for x in row) + "</tr>" for row in rows
    )
    names = "".join(f"<th>{html(name)}</th>" for name in head)
    return (
        f"<table><caption>{html(title)}</caption><thead><tr>{names}</tr></thead>"
        f"<tbody>{cells}</tbody></table>"
    )


# -- commands and packages in messages -------------------------------------------------------------


PACKAGES: Final = (
    "clarabel",
    "coal",
    "distributed",
    "drake",
    "fsspec",
    "matplotlib",
    "mujoco",
    "pin",
    "pyarrow",
    "pycollada",
    "rosbags",
    "scipy",
    "trimesh",
    "xacrodoc",
)
"""The optional packages, by their names on the Python Package Index."""

COMMANDS: Final = {
    "check": "symgen check {robot}",
    "excite": "symgen excite {robot} -o {motion}",
    "generate": "symgen generate {job}",
    "list": "symgen list",
    "regenerate": "symgen generate {robot} -o {folder}",
    "verify": "symgen verify {folder}",
}
"""The commands that messages advise, with the words that depend on the case."""


def install(*packages: str) -> str:
    """The command that installs optional packages."""
    assert set(packages) <= set(PACKAGES), packages
    return f"pip install {' '.join(packages)}"


def command(name: str, **words: str) -> str:
    """The command of `COMMANDS` called `name`, its words quoted for a shell."""
    return COMMANDS[name].format(**{key: shown(quote(word)) for key, word in words.items()})


def use_prior(full: bool) -> str:
    """The advice to let the prior determine parameters; empty if ``--full`` is given already."""
    return "" if full else "let the prior determine the remaining parameters with --full"
