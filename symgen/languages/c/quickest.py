"""The options of C that make a module fastest, of those that its functions can have."""

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from symgen.errors import OptionError
from symgen.languages.c.options import COptions
from symgen.languages.module import Module

QUICKEST: Final[tuple[dict[str, str], ...]] = (
    {"trig": "inline", "batch": "auto"},
    {"trig": "inline"},
)
"""Options of C that make it fast, the fastest first; not all functions can have all."""


def fastest(module: Module, fixed: Collection[str] = ()) -> Module:
    """The module with the options of C that make it fastest, but for those that were given."""
    for options in QUICKEST:
        try:
            choices = module.choices.changed(**{k: x for k, x in options.items() if k not in fixed})
            choices[COptions].check_functions(module.functions)
        except OptionError:
            continue
        return replace(module, choices=choices)
    return module
