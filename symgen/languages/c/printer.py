"""How the members of the C family differ: C, vectors of C, CUDA and the C for CasADi."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from symgen.languages.c.expressions import dialect
from symgen.languages.c.options import COptions
from symgen.languages.c.syntax import join_wrapped, literal
from symgen.languages.c.work_array import addressing_range
from symgen.languages.describe import Argument
from symgen.languages.dialect import Dialect
from symgen.languages.module import Module

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
