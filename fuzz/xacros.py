"""xacro files: robots with arguments, properties, macros and expressions, and odd ones."""

from random import Random
from typing import Final

from fuzz.draw import number
from fuzz.nodes import Node, element

NAMESPACE: Final = "http://www.ros.org/wiki/xacro"
EXPRESSIONS: Final = (
    *(
        "${length / 2}",
        "${2 * length}",
        "$(arg mass)",
        "${pi / 2}",
        "${-length}",
        "${sin(1)}",
        "${x}",
    ),
    *("${1 / 0}", "${", "${}", "$(arg none)", "$(find nothing)", "$(env NOTHING)", "$(optenv A 1)"),
    *(
        "$(eval 1)",
        "$$(arg mass)",
        "${'a' * 3}",
        "${[1, 2][0]}",
        "${dict(a=1)['a']}",
        "${length.x}",
    ),
    *("${__import__('os')}", "${length if length else 1}", "${9 ** 9 ** 9}", "${'x' * 10 ** 9}"),
    *(
        "${len([0 for i in range(10 ** 9)])}",
        "${10 ** 400}",
        "${1e308 * 10}",
        "${None}",
        "${lambda: 1}",
    ),
    *(
        "${xacro.load_yaml('none.yaml')}",
        "$(cwd)",
        "${[]}",
        "${True}",
        "${'\\x9b'}",
        "${(1).__class__}",
    ),
)


def xacro(rng: Random, root: Node) -> Node:
    """A robot as a xacro file."""
    made = root.copy()
    made.attributes = [*made.attributes, ("xmlns:xacro", NAMESPACE)]
    head = [
        element("xacro:arg", name="mass", default="2"),
        element("xacro:arg", name="two", default="false"),
        element("xacro:property", name="length", value="0.5"),
    ]
    made.children = head + made.children
    _expressions(rng, made)
    if rng.random() < 0.5:
        _macro(rng, made)
    if rng.random() < 0.3:
        condition = rng.choice(("$(arg two)", "${length > 1}", "maybe", "", "${1 / 0}"))
        kept = made.children.pop()
        tag = rng.choice(("xacro:if", "xacro:unless"))
        made.children.append(element(tag, kept, value=condition))
    if rng.random() < 0.15:
        file = rng.choice(
            ("part.xacro", "robot.xacro", "none.xacro", "*.xacro", "$(find a)/b.xacro")
        )
        made.children.append(element("xacro:include", filename=file))
    return made


def _expressions(rng: Random, root: Node) -> None:
    every = list(root.walk())
    for node in rng.sample(every, min(3, len(every))):
        keys = [key for key, _ in node.attributes if not key.startswith("xmlns")]
        if keys:
            value = rng.choice((*EXPRESSIONS[:6], rng.choice(EXPRESSIONS), number(rng)))
            node.put(rng.choice(keys), value)


def _macro(rng: Random, root: Node) -> None:
    params = rng.choice(("a b:=2", "a", "*block", "a:=^|1", "a a", "a:", "**b"))
    body = element("link", name=rng.choice(("${a}", "m", "${b}")))
    calls = [element("xacro:piece", a="m", b="1"), element("xacro:piece"), element("xacro:nothing")]
    if rng.random() < 0.15:
        body = element("xacro:piece", a="${a}")  # calls itself
    macro = element("xacro:macro", body, name="piece", params=params)
    root.children[3:3] = [macro, rng.choice(calls)]
