"""Functions by CasADi's convention of external functions: arguments, sparsity and C; and their
derivatives, by CasADi's names (CasADi 3.8, casadi/core/external.cpp and
FunctionInternal::jacobian, ::reverse).

For a function `f`, `jac_f` has a block for each output and input, outputs first; it takes the
inputs of f and then its outputs ``out_y``, which ours does not read. `adj1_f` takes those and a
weight ``adj_y`` for each output; its outputs ``adj_x`` = Σ_y adj_yᵀ ∂y/∂x have the
shapes of the inputs and are dense, as CasADi requires. `jac_adj1_f` has the second derivatives."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, product
from math import prod
from typing import Any, Final

from symgen.compiler.passes import counts, pivots
from symgen.compiler.program import Index, Program, Value
from symgen.compiler.transforms import copy_outputs, pullback
from symgen.languages.c.printed_function import CFunction
from symgen.languages.c.syntax import c_printer, wrap_list
from symgen.languages.describe import (
    HESSIANS,
    Argument,
    FunctionDescription,
    derivative_output,
    descriptions,
    is_entrywise_derivative,
    shortest_with_output,
    vector_jacobian,
)
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


def column_major_order(sizes: Sequence[int]) -> list[int]:
    """The places of an array's entries, row-major, in the order of columns."""
    rows, count = shape_of(sizes)
    return [row * count + column for column in range(count) for row in range(rows)]


def sparsity(shape: tuple[int, int], values: Sequence[Any]) -> tuple[SparsityPattern, list[Any]]:
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
class ExternalFunction:
    """A function of CasADi's: its whole name, its arguments in order, and what computes it."""

    name: str
    inputs: tuple[CasadiArgument, ...]
    outputs: tuple[CasadiArgument, ...]
    core: CFunction
    stem: str
    """The beginning of the names of its static functions and data: which derivative it is."""

    @property
    def unrequested_outputs(self) -> list[tuple[int, CasadiArgument, int]]:
        """Each output that is written with its number and where it goes where nobody wants it."""
        written = [(k, slot) for k, slot in enumerate(self.outputs) if slot.read]
        places = accumulate((s.pattern.nonzeros for _, s in written), initial=self.core.work)
        return [(k, slot, place) for (k, slot), place in zip(written, places, strict=False)]

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
        return wrap_list(f"static const casadi_int {self.patterns[pattern]}[] = {{", numbers, "};")


def external(
    module: Module,
    d: FunctionDescription,
    stem: str,
    program: Program,
    blocks: Mapping[str, tuple[tuple[int, int], Sequence[Scalar]]],
    inputs: Sequence[CasadiArgument],
    dense: bool = False,
) -> ExternalFunction:
    """A function of `program`, whose outputs are blocks, column by column. `inputs` has the inputs
    of `d` in their order, and may have others, which are not read. Zeros are entries if
    `dense`."""
    outputs, written = [], []
    for block, (shape, values) in blocks.items():
        pattern, nonzero = (SparsityPattern(shape), values) if dense else sparsity(shape, values)
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
    return ExternalFunction(name, tuple(inputs), tuple(outputs), core, stem)


# -- derivatives -----------------------------------------------------------------------------------

MAX_SWEEP_OPERATIONS: Final = 30_000
"""Operations of a function times the entries of its outputs, up to which what is no derivative of
the module's is found by a sweep over its tape for each."""

ADJOINT_PREFIX: Final = "adj_"
"""The beginning of the names of weights, and of their products with Jacobians."""

Inputs = Mapping[str, Sequence[Value]]


@dataclass(frozen=True)
class KnownJacobian:
    """A Jacobian that a function of the module has as its output, or its transpose; zeros where
    there is no function."""

    function: FunctionDescription | None
    output: str = ""
    transposed: bool = False


Jacobians = Mapping[tuple[str, str], KnownJacobian]
"""Known Jacobians by output and input."""


def externals(module: Module) -> list[tuple[ExternalFunction, ...]]:
    """The functions of a module, each followed by its derivatives."""
    described = descriptions(module)
    return [
        (_function(module, d, "", _arguments(d)), *_derivatives(module, described, d))
        for d in described
    ]


def _derivatives(
    module: Module, described: Sequence[FunctionDescription], d: FunctionDescription
) -> Iterator[ExternalFunction]:
    """The Jacobian, the adjoint and the Jacobian of the adjoint; none of them, or not the last one,
    where they would be too long."""
    known = {
        (out.name, a.name): KnownJacobian(*found)
        for out, a in product(d.outs, d.ins)
        if (found := derivative_output(module, described, d, out.name, a.name))
    }
    jacobian = _jacobian(module, d, "jac_", _arguments(d), known)
    if jacobian is None:
        return
    adjoint = replace(vector_jacobian(d, ADJOINT_PREFIX), name=d.name)
    given = [*_arguments(d), *_unread_outputs(d), *_arguments(adjoint)[len(d.ins) :]]
    second = _known_second_derivatives(module, described, d, known)
    yield jacobian
    yield _function(module, adjoint, "adj1_", given)
    hessian = _jacobian(module, adjoint, "jac_adj1_", given, second)
    if hessian is not None:
        yield hessian


def _arguments(d: FunctionDescription) -> list[CasadiArgument]:
    """The inputs of a function."""
    return [CasadiArgument(a.name, SparsityPattern(shape_of(a.sizes))) for a in d.ins]


