"""From a robot and a choice of quantities to programs: every algorithm runs once, on tape values.

Each function is traced in every formulation of its quantities; the cheapest is kept.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import isfinite, prod
from typing import Final

from symgen.algorithms.registry import (
    INPUTS,
    LINK_QUANTITIES,
    QUANTITIES,
    Formulation,
    Quantity,
    unknown_quantity,
)
from symgen.compiler.passes import Counts, counts
from symgen.compiler.program import Program
from symgen.errors import OptionError
from symgen.mechanics.parameters import REGROUPINGS, WHOLE
from symgen.mechanics.spatial import Vector
from symgen.mechanics.system import Sections, System, no_section
from symgen.numbers.scalar import Scalar
from symgen.tracing.coordinates import of_bodies, of_user
from symgen.tracing.link_outputs import of_model
from symgen.tracing.robot import Regroup, Robot, dimensions
from symgen.tracing.singular import check_defined

Part = tuple[Quantity, Formulation]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A function to generate: its name and the quantities it computes together."""

    name: str
    quantities: tuple[Quantity, ...]

    @classmethod
    def parse(cls, text: str) -> "Wanted":
        """From ``QUANTITY`` or ``NAME=QUANTITY+QUANTITY``, each ``QUANTITY:LINK`` if it is that of
        a link.

        Raises OptionError.
        """
        name, _, sum_ = text.partition("=")
        parts = (sum_ or name).split("+")
        quantities = tuple(find_quantity(part) for part in parts)
        if len(set(parts)) != len(parts):
            raise OptionError(f"{text!r} names a quantity twice")
        if not sum_ and len(parts) > 1:
            raise OptionError(f"{text!r} needs a name for the function, as in terms={text}")
        _check_arrays(text, quantities)
        return cls(name if sum_ else re.sub(r"\W", "_", name, flags=re.ASCII).lower(), quantities)


def _check_arrays(text: str, quantities: Sequence[Quantity]) -> None:
    """One function cannot read an array and write it; an array that two quantities give is given
    once."""
    read = {name for q in quantities for name in q.inputs}
    both = [out.name for q in quantities for out in q.outputs if out.name in read]
    if both:
        raise OptionError(f"{text!r} would read and write {both[0]}; make two functions of it")


def find_quantity(text: str) -> Quantity:
    """The quantity of that name, ``QUANTITY:LINK`` where it is that of a link. Raises
    OptionError."""
    name, _, link = text.partition(":")
    if name in LINK_QUANTITIES and link:
        return LINK_QUANTITIES[name].of(link)
    if name in LINK_QUANTITIES:
        raise OptionError(f"{name} is that of a link; name one, as in {name}:LINK")
    if text not in QUANTITIES:
        raise unknown_quantity(text)
    return QUANTITIES[text]


@dataclass(frozen=True)
class Function:
    """A traced function: its quantities with the formulations chosen, its tape and what that was
    traced from."""

    name: str
    parts: tuple[Part, ...]
    regroups: Mapping[str, Regroup]
    program: Program

    @cached_property
    def counts(self) -> Counts:
        return counts(self.program)

    @property
    def formulation(self) -> str:
        return " + ".join(dict.fromkeys(way.name for _, way in self.parts))

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.program.inputs)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        return tuple(part[0] for part in self.parts)

    def run(self, **inputs: Sequence[Scalar]) -> dict[str, list[Scalar]]:
        """The same algorithms on plain numbers (or any scalars), without the tape; outputs by
        name."""
        found: dict[str, list[Scalar]] = {}
        for part in self.parts:
            found |= _apply(part, self.regroups[part[1].regrouping], inputs)
        return found


