"""The files of a module in any languages."""

from collections.abc import Sequence

from symgen.errors import OptionError
from symgen.languages import DEFAULT, LANGUAGES
from symgen.languages.module import Module
from symgen.text import hint, shown


def known_languages(names: Sequence[str]) -> list[str]:
    """The names of languages, each once. Raises OptionError for a name that is none."""
    unknown = [name for name in names if name not in LANGUAGES]
    if unknown:
        raise OptionError(
            f"no language is called '{shown(unknown[0])}'; {hint(unknown[0], LANGUAGES)}"
        )
    return [*dict.fromkeys(names)]


def files(module: Module, languages: Sequence[str] = DEFAULT) -> dict[str, str]:
    """The files of a module in some languages, name to text, then what these report of them all.
    Raises SymgenError."""
    chosen = [LANGUAGES[name] for name in known_languages(languages)]
    texts = {name: text for language in chosen for name, text in language.files(module).items()}
    reports = [language.report(module, texts) for language in chosen if language.reports]
    return texts | {f"{module.name}_report.json": text for text in reports}
