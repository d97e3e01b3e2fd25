"""C99: the files of a module."""

import json
import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from symgen.compiler.objective import Objective
from symgen.compiler.parallel import spread
from symgen.languages.accuracy import FACTOR, STEP
from symgen.languages.c.controllers import controller_files, controllers
from symgen.languages.c.expressions import trig_header
from symgen.languages.c.glue import glue_files
from symgen.languages.c.loops import c_function
from symgen.languages.c.options import COptions, Release, aim_of
from symgen.languages.c.printed_function import CFunction
from symgen.languages.c.simd import batch_files, batch_functions
from symgen.languages.c.syntax import comment, fits, literal, numbers, string
from symgen.languages.c.work_array import WORK
from symgen.languages.conventions import ROWS, WIDTH, convention_lines, listed
from symgen.languages.describe import Argument, descriptions, laid_out, tables
from symgen.languages.module import Module
from symgen.mechanics.coupling import velocity_coordinates
from symgen.proof.bounds import SINE_ULP
from symgen.render import render

LARGEST_MACROS: Final = {"double": "DBL_MAX", "float": "FLT_MAX"}
LONGEST: Final = 4000
"""Bytes of a text; C99 compilers need not take string literals of more than 4095 characters."""
HIDDEN: Final = ("glue", "target")
"""Options that do not shape the code."""


def _information(module: Module) -> dict[str, Any]:
    """The texts and joints of the struct: `options` are those that are not off, as ``name=value``,
    and each joint has its name, unit and limits as initialisers."""
    chosen = [
        (k, x) for k, x in module.options.items() if x not in (None, "", [], ()) and k not in HIDDEN
    ]
    return {
        "robot": _cut(module.robot.model.name),
        "generator": f"symgen {module.version}",
        "options": _cut(" ".join(f"{name}={_value(x)}" for name, x in chosen)),
        "joints": list(_joints(module)),
    }


def _cut(text: str) -> str:
    return text.encode("utf-8", "surrogatepass")[:LONGEST].decode("utf-8", "ignore")


def _value(value: Any) -> str:
    return (
        value
        if isinstance(value, str)
        else json.dumps(value, separators=(",", ":")).replace('"', "'")
    )


def _joints(module: Module) -> Iterator[list[str]]:
    scalar, limits_of = module[COptions].scalar, module.robot.model.limits

    def limit(value: float) -> str:
        """A limit; one that the scalar type has no number for (files say 1.8e308 for none) is the
        largest of the type, as is one that is not there."""
        if fits(value, scalar):
            return numbers([value], scalar)
        return LARGEST_MACROS[scalar] if value > 0 else f"-{LARGEST_MACROS[scalar]}"

    for row in velocity_coordinates(module.robot.model):
        x = limits_of[row.name]
        limits = [limit(-math.inf if x.lower is None else x.lower)]
        limits += [limit(math.inf if y is None else y) for y in (x.upper, x.velocity, x.effort)]
        yield [string(row.name), string(row.unit.removesuffix("/s")), *limits]


def selftest_context(module: Module, functions: Sequence[CFunction]) -> dict[str, Any]:
    """The variables of the template for the functions of a module."""
    c = module[COptions]
    arguments = [a for function in functions for a in function.arguments]
    judged = [f for f in functions if _results(f)]
    _ = module.test_states  # made once, before there are copies of this process
    allowed = spread(lambda function: _allowed(module, function), judged)
    return {
        "zero": literal(0.0, c.scalar),
        "step": literal(STEP, c.scalar),
        "factor": FACTOR,
        "sines": f"{SINE_ULP[c.trig]:g} unit{'s' * (SINE_ULP[c.trig] != 1)}",
        "allowed": {f.d.name: row for f, row in zip(judged, allowed, strict=True)},
        "inputs": {a.name for a in arguments if a.direction == "in"},
        "call": _call,
        "rows_call": _rows_call,
        "batches": {f.d.name: f for f in batch_functions(module)},
        "results": _results,
        "limits": lambda f, a: f"MOST_{f.d.name}_{a.name}".upper() + f", steps_{f.d.name}_{a.name}",
    }


def _allowed(module: Module, function: CFunction) -> dict[str, tuple[str, list[str]]]:
    """The allowed errors of each output: the largest allowed error and the steps below it, a row a
    state."""
    traced = next(f for f in module.functions if f.name == function.d.name)
    return {
        name: (
            literal(x.top, module[COptions].scalar),
            [", ".join(map(str, row)) for row in x.codes],
        )
        for name, x in module.allowed(traced).items()
    }


def _results(function: CFunction) -> list[Argument]:
    """The outputs that have reference values."""
    return [a for a in function.arguments if a.direction == "out" and a.name != "par"]


