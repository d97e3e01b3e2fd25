"""The content of a robot's file in memory: text, bytes, an open file, or an XML document of another
library."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

TEXT: Final = "XML text"
"""The name, in messages and manifests, of content that comes from no file."""

_ENCODING: Final = re.compile(r"""(<\?xml\b[^>]*?)\s+encoding\s*=\s*(?:"[^"]*"|'[^']*')""")
"""The encoding in an XML declaration."""


@dataclass(frozen=True)
class RobotText:
    """The content of a robot's file: its bytes, its name in messages, and the folder where files
    that it includes are looked for."""

    data: bytes
    name: str = TEXT
    folder: Path = Path()


Document: TypeAlias = "str | bytes"


def text_in_memory(source: Any) -> RobotText | None:
    """The content of a source that is one, None for any other source. An open file is read to its
    end. Raises OSError where it cannot be read."""
    if isinstance(source, RobotText):
        return source
    if isinstance(source, (str, bytes, bytearray, memoryview)):
        return RobotText(_encoded(source if isinstance(source, str) else bytes(source)))
    if callable(getattr(source, "read", None)):
        return _of_open_file(source)
    write = _writer(type(source))
    return None if write is None else RobotText(_encoded(write(source)))


def _encoded(content: Document) -> bytes:
    """Bytes as they are; text in UTF-8, without a declaration of the encoding that it had."""
    if isinstance(content, bytes):
        return content
    return _ENCODING.sub(r"\1", content.lstrip("\ufeff \t\r\n"), count=1).encode()


def _of_open_file(stream: Any) -> RobotText:
    path = getattr(stream, "name", None)
    data = _encoded(stream.read())
    if not isinstance(path, str):
        return RobotText(data)
    return RobotText(data, path, Path(path).parent)


def _of_lxml(source: Any) -> Document:
    from lxml import etree

    root = source.getroot() if hasattr(source, "getroot") else source
    return bytes(etree.tostring(root, with_tail=False))


def _of_element_tree(source: Any) -> Document:
    from xml.etree import ElementTree

    root = source.getroot() if hasattr(source, "getroot") else source
    return str(ElementTree.tostring(root, encoding="unicode"))


def _of_minidom(source: Any) -> Document:
    """Of the document that ``xacro.process_file`` returns, and of its elements."""
    return str(source.toxml())


def _of_xacrodoc(source: Any) -> Document:
    return str(source.to_urdf_string())


WRITERS: Final[dict[str, Callable[[Any], Document]]] = {
    "lxml": _of_lxml,
    "xml.etree": _of_element_tree,
    "xml.dom": _of_minidom,
    "xacrodoc": _of_xacrodoc,
}
"""What writes the documents of other libraries as XML, by the package of their classes."""


def _writer(kind: type) -> Callable[[Any], Document] | None:
    modules = [f"{cls.__module__}." for cls in kind.__mro__]
    return next(
        (
            write
            for package, write in WRITERS.items()
            if any(module.startswith(f"{package}.") for module in modules)
        ),
        None,
    )
