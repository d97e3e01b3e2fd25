"""A program run on numbers, in its own order: what the generated code computes, without generating
it.

`evaluate` runs it on scalars of any kind. `evaluate_batch` and `evaluate_exactly` run it on arrays
of states: `levels` sorts its live nodes so that the nodes of a level need none of one another's
results, and an operation is carried out on all of them, and on all states, in one call.
`evaluate_batch` has C's ``double`` or ``float``, with the same bits on every machine: only + - * /
and square roots of NumPy are used, which IEEE 754 rounds the same everywhere, and sine and cosine
made of them."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from symgen.compiler.passes import cached_analysis, live_nodes
from symgen.compiler.program import LEAVES, Index, Node, Program, Ref
from symgen.numbers.operations import OPS, Op
from symgen.numbers.scalar import ZERO, AnyArray, Scalar
from symgen.numbers.trig import TYPES

Rows = NDArray[np.intp]

_OP_CODES: Final = {name: k for k, name in enumerate((*LEAVES, *OPS))}
_OP_NAMES: Final = tuple(_OP_CODES)


@dataclass(frozen=True, slots=True)
class LevelGroup:
    """The nodes of a level with the same operation: their rows, and those of their operands."""

    op: str
    rows: slice
    operands: tuple[Rows, ...]


@dataclass(frozen=True, slots=True)
class OpGroup:
    """All nodes with the same operation, whatever their level: their rows, and those of their
    operands."""

    op: str
    rows: Rows
    operands: tuple[Rows, ...]


@dataclass(frozen=True, slots=True)
class Consumers:
    """Nodes of a level with the same number of uses: their positions in `ReverseOrder`, their uses
    among all uses, and the positions of the consumers (uses of a node x nodes)."""

    read: slice
    uses: slice
    consumers: Rows


@dataclass(frozen=True, slots=True)
class ReverseOrder:
    """The order of reverse differentiation: levels from the last to the first, in each of them
    sorted by the number of uses."""

    rows: Rows
    """The rows of the nodes in this order."""
    place: Rows
    """The position of each row in this order."""
    uses: AnyArray
    """Of each use the number of the operand and the row of the consumer."""
    consumers: tuple[Consumers, ...]


@dataclass(frozen=True, eq=False)
class Levels:
    """The live nodes of a tape, each with a row in the arrays of its values."""

    nodes: tuple[Node, ...]
    """The node of each row."""
    indices: Rows
    """The index of each row's node in the program."""
    row: Rows
    """The row of each node of the tape, -1 of those that are not live."""
    operands: Rows
    """Rows of the first operands, then of the second; -1 where there are none."""
    groups: tuple[LevelGroup, ...]
    """In the order of computation."""
    level_rows: tuple[slice, ...]
    """The rows of each level, that of the leaves first."""
    op_groups: tuple[OpGroup, ...]
    """All operations, without leaves."""
    reverse_order: ReverseOrder

    def of(self, refs: tuple[Ref | None, ...]) -> tuple[Rows, Rows]:
        """The positions of the references that are no structural zeros, and their rows."""
        places = [k for k, ref in enumerate(refs) if ref is not None]
        nodes = [ref.node for ref in refs if ref is not None]
        return np.array(places, np.intp), self.row[np.array(nodes, np.intp)]


@cached_analysis
def levels(program: Program) -> Levels:
    """The levels of a complete program."""
    order = np.array(live_nodes(program), np.intp)
    nodes = [program.nodes[i] for i in order.tolist()]
    first, second, depths = _operands(len(program.nodes), nodes, order.tolist())
    depth, codes = (
        np.array(depths, np.intp),
        np.array([_OP_CODES[op] for op, _, _ in nodes], np.intp),
    )
    ranked = np.lexsort((codes, depth))
    indices, depth, codes = order[ranked], depth[ranked], codes[ranked]
    row = np.full(len(program.nodes) + 1, -1, np.intp)
    row[indices] = np.arange(len(indices))
    read = row[np.array([first, second], np.intp)[:, ranked]]
    return Levels(
        tuple(map(nodes.__getitem__, ranked.tolist())),
        indices,
        row,
        read,
        tuple(_level_groups(depth, codes, read)),
        tuple(_equal_runs(depth)),
        tuple(_op_groups(codes, read)),
        _reverse_order(depth, read),
    )


