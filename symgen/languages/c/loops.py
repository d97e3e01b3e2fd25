"""Functions in C with loops, by templates of their own.

With ``--body-loops``, a function is loops over the bodies of a robot (``templates/c/bodies``).
Other functions are straight-line code followed by loops that an algorithm states
(``templates/c/loops``): the update of recursive least squares row by row (of a Panda, 46,000
operations and some 600 kB of straight-line code), the iterations of inverse kinematics, and columns
that the same operations compute (`symgen.compiler.program.ColumnLoop`), with ``--optimize size``.
They do the same operations in the same order as the expression graph, those with structural zeros
too, so they give the same bits, except for the signs of zeros."""

import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import Any, Final

from symgen.algorithms.controllers import CONTROLLERS
from symgen.algorithms.inverse_kinematics import ITERATIONS
from symgen.algorithms.registry import Quantity
from symgen.compiler.passes import counts, pivots
from symgen.compiler.program import ColumnLoop, LoopProgram, Output, Program, Ref
from symgen.languages.c.options import COptions, objective_of
from symgen.languages.c.printed_function import CFunction, Loops
from symgen.languages.c.syntax import c_printer
from symgen.languages.describe import Argument, FunctionDescription
from symgen.languages.module import Module
from symgen.mechanics.body_tables import BodyTables
from symgen.render import render
from symgen.tracing.body_loops import FRAME_COSTS, SUM_COSTS, body_tables
from symgen.tracing.request import FunctionRequest
from symgen.tracing.trace import trace

LOOP_OPERATIONS: Final = 40
"""The code around a loop over columns takes as much as this many operations, about."""

MIN_SAVING: Final = 0.05
"""Code stays straight if loops save less than this part of its operations: the estimate does not
contain what they do to the code around them."""


def static_function(module: Module, d: FunctionDescription, piece: str = "part{}") -> CFunction:
    """Straight-line code that a function with loops calls. It writes every entry, which loops read,
    and does not test results, which loops change."""
    printer = replace(
        c_printer(module),
        status="int",
        statuses=("0", "1"),
        name="{function}",
        linkage=f"static {module.name.upper()}_NOINLINE ",
        piece=piece,
        finite_tests=lambda a, entries: "",
        zeros_once=False,
    )
    return CFunction(module, d, printer)


def c_function(module: Module, d: FunctionDescription) -> CFunction:
    """A function in C: loops over bodies where these were asked for; with other loops if its
    algorithm states them and its sums are in the order of the algorithm."""
    printer = c_printer(module)
    if isinstance(d.program, LoopProgram):
        return CFunction(module, d, printer, bodies=tables_of_module(module))
    traced, loops = next((f for f in module.functions if f.name == d.name), None), None
    if traced is not None and not traced.trees:
        quantity = traced.quantities[0]
        if len(traced.quantities) == 1 and quantity.loops:
            loops = STATED_LOOPS[quantity.name.partition(":")[0]](module, d, quantity)
        elif objective_of(module.choices).name == "size":
            loops = _column_loops(module, d)
    return CFunction(module, d, printer, loops)


def _static_part(module: Module, d: FunctionDescription, quantity: str, name: str) -> CFunction:
    """A static function that computes one output of a quantity from inputs of `d`."""
    traced_part = trace(module.robot, FunctionRequest.parse(quantity))
    (out,) = traced_part.program.outputs
    result = Argument("out", out.name, out.shape, "what the loops go through", "")
    arguments = (*(a for a in d.ins if a.name in traced_part.inputs), result)
    tested = pivots(traced_part.program, divisions=False) if d.pivots else ()
    part = replace(d, name=name, arguments=arguments, program=traced_part.program, pivots=tested)
    return static_function(module, part, "part{}" if name == "front" else name + "_part{}")


