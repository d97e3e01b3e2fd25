"""A quantity worked out on paper: its algorithm run once on symbols."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import sympy

from symgen.algorithms import INPUTS
from symgen.algorithms.registry import Formulation, Quantity
from symgen.compiler.program import Output
from symgen.errors import OptionError
from symgen.mechanics.parameters import system
from symgen.mechanics.system import System
from symgen.numbers.scalar import ZERO
from symgen.symbolic.names import Meaning, input_meanings, input_symbols
from symgen.symbolic.paper import Paper
from symgen.symbolic.setting import Setting, meanings, on_paper
from symgen.text import shown
from symgen.tracing.link_outputs import of_model
from symgen.tracing.robot import RuntimeModel, dimensions
from symgen.tracing.running import outputs
from symgen.tracing.singular import check_defined
from symgen.tracing.tape import read_by_option


@dataclass(frozen=True, eq=False)
class SymbolicSheet:
    """The tape of a quantity of a robot, with what its inputs are called and mean."""

    quantity: Quantity
    paper: Paper
    inputs: Mapping[str, tuple[sympy.Expr, ...]]
    meanings: Mapping[str, Meaning]
    chains: Mapping[int, Hashable]
    """The parallel axes that each coordinate is one of, by the atom of the coordinate."""

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The arrays of the quantity."""
        return tuple(self.paper.outputs)

    def output(self, name: str | None) -> Output:
        """One of them, the first by default. Raises OptionError."""
        names = [out.name for out in self.outputs]
        if name is not None and name not in names:
            raise OptionError(
                f"{self.quantity.name} has no output '{shown(name)}'; it has {', '.join(names)}"
            )
        return self.outputs[0 if name is None else names.index(name)]


def worked_out(
    robot: RuntimeModel,
    quantity: Quantity,
    setting: Setting,
    joints: bool = False,
    given: Mapping[str, Sequence[Any]] | None = None,
) -> SymbolicSheet:
    """The quantity on paper, with expressions for those of its inputs that are `given`. Raises
    OptionError."""
    (quantity,) = of_model(robot.model, (quantity,))
    names = tuple(body.name for body in robot.model.moving) if setting.masses else ()
    check_defined(replace(robot, runtime=names), [quantity])
    formulation, paper = _formulation(robot, quantity), Paper()
    regroup = on_paper(robot, setting, formulation.regrouping, paper)
    sizes = dimensions(regroup)
    read = _inputs(robot, quantity)
    idle = [name for name in given or {} if name not in read]
    if idle:
        raise OptionError(f"{quantity.name} does not read {idle[0]}; it reads {', '.join(read)}")
    arrays = {name: _expressions(robot, name, sizes, joints, given or {}) for name in read}
    values = {name: paper.of(expressions) for name, expressions in arrays.items()}
    results = outputs((quantity, formulation), regroup, values)
    for out in quantity.outputs:
        paper.output(out.name, out.sizes(sizes), results[out.name])
    meanings_by_name: dict[str, Meaning] = dict(meanings(robot, setting))
    for name, expressions in arrays.items():
        if name not in (given or {}):
            meanings_by_name |= input_meanings(robot.model, name, expressions)
    return SymbolicSheet(
        quantity,
        paper,
        arrays,
        meanings_by_name,
        _chains(regroup.layout, paper, arrays.get("q", ())),
    )


def _formulation(robot: RuntimeModel, quantity: Quantity) -> Formulation:
    """The first formulation that suits the robot."""
    layout = system(robot.model)
    return next(formulation for formulation in quantity.formulations if formulation.suits(layout))


def _inputs(robot: RuntimeModel, quantity: Quantity) -> list[str]:
    """The inputs of the quantity in argument order, those by options too."""
    used = {*quantity.inputs, *read_by_option(robot, [quantity])}
    return [name for name in INPUTS if name in used]


def _expressions(
    robot: RuntimeModel,
    name: str,
    sizes: Mapping[str, int],
    joints: bool,
    given: Mapping[str, Sequence[Any]],
) -> tuple[sympy.Expr, ...]:
    """An input's symbols, or what is given for it. Raises OptionError."""
    if given.get(name) is None:
        return tuple(input_symbols(robot.model, name, sizes, joints))
    size, values = prod(INPUTS[name].sizes(sizes)), [sympy.sympify(x) for x in given[name]]
    if len(values) != size:
        raise OptionError(f"{name} has {len(values)} entries where {size} are needed")
    return tuple(values)


def _chains(layout: System, paper: Paper, q: Sequence[sympy.Expr]) -> dict[int, Hashable]:
    """Which coordinates turn about axes that stay parallel."""
    roots: dict[int, int] = {}
    for i in layout.outward:
        parent = layout.body(i).parent
        roots[i] = roots[parent] if parent and _parallel(layout, i) else i
    nodes = {paper.atom(k): k for k, node in enumerate(paper.nodes) if node.op == "input"}
    chains: dict[int, Hashable] = {}
    for i, root in roots.items():
        place = layout.coupling.drives[i - 1].place
        for x, node in nodes.items():
            if place < len(q) and q[place].has(x):
                chains.setdefault(node, root)
    return chains


def _parallel(layout: System, i: int) -> bool:
    """Whether a body turns about an axis parallel to that of its parent."""
    place = layout.body(i).placement
    turning = layout.body(i).joint.turn is not ZERO
    return turning and place.to_axis.alpha.s0 is ZERO and place.to_axis.beta.is_zero