def _operands(
    size: int, nodes: Sequence[Node], indices: Sequence[Index]
) -> tuple[list[int], list[int], list[int]]:
    """The first and second operand of each node, -1 for none, and its depth: the number of
    operations on the longest path to it."""
    first, second = [-1] * len(nodes), [-1] * len(nodes)
    depths, before = [0] * len(nodes), [0] * size  # by live node, by node of the tape
    for k, (op, a, b) in enumerate(nodes):
        if op not in LEAVES:
            first[k], most = a, before[a]
            if b is not None:
                second[k], most = b, max(most, before[b])
            depths[k] = before[indices[k]] = most + 1
    return first, second, depths


def _level_groups(depth: Rows, codes: Rows, read: Rows) -> list[LevelGroup]:
    return [
        LevelGroup(
            _OP_NAMES[codes[rows.start]],
            rows,
            tuple(places[rows] for places in read if places[rows.start] >= 0),
        )
        for rows in _equal_runs(depth, codes)
    ]


def _op_groups(codes: Rows, read: Rows) -> Iterator[OpGroup]:
    """The groups of all operations that occur."""
    for code in unique_values(codes[read[0] >= 0]).tolist():
        rows = np.nonzero(codes == code)[0]
        yield OpGroup(_OP_NAMES[code], rows, tuple(x[rows] for x in read if x[rows[0]] >= 0))


def _reverse_order(depth: Rows, operands: Rows) -> ReverseOrder:
    places, rows = np.nonzero(operands >= 0)
    read = operands[places, rows]
    times = np.bincount(read, minlength=len(depth))
    order = np.lexsort((times, -depth))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    ranked = np.lexsort((places, rows, place[read]))
    rows, places, times = rows[ranked], places[ranked], times[order]
    where, readers, start = place[rows], list[Consumers](), 0
    for run in _equal_runs(depth[order], times):
        if count := int(times[run.start]):
            own = slice(start, start := start + count * (run.stop - run.start))
            readers.append(Consumers(run, own, where[own].reshape(-1, count).T.copy()))
    return ReverseOrder(order, place, np.stack([places, rows]), tuple(readers))


def unique_values(numbers: Rows) -> Rows:
    """Each number once, in ascending order."""
    return np.unique(numbers, return_index=True)[0]  # asked for no more, numpy.ma is loaded


def _equal_runs(*keys: Rows) -> list[slice]:
    """The runs of neighbours with equal keys."""
    if not len(keys[0]):
        return []
    borders = np.nonzero(np.any([np.diff(key) != 0 for key in keys], axis=0))[0] + 1
    ends = [0, *borders.tolist(), len(keys[0])]
    return [slice(a, b) for a, b in pairwise(ends)]


Inputs = Mapping[str, Sequence[Scalar]]


def evaluate(
    program: Program, inputs: Inputs, constant: Callable[[float], Scalar] = float
) -> dict[str, list[Scalar]]:
    """Every output array by name, row-major, from input arrays of floats or any other scalars.

    `constant` makes a scalar of a number of the tape, where floats do not mix with the inputs. Runs
    on whatever `symgen.numbers.scalar` computes with: floats (bit for bit what the algorithm gives
    without a tape), complex and decimal numbers, SymPy expressions, mpmath numbers, another tape's
    values. Structural zeros of the outputs stay `ZERO`. Raises ValueError for an input array that
    is missing or of the wrong length."""
    _check_inputs(program, inputs)
    steps = _instructions(program)
    values: list[Any] = [None] * steps.size
    for place, name, k in steps.inputs:
        values[place] = inputs[name][k]
    for place, number in steps.constants:
        values[place] = constant(number)
    functions = {name: op.evaluate for name, op in OPS.items()}
    for place, op, a, b in steps.operations:
        f = functions[op]
        values[place] = f(values[a]) if b is None else f(values[a], values[b])
    return {
        name: [
            ZERO if ref is None else -values[ref[0]] if ref[1] else values[ref[0]] for ref in refs
        ]
        for name, refs in steps.outputs
    }


class _Instructions(NamedTuple):
    """A program prepared for many runs: each live node by its position among them. Plain data,
    which can be pickled."""

    size: int
    inputs: tuple[tuple[int, str, int], ...]
    constants: tuple[tuple[int, float], ...]
    operations: tuple[tuple[int, str, int, int | None], ...]
    outputs: tuple[tuple[str, tuple[tuple[int, bool] | None, ...]], ...]


