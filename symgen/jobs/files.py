"""All files of a module: those of its languages, the report and the manifest."""

from collections.abc import Sequence

from symgen.errors import OptionError
from symgen.jobs.manifest import NAME, manifest
from symgen.languages import DEFAULT, LANGUAGES
from symgen.languages.c.footprint import report
from symgen.languages.module import Module
from symgen.text import hint, shown


def files(module: Module, languages: Sequence[str] = DEFAULT) -> dict[str, str]:
    """All files of a module in some languages, report and manifest: name to text. Raises
    SymgenError."""
    unknown = [name for name in languages if name not in LANGUAGES]
    if unknown:
        raise OptionError(
            f"no language is called '{shown(unknown[0])}'; {hint(unknown[0], LANGUAGES)}"
        )
    texts = {
        name: text
        for language in languages
        for name, text in LANGUAGES[language].files(module).items()
    }
    if "c" in languages:
        texts[f"{module.name}_report.json"] = report(module, texts)
    return {**texts, NAME: manifest(module, texts)}
