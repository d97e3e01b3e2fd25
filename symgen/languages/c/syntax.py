"""C as text: literals, comments and strings for whatever a robot's file holds; operations and
entries (`c_dialect`), declarations, calls and tests of functions of the C family (`CPrinter`)."""

import math
import re
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from symgen.compiler.objective import HOST
from symgen.compiler.program import Program
from symgen.errors import OptionError
from symgen.languages.c.options import COptions, objective_of
from symgen.languages.describe import Argument, descriptions
from symgen.languages.dialect import (
    COSINE_ARRAY,
    SINE_ARRAY,
    Dialect,
    Expression,
    operation_table,
)
from symgen.languages.module import Module
from symgen.languages.sines import (
    INLINE_FUNCTIONS,
    MAX_LOOP_ANGLES,
    MAX_SINE_ULP,
    SINE_LIMITS,
    SINE_VECTORS,
    definition_lines,
    sine_steps,
    sine_use,
)
from symgen.languages.writer import Block, CodeLine
from symgen.numbers.operations import Op
from symgen.render import render
from symgen.text import in_ascii

LARGEST_MACROS: Final = {"double": "DBL_MAX", "float": "FLT_MAX"}


BYTES: Final = {"double": 8, "float": 4}
"""Sizes by scalar."""

LARGEST_FINITE: Final = {"double": sys.float_info.max, "float": (2 - 2.0**-23) * 2.0**127}
"""Largest finite numbers by scalar."""

SUFFIX: Final = {"double": "", "float": "f"}


def to_single(x: float) -> float:
    """`x` rounded to single precision, infinite where that has no such number."""
    return float(struct.unpack("f", struct.pack("f", x))[0])


def fits(x: float, scalar: str) -> bool:
    """Whether the scalar type has a finite number near `x`."""
    return math.isfinite(x if scalar == "double" else to_single(x))


def literal(x: float, scalar: str) -> str:
    """The shortest decimal text that reads back as the same number of the scalar type.

    Raises OptionError for a number that is too large for the type."""
    if not fits(x, scalar):
        raise OptionError(
            f"--scalar {scalar}: a number of the code, {x:.6g}, is beyond the largest of this type "
            f"({LARGEST_FINITE[scalar]:.2g}); the robot's masses, lengths or gravity are too large "
            "for it" + ("; use --scalar double" if scalar == "float" else "")
        )
    text = repr(x) if scalar == "double" else _shortest_single(x)
    if "." not in text:  # 1e+20
        mantissa, e, exponent = text.partition("e")
        text = f"{mantissa}.0{e}{exponent}"
    return text + SUFFIX[scalar]


def _shortest_single(x: float) -> str:
    rounded = to_single(x)
    return next(
        repr(candidate)
        for digits in range(1, 10)
        if to_single(candidate := float(f"{rounded:.{digits}g}")) == rounded
    )


def comment(text: str) -> str:
    """`text` for a comment: printable ASCII that cannot end it, begin one or splice lines; the rest
    is escaped."""
    return in_ascii(text, "<{:x}>", "*\\?")


def string(text: str) -> str:
    """`text` as a C string literal of its UTF-8 bytes, all in plain ASCII."""
    plain = {chr(k) for k in range(32, 127)} - set('"\\?')
    characters = map(chr, text.encode("utf-8", "surrogatepass"))
    return '"' + "".join(c if c in plain else f"\\{ord(c):03o}" for c in characters) + '"'


def initialisers(values: Sequence[float], scalar: str) -> str:
    """The values as initialisers."""
    distinct = dict.fromkeys(values)  # a few: most are zero
    texts = {x: f"{'-' if x < 0 else ''}{literal(abs(x), scalar)}" for x in distinct}
    return ", ".join([texts[x] for x in values])


def status_text(has_loops: bool) -> str:
    """The status of a function that inverts M or closes loops."""
    loops = "the closed loops reach the state, " if has_loops else ""
    return (
        f"0 if {loops}M is positive definite and all outputs are finite; otherwise 1, and the "
        "outputs are undefined."
    )


MAX_DECLARATION_LENGTH: Final = 110
"""Longest line of a declaration."""

MIN_BREAK_COLUMN: Final = 30
"""Characters before a break in a sum at least."""

MAX_TERMS_PER_LINE: Final = 6

ARRAY_ENTRY: Final = re.compile(r"(?<![\w.>])([A-Za-z_]\w*)\[")
"""An array of its own, no member of a structure, where an entry of it is named."""

NEWLINE: Final = "\n"


def join_wrapped(terms: Sequence[str], operator: str) -> str:
    """Terms with an operator between, a few on a line; one of several lines begins on its own."""
    rows = list[list[str]]()
    for term in terms:
        if not rows or len(rows[-1]) == MAX_TERMS_PER_LINE or NEWLINE in term + rows[-1][-1]:
            rows.append([])
        rows[-1].append(term)
    return f"{NEWLINE}       {operator}".join(operator.join(row) for row in rows)


def named_arrays(text: str) -> list[str]:
    """The arrays that a line of C names, one for each entry."""
    return ARRAY_ENTRY.findall(text)


def const_qualifier(a: Argument) -> str:
    """The qualifier of an array."""
    return "const " if a.direction == "in" else ""


RESTRICT_MACROS: Final = {"out": "RESTRICT", "work": "APART"}
"""By direction of an array how its macro is called that says that it overlaps nothing."""


