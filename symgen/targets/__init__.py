"""Languages: one file each and a folder of templates; `LANGUAGES` is their registry."""

from collections.abc import Callable
from typing import Final

from symgen.module import Module
from symgen.targets import c, python

LANGUAGES: Final[dict[str, Callable[[Module], dict[str, str]]]] = {"c": c.files, "python": python.files}
"""By name: from a module to its files, name to text."""