def _iteration_loops(module: Module, d: FunctionDescription, quantity: Quantity) -> Loops:
    """A loop that repeats a step on the first output; the other outputs are those of quantities
    there."""
    parts = tuple(
        _static_part(module, d, f"{name}:{quantity.link}", name if k else "front")
        for k, name in enumerate(quantity.loops)
    )
    names = [quantity.inputs[0], *(part.description.outs[0].name for part in parts[1:])]
    return Loops(
        "c/loops/iterations.jinja",
        f"the {ITERATIONS} iterations",
        parts,
        d.outs[0].size,
        iterations=ITERATIONS,
        passed=dict(zip(names, (a.name for a in d.outs), strict=True)),
    )


def _controller_loops(module: Module, d: FunctionDescription, quantity: Quantity) -> Loops:
    """Loops over the rows of an array that straight-line code computes."""
    row, front = CONTROLLERS[quantity.name], _static_part(module, d, quantity.loops[0], "front")
    rows = front.description.outs[0]
    return Loops(
        f"c/loops/{row.name}.jinja",
        f"the operations that follow {rows.name}",
        (front,),
        rows.size + rows.sizes[1],
        controller=row,
    )


STATED_LOOPS: Final = {
    "recursive_least_squares": _controller_loops,
    "inverse_kinematics": _iteration_loops,
}
"""The loops of the quantities that have some (`symgen.algorithms.registry.Quantity.loops`)."""


def _column_loops(module: Module, d: FunctionDescription) -> Loops | None:
    """A loop over the columns of outputs; None if a function has no columns that the same
    operations compute, or if the loop does not save code."""
    loops = [loop for loop in d.program.column_loops if any(looped_outputs(d.program, loop))]
    if not loops:
        return None
    first = loops[0]
    same = [loop for loop in loops if loop.shared == first.shared]
    outputs = {name: reads for loop in same for name, reads in looped_outputs(d.program, loop)}
    program = before_columns(d.program, first, outputs)
    size, n = len(first.shared), len(first.reads[0])
    saved_operations = counts(d.program).total - counts(program).total - counts(first.body).total
    if saved_operations - LOOP_OPERATIONS - size < MIN_SAVING * counts(d.program).total:
        return None
    shared = Argument("out", "shared", (size,), "values that all columns read", "")
    front = replace(d, name="front", arguments=(*d.arguments, shared), program=program)
    ins = (replace(shared, direction="in"), Argument("in", "given", (n,), "a column", ""))
    column = Argument("out", "column", (n,), "the column that is computed of it", "")
    body = replace(
        d, name="column_of", arguments=(*ins, column), program=first.body, pivots=(), constants=()
    )
    looped = tuple(a for a in d.outs if a.name in outputs)
    names = " and ".join(a.name for a in looped)
    return Loops(
        "c/loops/columns.jinja",
        f"the columns of {names}, in place of what they are computed of",
        (static_function(module, front), static_function(module, body, "column_part{}")),
        size,
        looped=looped,
    )


Column = tuple[Ref | None, ...]


def looped_outputs(program: Program, loop: ColumnLoop) -> Iterator[tuple[str, list[Column]]]:
    """The outputs all of whose columns a loop computes, with the columns that it reads for
    these."""
    reads = dict(zip(loop.defines, loop.reads, strict=True))
    for out in program.outputs:
        if len(out.shape) == 2 and out.shape[0] == len(loop.defines[0]):
            columns = [out.refs[k :: out.shape[1]] for k in range(out.shape[1])]
            if all(column in reads for column in columns):
                yield out.name, [reads[column] for column in columns]


def before_columns(program: Program, loop: ColumnLoop, outputs: dict[str, list[Column]]) -> Program:
    """The program up to a loop: it writes the columns that the loop reads into the places of
    `outputs`, and an output ``shared``."""
    front = copy.copy(program)
    front.analysis_cache = {}
    front.outputs = [
        out._replace(refs=tuple(ref for row in zip(*outputs[out.name], strict=True) for ref in row))
        if out.name in outputs
        else out
        for out in program.outputs
    ]
    front.outputs.append(Output("shared", (len(loop.shared),), loop.shared))
    return front


