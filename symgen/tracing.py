"""From a robot and a choice of quantities to programs: every algorithm runs once, on tape values.

Each function is traced in every formulation of its quantities; the cheapest is kept.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from symgen.algorithms.registry import INPUTS, LINK_QUANTITIES, QUANTITIES, Formulation, Quantity, unknown_quantity
from symgen.compiler.evaluate import evaluate
from symgen.compiler.passes import Counts, counts
from symgen.compiler.program import Program, Value
from symgen.errors import OptionError
from symgen.mechanics.independence import independent
from symgen.mechanics.model import PARAMETER_NAMES, Model
from symgen.mechanics.parameters import REGROUPINGS, WHOLE, lumped, parameter_blocks, system, turned_gravity
from symgen.mechanics.spatial import Inertia, Second, Vector
from symgen.mechanics.system import Friction, Sections, System, SystemBody, no_section
from symgen.mechanics.xml_reader import shown
from symgen.scalar import Scalar, structural
from symgen.singular import singular_joint

Part = tuple[Quantity, Formulation]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A function to generate: its name and the quantities it computes together."""

    name: str
    quantities: tuple[Quantity, ...]

    @classmethod
    def parse(cls, text: str) -> "Wanted":
        """From ``QUANTITY`` or ``NAME=QUANTITY+QUANTITY``, each ``QUANTITY:LINK`` if it is that of a link.

        Raises OptionError.
        """
        name, _, sum_ = text.partition("=")
        parts = (sum_ or name).split("+")
        quantities = tuple(_quantity(part) for part in parts)
        if len(set(parts)) != len(parts):
            raise OptionError(f"{text!r} names a quantity twice")
        if not sum_ and len(parts) > 1:
            raise OptionError(f"{text!r} needs a name for the function, as in terms={text}")
        _check_arrays(text, quantities)
        return cls(name if sum_ else re.sub(r"\W", "_", name, flags=re.ASCII).lower(), quantities)


def _check_arrays(text: str, quantities: Sequence[Quantity]) -> None:
    """One function cannot read an array and write it; an array that two quantities give is given once."""
    read = {name for q in quantities for name in q.inputs}
    both = [out.name for q in quantities for out in q.outputs if out.name in read]
    if both:
        raise OptionError(f"{text!r} would read and write {both[0]}; make two functions of it")


def _quantity(text: str) -> Quantity:
    name, _, link = text.partition(":")
    if name in LINK_QUANTITIES and link:
        return LINK_QUANTITIES[name].of(link)
    if name in LINK_QUANTITIES:
        raise OptionError(f"{name} is that of a link; name one, as in {name}:LINK")
    if text not in QUANTITIES:
        raise unknown_quantity(text)
    return QUANTITIES[text]


@dataclass(frozen=True)
class Robot:
    """A model with what stays open until run time.

    `runtime` names the links whose ten parameters are inputs (see `parameter_blocks`), `runtime_gravity`
    makes the vector of free fall one; `wrenches` names the links that an external wrench acts on; `friction` has
    the kinds of joint friction, with the coefficients of the file or (`runtime_friction`) as an input.
    """

    model: Model
    runtime: tuple[str, ...] = ()
    runtime_gravity: bool = False
    wrenches: tuple[str, ...] = ()
    friction: tuple[str, ...] = ()
    runtime_friction: bool = False

    @cached_property
    def lumped(self) -> Model:
        """The model with one set of ten for each body that a runtime name means as a whole."""
        return lumped(self.model, self.runtime)

    @cached_property
    def blocks(self) -> dict[str, tuple[float, ...]]:
        """The runtime parameters by link name, with the values of the file, in the order of the input array."""
        return parameter_blocks(self.lumped, self.runtime)

    def frictions(self, given: Sequence[Scalar] | None) -> list[Friction]:
        """The friction of each joint, from the input array or from the file."""
        if given is None:
            file = [{"viscous": b.joint.damping, "coulomb": b.joint.friction} for b in self.model.bodies]
            return [Friction(**{kind: structural(row[kind]) for kind in self.friction}) for row in file]
        k = len(self.friction)
        rows = (given[k * i : k * (i + 1)] for i in range(self.model.dof))
        return [Friction(**dict(zip(self.friction, row, strict=True))) for row in rows]

    def regroup(self, regrouping: str) -> "Regroup":
        """How the regrouped parameters come from the user's, and the system they belong to."""
        program = Program()
        flat = program.input("pi", (10 * len(self.blocks),))
        given = {name: flat[10 * k : 10 * k + 10] for k, name in enumerate(self.blocks)}
        free_fall = Vector(*Program().input("g", (3,))) if self.runtime_gravity else None  # only its place matters
        layout = system(self.lumped, given, free_fall, regrouping)
        entries = [x for body in layout.bodies for x in _entries(body.inertia) if isinstance(x, Value)]
        program.output("par", (len(entries),), entries)
        return Regroup(self, regrouping, program, layout)


