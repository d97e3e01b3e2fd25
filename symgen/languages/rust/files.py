"""Rust: how it is written, and the files of a crate."""

from typing import Any, Final

from symgen.languages.c.text import literal
from symgen.languages.describe import Argument, Description, descriptions
from symgen.languages.dialect import Dialect, call, functions
from symgen.languages.module import Module
from symgen.languages.straight import Style, called
from symgen.render import render

DIALECT: Final = Dialect(
    operations=functions(lambda op: call(op.name)),
    literal=lambda x: f"T::of({literal(x, 'double')})",
    input=lambda array, k: f"{array}[{k}]",
    declare="let {name}",
    entry=lambda array, shape, k: f"{array}[{k}]",
)


def files(module: Module) -> dict[str, str]:
    """Cargo.toml, the library and its test."""
    described = descriptions(module)
    context = STYLE.context(module) | {
        "called": called(d.program for d in described),
        "literal": lambda x: literal(x, "double"),
        "tests": _tests(module, described),
    }
    folder = f"{module.name}_rust"
    return {
        f"{folder}/Cargo.toml": render("rust/Cargo.toml.jinja", **context),
        f"{folder}/src/lib.rs": render("rust/lib.rs.jinja", **context),
        f"{folder}/tests/reference.rs": render("rust/reference.rs.jinja", **context),
    }


def comment(text: str) -> str:
    """`text` for a comment: printable ASCII that is no markup; the rest is escaped."""
    return "".join(
        c if c.isascii() and c.isprintable() and c not in "<>[]`*\\" else f"(U+{ord(c):x})"
        for c in text
    )


def text(name: str) -> str:
    """`name` as a string literal in plain ASCII."""
    return "".join(
        c if c.isascii() and c.isprintable() and c not in '"\\' else f"\\u{{{ord(c):x}}}"
        for c in name
    ).join('""')


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


def _tests(module: Module, described: tuple[Description, ...]) -> list[dict[str, Any]]:
    """For each function the inputs and outputs of the test states, and the largest error that is
    allowed of an entry of each output."""
    allowed = {f.name: module.allowed(f) for f in module.functions}
    return [_test(module, d, allowed[d.name]) for d in described if d.name in allowed]


def _test(module: Module, d: Description, allowed: Any) -> dict[str, Any]:
    pi = [[x for ten in state.tens.values() for x in ten] for state in module.test_states]
    rows = {a.name: [s.inputs.get(a.name) for s in module.test_states] for a in d.arguments}
    return {
        "name": d.name,
        "pivots": bool(d.pivots),
        "pi": pi,
        "ins": [(a, rows[a.name]) for a in d.arguments if a.direction == "in"],
        "outs": [
            (a, [s.expected[a.name] for s in module.test_states], allowed[a.name].top)
            for a in d.arguments
            if a.direction == "out"
        ],
    }


STYLE: Final = Style(DIALECT, comment, text, packed_pairs, chained=False)
