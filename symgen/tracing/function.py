"""A traced function, and its algorithms run on any scalars."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from symgen.algorithms.registry import Formulation, Quantity
from symgen.compiler.aims import Aim
from symgen.compiler.costs import Cost, Processor, cost
from symgen.compiler.evaluate import evaluate
from symgen.compiler.passes import Counts, counts
from symgen.compiler.program import Program
from symgen.mechanics.spatial import Vector
from symgen.mechanics.system import Sections, no_section
from symgen.numbers.scalar import Scalar
from symgen.text import html, html_table
from symgen.tracing.coordinates import of_bodies, of_user
from symgen.tracing.robot import Regroup

Part = tuple[Quantity, Formulation]
"""A quantity of a function, and how it is computed."""


@dataclass(frozen=True, repr=False)
class Function:
    """A traced function: its quantities with the formulations chosen, its tape and what that was
    traced from."""

    name: str
    parts: tuple[Part, ...]
    regroups: Mapping[str, Regroup]
    program: Program
    trees: bool = False
    """Whether a pass has regrouped sums (`symgen.compiler.sums`)."""
    written: Callable[[], str] = field(default=str, compare=False)
    """How the C of it is made, where that is known."""

    def __repr__(self) -> str:
        return f"Function({self.name!r}, {self.formulation}: {self.counts.total} operations)"

    @cached_property
    def counts(self) -> Counts:
        return counts(self.program)

    @property
    def formulation(self) -> str:
        return " + ".join(dict.fromkeys(formulation.name for _, formulation in self.parts))

    def cost(self, machine: Processor) -> Cost:
        """Its cost on a processor."""
        return cost(self.program, machine)

    def shaped(self, aim: Aim) -> "Function":
        """This function in the shape that is best for an aim."""
        program = aim.shaped(self.program)
        return self if program is self.program else replace(self, program=program, trees=True)

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.program.inputs)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        return tuple(part[0] for part in self.parts)

    def _repr_html_(self) -> str:
        """Counts, formulation and operations, for notebooks."""
        c = self.counts
        row = (self.formulation, c.add, c.mul, c.div, c.trig, c.total)
        head = ("formulation", "+ -", "*", "/", "sin cos", "total")
        what = "; ".join(f"{q.name}: {q.formula}" for q in self.quantities)
        folded = (("the C", self.code), ("the operations", repr(self.program)))
        return html_table(what, head, [row]) + "".join(
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
        """The same algorithms on plain numbers (or any scalars), without the tape, unless a pass
        has changed the order of their operations; outputs by name."""
        if self.trees:
            return evaluate(self.program, inputs, lambda number: number)
        arrays: dict[str, list[Scalar]] = {}
        for part in self.parts:
            arrays |= outputs(part, self.regroups[part[1].regrouping], inputs)
        return arrays


def outputs(
    part: Part,
    regroup: Regroup,
    inputs: Mapping[str, Sequence[Scalar]],
    sections: Sections = no_section,
) -> dict[str, list[Scalar]]:
    """The outputs of one quantity by name, on the scalars of `inputs`."""
    quantity, formulation = part
    free_fall = Vector(*inputs["g"]) if "g" in inputs else None
    robot = regroup.system(inputs.get(regroup.input, ()), free_fall, sections)
    if quantity.feels_wrench and "wrench" in inputs:
        robot = regroup.robot.pushed(robot, inputs["wrench"])
    felt = quantity.passive
    if felt and regroup.robot.passive_kinds:
        robot = robot.with_passive(regroup.robot.passive(felt, inputs))
    robot = replace(
        robot,
        passive_kinds=regroup.robot.passive_kinds,
        friction_width=regroup.robot.friction_width,
    )
    result = formulation.algorithm(
        robot,
        *(of_bodies(robot.coupling, quantity, name, inputs[name]) for name in quantity.inputs),
    )
    arrays = zip(quantity.outputs, result if len(quantity.outputs) > 1 else (result,), strict=True)
    return {
        out.name: list(of_user(robot.coupling, quantity, out, values)) for out, values in arrays
    }
