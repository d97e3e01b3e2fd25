"""A traced function: its quantities, how they are computed, and its tape."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from symgen.algorithms.controllers import CONTROLLERS
from symgen.algorithms.registry import Quantity
from symgen.compiler.costs import Cost, Processor, cost
from symgen.compiler.dump import dump
from symgen.compiler.evaluate import evaluate
from symgen.compiler.objective import Objective
from symgen.compiler.passes import Counts, counts
from symgen.compiler.program import Program
from symgen.numbers.scalar import Scalar
from symgen.text import html, html_table
from symgen.tracing.robot import RegroupedModel
from symgen.tracing.running import Part, outputs


@dataclass(frozen=True, repr=False)
class Function:
    """A traced function: its quantities with the formulations chosen, its tape and what that was
    traced from."""

    name: str
    parts: tuple[Part, ...]
    regroups: Mapping[str, RegroupedModel]
    program: Program
    trees: bool = False
    """Whether a pass has regrouped sums (`symgen.compiler.sums`)."""
    written: Callable[[], str] = field(default=str, compare=False)
    """How the C of it is made, where that is known."""

    def __repr__(self) -> str:
        return f"Function({self.name!r}, {self.formulation}: {self.counts.total} operations)"

    @cached_property
    def counts(self) -> Counts:
        """The operations that it takes."""
        return counts(self.program)

    @property
    def formulation(self) -> str:
        """The names of the formulations chosen."""
        return " + ".join(dict.fromkeys(formulation.name for _, formulation in self.parts))

    def cost(self, machine: Processor) -> Cost:
        """The cost of its program on a processor."""
        return cost(self.program, machine)

    def shaped(self, aim: Objective) -> "Function":
        """This function in the shape that is best for an aim; one whose C has loops, which add up
        in the order of the algorithm, as it is."""
        names = [q.name for q in self.quantities]
        if len(names) == 1 and names[0] in CONTROLLERS and CONTROLLERS[names[0]].loops:
            return self
        program = aim.shaped(self.program)
        return self if program is self.program else replace(self, program=program, trees=True)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of its input arrays, in order."""
        return tuple(name for name, _ in self.program.inputs)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The quantities that it computes."""
        return tuple(part[0] for part in self.parts)

    def _repr_html_(self) -> str:
        """Counts, formulation and operations, for notebooks."""
        c = self.counts
        row = (self.formulation, c.add, c.mul, c.div, c.trig, c.total)
        head = ("formulation", "+ -", "*", "/", "sin cos", "total")
        title = "; ".join(f"{q.name}: {q.formula}" for q in self.quantities)
        folded = (("the C", self.code), ("the operations", dump(self.program)))
        return html_table(title, head, [row]) + "".join(
            f"<details><summary>{name}</summary><pre>{html(text)}</pre></details>"
            for name, text in folded
            if text
        )

    @property
    def code(self) -> str:
        """The C that `symgen.generate` writes for it; empty where nothing was said of a module.

        Raises OptionError for what C cannot have."""
        return self.written()

    def run(self, **inputs: Sequence[Scalar]) -> dict[str, list[Scalar]]:
        """The outputs of the algorithms on plain numbers (or any scalars), without the tape, unless
        a pass has changed the order of their operations; outputs by name."""
        if self.trees:
            return evaluate(self.program, inputs, lambda number: number)
        arrays: dict[str, list[Scalar]] = {}
        for part in self.parts:
            arrays |= outputs(part, self.regroups[part[1].regrouping], inputs)
        return arrays
