"""A program as text, one operation a line: what `symgen dump` and `repr(program)` print.

::

    input q[2]
    input qd[2]

    body 1, upper: motion
      c1 = cos(q[0])
      %7 = 0.5 * c1
      a1_x = -(%7 - qd[1])

    output tau[2]
      tau[0] = -a1_x
      tau[1] = 0

Operations stand in the order of the tape, dead ones left out, under the step of the algorithm that they were
born in. ``%7`` is node 7 of the tape; where the algorithm named a value, sign included, that name stands for
it. Operands have no sign but that of a name. Constants print as the shortest decimal that reads back as the
same double, structural zeros as ``0``.
"""

from collections.abc import Iterator, Mapping
from itertools import product

from symgen.compiler.ops import OPS
from symgen.compiler.passes import live, names, operands
from symgen.compiler.program import LEAVES, Index, Output, Program, Ref

INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
Names = Mapping[Index, tuple[str, bool]]


def dump(program: Program) -> str:
    """The live part of a program in the format of this module, without a final newline."""
    named = names(program)
    parts = ["\n".join(f"input {name}{_sizes(shape)}" for name, shape in program.inputs)]
    parts += _blocks(program, named)
    parts += ["\n".join(_output(program, named, out)) for out in program.outputs]
    return "\n\n".join(part for part in parts if part)


def _blocks(program: Program, named: Names) -> Iterator[str]:
    """The operations, in runs of one section."""
    title, lines = "", list[str]()
    for index in live(program):
        if program.nodes[index].op in LEAVES:
            continue
        if program.sections[index] != title:
            yield "\n".join(lines)
            title = program.sections[index]
            lines = [title] if title else []
        lines.append(f"  {_operation(program, named, index)}")
    yield "\n".join(lines)


def _operation(program: Program, named: Names, index: Index) -> str:
    """One line: the node's name, or its negative's, and what it is."""
    node = program.nodes[index]
    name, negative = named.get(index, (f"%{index}", False))
    parts = [_text(program, named, Ref(k, False)) for k in operands(node)]
    if node.op in INFIX:
        right = f" {INFIX[node.op]} ".join(parts)
        return f"{name} = -({right})" if negative else f"{name} = {right}"
    assert OPS[node.op].arity == len(parts)
    return f"{name} = {'-' * negative}{node.op}({', '.join(parts)})"


def _text(program: Program, named: Names, ref: Ref) -> str:
    """A value where it is read."""
    node = program.nodes[ref.node]
    name, negative = named.get(ref.node, (f"%{ref.node}", False))
    if node.op in LEAVES:
        name, negative = (f"{node.a}[{node.b}]" if node.op == "input" else repr(node.a)), False
    return f"{'-' * (ref.negative != negative)}{name}"


def _output(program: Program, named: Names, out: Output) -> Iterator[str]:
    yield f"output {out.name}{_sizes(out.shape)}"
    for place, ref in zip(product(*map(range, out.shape)), out.refs, strict=True):
        yield f"  {out.name}{list(place)} = {'0' if ref is None else _text(program, named, ref)}".replace(", ", ",")


def _sizes(shape: tuple[int, ...]) -> str:
    return "[" + ",".join(map(str, shape)) + "]"
