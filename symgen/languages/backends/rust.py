"""Rust: how it is written, and the files of a crate."""

import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from symgen.languages.backends import TextBackend, called_functions, signature
from symgen.languages.c.options import COptions
from symgen.languages.c.syntax import SUFFIX, literal
from symgen.languages.describe import FunctionDescription, descriptions, reference_examples
from symgen.languages.dialect import COSINE_ARRAY, SINE_ARRAY, Dialect, operation_table
from symgen.languages.external_runner import ExternalRunner, run_driver, run_program
from symgen.languages.module import Module
from symgen.languages.sines import (
    INLINE_FUNCTIONS,
    MAX_LOOP_ANGLES,
    MAX_SINE_ULP,
    SINE_LIMITS,
    sine_steps,
    sine_use,
)
from symgen.languages.verification import VerificationTarget
from symgen.render import render
from symgen.text import in_ascii

DEFINED_FUNCTIONS: Final = ("sign",)
"""Functions of the tape that the standard library lacks."""

RUST_TYPES: Final = {"double": "f64", "float": "f32"}
"""The names of the scalar types."""


def dialect(inline: bool) -> Dialect:
    """How Rust is written, with sines of the crate or of a library."""
    return Dialect(
        operations=operation_table(lambda op: f"{op.name}({{a}})"),
        literal=lambda x: f"T::of({literal(x, 'double')})",
        declare="let {name}",
        sincos_call="let ({sine}, {cosine}) = sines::sin_cos({angle});" if inline else "",
        sincos_loop=_sincos_loop if inline else None,
    )


def _sincos_loop(angles: Sequence[str], number: str) -> list[str]:
    """The sines and cosines of several angles, as arrays."""
    start = f"let ({SINE_ARRAY}{number}, {COSINE_ARRAY}{number}) = sines::sin_cos_all(["
    line = f"{start}{', '.join(angles)}]);"
    return (
        [line]
        if len(line) <= MAX_LINE_LENGTH - 4
        else [start, *(f"    {a}," for a in angles), "]);"]
    )


MAX_LINE_LENGTH: Final = 100
"""The longest line that rustfmt writes."""


def files(module: Module) -> dict[str, str]:
    """Cargo.toml, the library and its test."""
    described = descriptions(module)
    inline = module[COptions].trig == "inline"
    style = TextBackend(dialect(inline), comment_text, string_literal, chain_assignments=False)
    context = style.context(module) | {
        **_function_context(described, inline),
        "types": RUST_TYPES,
        "limits": SINE_LIMITS,
        "ulp": MAX_SINE_ULP,
        "longest": MAX_LOOP_ANGLES,
        "steps": {x: sine_steps(x, partial(_number, scalar=x)) for x in SINE_LIMITS},
        "literal": lambda x: literal(x, "double"),
        "markdown": markdown_text,
        "head": _function_head,
        "tests": reference_examples(module, described),
        "fails": any(d.pivots for d in described),
    }
    folder = f"{module.name}_rust"
    return {
        f"{folder}/Cargo.toml": render("rust/Cargo.toml.jinja", **context),
        f"{folder}/src/lib.rs": render("rust/lib.rs.jinja", **context),
        f"{folder}/tests/reference.rs": render("rust/reference.rs.jinja", **context),
        f"{folder}/examples/first_call.rs": render("rust/first_call.rs.jinja", **context),
    }


def _number(x: float, scalar: str) -> str:
    """A literal of Rust; its type follows from where it stands."""
    return literal(x, scalar).removesuffix(SUFFIX[scalar])


def _function_context(described: Sequence[FunctionDescription], inline: bool) -> dict[str, Any]:
    """The functions of numbers that the crate calls: `called` has all, `library` those of the
    standard library or of libm, `wrapped` those with a function of the crate that calls the method
    of the number, and `sines` the forms of the crate's own sines, if there are any."""
    programs = [d.program for d in described]
    names, used = called_functions(programs), sine_use(programs)
    sines = used if inline and used.some else None
    own = {*DEFINED_FUNCTIONS, *(INLINE_FUNCTIONS if sines else ())}
    library = [name for name in names if name not in own]
    alone = [name for name in INLINE_FUNCTIONS if sines and name in sines.alone]
    return {"called": names, "library": library, "wrapped": library + alone, "sines": sines}


def _function_head(d: FunctionDescription) -> str:
    """The first lines of a function."""
    ins = [f"{a.name}: &[T; {a.size}]" for a in d.ins]
    outs = [f"{a.name}: &mut [T; {a.size}]" for a in d.outs]
    result = " -> Result<(), Singular>" if d.pivots else ""
    return signature(f"pub fn {d.name}<T: Real>", [*ins, *outs], f"{result} {{", MAX_LINE_LENGTH)


def comment_text(text: str) -> str:
    """`text` for a comment: printable ASCII; the rest is escaped."""
    return in_ascii(text, "(U+{:x})")


def markdown_text(text: str) -> str:
    """`text` for a comment that rustdoc reads, as it stands."""
    return "".join(f"\\{c}" if c in "<>[]`*\\" else c for c in comment_text(text))


def string_literal(name: str) -> str:
    """`name` as a string literal in plain ASCII."""
    return '"' + in_ascii(name, "\\u{{{:x}}}", '"\\') + '"'


RUSTC: Final = ("rustc", "--edition", "2021", "-O", "-D", "warnings")


def run_rust(
    target: VerificationTarget, folder: Path, functions: Sequence[FunctionDescription]
) -> None:
    """Compiles the crate of a folder with a driver, and runs functions. Raises RunnerError."""
    name = target.module.name
    shutil.copyfile(target.folder / f"{name}_rust" / "src" / "lib.rs", folder / "lib.rs")
    driver = render(
        "rust/driver.rs.jinja", module=target.module, functions=descriptions(target.module)
    )
    (folder / "driver.rs").write_text(driver, encoding="utf-8")
    std = ["--cfg", 'feature="std"']
    run_program([*RUSTC, *std, "--crate-type", "lib", "--crate-name", name, "lib.rs"], folder)
    run_program([*RUSTC, "--extern", f"{name}=lib{name}.rlib", "driver.rs", "-o", "driver"], folder)
    run_driver(folder, functions)


RUST_RUNNER: Final = ExternalRunner("Rust", ("rustc",), run_rust)

checks: Final = RUST_RUNNER.checks
"""The checks of the Rust crate of a folder."""
