"""Traced functions: their quantities, how they are computed, and the expression graph that records
one run of the algorithms on its values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite

from symgen.algorithms.registry import INPUTS, Quantity
from symgen.compiler.dump import dump
from symgen.compiler.evaluate import evaluate
from symgen.compiler.objective import Cost, Objective, Processor, cost
from symgen.compiler.passes import Counts, counts
from symgen.compiler.program import KIND, LoopProgram, Program
from symgen.errors import OptionError
from symgen.mechanics.parameters import WHOLE
from symgen.numbers.scalar import Scalar
from symgen.text import html, html_table
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel, RegroupedModel, dimensions
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
    """Whether a pass has regrouped sums (`symgen.compiler.copying`)."""
    written: Callable[[], str] = field(default=str, compare=False)
    """How the C of it is made, where that is known."""

    def __repr__(self) -> str:
        return f"Function({self.name!r}, {self.formulation}: {self.counts.total} operations)"

    @cached_property
    def counts(self) -> Counts:
        """The operations that it takes."""
        return counts(self.program)

    @property
    def kind(self) -> str:
        """The formulation of straight-line code, or that the code is loops."""
        return KIND if isinstance(self.program, LoopProgram) else self.formulation

    @property
    def formulation(self) -> str:
        """The names of the formulations chosen."""
        return " + ".join(dict.fromkeys(formulation.name for _, formulation in self.parts))

    def cost(self, machine: Processor) -> Cost:
        """The cost of its program on a processor."""
        return cost(self.program, machine)

    def rebalanced(self, aim: Objective) -> "Function":
        """This function in the shape that is best for an aim; one whose C has loops, which add up
        in the order of the algorithm, as it is."""
        if len(self.quantities) == 1 and self.quantities[0].loops:
            return self
        program = aim.rebalanced(self.program)
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


def traced(
    regroups: Mapping[str, RegroupedModel], wanted: FunctionRequest, parts: tuple[Part, ...]
) -> Function:
    """The program of a function in the formulations given. Raises OptionError."""
    program = Program()
    chosen = _regroups_of(regroups, parts)
    sizes = dimensions(
        next((r for name, r in chosen.items() if name != WHOLE), chosen[parts[0][1].regrouping])
    )
    arrays = {
        name: program.input(name, INPUTS[name].sizes(sizes))
        for name in _inputs(chosen, wanted, parts)
    }
    for part in parts:
        values = _values(part, chosen[part[1].regrouping], arrays, program)
        for out in part[0].outputs:
            if all(out.name != done.name for done in program.outputs):
                program.output(out.name, out.sizes(sizes), values[out.name])
    _check_finite(wanted, program)
    return Function(wanted.name, parts, chosen, program)


def retraced(function: Function, regroups: Mapping[str, RegroupedModel]) -> Function:
    """The function in the same formulations for another robot. Raises OptionError."""
    quantities = tuple(quantity for quantity, _ in function.parts)
    return traced(regroups, FunctionRequest(function.name, quantities), function.parts)


def _values(
    part: Part, regroup: RegroupedModel, arrays: Mapping[str, Sequence[Scalar]], program: Program
) -> dict[str, list[Scalar]]:
    """The outputs of one quantity. Raises OptionError for one that is defined in no state."""
    try:
        with program.section(part[0].formula):  # what belongs to no step of an algorithm
            return outputs(part, regroup, arrays, program.section)
    except ZeroDivisionError:
        raise OptionError(
            f"{part[0].name} divides by an expression that is zero in every state of this "
            "robot, so it is never defined; remove it"
        ) from None


def _regroups_of(
    regroups: Mapping[str, RegroupedModel], parts: tuple[Part, ...]
) -> dict[str, RegroupedModel]:
    """The regroupings of a function; frames of tip bodies are turned where nothing in it reads
    parameters or poses of links."""
    chosen = {f.regrouping: regroups[f.regrouping] for _, f in parts}
    return (
        chosen
        if WHOLE in chosen
        else {name: regroup.with_tip_frames for name, regroup in chosen.items()}
    )


def _check_finite(wanted: FunctionRequest, program: Program) -> None:
    """Refuses numbers that overflowed on the way, which no source code can hold."""
    if not all(isfinite(node.a) for node in program.nodes if node.op == "const"):
        raise OptionError(
            f"{wanted.name}: constants overflow because numbers of the robot are too "
            "large or too small; use m, kg and rad"
        )


def _inputs(
    regroups: Mapping[str, RegroupedModel], wanted: FunctionRequest, parts: Sequence[Part]
) -> list[str]:
    """The inputs of a function in argument order."""
    robot = next(iter(regroups.values())).robot
    used = {name for q in wanted.quantities for name in q.inputs}
    used |= read_by_option(robot, wanted.quantities)
    if robot.runtime:
        used |= {regroups[f.regrouping].input for q, f in parts if q.needs_inertia}
    return [name for name in INPUTS if name in used]


def read_by_option(robot: ParametricModel, quantities: Sequence[Quantity]) -> set[str]:
    """The inputs that quantities read beside their own, those of parameters left out."""
    by_option = {
        "g": robot.runtime_gravity and any(q.needs_gravity for q in quantities),
        "friction": robot.runtime_friction and any("friction" in q.passive for q in quantities),
        "springs": robot.runtime_springs and any(q.depends_on_springs for q in quantities),
        "presliding": robot.has_presliding and any("friction" in q.tags for q in quantities),
        "wrench": bool(robot.wrenches) and any(q.depends_on_external_forces for q in quantities),
        "thrust": bool(robot.thrusters) and any(q.depends_on_external_forces for q in quantities),
    }
    return {name for name, read in by_option.items() if read}
