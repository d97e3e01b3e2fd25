"""C99: the files of a module."""

import json
import math
import textwrap
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

from symgen.compiler.objective import Objective
from symgen.compiler.parallel import spread
from symgen.languages.accuracy import FACTOR, STEP
from symgen.languages.c.controllers import controller_files, controllers
from symgen.languages.c.dialect import trig_header
from symgen.languages.c.function import CFunction
from symgen.languages.c.glue import glue_files
from symgen.languages.c.loops import c_function
from symgen.languages.c.options import COptions, aim_of
from symgen.languages.c.simd import batch_files, batch_functions
from symgen.languages.c.text import comment, fits, literal, numbers, string
from symgen.languages.conventions import ROWS, WIDTH, convention_lines
from symgen.languages.describe import Argument, descriptions, laid_out, tables
from symgen.languages.local_names import listed
from symgen.languages.module import Module
from symgen.languages.partition import WORK
from symgen.languages.release import Release
from symgen.mechanics.coupling import velocity_coordinates
from symgen.proof.bounds import SINE_ULP
from symgen.render import render

LARGEST_MACROS: Final = {"double": "DBL_MAX", "float": "FLT_MAX"}
LONGEST: Final = 4000
"""Bytes of a text; C99 compilers need not take string literals of more than 4095 characters."""
HIDDEN: Final = ("glue", "target")
"""Options that do not shape the code."""


def information(module: Module) -> dict[str, Any]:
    """The texts and joints of the struct, as a variable `info` of the templates."""
    return {
        "info": {
            "robot": _cut(module.robot.model.name),
            "generator": f"symgen {module.version}",
            "options": _options(module),
            "joints": list(_joints(module)),
        }
    }


def _cut(text: str) -> str:
    return text.encode("utf-8", "surrogatepass")[:LONGEST].decode("utf-8", "ignore")


def _options(module: Module) -> str:
    """The options that are not off, as ``name=value``."""
    chosen = [
        (k, x) for k, x in module.options.items() if x not in (None, "", [], ()) and k not in HIDDEN
    ]
    return _cut(" ".join(f"{name}={_value(x)}" for name, x in chosen))


def _value(value: Any) -> str:
    return (
        value
        if isinstance(value, str)
        else json.dumps(value, separators=(",", ":")).replace('"', "'")
    )


def _joints(module: Module) -> Iterator[list[str]]:
    """Name, unit and limits of each joint as initialisers."""
    limits_of = module.robot.model.limits
    for row in velocity_coordinates(module.robot.model):
        x = limits_of[row.name]
        ends = (x.upper, x.velocity, x.effort)
        limits = [(x.lower, -math.inf), *((end, math.inf) for end in ends)]
        texts = (
            _limit(absent if value is None else value, module[COptions].scalar)
            for value, absent in limits
        )
        yield [string(row.name), string(row.unit.removesuffix("/s")), *texts]


def _limit(value: float, scalar: str) -> str:
    """A limit; one that the scalar type has no number for (files say 1.8e308 for none) is the
    largest of the type, as is one that is not there."""
    if fits(value, scalar):
        return numbers([value], scalar)
    return LARGEST_MACROS[scalar] if value > 0 else f"-{LARGEST_MACROS[scalar]}"


CALLS: Final = (
    "Functions are re-entrant and thread-safe: they keep no state between calls. Outputs must not "
    "overlap inputs."
)

FAILURE: Final = (
    "0 if M is positive definite and all outputs are finite; otherwise 1, and the outputs are "
    "undefined."
)
"""The status of a function that inverts M."""


def packed_pairs(prefix: str, a: Argument) -> str:
    """A macro for the place of entry i, j, k of the layout PACKED_PAIRS."""
    n, pairs = a.sizes
    low, high = (f"({2 * n - 1} - ({x})) * ({x}) / 2 + ({y})" for x, y in ("jk", "kj"))
    place = f"({pairs} * (i) + ((j) < (k) ? {low} : {high}))"
    heading = f"/* Index of entry i, j, k (equal to i, k, j; from 0) in the packed {a.name}. */"
    return f"{heading}\n#define {prefix.upper()}_{a.name.upper()}(i, j, k) {place}"


