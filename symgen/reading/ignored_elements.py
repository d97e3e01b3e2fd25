"""Elements that a format has and symgen does not compute, as one table for each format: which
elements are known, and what is reported of those that have no effect."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Generic, TypeVar

from symgen.reading.xml_reader import XmlNode
from symgen.text import quoted, shown

LINKS_WITHOUT_GRAVITY: Final = (
    "links without gravity ({names}) are subject to gravity here, as all others"
)
"""The notice of links that a file exempts from gravity."""
LEFT_OPEN: Final = "{names} {verb} left open: the parts move freely, each with its own coordinates"
"""The notice of joints that close loops."""
MAX_NAMES: Final = 4
"""The number of names that a notice lists."""

Source = TypeVar("Source")
"""What a reader has of a file."""


@dataclass(frozen=True, slots=True)
class IgnoredElement(Generic[Source]):
    """A kind of element without effect: the level of its notice, the elements of a file by name or
    as nodes, and the message, which may contain {names}, {count} and {counted}."""

    level: str
    found: Callable[[Source], Iterable[str | XmlNode]]
    message: str
    unless: tuple[str, ...] = ()
    """The options that each make the notice irrelevant."""
    offer: str = ""
    """The entry in the list of what options add (`symgen.errors.Notice.offer`)."""
    counted: str = "joint"
    """The noun of {counted}, such as "3 joints"."""


def notice_ignored(node: XmlNode, rows: Sequence[IgnoredElement[Source]], source: Source) -> None:
    """Add one notice for each row of which the file has an element: at the first element, or at
    `node` if the row gives names only."""
    for row in rows:
        elements = list(row.found(source))
        if not elements:
            continue
        names = [x for x in elements if isinstance(x, str)]
        words = {
            "names": quoted(names[:MAX_NAMES]) + (" and others" if names[MAX_NAMES:] else ""),
            "count": len(elements),
            "counted": f"{len(elements)} {row.counted}" + "s" * (len(elements) > 1),
        }
        first = elements[0]
        place = node if isinstance(first, str) else first.with_label(f"<{first.tag}>")
        text, offer = row.message.format(**words), row.offer.format(**words)
        place.notice(row.level, text, unless=row.unless, offer=offer)


UNKNOWN: Final = "unknown tags, ignored: {elements}"
"""The summary of notices of unknown elements."""
MIN_SIMILARITY: Final = 0.75
"""The least similarity (difflib's ratio) of an unknown tag to a known one that it may mean."""


def notice_unknown(elements: Iterable[tuple[str, XmlNode]], known: Mapping[str, str]) -> None:
    """Add a notice for each tag of unknown elements, at the first of them. An element comes with
    its kind of parent, for which `known` has the known tags, separated by blanks."""
    unknown = list(elements)
    first = {node.tag: (part, node) for part, node in reversed(unknown)}
    count = Counter(node.tag for _, node in unknown)
    for tag, (part, node) in first.items():
        near = get_close_matches(tag.lower(), known[part].split(), 1, MIN_SIMILARITY)
        hint = f"; if <{near[0]}> is meant, correct the name" if near else ""
        times = f" ({count[tag]} of them)" if count[tag] > 1 else ""
        node.with_label(f"<{shown(tag)}>").notice(
            "note", f"unknown in <{part}>, ignored{times}{hint}", "" if near else UNKNOWN
        )


def loops_left_open(names: Iterable[str], count: int) -> str:
    """The notice of `count` joints that close loops, which are left open."""
    verb = "closes a loop, which is" if count == 1 else "close loops, which are"
    return LEFT_OPEN.format(names=quoted(names), verb=verb)
