"""Descriptions that every language gives of a module and its functions: arguments, counts, sources.

Texts here are plain; each language escapes what comes from the robot's file in its own way.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from symgen.algorithms import INPUTS
from symgen.algorithms.controllers import input_units
from symgen.algorithms.registry import Array, Quantity
from symgen.algorithms.titles import title
from symgen.compiler.passes import counts, pivots, read_entries, used_ops
from symgen.compiler.program import LoopProgram, Program, Ref
from symgen.compiler.transforms import vector_jacobian_program
from symgen.languages import joint_documentation as documentation
from symgen.languages.local_names import named_constants
from symgen.languages.module import Floats, Module
from symgen.numbers.operations import COUNTED, OPS
from symgen.tracing.function import Function
from symgen.tracing.robot import ParametricModel, RegroupedModel


@dataclass(frozen=True, slots=True)
class Argument:
    """An array argument: ``in`` or ``out``, name, sizes, meaning, unit and, if not plain, its
    layout."""

    direction: str
    name: str
    sizes: tuple[int, ...]
    meaning: str
    unit: str
    layout: str = ""
    is_scalar: bool = False
    """Whether it has a single entry for every robot, such as a time step or an energy."""

    @property
    def size(self) -> int:
        """How many entries it has."""
        return math.prod(self.sizes)

    @property
    def extent(self) -> str:
        """The sizes as text: ``6`` or ``6 x 6``."""
        return " x ".join(map(str, self.sizes))


@dataclass(frozen=True, slots=True)
class FunctionDescription:
    """The description of a function, and its program."""

    name: str
    formulas: tuple[str, ...]
    arguments: tuple[Argument, ...]
    operations: str
    formulation: str
    sources: tuple[str, ...]
    program: Program
    pivots: tuple[Ref, ...] = ()
    """The values that must be positive and finite, if a mass matrix is inverted."""
    constants: tuple[str, ...] = ()
    """The numbers in the code that have a name, as in ``0.425 = -d_3``."""

    def padded(self, a: Argument) -> tuple[object, ...]:
        """Width and text of an argument's columns, and its unit, for a table of all arguments."""
        rows = [(b.name, f"[{b.extent}]", b.meaning) for b in self.arguments]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        texts = (a.name, f"[{a.extent}]", a.meaning)
        return (*(x for pair in zip(widths, texts, strict=True) for x in pair), a.unit)

    @property
    def ins(self) -> list[Argument]:
        """The inputs, in order."""
        return [a for a in self.arguments if a.direction == "in"]

    @property
    def outs(self) -> list[Argument]:
        """The outputs, in order."""
        return [a for a in self.arguments if a.direction == "out"]

    @property
    def unused(self) -> list[str]:
        """Inputs that this robot's result does not depend on."""
        return [a.name for a in self.ins if a.name not in read_entries(self.program)]


def argument_text(quantity: Quantity) -> str:
    """``q, qd -> tau[n]``: the arguments of a quantity whatever the robot."""
    outs = ", ".join(f"{a.name}[{', '.join(map(str, a.shape))}]" for a in quantity.outputs)
    return f"{', '.join(quantity.inputs)} -> {outs}"


@lru_cache(maxsize=4)
def descriptions(module: Module) -> tuple[FunctionDescription, ...]:
    """The functions of a module in order; the regrouping of runtime parameters comes first."""
    described = [_describe(module, function) for function in module.functions]
    if module.regroup is not None:
        described.insert(0, _describe_regrouping(module, module.regroup))
    last = described
    for _ in range(module.vector_jacobians):
        last = [vector_jacobian(d, "bar_") for d in last]
        described += last
    return tuple(described)


VECTOR_JACOBIAN: Final = "_VJP"
"""The end of the name of a product of row vectors with Jacobians; names of functions that users
choose have no capitals."""


def vector_jacobian(d: FunctionDescription, prefix: str) -> FunctionDescription:
    """The product of row vectors with the Jacobians of a function; the names of the weights and of
    the products begin with `prefix`."""
    program = vector_jacobian_program(d.program, prefix)
    texts = [
        *(("in", a, f"weight of {a.name}") for a in d.outs),
        *(("out", a, f"derivative in {a.name}") for a in d.ins),
    ]
    changed = tuple(
        replace(a, direction=way, name=prefix + a.name, meaning=text, unit="", layout="")
        for way, a, text in texts
    )
    return replace(
        d,
        name=d.name + VECTOR_JACOBIAN,
        formulas=(f"product of row vectors with the Jacobians of {d.name}",),
        arguments=(*d.ins, *changed),
        operations=operation_text(program),
        program=program,
        pivots=pivots(program) if d.pivots else (),
        constants=(),
    )


