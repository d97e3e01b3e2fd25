"""How the members of the C family are written: operations and entries (`c_dialect`), declarations,
calls and tests of functions (`CPrinter`); and the header with a module's own sine and cosine
(``--trig inline``), from the numbers of `symgen.numbers.trig`."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from symgen.compiler.program import Program
from symgen.languages.c.options import COptions
from symgen.languages.c.syntax import BYTES, SUFFIX, join_wrapped, literal, wrap_list
from symgen.languages.c.work_array import addressing_range
from symgen.languages.describe import Argument, descriptions
from symgen.languages.dialect import (
    COSINE_ARRAY,
    SINE_ARRAY,
    Dialect,
    Expression,
    function_call,
    functions,
    text_pattern,
)
from symgen.languages.module import Module
from symgen.languages.sine_loops import MAX_LOOP_ANGLES, sine_use
from symgen.numbers.operations import Op
from symgen.numbers.trig import SINES, SineCoefficients
from symgen.render import render

SineStep = tuple[str, list[tuple[str, str]]]
"""A comment, and variables with their values."""

NumberFormat = Callable[[float], str]
"""How a number is written as a literal of the scalar type."""

SINE_LIMITS: Final = {
    "double": ("1.8e15", "2^-53", "2^16", 1),
    "float": ("3.3e6", "2^-24", "2^10", 0),
}
"""By scalar type: the angle (rad) beyond which results are NaN, the rounding unit, the bound of
`SINES`, the largest FLT_EVAL_METHOD allowed."""

INLINE_FUNCTIONS: Final = ("sin", "cos")
"""The functions of the tape that the header has."""

SINE_VECTORS: Final = (
    ("defined(__AVX__)", 32),
    ("defined(__SSE2__) || defined(__aarch64__)", 16),
)
"""By condition of the preprocessor: bytes of the vectors that sines are made in. Those of 32-bit
ARM have no double and take numbers near zero for zero."""

MAX_SINE_ULP: Final = 2
"""Largest error within the bound; 1.4 was seen."""


def trig_header(module: Module, programs: Sequence[Program] = ()) -> str:
    """The text of ``NAME_trig.h`` for the functions of a module, or for some programs."""
    limit, unit, bound, excess = SINE_LIMITS[module[COptions].scalar]
    scalar = module[COptions].scalar
    used = sine_use(programs or [d.program for d in descriptions(module)])
    context = {"limit": limit, "unit": unit, "bound": bound, "excess": excess, "ulp": MAX_SINE_ULP}
    return render(
        "c/trig.h.jinja",
        module=module,
        c=module[COptions],
        steps=sine_steps(module[COptions].scalar),
        rows=definition_lines,
        alone=[name for name in INLINE_FUNCTIONS if name in used.alone],
        together=used.together,
        widths=[(condition, size // BYTES[scalar]) for condition, size in SINE_VECTORS],
        longest=MAX_LOOP_ANGLES,
        **context,
    )


def definition_lines(step: SineStep) -> list[str]:
    """Definitions with their equals signs aligned."""
    width = max(len(name) for name, _ in step[1])
    return [f"{name:{width}} = {value};" for name, value in step[1]]


def sine_steps(scalar: str, written: NumberFormat | None = None) -> list[SineStep]:
    """The arithmetic of `symgen.numbers.trig.sincos` for a scalar type, in its order. Numbers are
    literals of C unless `written` is given."""
    n = SINES[scalar]
    number = written or partial(literal, scalar=scalar)
    one, six, sixth, shift, four_shift, turns = map(
        number, (1.0, 6.0, 1 / 6, n.shift, n.turns_shift, 2 / math.pi)
    )
    return [
        (
            "k: the multiple of pi/2 nearest to x; m: k modulo 4. Adding a shift rounds to a whole "
            "number, or to a multiple of 4.",
            [
                ("t", f"x * {turns}"),
                ("shifted", f"t + {shift}"),
                ("k", f"shifted - {shift}"),
                ("turned", f"t + {four_shift}"),
                ("m", f"k - (turned - {four_shift})"),
            ],
        ),
        (
            "Sine and cosine of k pi/2 for m = -2 ... 2; exact, with and without fused products.",
            [
                ("u", "m * m"),
                ("turn_c", f"((u - {one}) * (u - {six})) * {sixth}"),
                ("turn_s", "(m * turn_c) + m"),
            ],
        ),
        (
            "r + e = x - k pi/2, where e is the rounding error of r. If k is too large, `scaled` "
            "overflows and e is NaN.",
            _argument_reduction(n, number),
        ),
        ("Sine and cosine of r + e.", _near_zero(n, number)),
    ]


def _argument_reduction(n: SineCoefficients, number: NumberFormat) -> list[tuple[str, str]]:
    first, *middle, last = (number(abs(part)) for part in n.half_pi)
    signs = ["-" if part > 0 else "+" for part in n.half_pi]
    end = len(n.half_pi) - 1
    names = {1: "r1", **{j: f"r{j}" for j in range(2, end)}, end: "r"}
    second = number(abs(n.half_pi[1]) / n.scale)
    products = [f"scaled * {second}", *(f"k * {part}" for part in middle[1:])]
    definitions = [("r1", f"x - (k * {first})"), ("scaled", f"k * {number(n.scale)}")]
    lost = ""
    for j, product in enumerate(products, 2):
        definitions += [(f"p{j}", product), (names[j], f"{names[j - 1]} {signs[j - 1]} p{j}")]
        rounding = f"({names[j - 1]} - {names[j]}) {signs[j - 1]} p{j}"
        definitions.append((f"e{j}", f"{lost} + ({rounding})" if lost else rounding))
        lost = f"e{j}"
    return [*definitions, ("e", f"{lost} {signs[end]} (k * {last})")]


def _near_zero(n: SineCoefficients, number: NumberFormat) -> list[tuple[str, str]]:
    """The polynomials, in two parts that do not wait for each other where they are long."""
    one, half = number(1.0), number(0.5)
    (s_low, s_high), (c_low, c_high) = n.split(n.sine), n.split(n.cosine)
    sine, cosine = "((r * z) * s0) + e", f"(z2 * c0) - (({half} * z) + (r * e))"
    low = [*_horner("s", s_low, number), *_horner("c", c_low, number)]
    start = [("z", "r * r"), ("z2", "z * z")]
    if not s_high:
        return [*start, *low, ("s", f"r + ({sine})"), ("c", f"{one} + ({cosine})")]
    return [
        *start,
        *low,
        *_estrin("s", s_high, number),
        *_estrin("c", c_high, number),
        ("s", f"r + (({sine}) + (((r * z) * z2) * s_high))"),
        ("c", f"{one} + (({cosine}) + ((z2 * z2) * c_high))"),
    ]


def _horner(
    name: str, coefficients: Sequence[float], number: NumberFormat, first: int = 0
) -> list[tuple[str, str]]:
    """A polynomial in z, the value of which is NAME and the number of its first coefficient."""
    *others, leading = coefficients
    accumulated, definitions = number(leading), []
    for k, c in reversed([*enumerate(others, first)]):
        definitions.append(
            (f"{name}{k}", f"({accumulated} * z) {'-' if c < 0 else '+'} {number(abs(c))}")
        )
        accumulated = f"{name}{k}"
    return definitions


def _estrin(
    name: str, coefficients: Sequence[float], number: NumberFormat
) -> list[tuple[str, str]]:
    """A polynomial whose coefficients are from the third on, the value of which is NAME_high: pairs
    of them side by side."""
    starts = range(0, len(coefficients), 2)
    definitions = [
        row
        for k in reversed(starts)
        for row in _horner(name, coefficients[k : k + 2], number, k + 2)
    ]
    total = f"{name}{starts[-1] + 2}"
    for k in reversed(starts[:-1]):
        total = f"({total} * z2) + {name}{k + 2}"
    return [*definitions, (f"{name}_high", total)]


def c_dialect(module: Module) -> Dialect:
    """How straight-line C is written for a module's scalar, with sines of the C library or its
    own."""
    scalar, real = module[COptions].scalar, f"{module.name}_real"
    inline = module[COptions].trig == "inline"
    return Dialect(
        operations=operation_table(module, real, lambda name: f"{module.name}_{name}"),
        literal=lambda x: literal(x, scalar),
        declare=f"const {real} {{name}}",
        entry=lambda array, shape, k: f"{array}[{index_text(shape, k)}]",
        sincos_call=f"{module.name}_sincos({{angle}}, &{{sine}}, &{{cosine}});" if inline else "",
        declare_uninitialized=f"{real} {{name}};" if inline else "",
        sincos_loop=partial(_sincos_loop, module.name, real) if inline else None,
    )


def operation_table(
    module: Module, real: str, called: Callable[[str], str]
) -> dict[str, Callable[..., Expression]]:
    """How operations on numbers of type `real` are written: functions of the module's own by what
    they are called there, others as their rows say."""
    scalar, own_names = module[COptions].scalar, inline_functions(module)
    columns = {"f": SUFFIX[scalar], "real": real, "zero": literal(0.0, scalar)}

    def written(op: Op) -> Callable[[Expression], Expression]:
        if op.name in own_names:
            return function_call(called(op.name))
        return text_pattern(op.c.format(name=op.name, a="{a}", **columns))

    return functions(written)


def inline_functions(module: Module) -> tuple[str, ...]:
    """The functions that the module brings itself."""
    return INLINE_FUNCTIONS if module[COptions].trig == "inline" else ()


def _sincos_loop(name: str, real: str, angles: Sequence[str], number: str) -> list[str]:
    """Sines, which replace their angles, and cosines; arrays are padded to whole vectors with
    zeros."""
    size = f"{name.upper()}_FILLED({len(angles)})"
    sines, cosines = f"{SINE_ARRAY}{number}", f"{COSINE_ARRAY}{number}"
    return [
        *wrap_list(
            f"{real} {sines}[{size}] = {{", angles, "}; /* angles, replaced by their sines */"
        ),
        f"{real} {cosines}[{size}];",
        f"{name}_sincos_all({size}, {sines}, {cosines});",
    ]


def index_text(shape: tuple[int, ...], k: int) -> str:
    """The index of entry `k` of an array, in rows and columns where it has them."""
    return str(k) if len(shape) == 1 else f"{shape[-1]} * {k // shape[-1]} + {k % shape[-1]}"


MAX_SUMMED_RATIO: Final = 0.67
"""A sum tests an output up to this part of distinct entries, and a loop over all entries others: it
costs less than a loop."""


def finite_test(a: Argument, distinct_entries: Sequence[int]) -> str:
    """A call that is true if all entries of an output are finite: of few entries their sum; empty
    for an output that is zero in every state."""
    if not distinct_entries:
        return ""
    if len(distinct_entries) > MAX_SUMMED_RATIO * a.size:
        return f"all_finite({a.name}, {a.size})"
    return f"finite_sum({join_wrapped([f'{a.name}[{k}]' for k in distinct_entries], ' + ')})"


@dataclass(frozen=True)
class CPrinter:
    """How a member of the C family declares, calls and tests functions."""

    dialect: Dialect
    real: str
    """The type of the entries of arrays."""
    zero: str
    """The number zero."""
    status: str
    """The return type of a function that can fail."""
    chunk: int
    """Maximum number of statements of a piece."""
    statuses: tuple[str, str] = ("0", "1")
    """The values of the status on success and on failure."""
    name: str = "{module}_{function}"
    linkage: str = ""
    """Specifiers before the return type, with a space behind them."""
    parameter: str = "{const}{real} {name}[{size}]"
    """The declaration of an array as a parameter."""
    first_parameter: str = ""
    """A parameter before the arrays of a piece, if there is one, and `first_argument` in a call."""
    first_argument: str = ""
    piece: str = "part{}"
    """The name of a piece, by its number."""
    piece_status: str = "int"
    """The return type of a piece that tests pivots."""
    pivot_test: str = "regular({})"
    conjunction: str = " && "
    result: str = "({0}) ? {1} : {2}"
    """The status from a conjunction of tests and the two values."""
    finite_tests: Callable[[Argument, Sequence[int]], str] = finite_test
    """The test of an output with its distinct entries; an empty text for no test."""
    zeros_once: bool = False
    """Whether the caller writes structural zeros of the outputs once."""
    segment: int = 0
    """Entries of a segment of the work array, 0 for a single segment."""
    restrict: bool = False
    """Whether pieces declare that arrays do not overlap."""


def c_printer(module: Module) -> CPrinter:
    """How the functions of a C module are printed."""
    c, name = module[COptions], module.name
    return CPrinter(
        c_dialect(module),
        f"{name}_real",
        literal(0.0, c.scalar),
        f"{name}_status",
        c.chunk,
        (f"{name.upper()}_STATUS_OK", f"{name.upper()}_STATUS_SINGULAR"),
        zeros_once=c.zeros == "once",
        segment=addressing_range(module),
        restrict=True,
    )
