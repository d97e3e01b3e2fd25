"""A tape written again on another one, where equal subexpressions meet."""

from collections.abc import Mapping, Sequence

from symgen.compiler.passes import live
from symgen.compiler.program import Index, Program, Ref, Value
from symgen.numbers.operations import OPS
from symgen.numbers.scalar import ZERO, Scalar


def copied(
    source: Program, target: Program, inputs: Mapping[str, Sequence[Value]]
) -> dict[str, list[Scalar]]:
    """The outputs of `source` by name, row-major, as values on `target`, from its `inputs` there;
    names and steps of the algorithm come along, structural zeros stay `ZERO`."""
    made: dict[Index, Value] = {}
    for index in live(source):
        with target.section(source.sections[index]):
            made[index] = _again(source, index, target, inputs, made)
            if index in source.divisors:
                target.divisors[made[index].node] = _value(source.divisors[index], made).ref
            if index in source.names:
                name, negative = source.names[index]
                (-made[index] if negative else made[index]).named(name)
    return {out.name: [_signed(ref, made) for ref in out.refs] for out in source.outputs}


def _again(
    source: Program,
    index: Index,
    target: Program,
    inputs: Mapping[str, Sequence[Value]],
    made: Mapping[Index, Value],
) -> Value:
    node = source.nodes[index]
    if node.op == "input":
        entry: Value = inputs[node.a][node.b]
        return entry
    if node.op == "const":
        return target.value(node.a)
    operands = (made[k] for k in (node.a, node.b) if k is not None)
    return target.value(OPS[node.op](*operands))


def _signed(ref: Ref | None, made: Mapping[Index, Value]) -> Scalar:
    return ZERO if ref is None else _value(ref, made)


def _value(ref: Ref, made: Mapping[Index, Value]) -> Value:
    return -made[ref.node] if ref.negative else made[ref.node]
