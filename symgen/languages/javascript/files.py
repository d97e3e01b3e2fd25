"""JavaScript: how it is written, and the one file of a module."""

import json

from symgen.languages.conventions import conventions
from symgen.languages.describe import Argument, descriptions, laid_out, tables
from symgen.languages.dialect import Dialect, call, functions
from symgen.languages.module import Module
from symgen.languages.straight import Style
from symgen.render import render

DIALECT = Dialect(
    operations=functions(lambda op: call(f"Math.{op.name}")),
    literal=repr,
    input=lambda array, k: f"{array}[{k}]",
    declare="const {name}",
    entry=lambda array, shape, k: f"{array}[{k}]",
)

STYLE = Style(DIALECT, lambda title: f"// {comment(title)}")


def files(module: Module) -> dict[str, str]:
    """The ES module, which needs nothing."""
    described = descriptions(module)
    context = {
        "module": module,
        "functions": described,
        "conventions": conventions(module),
        "tables": tables(module, comment),
        "comment": comment,
        "text": text,
        "layouts": [packed_pairs(a) for a in laid_out(described)],
        "bodies": {d.name: STYLE.straight(d) for d in described},
    }
    return {f"{module.name}.mjs": render("javascript/module.mjs.jinja", **context)}


def comment(text: str) -> str:
    """`text` for a comment: printable ASCII that cannot end it; the rest is escaped."""
    return "".join(
        c if c.isascii() and c.isprintable() and c not in "*@\\" else f"<{ord(c):x}>" for c in text
    )


def text(name: str) -> str:
    """`name` as a string literal in plain ASCII."""
    return json.dumps(name).replace("</", "<\\/")


def packed_pairs(a: Argument) -> list[str]:
    """A function for the place of entry i, j, k of the layout PACKED_PAIRS."""
    n, pairs = a.sizes
    return [
        f"/** Where entry i, j, k (as i, k, j; from 0) is in the packed {a.name}. */",
        f"export function {a.name.lower()}_index(i, j, k) {{",
        "  const low = Math.min(j, k);",
        "  const high = Math.max(j, k);",
        f"  return {pairs} * i + ({2 * n - 1} - low) * low / 2 + high;",
        "}",
    ]