@lru_cache(maxsize=4)
def functions(module: Module) -> tuple[CFunction, ...]:
    """The functions of a module as C."""
    return tuple(c_function(module, d) for d in descriptions(module))


def files(module: Module) -> dict[str, str]:
    """The C files of a module: header, data, one source a function, self-test, glue.

    Raises OptionError where the scalar type cannot hold the robot's numbers."""
    name, shared = module.name, _context(module)
    code = _functions(module, shared)
    code |= controller_files(module, shared) | batch_files(module, shared)
    selftest = render("c/selftest.c.jinja", **shared, **_selftest(module))
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
    bodies = spread(lambda function: _body(function, shared), shared["functions"])
    for function, (_, sizes) in zip(shared["functions"], bodies, strict=True):
        vars(function).update(sizes)  # known without its body, where that was made elsewhere
    texts = {
        f"{name}.h": render("c/module.h.jinja", **shared),
        f"{name}.c": render("c/module.c.jinja", **shared),
    }
    inline = module[COptions].trig == "inline"
    if inline and (module[COptions].batch or any(f.uses_trig for f in shared["functions"])):
        texts[f"{name}_trig.h"] = trig_header(module)
    for function, (text, _) in zip(shared["functions"], bodies, strict=True):
        texts[f"{function.full_name}.c"] = text
    return texts


def _body(function: CFunction, shared: dict[str, Any]) -> tuple[str, dict[str, int]]:
    """The source of a function, and what others ask of it."""
    text = render("c/function.c.jinja", **shared, function=function)
    return text, {"work": function.work, "parts": function.parts}


def _context(module: Module) -> dict[str, Any]:
    """The variables that all templates may use."""
    for ten in module.robot.blocks.values():
        numbers(ten, module[COptions].scalar)  # refused before anything is computed with them
    return {
        "module": module,
        "c": module[COptions],
        "functions": functions(module),
        "controllers": controllers(module, functions(module)),
        "layouts": [packed_pairs(module.name, a) for a in laid_out(descriptions(module))],
        "conventions": convention_lines(
            module, ROWS, CALLS, *_objective(module), *_precision(module)
        ),
        "tables": tables(module, comment),
        "comment": comment,
        "string": string,
        "numbers": lambda values: numbers(values, module[COptions].scalar),
        "failure": FAILURE,
        "release": module[Release],
        "name_width": _name_width,
        "listed": listed,
        "wrapped": lambda text: textwrap.wrap(text, WIDTH - 12),
        "libm": any(f.math for f in functions(module)),
        "largest": LARGEST_MACROS[module[COptions].scalar],
        **information(module),
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


def _name_width(function: CFunction) -> int:
    """The length of the longest name of an argument."""
    return max(len(a.name) for a in function.arguments)


def _selftest(module: Module) -> dict[str, Any]:
    every_function, c = functions(module), module[COptions]
    arguments = [a for function in every_function for a in function.arguments]
    return {
        "zero": literal(0.0, c.scalar),
        "step": literal(STEP, c.scalar),
        "factor": FACTOR,
        "sines": f"{SINE_ULP[c.trig]:g} unit{'s' * (SINE_ULP[c.trig] != 1)}",
        "allowed": _all_allowed(module, [f for f in every_function if _results(f)]),
        "inputs": {a.name for a in arguments if a.direction == "in"},
        "call": _call,
        "rows_call": _rows_call,
        "batches": {f.d.name: f for f in batch_functions(module)},
        "results": _results,
        "limits": _limits,
    }


def _all_allowed(
    module: Module, functions: Sequence[CFunction]
) -> dict[str, dict[str, tuple[str, list[str]]]]:
    """The allowed errors of each function, as `_allowed` has it."""
    _ = module.test_states  # made once, before there are copies of this process
    allowed = spread(lambda function: _allowed(module, function), functions)
    return {f.d.name: row for f, row in zip(functions, allowed, strict=True)}


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


def _limits(function: CFunction, a: Argument) -> str:
    """The allowed errors of an output, as arguments, but for the state."""
    name = f"{function.d.name}_{a.name}"
    return f"MOST_{name.upper()}, steps_{name}"


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
