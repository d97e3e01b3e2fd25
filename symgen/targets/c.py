"""C99: the operation table and the files of a module."""

from collections.abc import Iterator
from typing import Any, Final

from symgen.compiler.program import Program
from symgen.module import Module
from symgen.render import render
from symgen.targets.c_text import SUFFIX, comment, literal, numbers, string
from symgen.targets.describe import Description, conventions, descriptions
from symgen.targets.dialect import Dialect, call, minus, over, plus, times
from symgen.targets.writer import Block, Line, write


def dialect(scalar: str) -> Dialect:
    """How straight-line C is written for ``double`` or ``float``."""
    f = SUFFIX[scalar]
    return Dialect(
        operations={
            "add": plus, "sub": minus, "mul": times, "div": over, "sin": call(f"sin{f}"), "cos": call(f"cos{f}"),
        },
        literal=lambda x: literal(x, scalar),
        input=lambda array, k: f"{array}[{k}]",
        declare=f"const {scalar} {{name}}",
        entry=_entry,
    )


def _entry(array: str, shape: tuple[int, ...], k: int) -> str:
    if len(shape) == 1:
        return f"{array}[{k}]"
    return f"{array}[{shape[1]} * {k // shape[1]} + {k % shape[1]}]"


WIDTH: Final = 110
"""Longest line of a declaration."""

TOLERANCE: Final = {"double": 1e-11, "float": 1e-4}
"""How far a self-test lets results be from the reference, of the largest entry."""


def files(module: Module) -> dict[str, str]:
    """The C files of a module: header, data, one source a function, self-test, CMake."""
    name, shared = module.name, _context(module)
    made = {
        f"{name}.h": render("c/module.h.jinja", **shared, **_table_widths(module)),
        f"{name}.c": render("c/module.c.jinja", **shared),
        f"{name}_selftest.c": render("c/selftest.c.jinja", **shared, **_selftest(module)),
        "CMakeLists.txt": render("c/CMakeLists.txt.jinja", **shared),
    }
    for function in descriptions(module):
        blocks = statements(function.program, module.scalar)
        made[f"{name}_{function.name}.c"] = render("c/function.c.jinja", **shared, function=function, blocks=blocks)
    return made


def _context(module: Module) -> dict[str, Any]:
    """What all templates may use."""
    return {
        "module": module,
        "functions": descriptions(module),
        "conventions": conventions(module),
        "comment": comment,
        "string": string,
        "numbers": lambda values: numbers(values, module.scalar),
        "signature": lambda function: _signature(module, function),
        "longest": max(len(joint.encode()) for joint in module.robot.model.joint_names) + 1,
    }


def _signature(module: Module, function: Description) -> str:
    """Name and parameters of a function, wrapped under its opening bracket."""
    const = {"in": "const ", "out": ""}
    head = f"void {module.name}_{function.name}("
    lines = [head]
    for a in function.arguments:
        part = f"{const[a.direction]}{module.name}_real {a.name}[{a.size}], "
        if len(lines[-1]) + len(part) > WIDTH and lines[-1] != head:
            lines.append(" " * len(head))
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines).removesuffix(",") + ")"


def _table_widths(module: Module) -> dict[str, int]:
    rows = module.joint_rows()
    return {
        "joint_width": max(len("joint"), *(len(comment(row[1])) for row in rows)),
        "link_width": max(len("moves link"), *(len(comment(row[2])) for row in rows)),
    }


def _selftest(module: Module) -> dict[str, Any]:
    every = [a for function in descriptions(module) for a in function.arguments]
    return {
        "zero": literal(0.0, module.scalar),
        "tolerance": literal(TOLERANCE[module.scalar], module.scalar),
        "inputs": {a.name for a in every if a.direction == "in"},
        "outputs": {a.name: a for a in every if a.direction == "out" and a.name != "par"},
        "call": _call,
    }


def _call(function: Description) -> str:
    """The arguments of a call with test state k."""
    own = {"par"} | {a.name for a in function.arguments if a.direction == "out"}
    return ", ".join(a.name if a.name in own else f"in_{a.name}[k]" for a in function.arguments)


def statements(program: Program, scalar: str) -> list[list[str]]:
    """The body of a function: blocks of lines, the first of each its heading."""
    return [_block(block) for block in write(program, dialect(scalar))]


def _block(block: Block) -> list[str]:
    width = max((len(line.left[0]) for line in block.lines if len(line.left) == 1), default=0)
    heading = [f"/* {comment(block.title)} */"] if block.title else []
    return heading + [text for line in block.lines for text in _statement(line, width)]


def _statement(line: Line, width: int) -> Iterator[str]:
    """One assignment a line, equals signs aligned; entries that share a value share lines."""
    if len(line.left) == 1:
        yield f"{line.left[0]:{width}} = {line.right};"
        return
    for k in range(0, len(line.left), 3):
        yield " ".join(f"{left} = {line.right};" for left in line.left[k : k + 3])
