"""Functions of which only the beginning is straight lines: what they do with its results goes
through loops, by a template of their own in ``templates/c/loops``.

The recursive least squares of a Panda, row by row of its regressor, would be 46,000 operations and
some 600 kB of code in a line. The loops do the same operations in the same order, those with
structural zeros too, so that they give the bits of the tape that they stand for."""

from dataclasses import dataclass, replace
from functools import cached_property

from symgen.algorithms.controllers import CONTROLLERS, ControllerType
from symgen.languages.c.function import CFunction
from symgen.languages.c.text import literal
from symgen.languages.describe import Argument, FunctionDescription
from symgen.languages.module import Module
from symgen.tracing.trace import trace
from symgen.tracing.wanted import Wanted


@dataclass(frozen=True)
class Front(CFunction):
    """The straight lines, a static function."""

    @property
    def full_name(self) -> str:
        return "front"

    @property
    def returns(self) -> str:
        return self.static("void")

    @property
    def left_out(self) -> list[Argument]:
        """None: the loops read every entry."""
        return []


@dataclass(frozen=True)
class LoopedFunction(CFunction):
    """A function that begins with `front`, and goes on as a controller does."""

    front: Front
    row: ControllerType

    @property
    def template(self) -> str:
        return f"c/loops/{self.row.name}.jinja"

    @property
    def read(self) -> Argument:
        """The array that the loops go through, one row after the other."""
        return self.front.d.outs[0]

    @property
    def work(self) -> int:
        """Entries of the work array: those of the array itself, of a row of it, and of what the
        straight lines need."""
        return self.read.size + self.read.sizes[1] + self.front.work

    @cached_property
    def call(self) -> str:
        """The call of the straight lines."""
        renamed = {self.read.name: "w", "w": f"&w[{self.read.size + self.read.sizes[1]}]"}
        return f"front({', '.join(renamed.get(a.name, a.name) for a in self.front.arguments)})"

    def number(self, x: float) -> str:
        """A number of the module's type."""
        return literal(x, self.c.scalar)


def with_loops(module: Module, d: FunctionDescription) -> CFunction:
    """A function in C: with loops where it is a controller alone that has them, and whose sums are
    in the order of its algorithm."""
    traced = next((f for f in module.functions if f.name == d.name), None)
    names = [q.name for q in traced.quantities] if traced else []
    row: ControllerType | None = CONTROLLERS.get(names[0]) if len(names) == 1 else None
    if traced is None or traced.trees or row is None or not row.loops:
        return CFunction(module, d)
    return LoopedFunction(module, d, _front(module, d, row), row)


def _front(module: Module, d: FunctionDescription, row: ControllerType) -> Front:
    read = trace(module.robot, Wanted.parse(row.loops))
    (out,) = read.program.outputs
    rows = Argument("out", out.name, out.shape, "what the loops go through", "")
    arguments = tuple(a for a in d.ins if a.name in read.inputs)
    return Front(
        module, replace(d, name="front", arguments=(*arguments, rows), program=read.program)
    )