def packed_arrays(described: Iterable[FunctionDescription]) -> list[Argument]:
    """The arrays of some functions that have a layout, each once."""
    return list({a.name: a for d in described for a in d.arguments if a.layout}.values())


def _describe(module: Module, function: Function) -> FunctionDescription:
    program, quantities = function.program, function.quantities
    inverts = any(q.needs_inverse for q in quantities)
    formulations = " + ".join(map(title, dict.fromkeys(f.name for _, f in function.parts)))
    # Gains have the unit that the controller gives them.
    units = input_units(quantities[0].name) if len(quantities) == 1 else {}
    inputs = tuple(replace(a, unit=units.get(a.name, a.unit)) for a in module.inputs(function))
    if isinstance(program, LoopProgram):  # counts pivots that are not positive
        formulations = f"loops over the bodies, in axes of the root; proven by {formulations}"
        tested = tuple(ref for out in program.outputs for ref in out.refs[:1] if ref and inverts)
    else:
        tested = pivots(program, divisions=inverts)
    return FunctionDescription(
        function.name,
        tuple(_equation(module.robot, q) for q in quantities),
        _arguments(module, "in", inputs) + _arguments(module, "out", module.outputs(function)),
        operation_text(program),
        formulations + ("; long sums are added pairwise" if function.trees else ""),
        tuple(dict.fromkeys(formulation.source for _, formulation in function.parts)),
        program,
        tested,
        tuple(named_constants(function)),
    )


def _equation(robot: ParametricModel, q: Quantity) -> str:
    """The formula of a quantity, with the name of its output on the left if it has one output, and
    with its passive terms if it ends with g(q); otherwise their names come after it."""
    named = " = " in q.formula or len(q.outputs) > 1
    formula = q.formula if named else f"{q.outputs[0].name} = {q.formula}"
    terms = documentation.passive_terms(robot, q)
    if q.formula.endswith("+ g(q)"):
        formula = " ".join([formula, *terms])
    elif terms:
        names = ", ".join(re.sub(r"^[+-] |\(.*\)", "", term) for term in terms)
        formula += f"; with {names}".replace("J^T wrench", "external wrenches")
    return documentation.robot_meaning(robot.model, formula)


def _arguments(module: Module, direction: str, arrays: tuple[Array, ...]) -> tuple[Argument, ...]:
    sizes, model = module.dimensions, module.robot.model
    return tuple(
        Argument(
            direction,
            a.name,
            a.sizes(sizes),
            documentation.robot_meaning(model, a.meaning),
            documentation.robot_unit(model, a.unit, a.name),
            a.layout,
            a.shape == (1,),
        )
        for a in arrays
    )


def _describe_regrouping(module: Module, regroup: RegroupedModel) -> FunctionDescription:
    size = 10 * len(module.robot.blocks)
    pi = Array("pi", "inertial parameters, ten per link", "kg, kg m, kg m^2", (size,))
    arguments = _arguments(module, "in", (pi,)) + _arguments(module, "out", (INPUTS["par"],))
    source = "Gautier & Khalil, IEEE T-RA 1990, for any tree"
    formula = "par = regrouped parameters, to be computed once when pi changes"
    count = operation_text(regroup.program)
    return FunctionDescription(
        "regroup", (formula,), arguments, count, regroup.regrouping, (source,), regroup.program
    )


ALWAYS_NAMED: Final = frozenset({"add", "sub", "mul", "div", "sin", "cos"})
"""The operations that are named in the columns of a count even if they do not occur."""


def operation_text(program: Program) -> str:
    """The operation count of a program in words."""
    count, named, parts = counts(program), used_ops(program) | ALWAYS_NAMED, list[str]()
    for column in COUNTED:
        rows = [op for op in OPS.values() if op.counts_as == column and op.name in named]
        *others, last = (op.symbol or op.name for op in rows)
        if number := getattr(count, column):
            parts.append(
                f"{number} {', '.join(others)} or {last}" if others else f"{number} {last}"
            )
    return f"{count.total} ({', '.join(parts)})" if parts else "none"


