"""C99: the files of a module and the variables of their templates."""

import json
import math
import textwrap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from typing import Any, Final

import numpy as np

from symgen.certified.certificate import CertifyOptions
from symgen.certified.fixed_types import (
    FIXED,
)
from symgen.compiler.evaluate import evaluate_batch
from symgen.compiler.objective import Objective
from symgen.compiler.parallel import parallel_map
from symgen.compiler.program import LoopProgram
from symgen.errors import OptionError
from symgen.languages.accuracy import QUANTUM, SAFETY_FACTOR
from symgen.languages.c.certified_code import certificates
from symgen.languages.c.controller_code import controller_files, controllers
from symgen.languages.c.fixed_files import files as fixed_files
from symgen.languages.c.glue import glue_files
from symgen.languages.c.loops import (
    body_files,
    body_template,
    c_function,
    loop_quantity,
    stack_bytes,
    static_functions,
)
from symgen.languages.c.loops import tables_of_module as body_tables
from symgen.languages.c.options import COptions, Release, objective_of
from symgen.languages.c.printed_function import CFunction
from symgen.languages.c.simd import batch_files, batch_functions
from symgen.languages.c.syntax import (
    LARGEST_MACROS,
    comment,
    fits,
    initialisers,
    literal,
    status_text,
    string,
    trig_header,
)
from symgen.languages.c.work_array import WORK
from symgen.languages.conventions import (
    MAX_LINE_LENGTH,
    REENTRANCY,
    ROW_MAJOR,
    convention_lines,
    wrapped_list,
)
from symgen.languages.describe import (
    Argument,
    coordinate_tables,
    descriptions,
    packed_arrays,
)
from symgen.languages.module import Module
from symgen.mechanics.joint_listing import velocity_coordinates
from symgen.numbers.scalar import Numbers
from symgen.numbers.trig import TYPES
from symgen.proof.bounds import ROUNDOFF, SINE_ULP, representation_error
from symgen.render import render
from symgen.tracing.function import Function


def certified_tolerances(module: Module, function: Function) -> dict[str, Numbers]:
    """The largest difference of each result in the test states from its reference by the
    certificate, states x entries: the certified error and what rounding the inputs changes. It is
    infinite in states beyond the limits; there are none without a certificate."""
    certificate, program = certificates(module).get(function.name), function.program
    if certificate is None or isinstance(program, LoopProgram) or "par" in function.inputs:
        return {}
    scalar = certificate.arithmetic.scalar
    inputs = {
        name: np.array([s.inputs[name] for s in module.test_states], TYPES[scalar]).T.astype(float)
        for name, _ in program.inputs
    }
    inside = np.ones(len(module.test_states), bool)
    for name, rows in certificate.domain.ranges.items():
        lower, upper = np.array(rows).T[:, :, None]
        inside &= ((inputs[name] >= lower) & (inputs[name] <= upper)).all(axis=0)
    run = evaluate_batch(program, inputs, "double")
    found = {}
    for out, traced in zip(certificate.outputs, program.outputs, strict=True):
        expected = np.array([s.expected[out.name] for s in module.test_states], float).T
        expected = expected.reshape(len(traced.refs), -1)
        live = [ref is not None for ref in traced.refs]
        deviation = representation_error(expected, scalar) + np.spacing(np.abs(expected))
        deviation[live] += np.abs(run[out.name] - expected[live])
        doubled = 1.0 + ROUNDOFF["double"] / ROUNDOFF[scalar]  # the run is in double itself
        error = doubled * np.array(out.error)[:, None]
        found[out.name] = np.where(inside, error + deviation, np.inf).T
    return found


# -- constant data ---------------------------------------------------------------------------------


MAX_TEXT_BYTES: Final = 4000
"""Bytes of a text; C99 compilers need not take string literals of more than 4095 characters."""


OPTIONS_WITHOUT_EFFECT: Final = ("glue", "target", "certify", "certify_limits", "certify_boxes")
"""Options that do not shape the code."""


