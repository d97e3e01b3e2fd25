"""XML read defensively: bytes to elements with line numbers, strict numbers and one-line errors.

Nothing outside the file is ever opened, a DOCTYPE is refused before any entity exists, and names
from the file are escaped before they enter a message."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final, Generic, TypeVar

from lxml import etree

from symgen.errors import WHOLE_FILE, Notice, RobotError, SourceLocation
from symgen.mechanics.spatial import Triple
from symgen.reading.xml_text import (
    decoded,
    foreign_format,
    tolerant_xml,
    without_prolog,
)
from symgen.text import quoted, shown

XML_SPACE = " \t\r\n"
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
EXPRESSION = re.compile(r"\$[{(][^})]*[})]?")

DOCTYPE = re.compile(r"(?>(?:[ \t\r\n]+|<\?.*?\?>|<!--.*?-->)*)<!DOCTYPE", re.DOTALL)
_POSITION = re.compile(r", (?:try|use) XML_PARSE_HUGE.*|, line \d+, column \d+.*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class XmlFile:
    """A file being read: its printed name, its lines and what was noticed so far."""

    file: str
    lines: tuple[str, ...]
    notices: list[Notice] = field(default_factory=list)

    def line_of(self, element: etree._Element, tag: str) -> int:
        """Line where the start tag begins; the parser itself gives the line where it ends."""
        end = max(1, min(int(getattr(element, "sourceline", None) or 1), len(self.lines)))
        opening = re.compile(rf"<{re.escape(tag)}(?![\w.:-])")
        lines = range(end, 0, -1)
        return next((n for n in lines if opening.search(self.lines[n - 1])), end)


@dataclass(frozen=True, slots=True)
class XmlNode:
    """An element, its file, and how messages call what it belongs to (``joint 'glide'``)."""

    element: etree._Element
    source: XmlFile
    label: str

    @property
    def tag(self) -> str:
        """Name as written, prefix included."""
        name = str(self.element.tag).rpartition("}")[2]
        return f"{self.element.prefix}:{name}" if self.element.prefix else name

    @property
    def namespace(self) -> str:
        """Address of the element's namespace, empty for none."""
        return str(self.element.tag).rpartition("}")[0].removeprefix("{")

    @property
    def line(self) -> int:
        """The line of the element in the file."""
        return self.source.line_of(self.element, self.tag)

    @property
    def place(self) -> SourceLocation:
        """The place of the element in the file."""
        return SourceLocation(self.source.file, self.line)

    def error(self, message: str) -> RobotError:
        """An error at this element, to be raised by the caller."""
        return RobotError(self.place, self.label, message)

    def notice(self, level: str, message: str, summary: str = "", **more: Any) -> None:
        """Remember a note or warning at this element; `more` are fields of Notice by name."""
        notice = Notice(self.place, level, self.label, message, summary, **more)
        self.source.notices.append(notice)

    def with_label(self, label: str) -> "XmlNode":
        """The element under another label for messages."""
        return XmlNode(self.element, self.source, label)

    def __iter__(self) -> Iterator["XmlNode"]:
        return (XmlNode(e, self.source, self.label) for e in self.element if isinstance(e.tag, str))

    def children(self, name: str) -> list["XmlNode"]:
        """Direct children `name` in the namespace of the file's root, which those of an extension
        such as <drake:joint> are in too."""
        root = str(self.element.getroottree().getroot().tag)
        tag = f"{root.rpartition('}')[0]}}}{name}" if root.startswith("{") else name
        return [node for node in self if node.element.tag == tag]

    def single_child(self, name: str) -> "XmlNode | None":
        """The child `name`, None if there is none; RobotError if there are several."""
        children = self.children(name)
        if len(children) > 1:
            first = children[0].line
            raise children[1].error(
                f"a second <{name}> (the first is on line {first}); keep one of them"
            )
        return children[0] if children else None

    def required_child(self, name: str, attribute: str) -> "XmlNode":
        """The child `name`, which has an `attribute`; RobotError if there is not exactly one."""
        child = self.single_child(name)
        if child is None:
            raise self.error(f'has no <{name}>; add <{name} {attribute}="..."/>')
        return child

    def text(self, attribute: str) -> str:
        """The attribute's text; RobotError if it is missing or blank."""
        value = self.element.get(attribute)
        if value is None or not value.strip(XML_SPACE):
            trouble = "has no" if value is None else "has a blank"
            raise self.error(f'<{shown(self.tag)}> {trouble} {attribute}; write {attribute}="..."')
        return value

    def numbers(
        self, attribute: str, count: int, default: tuple[float, ...] | None = None
    ) -> tuple[float, ...]:
        """The attribute as `count` finite numbers; `default` where absent, RobotError if that is
        None."""
        value = self.element.get(attribute)
        if value is None and default is not None:
            return default
        return self._parse(attribute, self.text(attribute) if value is None else value, count)

    def number(self, attribute: str) -> float:
        """The attribute as one finite number."""
        return self.numbers(attribute, 1)[0]

    def optional_number(self, attribute: str) -> float | None:
        """The attribute as one finite number, None where it is absent."""
        return None if self.element.get(attribute) is None else self.number(attribute)

    def text_numbers(self, count: int) -> tuple[float, ...]:
        """The text inside an element as `count` finite numbers. Raises RobotError."""
        return self._parse("the text", self.element.text or "", count)

    def text_number(self) -> float:
        """The text inside an element as one finite number."""
        return self.text_numbers(1)[0]

    def triple(self, attribute: str, default: Triple | None = None) -> Triple:
        """The attribute as three finite numbers."""
        x, y, z = self.numbers(attribute, 3, default)
        return x, y, z

    def _parse(self, what: str, text: str, count: int) -> tuple[float, ...]:
        tokens = text.strip(XML_SPACE)
        parts = re.split(f"[{XML_SPACE}]+", tokens) if tokens else []
        result = tuple(self._number(what, part) for part in parts)
        if len(result) != count:
            are, s = "is" if count == 1 else "are", "s" * (len(result) != 1)
            example = " ".join(["0"] * (count - 1) + ["1"]) if count > 1 else "0"
            form = f', as in {what}="{example}"' if what in self.element.attrib else ""
            raise self.error(
                f"{what} of <{self.tag}> is '{shown(tokens, 60)}': {len(result)} number{s} where "
                f"{count} {are} needed{form}"
            )
        return result

    def _number(self, attribute: str, text: str) -> float:
        if "$" in text:
            raise self.error(
                f"{attribute} of <{self.tag}> holds '{shown(text, 60)}', and the file has no "
                "variables; write the number, or ${NAME} in a .xacro file that defines NAME"
            )
        if not NUMBER.fullmatch(text):
            raise self.error(
                f"{attribute} of <{self.tag}> holds '{shown(text, 60)}', which is not a decimal"
                " number; write it like 0.25 or 2.5e-1, with blanks between numbers"
            )
        value = float(text)
        if math.isinf(value):
            raise self.error(
                f"{attribute} of <{self.tag}> holds '{shown(text, 60)}', which is too large;"
                " use m, kg and rad"
            )
        return value + 0.0  # -0 becomes 0