def _unread_outputs(d: FunctionDescription) -> list[CasadiArgument]:
    """The outputs of a function as inputs of its derivatives, which do not read them."""
    shapes = {f"out_{a.name}": shape_of(a.sizes) for a in d.outs}
    return [
        CasadiArgument(name, SparsityPattern(shape, ((),) * shape[1]), False)
        for name, shape in shapes.items()
    ]


def _program_inputs(d: FunctionDescription, program: Program) -> dict[str, list[Value]]:
    """The inputs of a function on a tape, row-major; they come in columns."""
    inputs = {}
    for a in d.ins:
        entries = program.input(a.name, (a.size,))
        place = {k: number for number, k in enumerate(column_major_order(a.sizes))}
        inputs[a.name] = [entries[place[k]] for k in range(a.size)]
    return inputs


def _function(
    module: Module, d: FunctionDescription, stem: str, inputs: Sequence[CasadiArgument]
) -> ExternalFunction:
    program = Program()
    outputs = copy_outputs(d.program, program, _program_inputs(d, program))
    blocks = {
        a.name: (shape_of(a.sizes), [outputs[a.name][k] for k in column_major_order(a.sizes)])
        for a in d.outs
    }
    return external(module, d, stem, program, blocks, inputs, dense=stem == "adj1_")


def _known_second_derivatives(
    module: Module,
    described: Sequence[FunctionDescription],
    d: FunctionDescription,
    first: Jacobians,
) -> dict[tuple[str, str], KnownJacobian]:
    """The Jacobians of the adjoint of a function that the module has: the transpose of its
    Jacobian, and the Hessian of its output in all inputs."""
    known = {
        (ADJOINT_PREFIX + x, ADJOINT_PREFIX + y): replace(jacobian, transposed=True)
        for (y, x), jacobian in first.items()
    }
    weight, variables, name = HESSIANS.get(d.outs[0].name, ("", (), ""))
    arguments = {weight, *(a.name for a in d.ins)}
    found = shortest_with_output(described, name.format("q", "q"), arguments)
    if len(d.outs) > 1 or found is None or not is_entrywise_derivative(module, "q"):
        return known
    outputs = {a.name for a in found.outs}
    for x, u in product(variables, repeat=2):
        above, below = name.format(x, u), name.format(u, x)
        if above in outputs:
            block = KnownJacobian(found, above)
        elif below in outputs:
            block = KnownJacobian(found, below, transposed=True)
        else:
            block = KnownJacobian(None)
        known[ADJOINT_PREFIX + x, u] = block
    return known


def _jacobian(
    module: Module,
    d: FunctionDescription,
    stem: str,
    inputs: Sequence[CasadiArgument],
    known: Jacobians,
) -> ExternalFunction | None:
    """The Jacobian of a function in `inputs`; None where it would be too long."""
    pairs = list(product(d.outs, d.ins))
    unknown = {out.name: out for out, a in pairs if (out.name, a.name) not in known}
    outputs = (out for out in d.program.outputs if out.name in unknown)
    swept_nodes = {ref.node for out in outputs for ref in out.refs if ref is not None}
    if counts(d.program).total * len(swept_nodes) > MAX_SWEEP_OPERATIONS:
        return None
    program = Program()
    given = _program_inputs(d, program)
    entries = dict(_swept_jacobians(d, program, given, list(unknown.values())))
    entries.update(_copied_jacobians(d, program, given, known))
    sizes = {a.name: a.sizes for a in d.ins}
    blocks = {}
    for out, slot in product(d.outs, inputs):
        shape = (out.size, prod(slot.pattern.shape))
        ordered: list[Scalar] = [ZERO] * prod(shape)
        if slot.read:
            values = entries[out.name, slot.name]
            ordered = [
                values[row * shape[1] + column]
                for column in column_major_order(sizes[slot.name])
                for row in column_major_order(out.sizes)
            ]
        blocks[f"jac_{out.name}_{slot.name}"] = (shape, ordered)
    return external(module, d, stem, program, blocks, [*inputs, *_unread_outputs(d)])


def _copied_jacobians(
    d: FunctionDescription, program: Program, inputs: Inputs, known: Jacobians
) -> Iterator[tuple[tuple[str, str], list[Scalar]]]:
    """The known Jacobians of a function, row-major. The weights of a Hessian are those of the
    adjoint."""
    weights = {
        weight: inputs[ADJOINT_PREFIX + y]
        for y, (weight, *_) in HESSIANS.items()
        if ADJOINT_PREFIX + y in inputs
    }
    functions = {x.function.name: x.function for x in known.values() if x.function is not None}
    computed = {
        name: copy_outputs(f.program, program, {**inputs, **weights})
        for name, f in functions.items()
    }
    sizes = {a.name: a.size for a in d.arguments}
    for (out, a), block in known.items():
        rows, width = sizes[out], sizes[a]
        if block.function is None:
            yield (out, a), [ZERO] * (rows * width)
            continue
        values = computed[block.function.name][block.output]
        if block.transposed:
            values = [values[k * rows + row] for row in range(rows) for k in range(width)]
        yield (out, a), list(values)


def _swept_jacobians(
    d: FunctionDescription, program: Program, inputs: Inputs, outputs: Sequence[Argument]
) -> Iterator[tuple[tuple[str, str], list[Scalar]]]:
    """The derivatives of each output in each input, row-major, by a sweep over the tape for each
    entry."""
    values_of = copy_outputs(d.program, program, inputs) if outputs else {}
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
