"""The constant data of a C module: the structure that describes it, and the self-test with inputs,
reference values and allowed errors."""

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from symgen.compiler.parallel import parallel_map
from symgen.languages.accuracy import QUANTUM, SAFETY_FACTOR
from symgen.languages.c.options import COptions
from symgen.languages.c.printed_function import CFunction
from symgen.languages.c.simd import batch_functions
from symgen.languages.c.syntax import fits, initialisers, literal, string
from symgen.languages.c.work_array import WORK
from symgen.languages.certified_bounds import certified_tolerances
from symgen.languages.describe import Argument
from symgen.languages.module import Module
from symgen.mechanics.joint_listing import velocity_coordinates
from symgen.proof.bounds import SINE_ULP

LARGEST_MACROS: Final = {"double": "DBL_MAX", "float": "FLT_MAX"}
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
    return {
        "robot": _truncated(module.robot.model.name),
        "generator": f"symgen {module.version}",
        "options": _truncated(" ".join(f"{name}={_option_value(x)}" for name, x in chosen)),
        "joints": list(_joint_initialisers(module)),
    }


def _truncated(text: str) -> str:
    return text.encode("utf-8", "surrogatepass")[:MAX_TEXT_BYTES].decode("utf-8", "ignore")


def _option_value(value: Any) -> str:
    return (
        value
        if isinstance(value, str)
        else json.dumps(value, separators=(",", ":")).replace('"', "'")
    )


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
        for name, x in module.allowed(traced, most=certified_tolerances(module, traced)).items()
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