def _entries(inertia: Inertia) -> tuple[Scalar, ...]:
    return (inertia.m, *inertia.h, *inertia.s)


@dataclass(frozen=True)
class Regroup:
    """The regrouped parameters: constants where known, the entries of `par` where they come at run time."""

    robot: Robot
    regrouping: str
    program: Program
    layout: System

    @property
    def size(self) -> int:
        """Length of the input `par`."""
        return len(self.program.outputs[0].refs)

    @property
    def input(self) -> str:
        """The input array that runtime parameters come in: regrouped, or as the user has them."""
        return "pi" if self.regrouping == WHOLE else "par"

    def system(self, given: Sequence[Scalar], gravity: Vector | None, sections: Sections = no_section) -> System:
        """The system with runtime parameters and `gravity` (root link axes) put in.

        `given` are those of `input`; without them the system serves only what depends on no inertia.
        """
        whole = self.regrouping == WHOLE and given
        rest = iter(evaluate(self.program, {"pi": given})["par"] if whole else given)
        bodies = tuple(_filled(body, rest) for body in self.layout.bodies) if given else self.layout.bodies
        pull = self.layout.gravity if gravity is None else turned_gravity(self.robot.lumped, gravity)
        return replace(self.layout, bodies=bodies, gravity=pull, sections=sections)


def _filled(body: SystemBody, par: Iterator[Scalar]) -> SystemBody:
    entries = _entries(body.inertia)
    m, hx, hy, hz, *s = (next(par) if isinstance(x, Value) else x for x in entries)
    known = not any(isinstance(x, Value) for x in entries)
    return replace(body, inertia=Inertia(m, Vector(hx, hy, hz), Second(*s)), constant=known)


@dataclass(frozen=True)
class Function:
    """A traced function: its quantities with the formulations chosen, its tape and what that was traced from."""

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
        """The same algorithms on plain numbers (or any scalars), without the tape; outputs by name."""
        found: dict[str, list[Scalar]] = {}
        for part in self.parts:
            found |= _apply(part, self.regroups[part[1].regrouping], inputs)
        return found


def _apply(
    part: Part, regroup: Regroup, inputs: Mapping[str, Sequence[Scalar]], sections: Sections = no_section
) -> dict[str, list[Scalar]]:
    """The outputs of one quantity by name, on the scalars of `inputs`."""
    wanted, way = part
    free_fall = Vector(*inputs["g"]) if "g" in inputs else None
    robot = regroup.system(inputs.get(regroup.input, ()), free_fall, sections)
    if wanted.feels_wrench and "wrench" in inputs:
        robot = robot.pushed(regroup.robot.wrenches, inputs["wrench"])
    if wanted.feels_wrench and regroup.robot.friction:
        robot = robot.rubbing(regroup.robot.frictions(inputs.get("friction")))
    robot = replace(robot, friction_kinds=regroup.robot.friction)
    result = way.algorithm(robot, *(inputs[name] for name in wanted.inputs))
    arrays = result if len(wanted.outputs) > 1 else (result,)
    return {out.name: values for out, values in zip(wanted.outputs, arrays, strict=True)}


Choice = Mapping[str, str]
"""The formulation to use, by quantity; the cheapest where a quantity is not named."""


def trace(robot: Robot, wanted: Wanted, choice: Choice | None = None) -> Function:
    """The cheapest program for one function. Raises OptionError for a formulation that it does not have."""
    return trace_all(robot, [wanted], choice)[0]


def trace_all(robot: Robot, functions: Sequence[Wanted], choice: Choice | None = None) -> list[Function]:
    """The cheapest program for each function.

    Runtime parameters are regrouped once for all functions, so there one regrouping serves them all.
    Raises OptionError for a formulation that a quantity does not have.
    """
    _check_inverse(robot, functions)
    regroups = _regroups(robot)
    if not robot.runtime:
        return [_cheapest(regroups, wanted, choice or {}) for wanted in functions]
    served = [regroups[name] for name in REGROUPINGS if all(_ways(w, [name, WHOLE], choice or {}) for w in functions)]
    if not served:
        raise OptionError("with runtime parameters all formulations must be on one regrouping")
    both = [{r.regrouping: r, WHOLE: regroups[WHOLE]} for r in served]
    each = [[_cheapest(some, wanted, choice or {}) for wanted in functions] for some in both]
    return min(each, key=lambda traced: sum(f.counts.total for f in traced))


