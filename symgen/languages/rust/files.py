"""Rust: how it is written, and the files of a crate."""

from typing import Final

from symgen.languages.c.text import literal
from symgen.languages.describe import Argument, FunctionDescription, descriptions
from symgen.languages.dialect import Dialect, call, functions
from symgen.languages.examples import examples
from symgen.languages.module import Module
from symgen.languages.straight import Style, called, signature
from symgen.render import render
from symgen.text import in_ascii

DIALECT: Final = Dialect(
    operations=functions(lambda op: call(op.name)),
    literal=lambda x: f"T::of({literal(x, 'double')})",
    input=lambda array, k: f"{array}[{k}]",
    declare="let {name}",
    entry=lambda array, shape, k: f"{array}[{k}]",
)


LINE: Final = 100
"""The longest line that rustfmt writes."""


def files(module: Module) -> dict[str, str]:
    """Cargo.toml, the library and its test."""
    described = descriptions(module)
    context = STYLE.context(module) | {
        "called": called(d.program for d in described),
        "literal": lambda x: literal(x, "double"),
        "markdown": markdown,
        "head": _head,
        "tests": examples(module, described),
    }
    folder = f"{module.name}_rust"
    return {
        f"{folder}/Cargo.toml": render("rust/Cargo.toml.jinja", **context),
        f"{folder}/src/lib.rs": render("rust/lib.rs.jinja", **context),
        f"{folder}/tests/reference.rs": render("rust/reference.rs.jinja", **context),
    }


def _head(d: FunctionDescription) -> str:
    """The first lines of a function."""
    ins = [f"{a.name}: &[T; {a.size}]" for a in d.ins]
    outs = [f"{a.name}: &mut [T; {a.size}]" for a in d.outs]
    result = " -> Result<(), Singular>" if d.pivots else ""
    return signature(f"pub fn {d.name}<T: Real>", [*ins, *outs], f"{result} {{", LINE)


def comment(text: str) -> str:
    """`text` for a comment: printable ASCII; the rest is escaped."""
    return in_ascii(text, "(U+{:x})")


def markdown(text: str) -> str:
    """`text` for a comment that rustdoc reads, as it stands."""
    return "".join(f"\\{c}" if c in "<>[]`*\\" else c for c in comment(text))


def text(name: str) -> str:
    """`name` as a string literal in plain ASCII."""
    return '"' + in_ascii(name, "\\u{{{:x}}}", '"\\') + '"'


def packed_pairs(a: Argument) -> list[str]:
    """A function for the place of entry i, j, k of the layout PACKED_PAIRS."""
    n, pairs = a.sizes
    return [
        f"/// Where entry i, j, k (as i, k, j; from 0) is in the packed `{a.name}`.",
        f"pub const fn {a.name.lower()}_index(i: usize, j: usize, k: usize) -> usize {{",
        "    let (low, high) = if j < k { (j, k) } else { (k, j) };",
        f"    {pairs} * i + ({2 * n - 1} - low) * low / 2 + high",
        "}",
    ]


STYLE: Final = Style(DIALECT, comment, text, packed_pairs, chained=False)
