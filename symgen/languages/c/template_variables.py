"""The variables of the templates of C."""

import textwrap
from collections.abc import Sequence
from functools import cache, partial
from typing import Any, Final

from symgen.languages.c.body_code import quantity_of, stack_bytes, static_functions, template_of
from symgen.languages.c.body_code import tables as body_tables
from symgen.languages.c.constants import LARGEST_MACROS, information
from symgen.languages.c.controller_code import controllers
from symgen.languages.c.header_notes import header_notes
from symgen.languages.c.options import COptions, Release
from symgen.languages.c.printed_function import CFunction
from symgen.languages.c.syntax import comment, numbers, status_text, string
from symgen.languages.conventions import ROWS, WIDTH, convention_lines, listed
from symgen.languages.describe import descriptions, packed, tables
from symgen.languages.module import Module

CALLS: Final = (
    "Functions are re-entrant and thread-safe: they keep no state between calls. Outputs must not "
    "overlap inputs."
)


def shared_variables(module: Module) -> dict[str, Any]:
    """The variables of the template of a function."""
    header_notes(module)  # first: processes that write functions know the certificates
    for ten in module.robot.blocks.values():
        numbers(ten, module[COptions].scalar)  # refused before anything is computed with them
    shared = {
        "module": module,
        "c": module[COptions],
        "comment": comment,
        "failure": status_text(bool(module.robot.model.closures)),
        "name_width": lambda function: max(len(a.name) for a in function.arguments),
        "listed": listed,
        "wrapped": lambda text: textwrap.wrap(text, WIDTH - 12),
        "largest": LARGEST_MACROS[module[COptions].scalar],
        "bodies": body_tables(module),
        "body_template": template_of,
        "loop_quantity": quantity_of,
    }
    of_header = cache(partial(static_functions, module, shared))
    return shared | {"stack_bytes": partial(stack_bytes, module, of_header)}


def variables(module: Module, functions: Sequence[CFunction]) -> dict[str, Any]:
    """The variables that all templates may use."""
    return {
        **shared_variables(module),
        "functions": functions,
        "controllers": controllers(module, functions),
        "layouts": packed(descriptions(module)),
        "conventions": convention_lines(module, ROWS, CALLS, *header_notes(module)),
        "tables": tables(module, comment),
        "string": string,
        "numbers": lambda values: numbers(values, module[COptions].scalar),
        "release": module[Release],
        "libm": any(f.math for f in functions),
        "info": information(module),
    }