def coordinate_tables(module: Module, comment: Callable[[str], str], first: int = 0) -> list[str]:
    """Lines of a table of the coordinates, numbered from `first`; of positions and velocities where
    these are not their rates."""
    rates = module.velocity_rows()
    tables = {"position" if rates else "joint": module.joint_rows()}
    tables |= {"velocity": rates} if rates else {}
    rows = [
        row
        for title, coordinates in tables.items()
        for row in (
            ["index", title, "moves link", TYPE_TITLE, "unit"],
            *(
                [f"{index + first:5d}", comment(joint), comment(link), kind, unit]
                for index, joint, link, kind, unit in coordinates
            ),
        )
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ([cell.ljust(w) for cell, w in zip(row, widths, strict=True)] for row in rows)
    lines = ["  ".join(row).rstrip() for row in padded]
    if rates:
        lines.insert(len(lines) - len(rates) - 1, "")
    return lines


TYPE_TITLE: Final = "type".ljust(len("prismatic"))
"""Tables of robots with and without prismatic joints line up."""


@dataclass(frozen=True)
class ReferenceExample:
    """A function at the test states of its module; each row is a state."""

    name: str
    pivots: bool
    """Whether it can fail because a mass matrix is not positive definite."""
    pi: Sequence[Floats]
    """The inertial parameters, if they are inputs."""
    ins: Sequence[tuple[Argument, Sequence[Floats | None]]]
    """Each input with its values; None if it is computed from `pi`."""
    outs: Sequence[tuple[Argument, Sequence[Floats], float]]
    """Each output with its reference values and the largest allowed error of an entry."""


def reference_examples(
    module: Module, described: Sequence[FunctionDescription]
) -> list[ReferenceExample]:
    """Examples for each function that has reference values, in order."""
    accuracy = module.accuracy_in_double
    allowed = {f.name: module.allowed(f, accuracy) for f in module.functions}
    states = module.test_states
    return [
        ReferenceExample(
            d.name,
            bool(d.pivots),
            [tuple(x for ten in state.link_parameters.values() for x in ten) for state in states],
            [(a, [s.inputs.get(a.name) for s in states]) for a in d.ins],
            [
                (a, [s.expected[a.name] for s in states], allowed[d.name][a.name].top)
                for a in d.outs
            ],
        )
        for d in described
        if d.name in allowed
    ]


DERIVATIVES: Final = {
    ("tau", "q"): "dtau_dq",
    ("tau", "qd"): "dtau_dqd",
    ("tau", "qdd"): "M",
    ("qdd", "q"): "dqdd_dq",
    ("qdd", "qd"): "dqdd_dqd",
    ("qdd", "tau"): "Minv",
    ("tau_g", "q"): "g_q",
    ("M", "q"): "M_q",
    ("C", "q"): "C_q",
    ("C", "qd"): "C_qd",
    ("c", "q"): "J_c",
}
"""The output of some quantity that is the derivative of an output in an input; its axes are those
of the output, then that of the input."""


HESSIANS: Final = {
    "tau": ("lam_tau", ("q", "qd", "qdd"), "H_{}{}"),
    "qdd": ("lam_qdd", ("q", "qd", "tau"), "fwd_H_{}{}"),
}
"""For an output y: the weight λ of some quantity, the inputs in which it has all second derivatives
of λᵀ y, and the names of its outputs, from the names of two inputs; those without one vanish."""


def is_entrywise_derivative(module: Module, name: str) -> bool:
    """Whether derivatives with respect to an input are those by its entries. With a quaternion,
    derivatives with respect to positions are along velocities."""
    return name != "q" or module.dimensions["nq"] == module.dof


def derivative_output(
    module: Module,
    described: Sequence[FunctionDescription],
    d: FunctionDescription,
    output: str,
    name: str,
) -> tuple[FunctionDescription, str] | None:
    """The function of the module, with its output, that is the derivative of an output of `d` in an
    input: the cheapest, None where there is none."""
    derivative = DERIVATIVES.get((output, name), "")
    found = shortest_with_output(described, derivative, {a.name for a in d.ins})
    entrywise = found is not None and is_entrywise_derivative(module, name)
    return (found, derivative) if found is not None and entrywise else None


def shortest_with_output(
    described: Sequence[FunctionDescription], output: str, arguments: AbstractSet[str]
) -> FunctionDescription | None:
    """The function with the fewest operations that has an output and no inputs but `arguments`;
    None where there is none."""
    candidates = [
        d
        for d in described
        if any(a.name == output for a in d.outs) and arguments >= {a.name for a in d.ins}
    ]
    return min(candidates, key=lambda d: len(d.program.nodes), default=None)
