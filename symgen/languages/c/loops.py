"""Functions whose first part is straight-line code and whose second part is loops, by a template of
their own in ``templates/c/loops``.

The loops are those that an algorithm states: the update of recursive least squares row by row (of a
Panda, 46,000 operations and some 600 kB of straight-line code), and columns that the same
operations compute (`symgen.compiler.program.ColumnLoop`), with ``--optimize size``. They do the
same operations in the same order as the expression graph, those with structural zeros too, so they
give the same bits, except for the signs of zeros."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from symgen.algorithms.controllers import CONTROLLERS, ControllerType
from symgen.compiler.passes import counts
from symgen.compiler.program import ColumnLoop, Output, Program
from symgen.compiler.value import Ref
from symgen.languages.c.function import CFunction
from symgen.languages.c.options import aim_of
from symgen.languages.c.text import literal
from symgen.languages.describe import Argument, FunctionDescription
from symgen.languages.local_names import Legend
from symgen.languages.module import Module
from symgen.languages.partition import WORK
from symgen.tracing.trace import trace
from symgen.tracing.wanted import Wanted

LOOP_OPERATIONS: Final = 40
"""The code around a loop over columns takes as much as this many operations, about."""

MIN_SAVING: Final = 0.05
"""Code stays straight if loops save less than this part of its operations: the estimate does not
contain what they do to the code around them."""


@dataclass(frozen=True)
class StaticFunction(CFunction):
    """Straight-line code that the function with loops calls."""

    piece_prefix: str = "part"

    @property
    def full_name(self) -> str:
        return self.d.name

    def part(self, k: int) -> str:
        return f"{self.piece_prefix}{k}"

    @property
    def returns(self) -> str:
        return self.static("int" if self.d.pivots else "void")

    @property
    def status_type(self) -> str:
        return "int"

    @property
    def left_out(self) -> list[Argument]:
        """None: the loops read every entry."""
        return []

    @property
    def finite(self) -> list[str]:
        """None: the loops change the outputs."""
        return []


@dataclass(frozen=True)
class LoopedFunction(CFunction):
    """A function that begins with the straight-line code `front`, whose results loops read."""

    front: StaticFunction

    @property
    def statics(self) -> tuple[StaticFunction, ...]:
        """The static functions that it calls."""
        return (self.front,)

    @property
    def read(self) -> Argument:
        """The output of `front` that is in the work array."""
        return self.front.d.outs[-1]

    @property
    def loop_entries(self) -> int:
        """Entries of the work array that the loops use, at its beginning."""
        return self.read.size

    @property
    def work(self) -> int:
        """Entries of the work array: those of the loops, then those of the straight-line code."""
        return self.loop_entries + max(f.work for f in self.statics)

    @property
    def call(self) -> str:
        """The call of the straight-line code."""
        return self.call_of(self.front)

    def call_of(self, function: StaticFunction) -> str:
        """The call of a static function."""
        renamed = {self.read.name: WORK, WORK: f"&{WORK}[{self.loop_entries}]"}
        arguments = ", ".join(renamed.get(a.name, a.name) for a in function.arguments)
        return f"{function.full_name}({arguments})"

    def number(self, x: float) -> str:
        """A number of the module's type."""
        return literal(x, self.c.scalar)


@dataclass(frozen=True)
class LoopedController(LoopedFunction):
    """A controller whose loops go through the rows of an array."""

    row: ControllerType

    @property
    def loops_text(self) -> str:
        """What the loops compute, for the comment of the function."""
        return f"the operations that follow {self.read.name}"

    @property
    def template(self) -> str:
        return f"c/loops/{self.row.name}.jinja"

    @property
    def loop_entries(self) -> int:
        """The array and a row of it."""
        return self.read.size + self.read.sizes[1]


@dataclass(frozen=True)
class ColumnsFunction(LoopedFunction):
    """A function that computes the columns of some outputs in a loop, in their places."""

    body: StaticFunction
    looped: tuple[Argument, ...]

    @property
    def loops_text(self) -> str:
        """What the loops compute, for the comment of the function."""
        names = " and ".join(a.name for a in self.looped)
        return f"the columns of {names}, in place of what they are computed of"

    @property
    def template(self) -> str:
        return "c/loops/columns.jinja"

    @property
    def statics(self) -> tuple[StaticFunction, ...]:
        return self.front, self.body

    @property
    def rows(self) -> int:
        """The entries of a column."""
        return self.body.d.outs[0].size

    @cached_property
    def _pieces(self) -> None:
        """None: the static functions may be in pieces."""

    @property
    def legend(self) -> list[str]:
        """The meaning of the local names of the straight-line code."""
        defined = tuple(dict.fromkeys(self.front._names.values()))
        return Legend(defined, tuple(a.name for a in self.outputs)).lines()


