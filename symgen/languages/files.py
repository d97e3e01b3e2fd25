"""The files of a module in any languages."""

from collections.abc import Callable, Sequence

from symgen.errors import OptionError
from symgen.languages import ALIASES, DEFAULT, LANGUAGES
from symgen.languages.module import Module
from symgen.text import hint, shown


def known_languages(names: Sequence[str]) -> list[str]:
    """The names of languages for names or aliases in any capitals, each once. Raises OptionError
    for an unknown one."""
    return list(dict.fromkeys(map(_name, names)))


def _name(text: str) -> str:
    name = ALIASES.get(text.lower(), text.lower())
    if name not in LANGUAGES:
        raise OptionError(
            f"no language is called '{shown(text)}'; {hint(text, LANGUAGES, len(LANGUAGES))}"
        )
    return name


def files(
    module: Module,
    languages: Sequence[str] = DEFAULT,
    progress: Callable[[str], None] = lambda step: None,
) -> dict[str, str]:
    """The files of a module in some languages and their reports, name to text. `progress` is called
    with each language. Raises SymgenError."""
    chosen = [LANGUAGES[name] for name in known_languages(languages)]
    texts: dict[str, str] = {}
    for k, language in enumerate(chosen):
        progress(f"writing code: language {k + 1} of {len(chosen)}, {language.name}")
        texts |= language.files(module)
    reports = [language.report(module, texts) for language in chosen if language.reports]
    return texts | {f"{module.name}_report.json": text for text in reports}
