"""Rust proven: rustc takes the crate without a warning, and a program runs it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from symgen.languages.describe import descriptions
from symgen.languages.outside import Call, Outside, driven, ran
from symgen.languages.subject import Subject
from symgen.native.compiler import workspace
from symgen.render import render

RUSTC: Final = ("rustc", "--edition", "2021", "-O", "-D", "warnings")


@contextmanager
def started(subject: Subject) -> Iterator[Call]:
    """The crate with a program, ready to run. Raises Failed."""
    name = subject.module.name
    text = (subject.folder / f"{name}_rust" / "src" / "lib.rs").read_text(encoding="utf-8")
    with workspace() as folder:
        (folder / "lib.rs").write_text(text, encoding="utf-8")
        driver = render(
            "rust/driver.rs.jinja", module=subject.module, functions=descriptions(subject.module)
        )
        (folder / "driver.rs").write_text(driver, encoding="utf-8")
        std = ["--cfg", 'feature="std"']
        ran([*RUSTC, *std, "--crate-type", "lib", "--crate-name", name, "lib.rs"], folder)
        ran([*RUSTC, "--extern", f"{name}=lib{name}.rlib", "driver.rs", "-o", "driver"], folder)
        yield driven(folder)


RUST: Final = Outside("Rust", ("rustc",), started)

checks: Final = RUST.checks
"""The checks of the Rust crate of a folder."""