def with_restrict(parameter: str, module: str, marks: Mapping[str, str], a: Argument) -> str:
    """An array in a head; with a mark it is said to overlap nothing, where that is known to pay."""
    mark = marks.get(a.direction)
    return parameter.replace("[", f"[{module.upper()}_{mark} ") if mark else parameter


def declarator(start: str, parameters: Sequence[str]) -> str:
    """A function's head, its parameters wrapped under the opening bracket."""
    return NEWLINE.join(wrap_list(f"{start}(", parameters, ")"))


def wrap_list(start: str, parts: Sequence[str], end: str) -> list[str]:
    """Parts with commas between them, the lines after the first under the end of `start`."""
    lines = [start]
    for part in (f"{text}, " for text in parts):
        if len(lines[-1]) + len(part) > MAX_DECLARATION_LENGTH and lines[-1] != start:
            lines.append(" " * len(start))
        lines[-1] += part
    *others, last = (line.rstrip() for line in lines)
    return [*others, last.removesuffix(",") + end]


def block_lines(b: Block) -> list[str]:
    """A step of the algorithm: its heading, if it has one, and its lines."""
    width = max((len(line.left[0]) for line in b.lines if len(line.left) == 1), default=0)
    lines = [f"/* {comment(b.title)} */"] if b.title else []
    for line in b.lines:
        lines += _assignment_lines(line, width)
    return lines


def _wrapped_assignment(start: str, text: str) -> list[str]:
    """An assignment, its right side on several lines where it is long: broken before the last sum
    that is least deep in parentheses."""
    lines: list[str] = []
    while len(start) + len(text) > MAX_DECLARATION_LENGTH:
        places = _sum_signs(text[: MAX_DECLARATION_LENGTH - len(start)])
        if not places:
            break
        min_depth = min(depth for _, depth in places)
        place = max(k for k, depth in places if depth == min_depth)
        lines.append(start + text[:place].rstrip())
        start, text = " " * len(start), text[place:]
    return [*lines, start + text]


SUM_SIGN: Final = re.compile(r"[()\[\]]| [+-] ")
"""A parenthesis or bracket, or the sign between two terms."""


def _sum_signs(text: str) -> list[tuple[int, int]]:
    """Where there is a sign between two terms, and how deep in parentheses."""
    signs, depth = [], 0
    for match in SUM_SIGN.finditer(text):
        mark, place = match[0], match.start() + 1
        if mark in "([":
            depth += 1
        elif mark in ")]":
            depth -= 1
        elif place > MIN_BREAK_COLUMN:
            signs.append((place, depth))
    return signs


def _assignment_lines(line: CodeLine, width: int) -> list[str]:
    """One assignment a line, equals signs aligned; entries that share a value share lines."""
    left, right = line
    if not left:
        return [right]
    if len(left) == 1:
        return _wrapped_assignment(f"{left[0]:{width}} = ", f"{right};")
    return [
        " ".join(f"{entry} = {right};" for entry in left[k : k + 3]) for k in range(0, len(left), 3)
    ]


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
        steps=sine_steps(scalar, partial(literal, scalar=scalar)),
        rows=definition_lines,
        alone=[name for name in INLINE_FUNCTIONS if name in used.alone],
        together=used.together,
        widths=[(condition, size // BYTES[scalar]) for condition, size in SINE_VECTORS],
        longest=MAX_LOOP_ANGLES,
        **context,
    )


def c_dialect(module: Module) -> Dialect:
    """How straight-line C is written for a module's scalar, with sines of the C library or its
    own."""
    scalar, real = module[COptions].scalar, f"{module.name}_real"
    inline = module[COptions].trig == "inline"
    return Dialect(
        operations=c_operations(module, real, lambda name: f"{module.name}_{name}"),
        literal=lambda x: literal(x, scalar),
        declare=f"const {real} {{name}}",
        entry=lambda array, shape, k: f"{array}[{index_text(shape, k)}]",
        sincos_call=f"{module.name}_sincos({{angle}}, &{{sine}}, &{{cosine}});" if inline else "",
        declare_uninitialized=f"{real} {{name}};" if inline else "",
        sincos_loop=partial(_sincos_loop, module.name, real) if inline else None,
    )


def c_operations(
    module: Module, real: str, called: Callable[[str], str]
) -> dict[str, Callable[..., Expression]]:
    """How operations on numbers of type `real` are written: functions of the module's own by what
    they are called there, others as their rows say."""
    scalar, own_names = module[COptions].scalar, inline_functions(module)
    columns = {"f": SUFFIX[scalar], "real": real, "zero": literal(0.0, scalar)}

    def pattern(op: Op) -> str:
        if op.name in own_names:
            return f"{called(op.name)}({{a}})"
        return op.c.format(name=op.name, a="{a}", **columns)

    return operation_table(pattern)


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


ADDRESSING_RANGE_BYTES: Final = 1024
"""Bytes from the first number that an instruction of a Cortex-M with a floating-point unit reaches
to the end of the last."""


def c_printer(module: Module) -> CPrinter:
    """How the functions of a C module are printed. Segments have an advantage for small code and on
    a Cortex-M."""
    c, name = module[COptions], module.name
    has_segments = objective_of(module.choices).name == "size" or c.machine is not HOST
    return CPrinter(
        c_dialect(module),
        f"{name}_real",
        literal(0.0, c.scalar),
        f"{name}_status",
        c.chunk,
        (f"{name.upper()}_STATUS_OK", f"{name.upper()}_STATUS_SINGULAR"),
        zeros_once=c.zeros == "once",
        segment=ADDRESSING_RANGE_BYTES // BYTES[c.scalar] if has_segments else 0,
        restrict=True,
    )
