"""A program as text, one operation a line: what `symgen dump` prints.

::

    input q[2]
    input qd[2]

    body 1, upper: motion
      c1 = cos(q[0])
      %7 = c1 * 0.5
      a1_x = qd[1] - %7

    output tau[2]
      tau[0] = -a1_x
      tau[1] = 0

Operations stand in the order of the tape, dead ones left out, under the step of the algorithm that
they were born in. ``%7`` is node 7 of the tape; where the algorithm named a value, sign included,
that name stands for it, and signs are moved within the line, which is exact, so that no operand
needs one. Constants print as the shortest decimal that reads back as the same double, structural
zeros as ``0``."""

from collections.abc import Iterator, Mapping
from itertools import product

from symgen.compiler.passes import live_nodes, node_names, operands
from symgen.compiler.program import LEAVES, Index, Program, Ref
from symgen.numbers.operations import OPS

INFIX_SYMBOLS = {"mul": "*", "div": "/", "neg": ""}
NodeNames = Mapping[Index, tuple[str, bool]]


def dump(program: Program) -> str:
    """The live part of a program in the format of this module, without a final newline."""
    names = node_names(program)
    parts = ["\n".join(f"input {name}{_indices(shape)}" for name, shape in program.inputs)]
    parts += _section_texts(program, names)
    for out in program.outputs:
        lines = [f"output {out.name}{_indices(out.shape)}"]
        for place, ref in zip(product(*map(range, out.shape)), out.refs, strict=True):
            lines.append(f"  {out.name}{_indices(place)} = {_output_text(program, names, ref)}")
        parts.append("\n".join(lines))
    return "\n\n".join(part for part in parts if part)


def _section_texts(program: Program, names: NodeNames) -> Iterator[str]:
    """The operations, in runs of one section."""
    title, lines = "", list[str]()
    for index in live_nodes(program):
        if program.nodes[index].op in LEAVES:
            continue
        if program.sections[index] != title:
            yield "\n".join(lines)
            title = program.sections[index]
            lines = [title] if title else []
        lines.append(f"  {_operation_line(program, names, index)}")
    yield "\n".join(lines)


def _operation_line(program: Program, names: NodeNames, index: Index) -> str:
    """One line: the node's name, or its negative's, and what it is."""
    node = program.nodes[index]
    name, negative = names.get(index, (f"%{index}", False))
    operand_texts = [_operand_text(program, names, k) for k in operands(node)]
    texts, signs = [text for text, _ in operand_texts], [sign for _, sign in operand_texts]
    if node.op in ("add", "sub"):
        is_difference = (signs[0] != signs[1]) != (node.op == "sub")
        return f"{name} = {_sum_text(texts[0], texts[1], is_difference, signs[0] != negative)}"
    if node.op in INFIX_SYMBOLS:
        sign = sum(signs, negative != (node.op == "neg")) % 2
        return f"{name} = {'-' * sign}{f' {INFIX_SYMBOLS[node.op]} '.join(texts)}"
    return f"{name} = {_call_text(node.op, texts[0], signs[0], negative)}"


def _sum_text(a: str, b: str, is_difference: bool, negative: bool) -> str:
    """±(a ± b); a difference with a sign in front is the difference turned round."""
    if is_difference:
        return f"{b} - {a}" if negative else f"{a} - {b}"
    return f"-{a} - {b}" if negative else f"{a} + {b}"


def _call_text(op: str, a: str, sign: bool, negative: bool) -> str:
    parity = OPS[op].parity
    inner_negative, outer_negative = sign and not parity, negative != (sign and parity == "odd")
    return f"{'-' * outer_negative}{op}({'-' * inner_negative}{a})"


def _operand_text(program: Program, names: NodeNames, index: Index) -> tuple[str, bool]:
    """The text that stands for a node, and whether that is its negative."""
    node = program.nodes[index]
    if node.op in LEAVES:
        return (f"{node.a}[{node.b}]" if node.op == "input" else repr(node.a)), False
    return names.get(index, (f"%{index}", False))


def _output_text(program: Program, names: NodeNames, ref: Ref | None) -> str:
    if ref is None:
        return "0"
    text, negative = _operand_text(program, names, ref.node)
    return f"{'-' * (ref.negative != negative)}{text}"


def _indices(shape: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, shape))}]" if shape else ""
