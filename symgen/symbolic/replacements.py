"""A tape as SymPy's own kind of program: replacements in order, and what remains, as `sympy.cse`
returns them."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal

import sympy

from symgen.compiler.program import LEAVES, Output
from symgen.compiler.value import Index, Ref
from symgen.symbolic.gathering import FUNCTIONS, Number
from symgen.symbolic.paper import Paper

Replacements = list[tuple[sympy.Symbol, sympy.Expr]]
BINARY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}


def replacements(
    paper: Paper,
    outputs: Sequence[Output],
    number: Number,
    symbols: Iterator[sympy.Symbol] | None,
    array: Callable[[Output, Sequence[sympy.Expr]], object],
) -> tuple[Replacements, list[object]]:
    """The live operations of a tape: each that is used more than once gets the next of `symbols`
    (without them none does); and the outputs, made into an `array` each. Equal to the tape's
    numbers to the last bit where SymPy leaves the order of sums alone, else to rounding."""
    nodes = _needed(paper, outputs)
    uses = Counter(_operands(paper, nodes))
    expressions, named = dict[Index, sympy.Expr](), Replacements()
    for index in nodes:
        expressions[index] = _expression(paper, index, expressions, number)
        if symbols is not None and uses[index] > 1 and paper.nodes[index].op not in LEAVES:
            name = next(symbols)
            named.append((name, expressions[index]))
            expressions[index] = name
    arrays = [array(out, [_signed(ref, expressions) for ref in out.refs]) for out in outputs]
    return named, arrays


def _needed(paper: Paper, outputs: Sequence[Output]) -> list[Index]:
    """The nodes that outputs are computed from, in order."""
    needed, waiting = (
        set[Index](),
        [ref.node for out in outputs for ref in out.refs if ref is not None],
    )
    while waiting:
        index = waiting.pop()
        if index not in needed:
            needed.add(index)
            waiting += _operands(paper, [index])
    return sorted(needed)


def operations(paper: Paper, ref: Ref) -> int:
    """How many operations a value takes when nothing is shared."""
    sizes = dict[Index, int]()
    for index in _needed(paper, [Output("", (1,), (ref,))]):
        sizes[index] = sum(sizes[k] + 1 for k in _operands(paper, [index]))
    return sizes[ref.node]


def _operands(paper: Paper, nodes: Sequence[Index]) -> Iterator[Index]:
    for index in nodes:
        op, a, b = paper.nodes[index]
        if op not in LEAVES:
            yield a
            if b is not None:
                yield b


def _expression(
    paper: Paper, index: Index, expressions: dict[Index, sympy.Expr], number: Number
) -> sympy.Expr:
    op, a, b = paper.nodes[index]
    if op == "input":
        return paper.atom(index)
    if op == "const":
        return number(Decimal(repr(a)))
    if op == "neg":
        return -expressions[a]
    return (
        FUNCTIONS[op](expressions[a]) if b is None else BINARY[op](expressions[a], expressions[b])
    )


def _signed(ref: Ref | None, expressions: dict[Index, sympy.Expr]) -> sympy.Expr:
    if ref is None:
        return sympy.Integer(0)
    return -expressions[ref.node] if ref.negative else expressions[ref.node]
