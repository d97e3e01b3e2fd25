"""The files of a C module in fixed point."""

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from symgen.certified.fixed_evaluation import fixed_sines
from symgen.certified.fixed_functions import is_angle
from symgen.languages.c.fixed_code import (
    FixedCode,
    FixedWriter,
    fixed_functions_in_c,
    fixed_type,
    input_sizes,
    inputs_in_si,
    random_integers,
    run_functions,
    scale_shift,
)
from symgen.languages.c.glue import glue_files
from symgen.languages.c.options import COptions, Release
from symgen.languages.c.syntax import comment
from symgen.languages.c.template_variables import REENTRANCY
from symgen.languages.certified_bounds import certified_lines, fixed_point
from symgen.languages.conventions import MAX_LINE_LENGTH, ROW_MAJOR, convention_lines
from symgen.languages.describe import coordinate_tables, descriptions
from symgen.languages.module import Module
from symgen.numbers.types import AnyArray
from symgen.proof.reference_values import references
from symgen.render import render

SELFTEST_STATES: Final = 6
"""States of the self-test."""


def files(module: Module) -> dict[str, str]:
    """The files: header, arithmetic, a source for each function, self-test and build files."""
    name, codes, shared = module.name, fixed_functions_in_c(module), _context(module)
    texts = {f"{name}.h": render("c/fixed/module.h.jinja", **shared)}
    texts[f"{name}_fixed.h"] = render(
        "c/fixed/arithmetic.h.jinja", **shared, **_sine_context(module)
    )
    texts |= {f"{f.full_name}.c": render("c/fixed/function.c.jinja", **shared, f=f) for f in codes}
    sources = [file for file in texts if file.endswith(".c")]
    selftest = render("c/fixed/selftest.c.jinja", **shared, **_selftest_context(module))
    texts[f"{name}_selftest.c"] = selftest
    return texts | glue_files(module, [f"{name}.h"], sources, shared, texts)


def _context(module: Module) -> dict[str, Any]:
    kind = fixed_type(module)
    return {
        "module": module,
        "NAME": module.name.upper(),
        "kind": kind,
        "real": f"{module.name}_{kind.name}",
        "most": 2 ** (kind.bits - 1),
        "per_radian": repr(2.0**kind.bits / (2.0 * math.pi)),
        "functions": fixed_functions_in_c(module),
        "c": module[COptions],
        "release": module[Release],
        "libm": False,
        "comment": comment,
        "wrapped": lambda text: textwrap.wrap(text, MAX_LINE_LENGTH - 12),
        "certified": lambda d: certified_lines(module, d),
        "conventions": convention_lines(module, ROW_MAJOR, REENTRANCY, *fixed_point_notes(module)),
        "tables": coordinate_tables(module, comment),
        "scales": _scales(module),
        "angles": any(_are_angles(module, name) for name in input_sizes(module)),
        "name_width": lambda f: max(len(a.name) for a in f.description.arguments),
    }


def _are_angles(module: Module, name: str) -> list[bool]:
    """Whether each entry of an input is an angle."""
    return [is_angle(module.robot.model, name, k) for k in range(input_sizes(module)[name])]


def _scales(module: Module) -> list[tuple[str, str, str]]:
    """The macro, the unit and the value of the scale of each array."""
    arguments = {a.name: a for d in descriptions(module) for a in d.arguments}
    turn = 2.0 ** (fixed_type(module).bits - 1)
    found = []
    for name, a in arguments.items():
        angles = _are_angles(module, name) if a.direction == "in" else [False]
        if any(angles):
            found.append((name, f"rad: half a turn divided by {turn:.0f}", repr(math.pi / turn)))
        if not all(angles):
            macro = f"{name}_linear" if any(angles) else name
            unit = a.unit.replace("rad|", "").replace("rad, ", "")
            text = f"{unit}, 2 to the power of {-scale_shift(module, name)}"
            found.append((macro, text, repr(2.0 ** -scale_shift(module, name))))
    return found


