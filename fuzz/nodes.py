"""XML as a plain tree that may hold what no parser would accept, and its text."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree

ESCAPES = {"&": "&amp;", "<": "&lt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}


@dataclass
class Node:
    """An element; attributes in order, a key may stand twice."""

    tag: str
    attributes: list[tuple[str, str]] = field(default_factory=list)
    children: list["Node"] = field(default_factory=list)
    text: str = ""

    def walk(self) -> Iterator["Node"]:
        """This element and all below, each before its children."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    def get(self, key: str) -> str | None:
        """The first attribute of that name."""
        return next((value for name, value in self.attributes if name == key), None)

    def put(self, key: str, value: str) -> None:
        """Set an attribute, or add it."""
        for place, (name, _) in enumerate(self.attributes):
            if name == key:
                self.attributes[place] = (key, value)
                return
        self.attributes.append((key, value))

    def every(self, tag: str) -> list["Node"]:
        """The elements of a name, here and below."""
        return [node for node in self.walk() if node.tag == tag]

    def named(self, tag: str) -> list[str]:
        """Names of the elements of a tag."""
        return [name for node in self.every(tag) if (name := node.get("name")) is not None]

    def copy(self) -> "Node":
        """A deep copy, of any depth."""
        made = Node(self.tag, list(self.attributes), [], self.text)
        waiting = [(self, made)]
        while waiting:
            old, new = waiting.pop()
            for child in old.children:
                new.children.append(Node(child.tag, list(child.attributes), [], child.text))
                waiting.append((child, new.children[-1]))
        return made


def element(tag: str, *children: Node, **attributes: object) -> Node:
    """An element by its children and attributes."""
    return Node(tag, [(key, str(value)) for key, value in attributes.items()], list(children))


def escaped(text: str) -> str:
    """Text for an attribute or between tags."""
    return "".join(ESCAPES.get(c, c if c >= " " else f"&#{ord(c)};") for c in text)


def written(root: Node, head: str = '<?xml version="1.0"?>\n') -> bytes:
    """The tree as UTF-8, an element a line; lone surrogates come out as bytes that are no UTF-8."""
    pieces, waiting = [head], list[tuple[Node | str, int]]([(root, 0)])
    while waiting:
        node, depth = waiting.pop()
        if isinstance(node, str):
            pieces.append(node)
            continue
        indent = "  " * min(depth, 8)
        attributes = "".join(f' {key}="{escaped(value)}"' for key, value in node.attributes)
        if not node.children and not node.text:
            pieces.append(f"{indent}<{node.tag}{attributes}/>\n")
            continue
        pieces.append(f"{indent}<{node.tag}{attributes}>{escaped(node.text)}\n")
        waiting.append((f"{indent}</{node.tag}>\n", depth))
        waiting.extend((child, depth + 1) for child in reversed(node.children))
    return "".join(pieces).encode("utf-8", "surrogatepass")


def read(data: bytes) -> Node:
    """The tree of a well-formed text, prefixes as they are written. Raises XMLSyntaxError."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
    )
    return _taken(etree.fromstring(data, parser))


def _taken(found: etree._Element) -> Node:
    attributes = [
        (f"{_prefix(found, key)}{etree.QName(key).localname}", value)
        for key, value in found.attrib.items()
    ]
    parent = found.getparent()
    outer = parent.nsmap if parent is not None else {}
    spaces = sorted(set(found.nsmap.items()) - set(outer.items()), key=str)
    attributes += [(f"xmlns:{key}" if key else "xmlns", uri) for key, uri in spaces]
    tag = f"{found.prefix}:" if found.prefix else ""
    return Node(
        tag + etree.QName(found).localname,
        [(str(key), str(value)) for key, value in attributes],
        [_taken(child) for child in found if isinstance(child.tag, str)],
        (found.text or "").strip(),
    )


def _prefix(found: etree._Element, key: str | bytes) -> str:
    space = etree.QName(key).namespace
    prefix = next((name for name, uri in found.nsmap.items() if uri == space), None)
    return f"{prefix}:" if space and prefix else ""