def parse_xml(data: bytes, file: str) -> XmlNode:
    """The root element of XML bytes.

    Raises RobotError for anything that is not well-formed XML without a DOCTYPE.
    """
    foreign = foreign_format(data, file)
    if foreign is not None:
        raise RobotError(
            SourceLocation(file, 1),
            "file",
            f"{foreign} is not supported; give a URDF, xacro, MJCF or SDF file, or a DH "
            "table in TOML",
        )
    text, notices = decoded(data, file)
    if not text.strip(XML_SPACE):
        raise RobotError(SourceLocation(file, WHOLE_FILE), "", "is empty; give a robot file")
    doctype = DOCTYPE.match(text)
    if doctype:
        place = SourceLocation(file, text.count("\n", 0, doctype.end()) + 1)
        raise RobotError(
            place,
            "<!DOCTYPE>",
            "document types and entities are not accepted, because they can expand "
            "without bound; remove the DOCTYPE and write the values out",
        )
    without_declaration, line, fault = without_prolog(text)
    root, changes = _parsed_or_mended(without_declaration if fault or notices else text, file)
    source = XmlFile(file, tuple(text.split("\n")), notices)
    for at, phrase in changes:
        sentence = (
            f"{phrase} is not valid XML; the file is read anyway, but strict parsers reject it"
        )
        notices.append(Notice(SourceLocation(file, at), "note", "XML", sentence))
    if fault:
        sentence = f"{fault}; the file is read anyway, but other programs may reject it"
        source.notices.append(Notice(SourceLocation(file, line), "note", "XML", sentence))
    return XmlNode(root, source, "<robot>")


def _parser(recover: bool) -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        huge_tree=False,
        load_dtd=False,
        dtd_validation=False,
        remove_comments=True,
        remove_pis=True,
        encoding="utf-8",
        recover=recover,
    )


def _parsed_or_mended(text: str, file: str) -> tuple[etree._Element, list[tuple[int, str]]]:
    """The root element of a text, and the lines and kinds of what was mended in it for that."""
    try:
        return _parse(text), []
    except etree.XMLSyntaxError as error:
        other, changes = tolerant_xml(text)
        if changes:
            with suppress(etree.XMLSyntaxError):
                return _parse(other), changes
        place = SourceLocation(file, max(error.lineno or 1, 1))
        reason = shown(_POSITION.sub("", error.msg or "no element"))
        raise RobotError(place, "XML", f"not well-formed: {reason}; correct the XML") from None


def well_formed_text(data: bytes, file: str) -> str:
    """The text of an XML file as every reader accepts it: mended where it has to be. Raises
    RobotError."""
    text, _ = decoded(data, file)
    try:
        _parse(text)
    except etree.XMLSyntaxError:
        return tolerant_xml(text)[0]
    return text


def _parse(text: str) -> etree._Element:
    data, parser = text.encode(), _parser(recover=False)
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        log = (
            parser.error_log
        )  # tools of ROS accept undeclared prefixes, so those alone are no error
        if log and all(entry.type_name == "NS_ERR_UNDEFINED_NAMESPACE" for entry in log):
            return etree.fromstring(data, _parser(recover=True))
        raise


# -- elements without effect -----------------------------------------------------------------------

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
    find: Callable[[Source], Iterable[str | XmlNode]]
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
        elements = list(row.find(source))
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
