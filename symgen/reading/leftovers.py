"""Leftovers of xacro in a file that is read as a URDF: refused where it has a say in dynamics, else
said."""

from collections.abc import Iterator
from typing import Final

from symgen.reading.joints import joint_nodes
from symgen.reading.xacro_child import LOOKS
from symgen.reading.xml_reader import EXPRESSION, XmlNode
from symgen.text import shown

STATEMENTS: Final = frozenset(
    {"include", "macro", "property", "arg", "if", "unless", "insert_block", "element",
     "attribute", "call"}
)  # fmt: skip
"""The elements of xacro itself; every other one calls a macro of that name."""


def is_xacro(node: XmlNode) -> bool:
    """Whether an element is one of xacro."""
    return "xacro" in node.namespace or node.tag.startswith("xacro:")


def xacro_nodes(root: XmlNode) -> Iterator[XmlNode]:
    """The elements of xacro in a file, those in looks left out."""
    if is_xacro(root):
        yield root
    for child in root:
        if child.tag not in LOOKS:
            yield from xacro_nodes(child)


def is_statement(node: XmlNode) -> bool:
    """Whether it is an element of xacro itself, not the call of a macro."""
    return node.tag.rpartition(":")[2] in STATEMENTS


def expressions_read(root: XmlNode) -> Iterator[tuple[XmlNode, str]]:
    """The attributes with an expression of xacro in what is read, and the elements that they are
    of."""
    yield from _in_attributes(root)
    for part in (*root.children("link"), *joint_nodes(root)):
        for node in _with_all_below(part):
            yield from _in_attributes(node)


def _with_all_below(node: XmlNode) -> Iterator[XmlNode]:
    yield node
    for child in node:
        if child.tag not in LOOKS:
            yield from _with_all_below(child)


def _in_attributes(node: XmlNode) -> Iterator[tuple[XmlNode, str]]:
    return ((node, str(n)) for n, x in node.element.attrib.items() if EXPRESSION.search(str(x)))


def check_unexpanded_xacro(root: XmlNode) -> None:
    """Raises RobotError for xacro in what is read; notes what else is left of it."""
    calls = list[XmlNode]()
    for node in xacro_nodes(root):
        if is_statement(node) or node.element.getparent() is not root.element:
            raise node.called(f"<{shown(node.tag)}>").error(
                "the file contains unexpanded xacro elements; give the original file "
                "(FILE.xacro), which symgen expands"
            )
        calls.append(node)
    for node, name in expressions_read(root):
        expression = EXPRESSION.search(str(node.element.attrib[name]))
        raise node.called(f"<{shown(node.tag)}>").error(
            f"{shown(name)} contains the unexpanded xacro expression "
            f"{shown(expression[0] if expression else '', 60)}; give the original file "
            "(FILE.xacro), which symgen expands"
        )
    _note(root, calls)


def _note(root: XmlNode, calls: list[XmlNode]) -> None:
    if calls:
        names = ", ".join(f"<{shown(tag)}>" for tag in dict.fromkeys(node.tag for node in calls))
        calls[0].called(names).notice(
            "warning", "this xacro macro is not defined in the file; its content is missing"
        )
    unread = [
        (node, name)
        for element in root.element.iter(*(f"{{*}}{tag}" for tag in (*LOOKS, "material", "mesh")))
        for node, name in _in_attributes(XmlNode(element, root.source, "<robot>"))
    ]
    if unread:
        node, name = unread[0]
        expression = EXPRESSION.search(str(node.element.attrib[name]))
        node.called(f"<{shown(node.tag)}>").notice(
            "note",
            f"{shown(name)} contains the unexpanded xacro expression "
            f"{shown(expression[0] if expression else '', 60)} and is ignored",
        )