def _check_inverse(robot: Robot, functions: Sequence[Wanted]) -> None:
    """Refuses what needs the inverse of a singular mass matrix; parameters of run time may make it regular."""
    wanted = next((q.name for f in functions for q in f.quantities if q.needs_inverse), None)
    joint = singular_joint(robot.model) if wanted and not robot.runtime else None
    if joint is not None:
        raise OptionError(
            f"{wanted} needs the inverse of the mass matrix, but joint '{shown(joint)}' moves no inertia of its own; "
            "give the links beyond it mass, or hold it with --lock"
        )


def every_formulation(robot: Robot, wanted: Wanted, choice: Choice | None = None) -> list[Function]:
    """The program of a function in each of its formulations, as far as `choice` leaves them open."""
    regroups = _regroups(robot)
    return [_traced(regroups, wanted, parts) for parts in _ways(wanted, regroups, choice or {})]


def _regroups(robot: Robot) -> dict[str, Regroup]:
    return {name: robot.regroup(name) for name in (*REGROUPINGS, WHOLE)}


def _cheapest(regroups: Mapping[str, Regroup], wanted: Wanted, choice: Choice) -> Function:
    candidates = (_traced(regroups, wanted, parts) for parts in _ways(wanted, regroups, choice))
    return min(candidates, key=lambda f: f.counts.total)


def _ways(wanted: Wanted, regroupings: Collection[str], choice: Choice) -> list[tuple[Part, ...]]:
    """The combinations of formulations on the given regroupings."""
    allowed = [
        [(q, way) for way in _chosen(q, choice.get(q.name)) if way.regrouping in regroupings] for q in wanted.quantities
    ]
    return list(product(*allowed))


def _chosen(q: Quantity, name: str | None) -> Sequence[Formulation]:
    found = [way for way in q.formulations if name in (None, way.name)]
    if not found:
        ways = ", ".join(way.name for way in q.formulations)
        raise OptionError(f"{q.name} has no formulation {name!r}; there are {ways}")
    return found


def _traced(regroups: Mapping[str, Regroup], wanted: Wanted, parts: tuple[Part, ...]) -> Function:
    program = Program()
    own = {way.regrouping: regroups[way.regrouping] for _, way in parts}
    sizes = dimensions(next((r for name, r in own.items() if name != WHOLE), own[parts[0][1].regrouping]))
    arrays = {name: program.input(name, INPUTS[name].sizes(sizes)) for name in _inputs(own, wanted, parts)}
    for part in parts:
        values = _apply(part, own[part[1].regrouping], arrays, program.section)
        for out in part[0].outputs:
            if all(out.name != done.name for done in program.outputs):
                program.output(out.name, out.sizes(sizes), values[out.name])
    return Function(wanted.name, parts, own, program)


class Sizes(dict[str, int]):
    """Named sizes of arrays; the number of base parameters is found out when it is asked for."""

    def __init__(self, regroup: Regroup) -> None:
        n, links = regroup.robot.model.dof, len(regroup.robot.blocks)
        ten = len(PARAMETER_NAMES)
        super().__init__(n=n, n2=n * (n + 1) // 2, par=regroup.size, pi=ten * links, ten=ten * n)
        kinds = len(regroup.robot.friction)
        self |= {"wrench": 6 * len(regroup.robot.wrenches), "friction": kinds * n, "y": (ten + kinds) * n}
        self.friction_columns = kinds * n
        self.layout = regroup.layout

    def __missing__(self, name: str) -> int:
        if name not in ("b", "y_b"):
            raise KeyError(name)
        return len(independent(self.layout).keys) + (self.friction_columns if name == "y_b" else 0)


def dimensions(regroup: Regroup) -> dict[str, int]:
    """The named sizes of arrays: n coordinates, n2 pairs of them, b base parameters, ten of all bodies, par
    regrouped runtime parameters, pi those of the user."""
    return Sizes(regroup)


def _inputs(regroups: Mapping[str, Regroup], wanted: Wanted, parts: Sequence[Part]) -> list[str]:
    """The inputs of a function in argument order."""
    robot = next(iter(regroups.values())).robot
    used = {name for q in wanted.quantities for name in q.inputs}
    used |= {regroups[w.regrouping].input for q, w in parts if q.needs_inertia} if robot.runtime else set()
    used |= {"g"} if robot.runtime_gravity and any(q.needs_gravity for q in wanted.quantities) else set()
    used |= {"friction"} if robot.runtime_friction and any(q.feels_wrench for q in wanted.quantities) else set()
    used |= {"wrench"} if robot.wrenches and any(q.feels_wrench for q in wanted.quantities) else set()
    return [name for name in INPUTS if name in used]
