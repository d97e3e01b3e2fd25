"""Traced functions: their quantities, how they are computed, and the expression graph that records
one run of the algorithms on its values; and algorithms run on scalars of any kind.

Most algorithms work with the coordinates of bodies: inputs of the user are mapped to bodies and
outputs projected back. Algorithms that need the inverse of M (`Quantity.needs_inverse`) take forces
and return results in the user's coordinates, and those whose `coordinates` are `JOINTS` take all
inputs so. With closed loops, algorithms run on a system whose coupling is that at the state of the
inputs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations_with_replacement, product
from math import isfinite, prod

from symgen.algorithms.registry import INPUTS, JOINTS, PACKED_PAIRS, Array, Formulation, Quantity
from symgen.compiler.evaluate import evaluate
from symgen.compiler.objective import Cost, Objective, Processor, cost
from symgen.compiler.passes import Counts, counts, dump
from symgen.compiler.program import LOOPS_OVER_BODIES, LoopProgram, Program
from symgen.errors import OptionError
from symgen.mechanics.canonical_model import Sections, no_section
from symgen.mechanics.coupling import Coupling
from symgen.mechanics.parameters import WHOLE
from symgen.mechanics.spatial import Vector
from symgen.numbers.scalar import Scalar
from symgen.text import html, html_table
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel, RegroupedModel, Sizes

Part = tuple[Quantity, Formulation]
"""A quantity of a function, and how it is computed."""


def run_part(
    part: Part,
    regroup: RegroupedModel,
    inputs: Mapping[str, Sequence[Scalar]],
    sections: Sections = no_section,
) -> dict[str, list[Scalar]]:
    """The outputs of one quantity by name, on the scalars of `inputs`."""
    quantity, formulation = part
    free_fall = Vector(*inputs["g"]) if "g" in inputs else None
    system = regroup.system(inputs.get(regroup.input, ()), free_fall, sections)
    if quantity.depends_on_external_forces:
        system = regroup.robot.with_external_forces(system, inputs)
    if regroup.robot.passive_kinds:
        system = system.with_passive(regroup.robot.joint_forces(quantity.passive, inputs))
    system = replace(
        system,
        passive_kinds=regroup.robot.passive_kinds,
        friction_compensation=regroup.robot.friction_compensation,
    )
    positions: Sequence[Scalar] = ()
    if formulation.coordinates != JOINTS and "q" in quantity.inputs:
        rates = (inputs[name] if name in quantity.inputs else None for name in ("qd", "qd_r"))
        system, positions, _ = system.at_state(inputs["q"], *rates)
    result = formulation.algorithm(
        system,
        *(
            positions
            if name == "q" and positions
            else expand_to_bodies(system.coupling, part, name, inputs[name])
            for name in quantity.inputs
        ),
    )
    values = result if len(quantity.outputs) > 1 else (result,)
    arrays = zip(quantity.outputs, values, strict=False)  # the last may depend on external inputs
    return {
        out.name: list(project_to_coordinates(system.coupling, part, out, values))
        for out, values in arrays
    }


def expand_to_bodies(
    coupling: Coupling, part: Part, name: str, values: Sequence[Scalar]
) -> Sequence[Scalar]:
    """An input as algorithms take it: positions, velocities and accelerations by body, not by the
    user's coordinates; all else as it is."""
    array = INPUTS[name]
    if JOINTS in (part[1].coordinates, array.coordinates):
        return values
    if name in ("qdd", "qdd_r"):
        return coupling.body_accelerations(values)
    if array.shape == ("nq",):
        return coupling.body_positions(values)
    return coupling.body_rates(values) if array.shape == ("n",) else values


def project_to_coordinates(
    coupling: Coupling, part: Part, out: Array, values: Sequence[Scalar]
) -> Sequence[Scalar]:
    """An output as the user gets it: what belongs to the joints of the bodies, by the user's
    coordinates."""
    if part[0].needs_inverse or part[1].coordinates == JOINTS or coupling.is_identity:
        return values
    if out.layout == PACKED_PAIRS:
        return _project_packed_pairs(coupling, values)
    bodies = len(coupling.maps)
    sizes = [bodies if axis == "n" else axis if isinstance(axis, int) else 1 for axis in out.shape]
    rest = len(values) // prod(sizes)  # of an axis whose size depends on the robot
    axes = zip(out.shape, sizes, strict=True)
    return coupling.pull_back(
        values,
        [None if axis == "n" else size if isinstance(axis, int) else rest for axis, size in axes],
    )


