"""A URDF with other inertias: the text of some <inertial> elements is replaced, every other byte
stays.

A serialiser would write quotes, blanks and line ends of its own, so the places of elements are
taken from the parser (expat tells them in bytes) and the text is spliced."""

import codecs
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from symgen.errors import OptionError
from symgen.mechanics.inertia import inertia_about_centre
from symgen.numbers.scalar import Numbers
from symgen.reading.description import TENSOR
from symgen.reading.xml_reader import well_formed_text
from symgen.reading.xml_text import encoding_of
from symgen.text import shown

BYTE_ORDER_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass
class LinkSpans:
    """Where in UTF-8 text the links of a robot and their <inertial> begin and end, gathered while
    parsing."""

    text: bytes
    links: dict[str, tuple[int, int]] = field(default_factory=dict)
    """The start tags of links."""
    inertials: dict[str, tuple[int, int]] = field(default_factory=dict)
    _open_tags: list[str] = field(default_factory=list)
    _link: str = ""
    _inertial_start: int = 0

    def parse(self) -> "LinkSpans":
        """The same, filled. The text has been read before, so that it is well-formed."""
        parser = expat.ParserCreate("utf-8")
        parser.StartElementHandler = lambda tag, attributes: self._start(parser, tag, attributes)
        parser.EndElementHandler = lambda tag: self._end(parser, tag)
        parser.Parse(self.text, True)
        return self

    def _start(self, parser: Any, tag: str, attributes: Mapping[str, str]) -> None:
        self._open_tags.append(tag.rpartition(":")[2])
        offset = parser.CurrentByteIndex
        if self._open_tags == ["robot", "link"]:
            self._link = attributes.get("name", "")
            self.links[self._link] = offset, self._tag_end(offset)
        elif self._open_tags == ["robot", "link", "inertial"]:
            self._inertial_start = offset

    def _end(self, parser: Any, tag: str) -> None:
        if self._open_tags == ["robot", "link", "inertial"]:
            self.inertials[self._link] = (
                self._inertial_start,
                self._tag_end(max(parser.CurrentByteIndex, self._inertial_start)),
            )
        self._open_tags.pop()

    def _tag_end(self, offset: int) -> int:
        """The end of the tag that begins here; > may stand in a quoted value."""
        quote = b""
        for k in range(offset, len(self.text)):
            c = self.text[k : k + 1]
            if quote:
                quote = b"" if c == quote else quote
            elif c in (b'"', b"'"):
                quote = c
            elif c == b">":
                return k + 1
        return len(self.text)


def with_inertials(data: bytes, file: str, parameters: Mapping[str, Numbers]) -> bytes:
    """The bytes of a URDF file with new inertias of the links named: ten numbers each, about the
    link's origin.

    Written are the centre of mass, the mass, and the tensor about it in the link's axes, every
    digit. Raises SymgenError for a file that is not XML, or that has no such link."""
    text = well_formed_text(data, file).encode()
    places = LinkSpans(text).parse()
    missing = next((name for name in parameters if name not in places.links), None)
    if missing is not None:
        raise OptionError(f"{file}: has no link '{shown(missing)}' to write an inertia to")
    for begin, end, new in sorted(_splices(text, places, parameters), reverse=True):
        text = text[:begin] + new + text[end:]
    mark = next((m for m in BYTE_ORDER_MARKS if data.startswith(m)), b"")
    return mark + text.decode().encode(encoding_of(data, file))


def _splices(
    text: bytes, places: LinkSpans, parameters: Mapping[str, Numbers]
) -> Iterable[tuple[int, int, bytes]]:
    line = b"\r\n" if b"\r\n" in text else b"\n"
    for name, values in parameters.items():
        begin, end = places.links[name]
        indent = _indent(text, places.inertials.get(name, (begin, end))[0])
        if name in places.inertials:
            yield *places.inertials[name], inertial_element(values, indent, line)
        elif text[end - 2 : end] == b"/>":
            new = inertial_element(values, indent + b"  ", line)
            yield end - 2, end, b">" + line + indent + b"  " + new + line + indent + b"</link>"
        else:
            yield end, end, line + indent + b"  " + inertial_element(values, indent + b"  ", line)


def _indent(text: bytes, offset: int) -> bytes:
    """The blanks before an element, if nothing else stands before it in its line."""
    before = text[text.rfind(b"\n", 0, offset) + 1 : offset]
    return before if not before.strip() else b""


def inertial_element(parameters: Numbers, indent: bytes, newline: bytes) -> bytes:
    """<inertial> of ten numbers, its first line without indent."""
    centre, rows = inertia_about_centre([float(x) for x in parameters])
    entries = (rows[i][j] for i in range(3) for j in range(i, 3))
    tensor = " ".join(f'{name}="{x + 0.0!r}"' for name, x in zip(TENSOR, entries, strict=True))
    place = " ".join(repr(x + 0.0) for x in centre)
    inner = [
        f'<origin xyz="{place}" rpy="0 0 0"/>',
        f'<mass value="{float(parameters[0])!r}"/>',
        f"<inertia {tensor}/>",
    ]
    lines = [
        b"<inertial>",
        *(indent + b"  " + text.encode() for text in inner),
        indent + b"</inertial>",
    ]
    return newline.join(lines)
