"""Languages: one file each and a folder of templates; `LANGUAGES` is their registry."""

from collections.abc import Callable
from typing import Final

from symgen.languages.c import files as c
from symgen.languages.module import Module
from symgen.languages.python import files as python

LANGUAGES: Final[dict[str, Callable[[Module], dict[str, str]]]] = {
    "c": c.files,
    "python": python.files,
}
"""By name: from a module to its files, name to text."""