def fixed_point_notes(module: Module) -> list[str]:
    """Sentences at the head of the header."""
    kind, made = fixed_type(module), fixed_point(module).values()
    domains = dict.fromkeys(text for one in made for text in one.domain.texts)
    sentences = [
        f"Inputs and outputs are integers of type {kind.name} ({kind.bits} bits). A value in SI "
        "units is the integer times the scale of the array, a macro that ends in _SCALE.",
        f"Certified bounds hold for all inputs with {', '.join(domains)}. Inputs beyond these "
        "limits are clamped to them. A range is that of the exact value; the error bounds the "
        "difference between the computed value and the exact value of the same integers. It "
        "includes the constants, sines, cosines and every rounding, and no operation overflows. "
        "The error of rounding an input to an integer is not included.",
    ]
    if any(any(_are_angles(module, name)) for name in input_sizes(module)):
        sentences.insert(
            1,
            f"Angles are fractions of half a turn: an integer of {kind.bits} bits that wraps at a "
            "turn, so that all angles are allowed.",
        )
    return sentences


def _sine_context(module: Module) -> dict[str, Any]:
    """The variables of the template for sine and cosine."""
    of = fixed_sines(fixed_type(module))
    writer = FixedWriter(module.name, of.fixed)
    lines = [line for line in writer.statements() if not line.startswith("const int32_t z_0 ")]
    outputs = {}
    for out in of.fixed.program.outputs:
        (ref,) = out.refs
        assert ref is not None
        row = int(of.fixed.at.row[ref.node])
        text = writer.shifted(writer.texts[row], of.fixed.shifts[row] - of.fixed.outputs[out.name])
        outputs[out.name] = f"-{text}" if ref.negative else text
    shift = of.rest_shift - 29
    rest = f"rest * {2**shift}" if shift >= 0 else f"{module.name}_floor(rest, {-shift})"
    lines = [line for line in lines if not line.startswith("/*")]
    return {"sines": lines, "rest": rest, "sine_error": of.error_text, "pair": outputs}


@dataclass(frozen=True)
class TestedOutput:
    """An output in the self-test: its integers, those of the reference, and the largest
    differences."""

    key: str
    size: int
    want: list[list[int]]
    real: list[list[int]]
    most: list[int]


def _selftest_context(module: Module) -> dict[str, Any]:
    kind = fixed_type(module)
    states = random_integers(module, SELFTEST_STATES, module.source.sha256)
    inputs = {name: x.copy() for name, x in states.items()}
    largest = 2 ** (kind.bits - 1) - 1
    for name, rows in inputs.items():
        for k in range(len(rows)):
            bounds = {one.integers(name, k) for one in fixed_point(module).values()}
            clamped = [x for x in bounds if x != (-largest - 1, largest)]
            if clamped:
                states[name][k, -1] = min(high for _, high in clamped)
                rows[k, -1] = largest
    real = {name: x.T.tolist() for name, x in inputs_in_si(module, states).items()}
    found = references(module.robot, module.functions, None, real)
    results = run_functions(module, states)
    tested = [
        _tested_output(module, f, name, results[f.description.name][name], found.values[name])
        for f in fixed_functions_in_c(module)
        for name in results[f.description.name]
    ]
    return {
        "states": SELFTEST_STATES,
        "sources": found.sources,
        "inputs": {name: x.T.tolist() for name, x in inputs.items()},
        "tested": tested,
        "integers": lambda numbers: ", ".join(
            str(x) if x != -(2**31) else "(-2147483647 - 1)" for x in numbers
        ),
        "call": lambda f: ", ".join(
            f"in_{a.name}[state]" if a.direction == "in" else f"got_{a.name}"
            for a in f.description.arguments
        ),
    }


def _tested_output(
    module: Module, f: FixedCode, name: str, results: AnyArray, wanted: Sequence[Sequence[float]]
) -> TestedOutput:
    scale = 2.0 ** f.fixed.outputs[name]
    (out,) = (out for out in f.fixed_function.outputs if out.name == name)
    nearest = [[round(x * scale) for x in row] for row in wanted]
    most = [math.ceil(error * scale * (1.0 + 2.0**-20) + 0.5) for error in out.error]
    return TestedOutput(
        f"{f.description.name}_{name}", len(results), results.T.tolist(), nearest, most
    )


def scales_by_name(module: Module) -> dict[str, float]:
    """The scales of the arrays by name, as the report has them."""
    return {macro: float(text) for macro, _, text in _scales(module)}
