"""What a language is: everything that symgen needs to know of one, in one object."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from symgen.languages.module import Module
from symgen.languages.subject import Check, Subject
from symgen.tracing.function import Function


def any_functions(options: Any, functions: Sequence[Function]) -> None:
    """What most languages say of functions: they can have them all."""


@dataclass(frozen=True)
class Language:
    """A language that modules are written in."""

    name: str
    summary: str
    """A line for ``symgen list``."""
    files: Callable[[Module], dict[str, str]]
    """The files of a module, name to text."""
    checks: Callable[[Subject, Callable[[str], None]], Iterator[Check]]
    """The proof of its files in a folder, check by check; the second argument is told each step."""
    main: str
    """The file that every folder with this language has, as ``{name}.h``."""
    keywords: frozenset[str]
    """Words that the language keeps to itself; no module or function is called so."""
    standard: frozenset[str] = frozenset()
    """Names of files that a module's own would hide; no module is called so."""
    taken: frozenset[str] = frozenset()
    """Names that generated files have in use; no function is called so."""
    options: type | None = None
    """Its group of options (`symgen.options.group`), None where it has none."""
    refuse: Callable[[Any, Sequence[Function]], None] = any_functions
    """Raises OptionError for functions that it cannot have under its options."""
