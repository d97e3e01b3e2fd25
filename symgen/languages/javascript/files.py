"""JavaScript: how it is written, and the one file of a module."""

import json
from typing import Final

from symgen.languages.describe import Argument, FunctionDescription
from symgen.languages.dialect import Dialect, call, functions
from symgen.languages.module import Module
from symgen.languages.straight import Style, signature
from symgen.render import render
from symgen.text import in_ascii

DIALECT = Dialect(
    operations=functions(lambda op: call(f"Math.{op.name}")),
    literal=repr,
    input=lambda array, k: f"{array}[{k}]",
    declare="const {name}",
    entry=lambda array, shape, k: f"{array}[{k}]",
)


LINE: Final = 80
"""The longest line that most formatters write."""


def files(module: Module) -> dict[str, str]:
    """The ES module, which needs nothing."""
    module_text = render("javascript/module.mjs.jinja", **STYLE.context(module), head=_head)
    return {f"{module.name}.mjs": module_text}


def _head(d: FunctionDescription) -> str:
    """The first lines of a function."""
    outs = [f"{a.name} = new Float64Array({a.size})" for a in d.outs]
    names = [*(a.name for a in d.ins), *outs]
    return signature(f"export function {d.name}", names, " {", LINE, indent=2)


def comment(text: str) -> str:
    """`text` for a comment: printable ASCII that cannot end it; the rest is escaped."""
    return in_ascii(text, "<{:x}>", "*@\\")


def text(name: str) -> str:
    """`name` as a string literal in plain ASCII."""
    return json.dumps(name).replace("</", "<\\/")


def packed_pairs(a: Argument) -> list[str]:
    """A function for the place of entry i, j, k of the layout PACKED_PAIRS."""
    n, pairs = a.sizes
    return [
        f"/** Index of entry i, j, k (equal to i, k, j; from 0) in the packed {a.name}. */",
        f"export function {a.name.lower()}_index(i, j, k) {{",
        "  const low = Math.min(j, k);",
        "  const high = Math.max(j, k);",
        f"  return {pairs} * i + ({2 * n - 1} - low) * low / 2 + high;",
        "}",
    ]


MOST: Final = 10_000
"""Variables of a function: each takes 8 bytes of V8's stack, which has less than a megabyte."""

STYLE: Final = Style(DIALECT, comment, text, packed_pairs, most=MOST)
