"""Functions by CasADi's convention of external functions: arguments, tapes and C of each, and of
its Jacobian.

That of `f` is called `jac_f` and has a block for each output and input, outputs first; it takes the
inputs of f and then its outputs, which ours does not read. (CasADi 3.8, casadi/core/external.cpp
and FunctionInternal::jacobian.)"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from math import prod
from typing import Any, Final

from symgen.compiler.copying import copied
from symgen.compiler.derivative import pullback
from symgen.compiler.passes import counts, pivots
from symgen.compiler.program import Index, Program, Value
from symgen.languages.c.expressions import c_printer
from symgen.languages.c.printed_function import CFunction
from symgen.languages.c.syntax import wrapped
from symgen.languages.describe import Argument, FunctionDescription, derivative_output, descriptions
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


LARGEST: Final = 30_000
"""Operations of a function times the entries of its outputs, up to which what is no derivative of
the module's is found by a sweep over its tape for each."""

Inputs = Mapping[str, Sequence[Value]]


@dataclass(frozen=True)
class CasadiArgument:
    """An argument for CasADi."""

    name: str
    pattern: SparsityPattern
    read: bool = True
    """Whether the function looks at it, or writes it."""


def _core(module: Module, d: FunctionDescription) -> CFunction:
    """The static function that computes, on packed columns."""
    stem = _stem(d.name)
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
    return CFunction(module, d, printer)


def _stem(name: str) -> str:
    """The beginning of the names of the static functions and data of an external function."""
    return "jac_" if name.startswith("jac_") else ""


@dataclass(frozen=True)
class External:
    """A function of CasADi's: its whole name, its arguments in order, and what computes it."""

    name: str
    inputs: tuple[CasadiArgument, ...]
    outputs: tuple[CasadiArgument, ...]
    core: CFunction

    @property
    def stem(self) -> str:
        """The beginning of the names of its static functions and data."""
        return _stem(self.core.d.name)

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


def externals(module: Module) -> list[tuple[External, External | None]]:
    """The functions of a module, each with its Jacobian where that is had."""
    described = descriptions(module)
    return [(_function(module, d), _jacobian(module, described, d)) for d in described]


def _inputs(d: FunctionDescription, program: Program) -> dict[str, list[Value]]:
    """The inputs of a function on a tape, row-major; they come in columns."""
    inputs = {}
    for a in d.ins:
        entries = program.input(a.name, (a.size,))
        place = {k: number for number, k in enumerate(columns(a.sizes))}
        inputs[a.name] = [entries[place[k]] for k in range(a.size)]
    return inputs


def _function(module: Module, d: FunctionDescription) -> External:
    program = Program()
    outputs = copied(d.program, program, _inputs(d, program))
    blocks = {
        a.name: (shape_of(a.sizes), [outputs[a.name][k] for k in columns(a.sizes)]) for a in d.outs
    }
    name = f"{module.name}_{d.name}"
    return _external(module, d, name, program, blocks, [])


def _external(
    module: Module,
    d: FunctionDescription,
    name: str,
    program: Program,
    blocks: Mapping[str, tuple[tuple[int, int], Sequence[Scalar]]],
    unread: Sequence[CasadiArgument],
) -> External:
    """A function with blocks as its outputs, column by column."""
    outputs, written = [], []
    for block, (shape, values) in blocks.items():
        pattern, nonzero = packed(shape, values)
        outputs.append(CasadiArgument(block, pattern, bool(nonzero)))
        if nonzero:
            program.output(block, (len(nonzero),), nonzero)
            written.append(Argument("out", block, (len(nonzero),), "", ""))
    flat_inputs = [replace(a, sizes=(a.size,)) for a in d.ins]
    core = replace(
        d,
        name=name,
        arguments=(*flat_inputs, *written),
        program=program,
        pivots=pivots(program, divisions=bool(d.pivots)),
    )
    inputs = [CasadiArgument(a.name, SparsityPattern(shape_of(a.sizes))) for a in d.ins]
    return External(name, (*inputs, *unread), tuple(outputs), _core(module, core))


def _jacobian(
    module: Module, described: Sequence[FunctionDescription], d: FunctionDescription
) -> External | None:
    """The Jacobian of a function; None where it would be too long."""
    pairs = [(out, a) for out in d.outs for a in d.ins]
    ready = {
        (out.name, a.name): known
        for out, a in pairs
        if (known := derivative_output(module, described, d, out.name, a.name))
    }
    unknown = {out.name: out for out, a in pairs if (out.name, a.name) not in ready}
    outputs = (out for out in d.program.outputs if out.name in unknown)
    swept_nodes = {ref.node for out in outputs for ref in out.refs if ref is not None}
    if counts(d.program).total * len(swept_nodes) > LARGEST:
        return None
    program = Program()
    inputs = _inputs(d, program)
    swept = dict(_swept(d, program, inputs, list(unknown.values())))
    by_name = {other.name: other for other, _ in ready.values()}
    entries = {name: copied(other.program, program, inputs) for name, other in by_name.items()}
    blocks = {}
    for out, a in pairs:
        key = (out.name, a.name)
        values = entries[ready[key][0].name][ready[key][1]] if key in ready else swept[key]
        ordered = [
            values[row * a.size + column]
            for column in columns(a.sizes)
            for row in columns(out.sizes)
        ]
        blocks[f"jac_{out.name}_{a.name}"] = ((out.size, a.size), ordered)
    unread = [
        CasadiArgument(f"out_{out.name}", empty(shape_of(out.sizes)), False) for out in d.outs
    ]
    name = f"jac_{module.name}_{d.name}"
    return _external(module, d, name, program, blocks, unread)


def _swept(
    d: FunctionDescription, program: Program, inputs: Inputs, outputs: Sequence[Argument]
) -> Iterator[tuple[tuple[str, str], list[Scalar]]]:
    """The derivatives of each output in each input, row-major, by a sweep over the tape for each
    entry."""
    values_of = copied(d.program, program, inputs) if outputs else {}
    flat = [x for values in inputs.values() for x in values]
    swept: dict[Index, list[Scalar]] = {}

    def gradient(x: Scalar) -> list[Scalar]:
        if not isinstance(x, Value):
            return [ZERO] * len(flat)
        if x.node not in swept:
            swept[x.node] = pullback([(Value(program, x.node), 1.0)], flat)
        return [-y for y in swept[x.node]] if x.negative else swept[x.node]

    for out in outputs:
        rows = [gradient(x) for x in values_of[out.name]]
        first = 0
        for name, values in inputs.items():
            last = first + len(values)
            yield (out.name, name), [x for row in rows for x in row[first:last]]
            first = last
