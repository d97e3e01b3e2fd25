"""Differentiation of a tape, forward and in reverse; the derivatives are new values on the same
tape.

Both are exact, node by node from the column `partials` of `OPS`, and share whatever is on the tape
already (the derivative of a sine is the cosine that is there). What an output cannot depend on
stays a structural zero, and what no output needs in the end is dead code like any other.

Forward costs a sweep per direction and suits few inputs or time derivatives; reverse costs a sweep
per output and suits gradients. Analytic recursions mostly have fewer operations (∂τ/∂q of a Panda:
2,084 against 2,707 forward and 4,376 in reverse), but not where much vanishes (UR5: 963, 614,
1,221); these two serve the rest and judge recursions."""

from collections.abc import Iterable, Mapping, Sequence

from symgen.compiler.passes import operands
from symgen.compiler.program import LEAVES, Index, Program, Ref, Value
from symgen.numbers.operations import OPS
from symgen.numbers.scalar import ZERO, Scalar


def pushforward(
    outputs: Sequence[Scalar], direction: Sequence[tuple[Value, Scalar]]
) -> list[Scalar]:
    """Tangents of `outputs` as the inputs move: `direction` pairs inputs with their tangents
    (Jacobian times vector).

    A tangent that vanishes for every state is `ZERO`.
    """
    program = _program(outputs, [x for x, _ in direction])
    tangents: dict[Index, Scalar] = {x.node: _signed(x.ref, d) for x, d in direction}
    for index in _upstream(program, _roots(outputs)):
        terms = [] if index in tangents else _partials(program, index, tangents)
        if terms:
            tangents[index] = _sum(p * tangents[k] for k, p in terms)
    return [_read(x, tangents) for x in outputs]


def pullback(outputs: Sequence[tuple[Scalar, Scalar]], inputs: Sequence[Value]) -> list[Scalar]:
    """The gradient in `inputs` of the sum of `outputs`, each with its weight (vector times
    Jacobian)."""
    program = _program([x for x, _ in outputs], inputs)
    order = _upstream(program, _roots([x for x, _ in outputs]))
    active = _downstream(program, order, {x.node for x in inputs})
    adjoints: dict[Index, Scalar] = dict.fromkeys(order, ZERO)
    for x, weight in outputs:
        if isinstance(x, Value):
            adjoints[x.node] = adjoints[x.node] + _signed(x.ref, weight)
    for index in reversed(order):
        for k, partial in _partials(program, index, active):
            adjoints[k] = adjoints[k] + partial * adjoints[index]
    return [_read(x, adjoints) for x in inputs]


def jacobian(outputs: Sequence[Scalar], inputs: Sequence[Value]) -> list[Scalar]:
    """The derivative of every output in every input, row-major with a row for each output; by
    columns or by rows, whichever is fewer sweeps."""
    if len(inputs) <= len(outputs):
        columns = [pushforward(outputs, [(x, 1.0)]) for x in inputs]
        return [column[i] for i in range(len(outputs)) for column in columns]
    return [entry for x in outputs for entry in pullback([(x, 1.0)], inputs)]


def _program(outputs: Sequence[Scalar], inputs: Sequence[Value]) -> Program:
    return next(x.program for x in (*inputs, *outputs) if isinstance(x, Value))


def _roots(outputs: Sequence[Scalar]) -> list[Index]:
    return [x.node for x in outputs if isinstance(x, Value)]


def _upstream(program: Program, roots: Sequence[Index]) -> list[Index]:
    """The nodes that `roots` are computed from, in the order of computation."""
    seen: set[Index] = set()
    stack = list(roots)
    while stack:
        index = stack.pop()
        if index not in seen:
            seen.add(index)
            stack += operands(program.nodes[index])
    return sorted(seen)


def _downstream(program: Program, order: Sequence[Index], inputs: set[Index]) -> set[Index]:
    """The nodes of `order` that depend on `inputs`."""
    found = set(inputs)
    for index in order:
        if any(k in found for k in operands(program.nodes[index])):
            found.add(index)
    return found


def _partials(
    program: Program, index: Index, of_interest: Mapping[Index, Scalar] | set[Index]
) -> list[tuple[Index, Scalar]]:
    """The operands of a node that matter, with the derivative in each."""
    node = program.nodes[index]
    if node.op in LEAVES:
        return []
    values = [Value(program, k) for k in (*operands(node), index)]
    return [
        (k, p)
        for k, p in zip(operands(node), OPS[node.op].partials(*values), strict=True)
        if k in of_interest
    ]


def _sum(terms: Iterable[Scalar]) -> Scalar:
    return sum(terms, ZERO)


def _signed(ref: Ref, x: Scalar) -> Scalar:
    return -x if ref.negative else x


def _read(x: Scalar, found: Mapping[Index, Scalar]) -> Scalar:
    return _signed(x.ref, found.get(x.node, ZERO)) if isinstance(x, Value) else ZERO
