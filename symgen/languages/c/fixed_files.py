"""The files of a C module in fixed point, and their checks: the C computes the integers of the
generator's own run, and these are within the certified error of the reference."""

import math
import random
import textwrap
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from symgen.certified.fixed_evaluation import fixed_sines, run
from symgen.certified.fixed_functions import is_angle
from symgen.languages.c.certified_code import (
    FixedCode,
    FixedWriter,
    certified_lines,
    fixed_functions_in_c,
    fixed_point,
    fixed_type,
)
from symgen.languages.c.glue import glue_files
from symgen.languages.c.options import COptions, Release
from symgen.languages.c.syntax import comment, const_qualifier
from symgen.languages.conventions import MAX_LINE_LENGTH, REENTRANCY, ROW_MAJOR, convention_lines
from symgen.languages.describe import coordinate_tables, descriptions
from symgen.languages.module import Module
from symgen.languages.verification import (
    Arrays,
    Check,
    VerificationTarget,
    error_ratio,
    format_error_ratio,
)
from symgen.native.library import Library, pointers, read_sources
from symgen.numbers.scalar import AnyArray
from symgen.proof.reference_values import reference_results, references
from symgen.render import render

# -- states ----------------------------------------------------------------------------------------


INTEGER_BITS_OF_UNREAD: Final = 8
"""Bits before the point of an input that no function reads."""


Integers = dict[str, AnyArray]
"""Integers of inputs or outputs by name: entries x states."""


def scale_shift(module: Module, name: str) -> int:
    """The scale of an array, as a power of one half."""
    for fixed_function in fixed_point(module).values():
        for shifts in (fixed_function.fixed.inputs, fixed_function.fixed.outputs):
            if name in shifts:
                return shifts[name]
    return fixed_type(module).bits - INTEGER_BITS_OF_UNREAD


def inputs_in_si(module: Module, integers: Integers) -> Integers:
    """The values of inputs from their integers, in SI units."""
    unit, model = 2.0 * math.pi / 2.0 ** fixed_type(module).bits, module.robot.model
    return {
        name: np.stack(
            [
                x * (unit if is_angle(model, name, k) else 2.0 ** -scale_shift(module, name))
                for k, x in enumerate(rows)
            ]
        )
        for name, rows in integers.items()
    }


def random_integers(module: Module, count: int, seed: str) -> Integers:
    """Random integers of all inputs within their limits. Half of those of every second state are
    at their limits."""
    rng, fixed_function, states = random.Random(seed), fixed_point(module).values(), Integers()
    for name, size in input_sizes(module).items():
        states[name] = np.zeros((size, count), np.int64)
        for k in range(size):
            bounds_of_input = [one.integers(name, k) for one in fixed_function]
            low, high = (
                max(low for low, _ in bounds_of_input),
                min(high for _, high in bounds_of_input),
            )
            for state in range(count):
                limit = (
                    state % 2 and rng.random() < 0.5 and not is_angle(module.robot.model, name, k)
                )
                states[name][k, state] = (
                    rng.choice((low, high)) if limit else rng.randint(low, high)
                )
    return states


def input_sizes(module: Module) -> dict[str, int]:
    """The sizes of all inputs."""
    return {a.name: a.size for d in descriptions(module) for a in d.ins}


def run_functions(module: Module, integers: Integers) -> dict[str, Integers]:
    """The integers of the outputs of each function at some states within the limits."""
    sines = fixed_sines(fixed_type(module))
    return {f.description.name: run(f.fixed, integers, sines) for f in fixed_functions_in_c(module)}


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
    tested = []
    for f in fixed_functions_in_c(module):
        for name, integers in results[f.description.name].items():
            scale = 2.0 ** f.fixed.outputs[name]
            (out,) = (out for out in f.fixed_function.outputs if out.name == name)
            row = {"key": f"{f.description.name}_{name}", "size": len(integers)}
            row["want"] = integers.T.tolist()
            row["real"] = [[round(x * scale) for x in values] for values in found.values[name]]
            row["most"] = [math.ceil(e * scale * (1.0 + 2.0**-20) + 0.5) for e in out.error]
            tested.append(row)  # integers, those of the reference, and the largest differences
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


def scales_by_name(module: Module) -> dict[str, float]:
    """The scales of the arrays by name, as the report has them."""
    return {macro: float(text) for macro, _, text in _scales(module)}


# -- checks ----------------------------------------------------------------------------------------


