"""C99: the files of a module."""

import textwrap
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from symgen.compiler.parallel import spread
from symgen.languages.c.body_code import body_files, function_in_c, template_of
from symgen.languages.c.body_code import tables as body_tables
from symgen.languages.c.constants import LARGEST_MACROS, information, selftest_context
from symgen.languages.c.controller_code import controller_files, controllers
from symgen.languages.c.expressions import trig_header
from symgen.languages.c.glue import glue_files
from symgen.languages.c.header_notes import header_notes
from symgen.languages.c.options import COptions, Release
from symgen.languages.c.printed_function import CFunction
from symgen.languages.c.simd import batch_files
from symgen.languages.c.syntax import comment, numbers, status_text, string
from symgen.languages.conventions import ROWS, WIDTH, convention_lines, listed
from symgen.languages.describe import descriptions, laid_out, tables
from symgen.languages.module import Module
from symgen.render import render

CALLS: Final = (
    "Functions are re-entrant and thread-safe: they keep no state between calls. Outputs must not "
    "overlap inputs."
)


def functions(module: Module) -> list[CFunction]:
    """The functions of a module as C. Raises OptionError as `files`."""
    return [function for function, _ in _printed(module)]


@lru_cache(maxsize=4)
def _printed(module: Module) -> tuple[tuple[CFunction, str], ...]:
    """The functions of a module with the sizes of their bodies, and their sources. Bodies are made
    in several processes, which return only sizes and texts."""
    shared, bare = _shared(module), [function_in_c(module, d) for d in descriptions(module)]
    rows = spread(lambda f: (f.sizes, render("c/function.c.jinja", **shared, function=f)), bare)
    pairs = zip(bare, rows, strict=True)
    return tuple((replace(f, known_sizes=sizes), text) for f, (sizes, text) in pairs)


def files(module: Module) -> dict[str, str]:
    """The C files of a module: header, data, one source a function, self-test, glue.

    Raises OptionError where the scalar type cannot hold the robot's numbers, and for
    ``--per-state`` without functions for many states."""
    module[COptions].check_per_state()
    name, shared = module.name, _context(module)
    code = _functions(module, shared)
    code |= controller_files(module, shared) | batch_files(module, shared)
    selftest = render("c/selftest.c.jinja", **shared, **selftest_context(module, functions(module)))
    texts = {f"{name}.h": "", f"{name}.c": "", f"{name}_selftest.c": selftest} | code
    private = {f"{name}_trig.h", f"{name}_lanes.h", f"{name}_bodies.h"}
    headers = [file for file in texts if file.endswith(".h") and file not in private]
    sources = [file for file in texts if file.endswith(".c") and file != f"{name}_selftest.c"]
    return texts | glue_files(module, headers, sources, shared, texts)


def code_files(module: Module) -> dict[str, str]:
    """The C files of a module that compute: header, data and functions.

    Raises OptionError where the scalar type cannot hold the robot's numbers."""
    shared = _context(module)
    return _functions(module, shared) | batch_files(module, shared)


def _functions(module: Module, shared: dict[str, Any]) -> dict[str, str]:
    """Header, data and functions for one state."""
    name = module.name
    texts = {
        f"{name}.h": render("c/module.h.jinja", **shared),
        f"{name}.c": render("c/module.c.jinja", **shared),
    }
    inline = module[COptions].trig == "inline"
    if inline and (module[COptions].batch or any(f.uses_trig for f in shared["functions"])):
        texts[f"{name}_trig.h"] = trig_header(module)
    texts |= body_files(module, shared)
    return texts | {f"{function.full_name}.c": text for function, text in _printed(module)}


def _shared(module: Module) -> dict[str, Any]:
    """The variables of the template of a function."""
    for ten in module.robot.blocks.values():
        numbers(ten, module[COptions].scalar)  # refused before anything is computed with them
    return {
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
    }


def _context(module: Module) -> dict[str, Any]:
    """The variables that all templates may use."""
    notes = header_notes(module)  # first: processes that write functions know the certificates
    return {
        **_shared(module),
        "functions": functions(module),
        "controllers": controllers(module, functions(module)),
        "layouts": laid_out(descriptions(module)),
        "conventions": convention_lines(module, ROWS, CALLS, *notes),
        "tables": tables(module, comment),
        "string": string,
        "numbers": lambda values: numbers(values, module[COptions].scalar),
        "release": module[Release],
        "libm": any(f.math for f in functions(module)),
        "info": information(module),
    }