def _apply(
    part: Part,
    regroup: Regroup,
    inputs: Mapping[str, Sequence[Scalar]],
    sections: Sections = no_section,
) -> dict[str, list[Scalar]]:
    """The outputs of one quantity by name, on the scalars of `inputs`."""
    wanted, way = part
    free_fall = Vector(*inputs["g"]) if "g" in inputs else None
    robot = regroup.system(inputs.get(regroup.input, ()), free_fall, sections)
    if wanted.feels_wrench and "wrench" in inputs:
        robot = robot.pushed(regroup.robot.wrenches, inputs["wrench"])
    if wanted.feels_wrench and regroup.robot.friction:
        robot = robot.rubbing(regroup.robot.frictions(inputs.get("friction")))
    robot = replace(
        robot, friction_kinds=regroup.robot.friction, friction_width=regroup.robot.friction_width
    )
    result = way.algorithm(
        robot, *(of_bodies(robot.coupling, name, inputs[name]) for name in wanted.inputs)
    )
    arrays = zip(wanted.outputs, result if len(wanted.outputs) > 1 else (result,), strict=True)
    return {out.name: list(of_user(robot.coupling, wanted, out, values)) for out, values in arrays}


Choice = Mapping[str, str]
"""The formulation to use, by quantity; the cheapest where a quantity is not named."""


def trace(robot: Robot, wanted: Wanted, choice: Choice | None = None) -> Function:
    """The cheapest program for one function. Raises OptionError for a formulation that it does not
    have."""
    return trace_all(robot, [wanted], choice)[0]


def trace_all(
    robot: Robot, functions: Sequence[Wanted], choice: Choice | None = None
) -> list[Function]:
    """The cheapest program for each function.

    Runtime parameters are regrouped once for all functions, so there one regrouping serves them
    all. Raises OptionError for a formulation that a quantity does not have, and for a quantity that
    this robot does not have (see `symgen.tracing.singular.check_defined`)."""
    functions = [_distinct(robot, wanted) for wanted in functions]
    check_defined(robot, (q for wanted in functions for q in wanted.quantities))
    regroups = _regroups(robot)
    if not robot.runtime:
        return [_cheapest(regroups, wanted, choice or {}) for wanted in functions]
    some = [{name: regroups[name], WHOLE: regroups[WHOLE]} for name in REGROUPINGS]
    both = [pair for pair in some if all(_ways(w, pair, choice or {}) for w in functions)]
    if not both:
        raise OptionError("with runtime parameters all formulations must be on one regrouping")
    each = [[_cheapest(some, wanted, choice or {}) for wanted in functions] for some in both]
    return min(each, key=lambda traced: sum(f.counts.total for f in traced))


def _distinct(robot: Robot, wanted: Wanted) -> Wanted:
    """The same with outputs of links whose names are those of no others of the robot."""
    return replace(wanted, quantities=of_model(robot.model, wanted.quantities))


def every_formulation(robot: Robot, wanted: Wanted, choice: Choice | None = None) -> list[Function]:
    """The program of a function in each of its formulations, as far as `choice` leaves them
    open."""
    wanted, regroups = _distinct(robot, wanted), _regroups(robot)
    return [_traced(regroups, wanted, parts) for parts in _ways(wanted, regroups, choice or {})]


def _regroups(robot: Robot) -> dict[str, Regroup]:
    return {name: robot.regroup(name) for name in (*REGROUPINGS, WHOLE)}


def _cheapest(regroups: Mapping[str, Regroup], wanted: Wanted, choice: Choice) -> Function:
    ways = [
        _promising(_ways(replace(wanted, quantities=(q,)), regroups, choice), regroups)
        for q in wanted.quantities
    ]
    if prod(map(len, ways)) > MANY:
        return _improved(regroups, wanted, ways)
    return _least(_traced(regroups, wanted, sum(parts, ())) for parts in product(*ways))


def _promising(
    ways: list[tuple[Part, ...]], regroups: Mapping[str, Regroup]
) -> list[tuple[Part, ...]]:
    """Without those that are never the cheapest, unless they are all there is or one regrouping
    serves all."""
    free = sum(name != WHOLE for name in regroups) > 1
    return [parts for parts in ways if not free or all(way.tried for _, way in parts)] or ways


MANY: Final = 24
"""More combinations of formulations than this are not all tried."""


def _least(candidates: Iterable[Function]) -> Function:
    return min(candidates, key=lambda f: f.counts.total)


