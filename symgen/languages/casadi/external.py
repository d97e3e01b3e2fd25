"""Functions by CasADi's convention of external functions: arguments, sparsity and C."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from math import prod
from typing import Any

from symgen.compiler.passes import pivots
from symgen.compiler.program import Program
from symgen.languages.c.expressions import c_printer
from symgen.languages.c.printed_function import CFunction
from symgen.languages.c.syntax import wrapped
from symgen.languages.describe import Argument, FunctionDescription
from symgen.languages.module import Module
from symgen.numbers.scalar import ZERO, Scalar


@dataclass(frozen=True)
class SparsityPattern:
    """A sparsity pattern; `rows` of each column where there are entries, none where all are."""

    shape: tuple[int, int]
    rows: tuple[tuple[int, ...], ...] | None = None

    @property
    def nonzeros(self) -> int:
        """How many entries do not always vanish."""
        return prod(self.shape) if self.rows is None else sum(map(len, self.rows))

    @property
    def compressed(self) -> list[int]:
        """Numbers of rows and columns, then 1 where it is dense, else where each column starts and
        the rows of all entries."""
        if self.rows is None:
            return [*self.shape, 1]
        starts = accumulate(map(len, self.rows), initial=0)
        return [*self.shape, *starts, *(row for column in self.rows for row in column)]


def shape_of(sizes: Sequence[int]) -> tuple[int, int]:
    """Rows and columns of an array: one column of a vector; later axes in one where there are
    three."""
    first, *others = sizes
    return first, prod(others)


def columns(sizes: Sequence[int]) -> list[int]:
    """The places of an array's entries, row-major, in the order of columns."""
    rows, count = shape_of(sizes)
    return [row * count + column for column in range(count) for row in range(rows)]


def empty(shape: tuple[int, int]) -> SparsityPattern:
    """The pattern of nothing but zeros."""
    return SparsityPattern(shape, ((),) * shape[1])


def packed(shape: tuple[int, int], values: Sequence[Any]) -> tuple[SparsityPattern, list[Any]]:
    """The pattern of values in the order of columns, `ZERO` where they always vanish, and the
    others."""
    nonzero = [x for x in values if x is not ZERO]
    if len(nonzero) == len(values):
        return SparsityPattern(shape), nonzero
    height, width = shape
    parts = [values[k * height : (k + 1) * height] for k in range(width)]
    rows = tuple(tuple(r for r, x in enumerate(part) if x is not ZERO) for part in parts)
    return SparsityPattern(shape, rows), nonzero


@dataclass(frozen=True)
class CasadiArgument:
    """An argument for CasADi."""

    name: str
    pattern: SparsityPattern
    read: bool = True
    """Whether the function looks at it, or writes it."""


@dataclass(frozen=True)
class External:
    """A function of CasADi's: its whole name, its arguments in order, and what computes it."""

    name: str
    inputs: tuple[CasadiArgument, ...]
    outputs: tuple[CasadiArgument, ...]
    core: CFunction
    stem: str
    """The beginning of the names of its static functions and data: which derivative it is."""

    @property
    def scratch(self) -> list[tuple[int, CasadiArgument, int]]:
        """Each output that is written with its number and where it goes where nobody wants it."""
        place, unwanted = self.core.work, []
        for k, slot in enumerate(self.outputs):
            if slot.read:
                unwanted.append((k, slot, place))
                place += slot.pattern.nonzeros
        return unwanted

    @property
    def work(self) -> int:
        """Numbers that a call needs besides."""
        return self.core.work + sum(s.pattern.nonzeros for s in self.outputs if s.read)

    @property
    def zeros(self) -> int:
        """Entries of the largest input, which may come as NULL for zeros."""
        return max((s.pattern.nonzeros for s in self.inputs if s.read), default=0)

    @property
    def call(self) -> str:
        """The call of what computes it."""
        return f"{self.core.full_name}({', '.join(a.name for a in self.core.arguments)})"

    @cached_property
    def patterns(self) -> dict[SparsityPattern, str]:
        """The sparsity patterns, each once, with their names."""
        distinct = dict.fromkeys(slot.pattern for slot in (*self.inputs, *self.outputs))
        return {pattern: f"{self.stem}pattern{k}" for k, pattern in enumerate(distinct)}

    def table(self, pattern: SparsityPattern) -> list[str]:
        """The lines that define a pattern."""
        numbers = list(map(str, pattern.compressed))
        return wrapped(f"static const casadi_int {self.patterns[pattern]}[] = {{", numbers, "};")


def external(
    module: Module,
    d: FunctionDescription,
    stem: str,
    program: Program,
    blocks: Mapping[str, tuple[tuple[int, int], Sequence[Scalar]]],
    inputs: Sequence[CasadiArgument],
    dense: bool = False,
) -> External:
    """A function of `program`, whose outputs are blocks, column by column. `inputs` has the inputs
    of `d` in their order, and may have others, which are not read. Zeros are entries if `dense`."""
    outputs, written = [], []
    for block, (shape, values) in blocks.items():
        pattern, nonzero = (SparsityPattern(shape), values) if dense else packed(shape, values)
        outputs.append(CasadiArgument(block, pattern, bool(nonzero)))
        if nonzero:
            program.output(block, (len(nonzero),), nonzero)
            written.append(Argument("out", block, (len(nonzero),), "", ""))
    flat_inputs = [replace(a, sizes=(a.size,)) for a in d.ins]
    name = f"{stem}{module.name}_{d.name}"
    described = replace(
        d,
        name=name,
        arguments=(*flat_inputs, *written),
        program=program,
        pivots=pivots(program, divisions=bool(d.pivots)),
    )
    printer = replace(
        c_printer(module),
        status="int",
        statuses=("0", "1"),
        name=f"{stem}core",
        linkage="static ",
        piece=f"{stem}part{{}}",
        segment=0,
        restrict=False,
    )
    core = CFunction(module, described, printer)
    return External(name, tuple(inputs), tuple(outputs), core, stem)
