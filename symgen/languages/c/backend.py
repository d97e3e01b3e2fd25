"""C99: the files of a module."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

from symgen.certified.fixed_types import FIXED
from symgen.compiler.parallel import parallel_map
from symgen.languages.c.constants import selftest_context
from symgen.languages.c.controller_code import controller_files
from symgen.languages.c.expressions import trig_header
from symgen.languages.c.fixed_files import files as fixed_files
from symgen.languages.c.glue import glue_files
from symgen.languages.c.loops import body_files, function_in_c
from symgen.languages.c.options import COptions
from symgen.languages.c.printed_function import CFunction
from symgen.languages.c.simd import batch_files
from symgen.languages.c.template_variables import function_variables, module_variables
from symgen.languages.describe import descriptions
from symgen.languages.module import Module
from symgen.render import render


def functions(module: Module) -> list[CFunction]:
    """The functions of a module as C. Raises OptionError as `files`."""
    return [function for function, _ in _printed(module)]


@lru_cache(maxsize=4)
def _printed(module: Module) -> tuple[tuple[CFunction, str], ...]:
    """The functions of a module with the sizes of their bodies, and their sources. Bodies are made
    in several processes, which return only sizes and texts."""
    shared, bare = (
        function_variables(module),
        [function_in_c(module, d) for d in descriptions(module)],
    )
    rows = parallel_map(
        lambda f: (f.sizes, render("c/function.c.jinja", **shared, function=f)), bare
    )
    pairs = zip(bare, rows, strict=True)
    return tuple((replace(f, precomputed_sizes=sizes), text) for f, (sizes, text) in pairs)


def files(module: Module) -> dict[str, str]:
    """The C files of a module: header, data, one source a function, self-test, glue.

    Raises OptionError where the scalar type cannot hold the robot's numbers, and for
    ``--per-state`` without functions for many states."""
    module[COptions].check_per_state()
    if module[COptions].scalar in FIXED:
        return fixed_files(module)
    name, shared = module.name, module_variables(module, functions(module))
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
    if module[COptions].scalar in FIXED:
        return fixed_files(module)
    shared = module_variables(module, functions(module))
    return _functions(module, shared) | batch_files(module, shared)


def _functions(module: Module, shared: dict[str, Any]) -> dict[str, str]:
    """Header, data and functions for one state."""
    name = module.name
    texts = {
        f"{name}.h": render("c/module.h.jinja", **shared),
        f"{name}.c": render("c/module.c.jinja", **shared),
    }
    inline = module[COptions].trig == "inline"
    if inline and (module[COptions].batch or any(f.has_sines for f in shared["functions"])):
        texts[f"{name}_trig.h"] = trig_header(module)
    texts |= body_files(module, shared)
    return texts | {f"{function.full_name}.c": text for function, text in _printed(module)}