VERIFY_SEED: Final = "verify"


class FixedTarget(VerificationTarget):
    """A folder of fixed-point C and the states that it is tried at: integers within the limits."""

    @cached_property
    def integers(self) -> Integers:
        """The inputs as integers."""
        return random_integers(self.module, self.count, VERIFY_SEED)

    @cached_property
    def states(self) -> list[Arrays]:
        """The inputs in SI units."""
        real = inputs_in_si(self.module, self.integers)
        return [{name: x[:, k] for name, x in real.items()} for k in range(self.count)]


def compile_fixed_point(module: Module, folder: Path) -> Callable[[FixedCode, Integers], Integers]:
    """The fixed-point functions of a folder, compiled: integers of the outputs from those of the
    inputs, entries x states. Raises CompilerError."""
    codes, kind = (
        fixed_functions_in_c(module),
        np.int32 if fixed_type(module).bits == 32 else np.int16,
    )
    texts = read_sources(folder, [f"{f.full_name}.c" for f in codes])
    loops = [f'#include "{module.name}.h"\n']
    for f in codes:  # a function for many states, one after the other
        real, arguments = f"{f.prefix}_{f.fixed.kind.name}", f.description.arguments
        parameters = ", ".join(f"{const_qualifier(a)}{real} *{a.name}" for a in arguments)
        passed = ", ".join(f"{a.name} + k * {a.size}" for a in arguments)
        head = f"void {f.description.name}_many({parameters}, int n)"
        loops.append(f"{head};\n{head}\n")
        loops.append(f"{{ for (int k = 0; k < n; ++k) {f.full_name}({passed}); }}\n")
    texts["many.c"] = "".join(loops)
    declared = "\n".join(
        f"void {f.description.name}_many({pointers(len(f.description.arguments))}, int);"
        for f in codes
    )
    library = Library.build(declared, texts, [])

    def call(f: FixedCode, integers: Integers) -> Integers:
        ins = [np.ascontiguousarray(integers[a.name].T, kind) for a in f.description.ins]
        outs = [np.zeros((len(ins[0]), a.size), kind) for a in f.description.outs]
        library.call(f"{f.description.name}_many", *ins, *outs, len(ins[0]))
        return {a.name: x.T.astype(np.int64) for a, x in zip(f.description.outs, outs, strict=True)}

    return call


def fixed_checks(
    target: VerificationTarget, progress: Callable[[str], None], call: Callable[..., Integers]
) -> Iterator[Check]:
    """The checks of the functions of a folder, one by one."""
    fixed_target = FixedTarget(target.folder, target.module, target.hashes, target.count)
    expected = run_functions(target.module, fixed_target.integers)
    for f in fixed_functions_in_c(target.module):
        progress(f.description.name)
        results = call(f, fixed_target.integers)
        differing = sum(
            int((results[name] != x).sum()) for name, x in expected[f.description.name].items()
        )
        claim = f"{f.description.name}: C equals the run on integers, bit by bit"
        yield Check(
            claim, not differing, f"{differing} other integers, {fixed_target.count} states"
        )
        yield from _compare_fixed_with_references(fixed_target, f, results)


def _compare_fixed_with_references(
    fixed_target: FixedTarget, f: FixedCode, results: Integers
) -> Iterator[Check]:
    """The results of a function against the law of each of its quantities: within the certified
    error, and what the numbers of the tape and the reference are off themselves."""
    (function,) = (x for x in fixed_target.module.functions if x.name == f.description.name)
    for comparison in reference_results(fixed_target.reference_evaluators, function):
        claim = f"{f.description.name}: {comparison.claim} within the certified error"
        if comparison.problem:
            yield Check(claim, False, comparison.problem)
            continue
        states = fixed_target.states[: comparison.states]
        tape = fixed_target.accuracy(states, "double").allowed(function.program, comparison.wanted)
        ratios = []
        for name, expected in comparison.wanted.items():
            (out,) = (out for out in f.fixed_function.outputs if out.name == name)
            integers = results[name][:, : len(states)].astype(float)
            real = np.ldexp(integers, -f.fixed.outputs[name]).T
            allowed = tape[name] + np.array(out.error)
            ratios.append(error_ratio([*real], [*expected.reshape(allowed.shape)], allowed))
        figure = f"{format_error_ratio(max(ratios))}, {len(states)} states"
        yield Check(claim, max(ratios) <= 1.0, figure)