def info_struct(module: Module) -> dict[str, Any]:
    """The texts and joints of the struct: `options` are those that are not off, as ``name=value``,
    and each joint has its name, unit and limits as initialisers."""
    chosen = [
        (k, x)
        for k, x in module.options.items()
        if x not in (None, "", [], ()) and k not in OPTIONS_WITHOUT_EFFECT
    ]
    texts = (
        x if isinstance(x, str) else json.dumps(x, separators=(",", ":")).replace('"', "'")
        for _, x in chosen
    )
    pairs = zip(chosen, texts, strict=True)
    return {
        "robot": _truncated(module.robot.model.name),
        "generator": f"symgen {module.version}",
        "options": _truncated(" ".join(f"{name}={text}" for (name, _), text in pairs)),
        "joints": list(_joint_initialisers(module)),
    }


def _truncated(text: str) -> str:
    return text.encode("utf-8", "surrogatepass")[:MAX_TEXT_BYTES].decode("utf-8", "ignore")


def _joint_initialisers(module: Module) -> Iterator[list[str]]:
    scalar, limits_of = module[COptions].scalar, module.robot.model.limits

    def limit(value: float) -> str:
        """A limit; one that the scalar type has no number for (files say 1.8e308 for none) is the
        largest of the type, as is one that is not there."""
        if fits(value, scalar):
            return initialisers([value], scalar)
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
    functions_with_references = [f for f in functions if _reference_outputs(f)]
    _ = module.test_states  # made once, before there are copies of this process
    allowed = parallel_map(
        lambda function: _allowed_errors(module, function), functions_with_references
    )
    return {
        "zero": literal(0.0, c.scalar),
        "step": literal(QUANTUM, c.scalar),
        "factor": SAFETY_FACTOR,
        "sines": f"{SINE_ULP[c.trig]:g} unit{'s' * (SINE_ULP[c.trig] != 1)}",
        "allowed": {
            f.description.name: row
            for f, row in zip(functions_with_references, allowed, strict=True)
        },
        "inputs": {a.name for a in arguments if a.direction == "in"},
        "call": _call,
        "rows_call": _rows_call,
        "batches": {f.description.name: f for f in batch_functions(module)},
        "results": _reference_outputs,
        "limits": lambda f, a: (
            f"MOST_{f.description.name}_{a.name}".upper() + f", steps_{f.description.name}_{a.name}"
        ),
    }


def _allowed_errors(module: Module, function: CFunction) -> dict[str, tuple[str, list[str]]]:
    """The allowed errors of each output: the largest allowed error and the steps below it, a row a
    state."""
    traced = next(f for f in module.functions if f.name == function.description.name)
    return {
        name: (
            literal(x.top, module[COptions].scalar),
            [", ".join(map(str, row)) for row in x.codes],
        )
        for name, x in module.allowed(traced, limits=certified_tolerances(module, traced)).items()
    }


def _reference_outputs(function: CFunction) -> list[Argument]:
    """The outputs that have reference values."""
    return [a for a in function.arguments if a.direction == "out" and a.name != "par"]


def _rows_call(function: CFunction) -> str:
    """The arguments of a call for all test states."""
    start = {"in": "in_", "out": "got_"}
    arrays = [
        f"{'' if a.name == 'par' else start[a.direction]}{a.name}[0], {a.size}"
        for a in function.description.arguments
    ]
    return ", ".join(["STATES", *arrays])


def _call(function: CFunction) -> str:
    """The arguments of a call in the loop over test states."""
    results = {a.name: f"got_{a.name}" for a in function.arguments if a.direction == "out"}
    named = results | {"par": "par", WORK: WORK}
    return ", ".join(named.get(a.name, f"in_{a.name}[state]") for a in function.arguments)


# -- variables of templates ------------------------------------------------------------------------


def function_variables(module: Module) -> dict[str, Any]:
    """The variables of the template of a function."""
    header_notes(module)  # first: processes that write functions know the certificates
    for parameters in module.robot.blocks.values():
        initialisers(
            parameters, module[COptions].scalar
        )  # refused before anything is computed with them
    shared = {
        "module": module,
        "c": module[COptions],
        "comment": comment,
        "number": partial(literal, scalar=module[COptions].scalar),
        "failure": status_text(bool(module.robot.model.closures)),
        "name_width": lambda function: max(len(a.name) for a in function.arguments),
        "listed": wrapped_list,
        "wrapped": lambda text: textwrap.wrap(text, MAX_LINE_LENGTH - 12),
        "largest": LARGEST_MACROS[module[COptions].scalar],
        "bodies": body_tables(module),
        "body_template": body_template,
        "loop_quantity": loop_quantity,
    }
    of_header = cache(partial(static_functions, module, shared))
    return shared | {"stack_bytes": partial(stack_bytes, module, of_header)}