def _rows_call(function: CFunction) -> str:
    """The arguments of a call for all test states."""
    start = {"in": "in_", "out": "got_"}
    arrays = [
        f"{'' if a.name == 'par' else start[a.direction]}{a.name}[0], {a.size}"
        for a in function.d.arguments
    ]
    return ", ".join(["STATES", *arrays])


def _call(function: CFunction) -> str:
    """The arguments of a call in the loop over test states."""
    results = {a.name: f"got_{a.name}" for a in function.arguments if a.direction == "out"}
    named = results | {"par": "par", WORK: WORK}
    return ", ".join(named.get(a.name, f"in_{a.name}[state]") for a in function.arguments)


CALLS: Final = (
    "Functions are re-entrant and thread-safe: they keep no state between calls. Outputs must not "
    "overlap inputs."
)

FAILURE: Final = (
    "0 if M is positive definite and all outputs are finite; otherwise 1, and the outputs are "
    "undefined."
)
"""The status of a function that inverts M."""


def functions(module: Module) -> list[CFunction]:
    """The functions of a module as C. Raises OptionError as `files`."""
    return [function for function, _ in _printed(module)]


@lru_cache(maxsize=4)
def _printed(module: Module) -> tuple[tuple[CFunction, str], ...]:
    """The functions of a module with the sizes of their bodies, and their sources. Bodies are made
    in several processes, which return only sizes and texts."""
    shared, bare = _shared(module), [c_function(module, d) for d in descriptions(module)]
    rows = spread(lambda f: (f.sizes, render("c/function.c.jinja", **shared, function=f)), bare)
    pairs = zip(bare, rows, strict=True)
    return tuple((replace(f, known_sizes=sizes), text) for f, (sizes, text) in pairs)


def files(module: Module) -> dict[str, str]:
    """The C files of a module: header, data, one source a function, self-test, glue.

    Raises OptionError where the scalar type cannot hold the robot's numbers."""
    name, shared = module.name, _context(module)
    code = _functions(module, shared)
    code |= controller_files(module, shared) | batch_files(module, shared)
    selftest = render("c/selftest.c.jinja", **shared, **selftest_context(module, functions(module)))
    texts = {f"{name}.h": "", f"{name}.c": "", f"{name}_selftest.c": selftest} | code
    private = {f"{name}_trig.h", f"{name}_lanes.h"}
    headers = [file for file in texts if file.endswith(".h") and file not in private]
    sources = [file for file in texts if file.endswith(".c") and file != f"{name}_selftest.c"]
    return texts | glue_files(module, headers, sources, shared)


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
    return texts | {f"{function.full_name}.c": text for function, text in _printed(module)}


def _shared(module: Module) -> dict[str, Any]:
    """The variables of the template of a function."""
    for ten in module.robot.blocks.values():
        numbers(ten, module[COptions].scalar)  # refused before anything is computed with them
    return {
        "module": module,
        "c": module[COptions],
        "comment": comment,
        "failure": FAILURE,
        "name_width": lambda function: max(len(a.name) for a in function.arguments),
        "listed": listed,
        "wrapped": lambda text: textwrap.wrap(text, WIDTH - 12),
        "largest": LARGEST_MACROS[module[COptions].scalar],
    }


def _context(module: Module) -> dict[str, Any]:
    """The variables that all templates may use."""
    return {
        **_shared(module),
        "functions": functions(module),
        "controllers": controllers(module, functions(module)),
        "layouts": laid_out(descriptions(module)),
        "conventions": convention_lines(
            module, ROWS, CALLS, *_objective(module), *_precision(module)
        ),
        "tables": tables(module, comment),
        "string": string,
        "numbers": lambda values: numbers(values, module[COptions].scalar),
        "release": module[Release],
        "libm": any(f.math for f in functions(module)),
        "info": _information(module),
    }


def _objective(module: Module) -> list[str]:
    """The objective of the choice between formulations, if it is not the operation count."""
    aim = aim_of(module.choices)
    if aim == Objective("operations"):
        return []
    if aim.name == "size":
        return [
            "Of several formulations, the generator chose the one with the smallest code; columns "
            "of a matrix that the same operations compute are computed in loops."
        ]
    return [
        "Of several formulations, the generator chose the one with the lowest estimated latency on "
        f"{aim.machine.description}."
    ]


def _precision(module: Module) -> list[str]:
    """A sentence on the errors of single precision that are stated at each function."""
    if module[COptions].scalar == "double":
        return []
    return [
        "The float error of an output is the largest absolute error of its entries in the "
        f"{len(module.test_states)} states of the self-test. 'At most' is a bound of the rounding "
        "errors. 'Observed' is the error with the sines of --trig inline. Values in parentheses "
        "are relative to the largest entry in these states.",
    ]