@cached_analysis
def _instructions(program: Program) -> _Instructions:
    places = {index: k for k, index in enumerate(live_nodes(program))}
    rows = [(k, program.nodes[index]) for index, k in places.items()]
    return _Instructions(
        len(rows),
        tuple((k, node.a, node.b) for k, node in rows if node.op == "input"),
        tuple((k, node.a) for k, node in rows if node.op == "const"),
        tuple(
            (k, node.op, places[node.a], None if node.b is None else places[node.b])
            for k, node in rows
            if node.op not in LEAVES
        ),
        tuple(
            (out.name, tuple(r and (places[r.node], r.negative) for r in out.refs))
            for out in program.outputs
        ),
    )


def _check_inputs(program: Program, inputs: Inputs) -> None:
    for name, shape in program.inputs:
        size = math.prod(shape)
        if name not in inputs:
            raise ValueError(f"the program needs the input '{name}' ({size} numbers)")
        if len(inputs[name]) != size:
            raise ValueError(
                f"input '{name}' has {len(inputs[name])} numbers, the program needs {size}"
            )


Compute = Callable[[Op, str, tuple[AnyArray, ...]], AnyArray]
"""An operation in a scalar type on arrays of its operands."""


def evaluate_batch(
    program: Program, inputs: Mapping[str, AnyArray], scalar: str
) -> dict[str, AnyArray]:
    """Every output that is not always zero, entries along the first axis, from inputs of the same
    layout."""
    values = node_values(program, inputs, scalar)
    outputs = {}
    for out in program.outputs:
        refs = [ref for ref in out.refs if ref is not None]
        _, rows = levels(program).of(tuple(refs))
        signs = np.array([[-1 if ref.negative else 1] for ref in refs], values.dtype)
        outputs[out.name] = values[rows] * signs.reshape(-1, 1)
    return outputs


def compute_op(op: Op, scalar: str, operands: tuple[AnyArray, ...]) -> AnyArray:
    """The result of an operation; sines and cosines are computed by `sincos`."""
    result: Any = (
        op.evaluate(*operands) if op.reproducible is None else op.reproducible(operands[0], scalar)
    )
    return result  # type: ignore[no-any-return]


def node_values(
    program: Program, inputs: Mapping[str, AnyArray], scalar: str, compute: Compute = compute_op
) -> AnyArray:
    """The values of all live nodes, a row each (see `symgen.compiler.evaluate`), states along the
    second axis."""
    return _evaluate_by_level(
        program, inputs, TYPES[scalar], float, lambda op, operands: compute(op, scalar, operands)
    )


def evaluate_exactly(
    program: Program, inputs: Mapping[str, AnyArray], number: Callable[[float], Scalar]
) -> dict[str, AnyArray]:
    """The outputs of `symgen.compiler.evaluate.evaluate` for many states at once: entries along the
    first axis of inputs and outputs, which are arrays of objects."""
    values = _evaluate_by_level(
        program, inputs, object, number, lambda op, args: op.evaluate(*args)
    )
    outputs = {}
    for out in program.outputs:
        places, rows = levels(program).of(out.refs)
        entries = np.full((len(out.refs), values.shape[1]), ZERO, object)
        entries[places] = values[rows]
        negative = [k for k, ref in enumerate(out.refs) if ref and ref.negative]
        entries[negative] = -entries[negative]
        outputs[out.name] = entries
    return outputs


def _evaluate_by_level(
    program: Program,
    inputs: Mapping[str, AnyArray],
    kind: Any,
    number: Callable[[float], Any],
    compute: Callable[[Op, tuple[AnyArray, ...]], Any],
) -> AnyArray:
    """The values of all live nodes in an array of some kind, its numbers made from those of the
    tape."""
    at = levels(program)
    width = max((np.shape(x)[1] for x in inputs.values()), default=1)
    values = np.empty((len(at.nodes), width), kind)
    for group in at.groups:
        if group.operands:
            operands = tuple(values[rows] for rows in group.operands)
            values[group.rows] = compute(OPS[group.op], operands)
            continue
        for row, (op, a, b) in enumerate(at.nodes[group.rows], group.rows.start):
            values[row] = inputs[a][b] if op == "input" else number(a)
    return values