def module_variables(module: Module, functions: Sequence[CFunction]) -> dict[str, Any]:
    """The variables that all templates may use."""
    return {
        **function_variables(module),
        "functions": functions,
        "controllers": controllers(module, functions),
        "layouts": packed_arrays(descriptions(module)),
        "conventions": convention_lines(module, ROW_MAJOR, REENTRANCY, *header_notes(module)),
        "tables": coordinate_tables(module, comment),
        "string": string,
        "numbers": lambda values: initialisers(values, module[COptions].scalar),
        "release": module[Release],
        "libm": any(f.math for f in functions),
        "info": info_struct(module),
    }


def header_notes(module: Module) -> list[str]:
    """Sentences on how formulations were chosen and what errors there are. Raises OptionError for a
    function without certified bounds."""
    objective, (scalar, trig) = objective_of(module.choices), module.arithmetic
    notes, found = list[str](), certificates(module)
    if objective.name == "size":
        notes.append(
            "Of several formulations, the generator chose the one with the smallest code; columns "
            "of a matrix that the same operations compute are computed in loops."
        )
    elif objective != Objective("operations"):
        notes.append(
            "Of several formulations, the generator chose the one with the lowest estimated "
            f"latency on {objective.machine.description}."
        )
    if scalar != "double":
        notes.append(
            "The float error of an output is the largest absolute error of its entries in the "
            f"{len(module.test_states)} states of the self-test. 'At most' is a bound of the "
            "rounding errors. 'Observed' is the error with the sines of --trig inline. Values in "
            "parentheses are relative to the largest entry in these states."
        )
    if found:
        texts = dict.fromkeys(text for c in found.values() for text in c.domain.texts)
        sines = "the included sines" if trig == "inline" else "sines of the C library within 1 ulp"
        notes.append(
            f"Certified bounds (option --certify, {module[CertifyOptions].certify_boxes} boxes) "
            f"hold for all inputs of type {scalar} with {', '.join(texts)}. A range is that of the "
            "exact value; the error bounds the difference between the computed value and the exact "
            "value, for IEEE arithmetic that rounds to nearest, fused or not, and "
            f"{sines}."
        )
    return notes


def functions(module: Module) -> list[CFunction]:
    """The functions of a module as C. Raises OptionError as `files`."""
    return [function for function, _ in _printed(module)]


@lru_cache(maxsize=4)
def _printed(module: Module) -> tuple[tuple[CFunction, str], ...]:
    """The functions of a module with the sizes of their bodies, and their sources. Bodies are made
    in several processes, which return only sizes and texts."""
    shared, bare = (
        function_variables(module),
        [c_function(module, d) for d in descriptions(module)],
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
    if module[COptions].per_state and not module[COptions].batch:
        raise OptionError("--per-state: the C code has no functions for many states; add --batch")
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


def sources(module: Module) -> list[str]:
    """The C files of a module without its self-test."""
    return [f"{module.name}.c", *(f"{module.name}_{d.name}.c" for d in descriptions(module))]


PERFORMANCE_DEFAULTS: Final[tuple[dict[str, str], ...]] = (
    {"trig": "inline", "batch": "auto"},
    {"trig": "inline"},
)
"""Options of C that make it fast, the fastest first; not all functions can have all."""


def with_performance_defaults(module: Module, fixed: Collection[str] = ()) -> Module:
    """The module with the options of C that make it fastest, but for those that were given."""
    possible = PERFORMANCE_DEFAULTS[module.is_looped :]  # loops over bodies have no batches
    for options in possible:
        try:
            choices = module.choices.changed(**{k: x for k, x in options.items() if k not in fixed})
            choices[COptions].check_functions(module.functions)
        except OptionError:
            continue
        return replace(module, choices=choices)
    return module