def _improved(
    regroups: Mapping[str, Regroup], wanted: Wanted, ways: Sequence[Sequence[tuple[Part, ...]]]
) -> Function:
    """Each quantity's cheapest by itself, then one after the other whatever is cheaper beside the
    rest."""
    alone = (
        _least(_traced(regroups, replace(wanted, quantities=(w[0][0],)), w) for w in some)
        for some in ways
    )
    best = _traced(regroups, wanted, tuple(f.parts[0] for f in alone))
    for k, some in enumerate(ways):
        others = [(*best.parts[:k], *w, *best.parts[k + 1 :]) for w in some]
        best = _least(
            [best, *(_traced(regroups, wanted, parts) for parts in others if parts != best.parts)]
        )
    return best


def _ways(
    wanted: Wanted, regroups: Mapping[str, Regroup], choice: Choice
) -> list[tuple[Part, ...]]:
    """The combinations of formulations on the given regroupings."""
    layout = next(iter(regroups.values())).layout
    allowed = [
        [(q, way) for way in _chosen(q, choice.get(q.name), layout) if way.regrouping in regroups]
        for q in wanted.quantities
    ]
    return list(product(*allowed))


def _chosen(q: Quantity, name: str | None, layout: System) -> Sequence[Formulation]:
    found = [way for way in q.formulations if name in (None, way.name)]
    if not found:
        ways = ", ".join(way.name for way in q.formulations)
        raise OptionError(f"{q.name} has no formulation {name!r}; there are {ways}")
    suited = [way for way in found if way.suits(layout)]
    if not suited:
        raise OptionError(f"{q.name}={name} is not for this robot: {found[0].suits.__doc__ or ''}")
    return suited


def _traced(regroups: Mapping[str, Regroup], wanted: Wanted, parts: tuple[Part, ...]) -> Function:
    program = Program()
    own = _own(regroups, parts)
    sizes = dimensions(
        next((r for name, r in own.items() if name != WHOLE), own[parts[0][1].regrouping])
    )
    arrays = {
        name: program.input(name, INPUTS[name].sizes(sizes)) for name in _inputs(own, wanted, parts)
    }
    for part in parts:
        values = _apply(part, own[part[1].regrouping], arrays, program.section)
        for out in part[0].outputs:
            if all(out.name != done.name for done in program.outputs):
                program.output(out.name, out.sizes(sizes), values[out.name])
    _check_finite(wanted, program)
    return Function(wanted.name, parts, own, program)


def _own(regroups: Mapping[str, Regroup], parts: tuple[Part, ...]) -> dict[str, Regroup]:
    """The regroupings of a function; leaves are turned where nothing in it reads parameters or
    poses of links."""
    own = {way.regrouping: regroups[way.regrouping] for _, way in parts}
    return own if WHOLE in own else {name: regroup.turned for name, regroup in own.items()}


def _check_finite(wanted: Wanted, program: Program) -> None:
    """Refuses numbers that overflowed on the way, which no source code can hold."""
    if not all(isfinite(node.a) for node in program.nodes if node.op == "const"):
        raise OptionError(
            f"{wanted.name}: the robot's numbers are so large or small that constants overflow"
        )


def _inputs(regroups: Mapping[str, Regroup], wanted: Wanted, parts: Sequence[Part]) -> list[str]:
    """The inputs of a function in argument order."""
    robot = next(iter(regroups.values())).robot
    used = {name for q in wanted.quantities for name in q.inputs}
    used |= (
        {regroups[w.regrouping].input for q, w in parts if q.needs_inertia}
        if robot.runtime
        else set()
    )
    used |= (
        {"g"}
        if robot.runtime_gravity and any(q.needs_gravity for q in wanted.quantities)
        else set()
    )
    used |= (
        {"friction"}
        if robot.runtime_friction and any(q.feels_wrench for q in wanted.quantities)
        else set()
    )
    used |= (
        {"wrench"} if robot.wrenches and any(q.feels_wrench for q in wanted.quantities) else set()
    )
    return [name for name in INPUTS if name in used]
