"""The variables of the templates of C, and sentences at the head of the header: how formulations
were chosen, and what errors there are."""

import textwrap
from collections.abc import Sequence
from functools import cache, partial
from typing import Any, Final

from symgen.certified.certificate import CertifyOptions
from symgen.compiler.objective import Objective
from symgen.languages.c.constants import LARGEST_MACROS, info_struct
from symgen.languages.c.controller_code import controllers
from symgen.languages.c.loops import body_template, loop_quantity, stack_bytes, static_functions
from symgen.languages.c.loops import tables_of_module as body_tables
from symgen.languages.c.options import COptions, Release, objective_of
from symgen.languages.c.printed_function import CFunction
from symgen.languages.c.syntax import comment, initialisers, literal, status_text, string
from symgen.languages.certified_bounds import certificates
from symgen.languages.conventions import MAX_LINE_LENGTH, ROW_MAJOR, convention_lines, wrapped_list
from symgen.languages.describe import coordinate_tables, descriptions, packed_arrays
from symgen.languages.module import Module

REENTRANCY: Final = (
    "Functions are re-entrant and thread-safe: they keep no state between calls. Outputs must not "
    "overlap inputs."
)


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


# -- notes of the header ---------------------------------------------------------------------------


def header_notes(module: Module) -> list[str]:
    """The sentences, in order. Raises OptionError for a function without certified bounds."""
    return [*_objective_notes(module), *_precision_notes(module), *_certified_notes(module)]


def _objective_notes(module: Module) -> list[str]:
    """The objective of the choice between formulations, if it is not the operation count."""
    objective = objective_of(module.choices)
    if objective == Objective("operations"):
        return []
    if objective.name == "size":
        return [
            "Of several formulations, the generator chose the one with the smallest code; columns "
            "of a matrix that the same operations compute are computed in loops."
        ]
    return [
        "Of several formulations, the generator chose the one with the lowest estimated latency on "
        f"{objective.machine.description}."
    ]


def _precision_notes(module: Module) -> list[str]:
    """A sentence on the errors of single precision that are stated at each function."""
    if module[COptions].scalar == "double":
        return []
    return [
        "The float error of an output is the largest absolute error of its entries in the "
        f"{len(module.test_states)} states of the self-test. 'At most' is a bound of the rounding "
        "errors. 'Observed' is the error with the sines of --trig inline. Values in parentheses "
        "are relative to the largest entry in these states.",
    ]


def _certified_notes(module: Module) -> list[str]:
    """A sentence on the inputs for which the certified bounds hold; none without certificates."""
    found = certificates(module)
    texts = list(dict.fromkeys(text for c in found.values() for text in c.domain.texts))
    if not found:
        return []
    scalar, trig = module.arithmetic
    sines = "the included sines" if trig == "inline" else "sines of the C library within 1 ulp"
    return [
        f"Certified bounds (option --certify, {module[CertifyOptions].certify_boxes} boxes) hold "
        f"for all inputs of type {scalar} with {', '.join(texts)}. A range is that of the exact "
        "value; the error bounds the difference between the computed value and the exact value, "
        f"for IEEE arithmetic that rounds to nearest, fused or not, and {sines}."
    ]
