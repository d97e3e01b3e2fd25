"""Elements that a format has and symgen does not compute, as rows: said in one line for each
kind."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from symgen.reading.xml_reader import XmlNode
from symgen.text import quoted

WEIGHTLESS: Final = "links without gravity ({names}) are subject to gravity here, as all others"
"""The notice of links that a file says do not fall."""
MOST_NAMES: Final = 4
"""Names that are listed at the most."""

Read = TypeVar("Read")
"""What a reader has of a file."""


@dataclass(frozen=True, slots=True)
class IgnoredElement(Generic[Read]):
    """A kind of thing: the level of its notice, the names of those that there are, and what is said
    of them, with {names}, {count} and {joints}."""

    level: str
    names: Callable[[Read], Iterator[str]]
    said: str
    answered_by: tuple[str, ...] = ()
    """Options that make the row void."""
    offer: str = ""
    """The remark in the words of a list of what options answer."""


def notice_ignored(node: XmlNode, rows: Sequence[IgnoredElement[Read]], read: Read) -> None:
    """One notice, at an element, for each row that there is something of."""
    for row in rows:
        unread = list(row.names(read))
        if unread:
            names = quoted(unread[:MOST_NAMES]) + (" and others" if unread[MOST_NAMES:] else "")
            joints = f"{len(unread)} joint" + "s" * (len(unread) > 1)
            text = row.said.format(names=names, count=len(unread), joints=joints)
            offer = row.offer.format(joints=joints)
            node.notice(row.level, text, unless=row.answered_by, offer=offer)
