"""JavaScript: how it is written, and the one file of a module."""

import json

from symgen.languages.blocks import Block, blocks
from symgen.languages.conventions import conventions
from symgen.languages.describe import Argument, Description, descriptions, laid_out, tables
from symgen.languages.dialect import Dialect, call, functions
from symgen.languages.module import Module
from symgen.languages.writer import signed, statements, variables, zeros
from symgen.render import render

DIALECT = Dialect(
    operations=functions(lambda op: call(f"Math.{op.name}")),
    literal=repr,
    input=lambda array, k: f"{array}[{k}]",
    declare="const {name}",
    entry=lambda array, shape, k: f"{array}[{k}]",
)


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
        "bodies": {d.name: _body(d) for d in described},
        "zeros": {d.name: zeros(d.program) for d in described},
        "checks": {d.name: _regular(d) for d in described},
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


def _body(d: Description) -> list[list[str]]:
    """The blocks of lines of a function."""
    made = statements(d.program, DIALECT, zeros(d.program), [ref.node for ref in d.pivots])
    return [_block(block) for block in blocks(made, variables(d.program, made), DIALECT)]


def _block(block: Block) -> list[str]:
    heading = [f"// {comment(block.title)}"] if block.title else []
    return heading + [f"{' = '.join(line.left)} = {line.right};" for line in block.lines]


def _regular(d: Description) -> str:
    """The reciprocals of the pivots as arguments, empty where no mass matrix is inverted."""
    if not d.pivots:
        return ""
    made = statements(d.program, DIALECT, zeros(d.program), [ref.node for ref in d.pivots])
    return ", ".join(signed(d.program, d.pivots, variables(d.program, made)))
