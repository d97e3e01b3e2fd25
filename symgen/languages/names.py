"""Legal names of modules and functions, in every language."""

import re
import unicodedata
from collections.abc import Iterable

from symgen.errors import OptionError
from symgen.languages.language import Language
from symgen.text import cited


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
