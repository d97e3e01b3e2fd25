"""A language: everything that symgen needs to know of one, in one object."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from symgen.languages.module import Module
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
