"""Fixed-point programs on integers, bit for bit as generated code computes them, and sine and
cosine in fixed point, which are fixed-point programs themselves.

An angle of 32 bits wraps at a turn. It is the nearest quarter turn and a rest of at most an eighth
of a turn, whose sine and cosine are polynomials (Chebyshev interpolation; coefficients by mpmath's
``chebyfit``)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import numpy as np

from symgen.certified.certificate import rounded_up
from symgen.certified.enclosures import Arithmetic, enclosures
from symgen.certified.fixed_point import FixedProgram
from symgen.certified.fixed_types import SUM_SHIFT, TURN_BITS, FixedType, IntegerStep, shifted_right
from symgen.compiler.program import Program, Value
from symgen.numbers.scalar import AnyArray

Sines = Callable[[Any], tuple[Any, Any]]
"""Sine and cosine of an angle in 32 bits, as integers."""


def run(
    fixed: FixedProgram, inputs: Mapping[str, AnyArray], sines: Sines | None = None
) -> dict[str, AnyArray]:
    """The integers of the outputs (entries x states) from those of the inputs, which are within
    their limits."""
    values: list[Any] = [0] * len(fixed.at.nodes)
    for step in fixed.steps:
        values[step.row] = _value(fixed, step, values, inputs, sines)
    width, results = max(x.shape[1] for x in inputs.values()), {}
    for out in fixed.program.outputs:
        rows = np.zeros((len(out.refs), width), np.int64)
        for k, ref in enumerate(out.refs):
            if ref is not None:
                row = int(fixed.at.row[ref.node])
                value = shifted_right(values[row], fixed.shifts[row] - fixed.outputs[out.name])
                rows[k] = -value if ref.negative else value
        results[out.name] = rows
    return results


def _value(
    fixed: FixedProgram,
    step: IntegerStep,
    values: Sequence[Any],
    inputs: Mapping[str, AnyArray],
    sines: Sines | None,
) -> Any:
    node = fixed.at.nodes[step.row]
    operands = [values[k] for k in step.operands]
    if step.op in ("const", "angle const"):
        return np.int64(step.number)
    if step.op in ("input", "angle input"):
        return inputs[node.a][node.b] << (TURN_BITS - fixed.kind.bits) * (step.op != "input")
    if step.op in ("sin", "cos"):
        assert sines is not None
        return sines(operands[0])[step.op == "cos"]
    pairs = zip(operands, step.shifted_operands(), strict=True)
    products, terms = step.addends(
        [shifted_right(x, shift, floored) for x, (_, shift, floored) in pairs]
    )
    total = sum(sign * x for sign, x in terms)
    if products:
        low = 0 if fixed.kind.low else 1
        wide_sum = sum(
            sign * (a * b - low * _signed_lower_half(a) * _signed_lower_half(b))
            for sign, (a, b) in products
        )
        sign_of_sum = products[0][0]
        total = total + sign_of_sum * shifted_right(
            sign_of_sum * wide_sum, step.sum_shift, SUM_SHIFT in step.floored
        )
    return total


def _signed_lower_half(x: Any) -> Any:
    """The lower half of integers, with a sign."""
    return (x + 2**15) % 2**16 - 2**15


SINE: Final = {
    "q31": (
        0.785398163394049952,
        -0.0807455120183494188,
        0.00249039321017595687,
        -0.0000365723926306737928,
        3.0899668663374478e-7,
    ),
    "q15": (0.785397034987601574, -0.0807251911004924116, 0.00243605605311177592),
}
"""Coefficients of sin(pi z / 4) / z in powers of z squared, for |z| <= 1."""

COSINE: Final = {
    "q31": (
        0.999999999952489417,
        -0.308425135158290555,
        0.0158543252284445922,
        -0.000325938585941626204,
        3.52979713429785348e-6,
    ),
    "q15": (0.999989979783408875, -0.308244662568626953, 0.0153713738817523166),
}
"""Coefficients of cos(pi z / 4) in powers of z squared."""

APPROXIMATION_ERROR: Final = {"q31": 5e-11, "q15": 1.01e-5}
"""Bounds of the differences between the polynomials and the functions."""

ROUNDING_INTERVALS: Final = 256
"""Intervals of z on which the rounding errors are bounded."""

MAX_ERROR_GROWTH: Final = 0.05
"""By what part the error may become larger so that products can be rounded down."""

QUARTER_TURN_BITS: Final = TURN_BITS - 2
"""An angle of a quarter turn is 2 to this power."""


@dataclass(frozen=True, eq=False)
class FixedSines:
    """Sine and cosine of the angles of a type, and a bound of their errors."""

    fixed: FixedProgram
    error: float

    @property
    def error_text(self) -> str:
        """The bound of the errors, rounded up to two digits."""
        return rounded_up(self.error, 2)

    @property
    def rest_shift(self) -> int:
        """The scale of z, which is the rest of an angle divided by an eighth of a turn."""
        return self.fixed.inputs["z"]

    def __call__(self, angle: Any) -> tuple[AnyArray, AnyArray]:
        """Sine and cosine of angles of 32 bits, which wrap."""
        turned = (np.atleast_1d(angle) + (1 << (QUARTER_TURN_BITS - 1))) % (1 << TURN_BITS)
        quarter, rest = (
            turned >> QUARTER_TURN_BITS,
            turned % (1 << QUARTER_TURN_BITS) - (1 << (QUARTER_TURN_BITS - 1)),
        )
        shift = self.rest_shift - (QUARTER_TURN_BITS - 1)
        z = rest << shift if shift >= 0 else rest >> -shift
        made = run(self.fixed, {"z": z[None, :]})
        s, c = made["s"][0], made["c"][0]
        odd = (quarter & 1).astype(bool)
        sine, cosine = np.where(odd, c, s), np.where(odd, s, c)
        signs = np.where(quarter & 2, -1, 1), np.where((quarter + 1) & 2, -1, 1)
        return sine * signs[0], cosine * signs[1]


@cache
def fixed_sines(of: FixedType) -> FixedSines:
    """The sine and cosine of a fixed-point type."""
    program = _polynomials(of)
    edges = np.linspace(-1.0, 1.0, ROUNDING_INTERVALS + 1)
    exact = enclosures(
        program, {"z": (edges[None, :-1], edges[None, 1:])}, Arithmetic("double", "inline")
    )
    magnitudes = exact.magnitude.max(axis=1) * (1.0 + 2.0**-12)
    shifts = {"s": of.sine_shift, "c": of.sine_shift}
    fixed = FixedProgram(program, of, magnitudes, {"z": of.sine_shift}, shifts)
    fixed = replace(
        fixed, floored=fixed.choose_floored(fixed.errors(exact).max(axis=1), MAX_ERROR_GROWTH)
    )
    made = fixed.output_errors(fixed.errors(exact).max(axis=1))
    return FixedSines(fixed, max(made["s"][0], made["c"][0]) + APPROXIMATION_ERROR[of.name])


def _polynomials(kind: FixedType) -> Program:
    """The polynomials as a tape."""
    program = Program()
    (z,) = program.input("z", (1,))
    square = program.value(z * z).named("z2")
    for name, coefficients in (("s", SINE[kind.name]), ("c", COSINE[kind.name])):
        total: Any = coefficients[-1]
        for a in coefficients[-2::-1]:
            total = square * total + a
        total = z * total if name == "s" else total
        assert isinstance(total, Value)
        program.output(name, (1,), [total])
    return program