# -- loops over bodies -----------------------------------------------------------------------------

SYMMETRIC_INDICES: Final = ((0, 1, 2), (1, 3, 4), (2, 4, 5))
"""The places of the entries of a symmetric matrix among its upper ones."""

BODY_TEMPLATES: Final = {
    "gravity": "inverse_dynamics",
    "bias": "inverse_dynamics",
    **dict.fromkeys(SUM_COSTS, "sums"),
    **dict.fromkeys(FRAME_COSTS, "frame"),
}
"""The templates of quantities that have another's."""


@lru_cache(maxsize=4)
def tables_of_module(module: Module) -> BodyTables | None:
    """The tables of a module whose functions are loops over bodies, None for others."""
    return body_tables(module.robot) if module.is_looped else None


def body_template(function: CFunction) -> str:
    """The template of the body of a function."""
    stem = loop_quantity(function).name.partition(":")[0]
    return f"c/bodies/{BODY_TEMPLATES.get(stem, stem)}.jinja"


def loop_quantity(function: CFunction) -> Quantity:
    """The quantity of a function that is loops over bodies."""
    traced = next(f for f in function.module.functions if f.name == function.description.name)
    return traced.quantities[0]


LOCAL_ARRAY: Final = re.compile(
    r"^ +(?:const )?\w+_(row|real|lanes|wide) \w+((?:\[[^\]]+\])*)(?: =|;)", re.MULTILINE
)
VECTOR_BYTES: Final = {"real": 0, "row": 0, "lanes": 32, "wide": 64}
"""The most bytes of a vector of each type, 0 where it is none; a processor without vectors has a
number in its place."""
STATIC_FUNCTION: Final = re.compile(
    r"^static [^\n]*?(\w+)\([^\n]*\)\n\{\n(.*?)^\}", re.MULTILINE | re.DOTALL
)
SPILLED_VECTORS: Final = 24
"""Vectors of eight numbers that compilers keep on the stack beside arrays, by trial."""


def static_functions(module: Module, shared: dict[str, Any]) -> dict[str, str]:
    """The bodies of the static functions of the private header, by name."""
    return dict(STATIC_FUNCTION.findall(body_files(module, shared)[f"{module.name}_bodies.h"]))


def stack_bytes(module: Module, of_header: Callable[[], dict[str, str]], text: str) -> int:
    """A bound of the bytes of stack of a function by its text, whose arrays are all that grows with
    the robot: its arrays, those of all static functions that it calls, in the text and `of_header`,
    and `SPILLED_VECTORS`."""
    bodies = tables_of_module(module)
    assert bodies is not None
    helpers = of_header() | dict(STATIC_FUNCTION.findall(text))
    waiting, called = [STATIC_FUNCTION.sub("", text)], set[str]()
    entry = 8 if module[COptions].scalar == "double" else 4
    numbers = SPILLED_VECTORS * bodies.lanes
    while waiting:
        body = waiting.pop()
        for kind, axes in LOCAL_ARRAY.findall(body):
            vector = 1 if "_LANES" in axes else VECTOR_BYTES[kind] // entry or 1
            size = prod(map(int, re.findall(r"\d+", axes)))
            numbers += size * (bodies.columns if kind == "row" else vector)
        new = {name for name in re.findall(r"(\w+)\(", body) if name in helpers} - called
        called |= new
        waiting += [helpers[name] for name in sorted(new)]
    return numbers * entry


def body_files(module: Module, shared: dict[str, Any]) -> dict[str, str]:
    """The private header of such functions, name to text; empty for other modules."""
    if tables_of_module(module) is None:
        return {}
    number = shared["number"]
    text = render(
        "c/bodies/header.h.jinja",
        **shared,
        symmetric=SYMMETRIC_INDICES,
        zero=number(0.0),
        one=number(1.0),
    )
    return {f"{module.name}_bodies.h": text}
