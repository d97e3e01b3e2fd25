"""A language: everything that symgen needs to know of one, in one object."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from symgen.errors import OptionError
from symgen.languages.module import Module
from symgen.text import cited
from symgen.tracing.function import Function

if TYPE_CHECKING:
    from symgen.languages.subject import Check, Subject


def any_functions(options: Any, functions: Sequence[Function]) -> None:
    """Takes all functions, as most languages do."""


@dataclass(frozen=True)
class Language:
    """A language that modules are written in; ``files.py`` and ``checks.py`` of its folder are
    loaded when they are needed."""

    name: str
    summary: str
    """A line for ``symgen list``."""
    main: str
    """The file that every folder with this language has, as ``{name}.h``."""
    keywords: frozenset[str]
    """Words that the language keeps to itself; no module or function is called so."""
    aliases: tuple[str, ...] = ()
    """Other names for ``--lang``."""
    standard: frozenset[str] = frozenset()
    """Names of files, libraries and the like that a module of the same name would hide; no module
    is called so."""
    taken: frozenset[str] = frozenset()
    """Names that generated files have in use; no function is called so."""
    options: type | None = None
    """Its group of options (`symgen.options.group`), None where it has none."""
    refuse: Callable[[Any, Sequence[Function]], None] = any_functions
    """Raises OptionError for functions that it cannot have under its options."""
    reports: bool = False
    """Whether ``report.py`` of its folder tells what its functions cost."""

    def files(self, module: Module) -> dict[str, str]:
        """The files of a module, name to text: ``files`` of its folder."""
        texts: dict[str, str] = self._function("files")(module)
        return texts

    def report(self, module: Module, texts: Mapping[str, str]) -> str:
        """The report on what its functions cost, with the digests of the module's files in all
        languages: ``report`` of its folder, where it `reports`."""
        text: str = self._function("report")(module, texts)
        return text

    def checks(self, subject: "Subject", say: Callable[[str], None]) -> Iterator["Check"]:
        """The proof of its files in a folder, check by check, and `say` is told each step:
        ``checks`` of its folder."""
        yield from self._function("checks")(subject, say)

    def _function(self, name: str) -> Callable[..., Any]:
        """A function of its folder, in the file of the same name."""
        function: Callable[..., Any] = getattr(
            import_module(f"symgen.languages.{self.name}.{name}"), name
        )
        return function


def identifier(name: str, languages: Iterable[Language]) -> str:
    """A legal lower-case identifier in every one of the languages, for any text.

    Whatever is not an ASCII letter or digit becomes ``_``; accents are dropped; ``r_`` is put
    before a digit, a reserved word or the name of a standard header or module."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    word = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:48]
    if not word:
        return "robot"
    reserved = any(word in language.keywords | language.standard for language in languages)
    return f"r_{word}" if reserved or not word[0].isalpha() else word


def check_module(name: str, languages: Iterable[Language]) -> None:
    """Raises OptionError for a name that a module cannot have."""
    _check("--prefix", name, any(name in x.keywords | x.standard for x in languages))


def check_function(name: str, languages: Iterable[Language]) -> None:
    """Raises OptionError for a name that a function cannot have."""
    _check("the name of a function", name, any(name in x.keywords | x.taken for x in languages))


def _check(kind: str, name: str, reserved: bool) -> None:
    """A name becomes code and part of file names, so only plain identifiers pass."""
    if reserved or not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name, re.ASCII):
        raise OptionError(
            f"{kind}: {cited(name)} is not usable; take a lower-case identifier that no language "
            f"reserves"
        )
