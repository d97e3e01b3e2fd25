"""A tape run on numbers, in its own order: what the generated code computes, without generating
it."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from symgen.compiler.passes import cached_analysis, live_nodes
from symgen.compiler.program import LEAVES, Index, Program, Ref
from symgen.numbers.operations import OPS
from symgen.numbers.scalar import ZERO, Scalar

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
    _check(program, inputs)
    steps = _steps(program)
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


class _Steps(NamedTuple):
    """A tape that is run often: what each live node is, by its place among them. Plain data, as all
    that a tape remembers: it may be pickled."""

    size: int
    inputs: tuple[tuple[int, str, int], ...]
    constants: tuple[tuple[int, float], ...]
    operations: tuple[tuple[int, str, int, int | None], ...]
    outputs: tuple[tuple[str, tuple[tuple[int, bool] | None, ...]], ...]


@cached_analysis
def _steps(program: Program) -> _Steps:
    places = {index: k for k, index in enumerate(live_nodes(program))}
    rows = [(k, program.nodes[index]) for index, k in places.items()]
    return _Steps(
        len(rows),
        tuple((k, node.a, node.b) for k, node in rows if node.op == "input"),
        tuple((k, node.a) for k, node in rows if node.op == "const"),
        tuple(
            (k, node.op, places[node.a], None if node.b is None else places[node.b])
            for k, node in rows
            if node.op not in LEAVES
        ),
        tuple(
            (out.name, tuple(_placed(ref, places) for ref in out.refs)) for out in program.outputs
        ),
    )


def _placed(ref: Ref | None, places: Mapping[Index, int]) -> tuple[int, bool] | None:
    return None if ref is None else (places[ref.node], ref.negative)


def _check(program: Program, inputs: Inputs) -> None:
    for name, shape in program.inputs:
        size = math.prod(shape)
        if name not in inputs:
            raise ValueError(f"the program needs the input '{name}' ({size} numbers)")
        if len(inputs[name]) != size:
            raise ValueError(
                f"input '{name}' has {len(inputs[name])} numbers, the program needs {size}"
            )
