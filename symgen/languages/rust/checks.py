"""Rust proven: rustc takes the crate without a warning, and a program runs it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from symgen.languages.describe import Description, descriptions
from symgen.languages.outside import Call, Outside, binary, parted, ran
from symgen.languages.subject import Array, Arrays, Subject
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

        def call(d: Description, states: Sequence[Arrays]) -> list[list[Array]]:
            told = ran([str(folder / "driver"), d.name], folder, binary(d, states))
            return parted(d, told, len(states))

        yield call


checks: Final = Outside("Rust", ("rustc",), started).checks
"""The checks of the Rust crate of a folder."""
