"""Target languages: the rows of the registry, and names that are legal in all of them."""

import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from symgen.errors import OptionError
from symgen.languages.module import Module
from symgen.text import cited
from symgen.tracing.function import Function

if TYPE_CHECKING:
    from symgen.languages.verification import Check, VerificationTarget


@dataclass(frozen=True)
class Language:
    """A target language: a row of `symgen.languages.LANGUAGES`. Raises ValueError for a row that
    cannot work."""

    name: str
    summary: str
    """A line for ``symgen list``."""
    main: str
    """The file that every folder with this language has, as ``{name}.h``."""
    keywords: frozenset[str]
    """Reserved words of the language; no module or function has such a name."""
    aliases: tuple[str, ...] = ()
    """Other names for ``--lang``."""
    reserved_module_names: frozenset[str] = frozenset()
    """Names of files, libraries and the like that a module of the same name would hide; no module
    has such a name."""
    reserved_function_names: frozenset[str] = frozenset()
    """Names that generated files use; no function has such a name."""
    options: type | None = None
    """Its group of options (`symgen.options.group`), None if it has none."""
    check_functions: Callable[[Any, Sequence[Function]], None] = lambda options, functions: None
    """Raises OptionError for functions that it does not support with its options; most languages
    support all."""
    backend: str = ""
    """The module with ``files(module)``, the files, name to text, and ``checks(target, progress)``,
    the checks of the files in a folder. It is imported when it is needed. If it is empty, it is
    ``symgen.languages.backends.NAME``; a language of another distribution has another one."""
    checker: str = ""
    """The module with ``checks``, if it is not `backend`."""
    reporter: str = ""
    """The module with ``report(module, texts)``, which returns a report on the cost of the
    functions, with the digests of the files in all languages. Empty if the language has no
    report."""

    def __post_init__(self) -> None:
        if "{name}" not in self.main:
            raise ValueError(f"{self.name}: main has no {{name}}: {self.main}")
        for module in filter(None, (self._backend, self.checker, self.reporter)):
            if not _module_exists(module):
                raise ValueError(f"{self.name}: no module {module}")

    @property
    def _backend(self) -> str:
        return self.backend or f"symgen.languages.backends.{self.name}"

    def files(self, module: Module) -> dict[str, str]:
        """The files of a module, name to text. Raises SymgenError."""
        texts: dict[str, str] = import_module(self._backend).files(module)
        return texts

    def report(self, module: Module, texts: Mapping[str, str]) -> dict[str, str]:
        """The file of the report, name to text; empty for a language without a report."""
        if not self.reporter:
            return {}
        report = import_module(self.reporter).report(module, texts)
        return {f"{module.name}_report.json": report}

    def checks(
        self, target: "VerificationTarget", progress: Callable[[str], None]
    ) -> Iterator["Check"]:
        """The checks of its files in a folder, one by one; `progress` is called with each step."""
        yield from import_module(self.checker or self._backend).checks(target, progress)


ENTRY_POINTS: Final = "symgen.languages"
"""The group of entry points by which other distributions add languages."""


def plugins() -> Iterator[Language]:
    """The languages of installed distributions, by name. An entry point that does not give a
    language is left out with a warning."""
    for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name):
        try:
            language = point.load()
        except Exception as error:
            warnings.warn(f"language {point.name} cannot be loaded: {error}", stacklevel=2)
            continue
        if isinstance(language, Language):
            yield language
        else:
            text = f"language {point.name}: {point.value} is no symgen.languages.language.Language"
            warnings.warn(text, stacklevel=2)


def _module_exists(module: str) -> bool:
    """Whether a module can be imported, found without importing it."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its package does not exist
        return False


def by_name(rows: Iterable[Language]) -> dict[str, Language]:
    """Languages by name. Raises ValueError if two have the same name, alias or main file."""
    languages = list(rows)
    for kind, values in (
        ("name", [name for row in languages for name in (row.name, *row.aliases)]),
        ("main file", [row.main for row in languages]),
    ):
        twice = [value for value, count in Counter(values).items() if count > 1]
        if twice:
            raise ValueError(f"two languages have the {kind} {twice[0]}")
    return {row.name: row for row in languages}


def identifier(name: str, languages: Iterable[Language]) -> str:
    """A lower-case identifier that is legal in all of the languages, made from any text.

    Characters other than ASCII letters and digits become ``_``, accents are dropped, and ``r_`` is
    put before a digit, a reserved word or the name of a standard header or module."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    word = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:48]
    if not word:
        return "robot"
    reserved = any(
        word in language.keywords | language.reserved_module_names for language in languages
    )
    return f"r_{word}" if reserved or not word[0].isalpha() else word


def check_module_name(name: str, languages: Iterable[Language]) -> None:
    """Raises OptionError for a name that a module cannot have."""
    _check_name(
        "--prefix", name, any(name in x.keywords | x.reserved_module_names for x in languages)
    )


def check_function_name(name: str, languages: Iterable[Language]) -> None:
    """Raises OptionError for a name that a function cannot have."""
    _check_name(
        "the name of a function",
        name,
        any(name in x.keywords | x.reserved_function_names for x in languages),
    )


def _check_name(kind: str, name: str, reserved: bool) -> None:
    """A name becomes code and part of file names, so only plain identifiers pass."""
    if reserved or not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name, re.ASCII):
        raise OptionError(
            f"{kind}: {cited(name)} is not usable; take a lower-case identifier that no language "
            f"reserves"
        )
