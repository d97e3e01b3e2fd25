"""How the members of the C family are written: operations and entries (`dialect`), declarations,
calls and tests of functions (`CPrinter`); and the header with a module's own sine and cosine
(``--trig inline``), from the numbers of `symgen.numbers.trig`."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from symgen.compiler.program import Program
from symgen.languages.c.options import COptions
from symgen.languages.c.syntax import BYTES, SUFFIX, join_wrapped, literal, wrapped
from symgen.languages.c.work_array import addressing_range
from symgen.languages.describe import Argument, descriptions
from symgen.languages.dialect import (
    COSINE_ARRAY,
    SINE_ARRAY,
    Dialect,
    Text,
    call,
    functions,
    pattern,
)
from symgen.languages.module import Module
from symgen.languages.sine_loops import LONGEST, forms
from symgen.numbers.operations import Op
from symgen.numbers.trig import SINES, Sines
from symgen.render import render

Step = tuple[str, list[tuple[str, str]]]
"""A comment, and variables with their values."""

Written = Callable[[float], str]
"""How a number is written as a literal of the scalar type."""

LIMITS: Final = {"double": ("1.8e15", "2^-53", "2^16", 1), "float": ("3.3e6", "2^-24", "2^10", 0)}
"""By scalar type: the angle (rad) beyond which results are NaN, the rounding unit, the bound of
`SINES`, the largest FLT_EVAL_METHOD allowed."""

INLINE: Final = ("sin", "cos")
"""The functions of the tape that the header has."""

VECTORS: Final = (
    ("defined(__AVX__)", 32),
    ("defined(__SSE2__) || defined(__aarch64__)", 16),
)
"""By condition of the preprocessor: bytes of the vectors that sines are made in. Those of 32-bit
ARM have no double and take numbers near zero for zero."""

ULP: Final = 2
"""Largest error within the bound; 1.4 was seen."""


def trig_header(module: Module, programs: Sequence[Program] = ()) -> str:
    """The text of ``NAME_trig.h`` for the functions of a module, or for some programs."""
    limit, unit, bound, excess = LIMITS[module[COptions].scalar]
    scalar = module[COptions].scalar
    used = forms(programs or [d.program for d in descriptions(module)])
    context = {"limit": limit, "unit": unit, "bound": bound, "excess": excess, "ulp": ULP}
    return render(
        "c/trig.h.jinja",
        module=module,
        c=module[COptions],
        steps=steps(module[COptions].scalar),
        rows=rows,
        alone=[name for name in INLINE if name in used.alone],
        together=used.together,
        widths=[(condition, size // BYTES[scalar]) for condition, size in VECTORS],
        longest=LONGEST,
        **context,
    )


def rows(step: Step) -> list[str]:
    """Definitions with their equals signs aligned."""
    width = max(len(name) for name, _ in step[1])
    return [f"{name:{width}} = {value};" for name, value in step[1]]


def steps(scalar: str, written: Written | None = None) -> list[Step]:
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
            _reduction(n, number),
        ),
        ("Sine and cosine of r + e.", _near_zero(n, number)),
    ]


def _reduction(n: Sines, number: Written) -> list[tuple[str, str]]:
    first, *middle, last = (number(abs(part)) for part in n.half_pi)
    signs = ["-" if part > 0 else "+" for part in n.half_pi]
    end = len(n.half_pi) - 1
    names = {1: "r1", **{j: f"r{j}" for j in range(2, end)}, end: "r"}
    second = number(abs(n.half_pi[1]) / n.scale)
    products = [f"scaled * {second}", *(f"k * {part}" for part in middle[1:])]
    rows = [("r1", f"x - (k * {first})"), ("scaled", f"k * {number(n.scale)}")]
    lost = ""
    for j, product in enumerate(products, 2):
        rows += [(f"p{j}", product), (names[j], f"{names[j - 1]} {signs[j - 1]} p{j}")]
        slip = f"({names[j - 1]} - {names[j]}) {signs[j - 1]} p{j}"
        rows.append((f"e{j}", f"{lost} + ({slip})" if lost else slip))
        lost = f"e{j}"
    return [*rows, ("e", f"{lost} {signs[end]} (k * {last})")]


def _near_zero(n: Sines, number: Written) -> list[tuple[str, str]]:
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
    name: str, coefficients: Sequence[float], number: Written, first: int = 0
) -> list[tuple[str, str]]:
    """A polynomial in z, the value of which is NAME and the number of its first coefficient."""
    *others, leading = coefficients
    so_far, rows = number(leading), []
    for k, c in reversed([*enumerate(others, first)]):
        rows.append((f"{name}{k}", f"({so_far} * z) {'-' if c < 0 else '+'} {number(abs(c))}"))
        so_far = f"{name}{k}"
    return rows


def _estrin(name: str, coefficients: Sequence[float], number: Written) -> list[tuple[str, str]]:
    """A polynomial whose coefficients are from the third on, the value of which is NAME_high: pairs
    of them side by side."""
    starts = range(0, len(coefficients), 2)
    rows = [
        row
        for k in reversed(starts)
        for row in _horner(name, coefficients[k : k + 2], number, k + 2)
    ]
    total = f"{name}{starts[-1] + 2}"
    for k in reversed(starts[:-1]):
        total = f"({total} * z2) + {name}{k + 2}"
    return [*rows, (f"{name}_high", total)]


def dialect(module: Module) -> Dialect:
    """How straight-line C is written for a module's scalar, with sines of the C library or its
    own."""
    scalar, inline, real = (
        module[COptions].scalar,
        module[COptions].trig == "inline",
        f"{module.name}_real",
    )
    return Dialect(
        operations=table(module, real, lambda name: f"{module.name}_{name}"),
        literal=lambda x: literal(x, scalar),
        declare=f"const {real} {{name}}",
        entry=lambda array, shape, k: f"{array}[{place(shape, k)}]",
        pair=f"{module.name}_sincos({{angle}}, &{{sine}}, &{{cosine}});" if inline else "",
        reserve=f"{real} {{name}};" if inline else "",
        loop=partial(_loop, module.name, real) if inline else None,
    )


def table(
    module: Module, real: str, called: Callable[[str], str]
) -> dict[str, Callable[..., Text]]:
    """How operations on numbers of type `real` are written: functions of the module's own by what
    they are called there, others as their rows say."""
    scalar, own_names = module[COptions].scalar, own_functions(module)
    columns = {"f": SUFFIX[scalar], "real": real, "zero": literal(0.0, scalar)}

    def written(op: Op) -> Callable[[Text], Text]:
        if op.name in own_names:
            return call(called(op.name))
        return pattern(op.c.format(name=op.name, a="{a}", **columns))

    return functions(written)


def own_functions(module: Module) -> tuple[str, ...]:
    """The functions that the module brings itself."""
    return INLINE if module[COptions].trig == "inline" else ()


def _loop(name: str, real: str, angles: Sequence[str], number: str) -> list[str]:
    """Sines, which replace their angles, and cosines; arrays are padded to whole vectors with
    zeros."""
    size = f"{name.upper()}_FILLED({len(angles)})"
    sines, cosines = f"{SINE_ARRAY}{number}", f"{COSINE_ARRAY}{number}"
    return [
        *wrapped(
            f"{real} {sines}[{size}] = {{", angles, "}; /* angles, replaced by their sines */"
        ),
        f"{real} {cosines}[{size}];",
        f"{name}_sincos_all({size}, {sines}, {cosines});",
    ]


def place(shape: tuple[int, ...], k: int) -> str:
    """The index of entry `k` of an array, in rows and columns where it has them."""
    return str(k) if len(shape) == 1 else f"{shape[-1]} * {k // shape[-1]} + {k % shape[-1]}"


MAX_SUMMED: Final = 0.67
"""A sum tests an output up to this part of distinct entries, and a loop over all entries others: it
costs less than a loop."""


def finite_test(a: Argument, distinct_entries: Sequence[int]) -> str:
    """A call that is true if all entries of an output are finite: of few entries their sum; empty
    for an output that is zero in every state."""
    if not distinct_entries:
        return ""
    if len(distinct_entries) > MAX_SUMMED * a.size:
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
    finite: Callable[[Argument, Sequence[int]], str] = finite_test
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
        dialect(module),
        f"{name}_real",
        literal(0.0, c.scalar),
        f"{name}_status",
        c.chunk,
        (f"{name.upper()}_STATUS_OK", f"{name.upper()}_STATUS_SINGULAR"),
        zeros_once=c.zeros == "once",
        segment=addressing_range(module),
        restrict=True,
    )