def with_loops(module: Module, d: FunctionDescription) -> CFunction:
    """A function in C: with loops where its algorithm states them and its sums are in the order of
    the algorithm."""
    traced = next((f for f in module.functions if f.name == d.name), None)
    if traced is None or traced.trees:
        return CFunction(module, d)
    names = [q.name for q in traced.quantities]
    row = CONTROLLERS.get(names[0]) if len(names) == 1 else None
    if row is not None and row.loops:
        return LoopedController(module, d, _front_of_controller(module, d, row), row)
    by_columns = _with_columns(module, d) if aim_of(module.choices).name == "size" else None
    return by_columns or CFunction(module, d)


def _front_of_controller(
    module: Module, d: FunctionDescription, row: ControllerType
) -> StaticFunction:
    read = trace(module.robot, Wanted.parse(row.loops))
    (out,) = read.program.outputs
    rows = Argument("out", out.name, out.shape, "what the loops go through", "")
    arguments = tuple(a for a in d.ins if a.name in read.inputs)
    described = replace(
        d, name="front", arguments=(*arguments, rows), program=read.program, pivots=()
    )
    return StaticFunction(module, described)


def _with_columns(module: Module, d: FunctionDescription) -> CFunction | None:
    """The function with a loop over the columns of its outputs; None if it has no columns that the
    same operations compute, or if the loop does not save code."""
    loops = [loop for loop in d.program.column_loops if any(looped_outputs(d.program, loop))]
    if not loops:
        return None
    first = loops[0]
    same = [loop for loop in loops if loop.shared == first.shared]
    outputs = {name: reads for loop in same for name, reads in looped_outputs(d.program, loop)}
    program = before_columns(d.program, first, outputs)
    size, n = len(first.shared), len(first.reads[0])
    saved = counts(d.program).total - counts(program).total - counts(first.body).total
    if saved - LOOP_OPERATIONS - size < MIN_SAVING * counts(d.program).total:
        return None
    shared = Argument("out", "shared", (size,), "values that all columns read", "")
    front = replace(d, name="front", arguments=(*d.arguments, shared), program=program)
    ins = (replace(shared, direction="in"), Argument("in", "given", (n,), "a column", ""))
    column = Argument("out", "column", (n,), "the column that is computed of it", "")
    body = replace(
        d, name="column_of", arguments=(*ins, column), program=first.body, pivots=(), constants=()
    )
    looped = tuple(a for a in d.outs if a.name in outputs)
    return ColumnsFunction(
        module,
        d,
        StaticFunction(module, front),
        StaticFunction(module, body, "column_part"),
        looped,
    )


Column = tuple[Ref | None, ...]


def looped_outputs(program: Program, loop: ColumnLoop) -> Iterator[tuple[str, list[Column]]]:
    """The outputs all of whose columns a loop computes, with the columns that it reads for
    these."""
    reads = dict(zip(loop.makes, loop.reads, strict=True))
    for out in program.outputs:
        if len(out.shape) == 2 and out.shape[0] == len(loop.makes[0]):
            columns = [out.refs[k :: out.shape[1]] for k in range(out.shape[1])]
            if all(column in reads for column in columns):
                yield out.name, [reads[column] for column in columns]


def before_columns(program: Program, loop: ColumnLoop, outputs: dict[str, list[Column]]) -> Program:
    """The program up to a loop: it writes the columns that the loop reads into the places of
    `outputs`, and an output ``shared``."""
    front = copy.copy(program)
    front.findings = {}
    front.outputs = [
        out._replace(refs=tuple(ref for row in zip(*outputs[out.name], strict=True) for ref in row))
        if out.name in outputs
        else out
        for out in program.outputs
    ]
    front.outputs.append(Output("shared", (len(loop.shared),), loop.shared))
    return front