def _project_packed_pairs(coupling: Coupling, values: Sequence[Scalar]) -> list[Scalar]:
    """X_ijk = X_ikj, of which j <= k are given."""
    bodies, n = range(len(coupling.maps)), range(coupling.velocities)
    numbers = iter(values)
    ordered = {
        (i, j, k): next(numbers)
        for i in bodies
        for j, k in combinations_with_replacement(bodies, 2)
    }
    symmetric = [ordered[i, min(j, k), max(j, k)] for i, j, k in product(bodies, repeat=3)]
    projected = coupling.pull_back(symmetric, (None, None, None))
    return [
        projected[(i * len(n) + j) * len(n) + k]
        for i in n
        for j, k in combinations_with_replacement(n, 2)
    ]


@dataclass(frozen=True, repr=False)
class Function:
    """A traced function: its quantities with the formulations chosen, its tape and what that was
    traced from."""

    name: str
    parts: tuple[Part, ...]
    regroups: Mapping[str, RegroupedModel]
    program: Program
    trees: bool = False
    """Whether a pass has regrouped sums (`symgen.compiler.transforms`)."""
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
        return LOOPS_OVER_BODIES if isinstance(self.program, LoopProgram) else self.formulation

    @property
    def formulation(self) -> str:
        """The names of the formulations chosen."""
        return " + ".join(dict.fromkeys(formulation.name for _, formulation in self.parts))

    def cost(self, machine: Processor) -> Cost:
        """The cost of its program on a processor."""
        return cost(self.program, machine)

    def rebalanced(self, objective: Objective) -> "Function":
        """This function in the shape that is best for an aim; one whose C has loops, which add up
        in the order of the algorithm, as it is."""
        if len(self.quantities) == 1 and self.quantities[0].loops:
            return self
        program = objective.rebalanced(self.program)
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
            arrays |= run_part(part, self.regroups[part[1].regrouping], inputs)
        return arrays


def trace_parts(
    regroups: Mapping[str, RegroupedModel], request: FunctionRequest, parts: tuple[Part, ...]
) -> Function:
    """The program of a function in the formulations given. Raises OptionError."""
    program = Program()
    regrouped = _regrouped_models(regroups, parts)
    sizes = Sizes(
        next(
            (r for name, r in regrouped.items() if name != WHOLE), regrouped[parts[0][1].regrouping]
        )
    )
    arrays = {
        name: program.input(name, INPUTS[name].sizes(sizes))
        for name in _input_names(regrouped, request, parts)
    }
    for part in parts:
        values = _traced_outputs(part, regrouped[part[1].regrouping], arrays, program)
        for out in part[0].outputs:
            if all(out.name != existing.name for existing in program.outputs):
                program.output(out.name, out.sizes(sizes), values[out.name])
    _check_finite(request, program)
    return Function(request.name, parts, regrouped, program)


def retrace(function: Function, regroups: Mapping[str, RegroupedModel]) -> Function:
    """The function in the same formulations for another robot. Raises OptionError."""
    quantities = tuple(quantity for quantity, _ in function.parts)
    return trace_parts(regroups, FunctionRequest(function.name, quantities), function.parts)


def _traced_outputs(
    part: Part, regroup: RegroupedModel, arrays: Mapping[str, Sequence[Scalar]], program: Program
) -> dict[str, list[Scalar]]:
    """The outputs of one quantity. Raises OptionError for one that is defined in no state."""
    try:
        with program.section(part[0].formula):  # what belongs to no step of an algorithm
            return run_part(part, regroup, arrays, program.section)
    except ZeroDivisionError:
        raise OptionError(
            f"{part[0].name} divides by an expression that is zero in every state of this "
            "robot, so it is never defined; remove it"
        ) from None


def _regrouped_models(
    regroups: Mapping[str, RegroupedModel], parts: tuple[Part, ...]
) -> dict[str, RegroupedModel]:
    """The regroupings of a function; frames of tip bodies are turned where nothing in it reads
    parameters or poses of links."""
    regrouped = {f.regrouping: regroups[f.regrouping] for _, f in parts}
    return (
        regrouped
        if WHOLE in regrouped
        else {name: regroup.with_tip_frames for name, regroup in regrouped.items()}
    )


def _check_finite(request: FunctionRequest, program: Program) -> None:
    """Refuses numbers that overflowed on the way, which no source code can hold."""
    if not all(isfinite(node.a) for node in program.nodes if node.op == "const"):
        raise OptionError(
            f"{request.name}: constants overflow because numbers of the robot are too "
            "large or too small; use m, kg and rad"
        )


def _input_names(
    regroups: Mapping[str, RegroupedModel], request: FunctionRequest, parts: Sequence[Part]
) -> list[str]:
    """The inputs of a function in argument order."""
    robot = next(iter(regroups.values())).robot
    used = {name for q in request.quantities for name in q.inputs}
    used |= inputs_by_option(robot, request.quantities)
    if robot.runtime:
        used |= {regroups[f.regrouping].input for q, f in parts if q.needs_inertia}
    return [name for name in INPUTS if name in used]


def inputs_by_option(robot: ParametricModel, quantities: Sequence[Quantity]) -> set[str]:
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
