"""A quantity of a robot as an expression graph of symbols: its algorithm is run once on symbols."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import Any, Final

import sympy

from symgen.algorithms import INPUTS
from symgen.algorithms.registry import Formulation, Quantity
from symgen.compiler.program import Output, Program
from symgen.errors import OptionError
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.inertia import NO_INERTIA
from symgen.mechanics.model import PARAMETER_NAMES
from symgen.mechanics.parameters import (
    WHOLE,
    canonical_model,
    inertial_parameters,
    lump_links,
    pseudo_inertia,
)
from symgen.mechanics.placement import Placement, ToAxis
from symgen.mechanics.spatial import Vector
from symgen.numbers.scalar import ZERO, NamedNumber, Scalar, plain
from symgen.symbolic.symbol_graph import (
    Meaning,
    SymbolicTape,
    input_meanings,
    input_symbols,
    symbol,
)
from symgen.text import cited, shown
from symgen.tracing.function import inputs_by_option, run_part
from symgen.tracing.request import quantities_of_robot
from symgen.tracing.robot import ParametricModel, RegroupedModel, Sizes
from symgen.tracing.singular import check_defined

SYMBOL_KINDS: Final = ("masses", "lengths")
"""What can be symbols: the ten inertial parameters of every body; the lengths of the canonical
frames."""

PARAMETER_UNITS: Final = dict(
    zip(PARAMETER_NAMES, ("kg", *("kg m",) * 3, *("kg m^2",) * 6), strict=True)
)


@dataclass(frozen=True, slots=True)
class SymbolChoice:
    """Which numbers of the robot are symbols: `masses` (the ten parameters of each body, m1, hx1,
    ... Izz1) and `lengths` (b1, d1 and r1 of the canonical frames). Symbols in the source of the
    robot stay symbols."""

    masses: bool = False
    lengths: bool = False

    @classmethod
    def of(cls, masses: str, lengths: str) -> "SymbolChoice":
        """The choice from ``symbols`` or ``numbers`` for each. Raises OptionError."""
        for what, word in (("masses", masses), ("lengths", lengths)):
            if word not in ("symbols", "numbers"):
                raise OptionError(f"{what}={cited(word)}: use 'symbols' or 'numbers'")
        return cls(masses == "symbols", lengths == "symbols")


def parameter_symbols(i: int) -> list[str]:
    """The names of the ten inertial parameters of body `i`."""
    return [f"{name}{i}" for name in PARAMETER_NAMES]


def symbolic_model(
    robot: ParametricModel, symbol_choice: SymbolChoice, regrouping: str, tape: SymbolicTape
) -> RegroupedModel:
    """The regrouped model with symbols, in the form in which algorithms take it."""
    free_fall = Vector(1.0, 1.0, 1.0) if robot.runtime_gravity else None  # only its place matters
    model = lump_links(robot.model, [body.name for body in robot.model.moving])
    if symbol_choice.lengths:
        layout = with_lengths(canonical_model(model, gravity=free_fall, regrouping=WHOLE))
        layout = _with_masses(layout, tape) if symbol_choice.masses else layout
        layout = layout if regrouping == WHOLE else _regrouped(layout)
    else:
        parameters: dict[str, list[Scalar]] = {}
        if symbol_choice.masses:
            numbered = [(i, b) for i, b in enumerate(model.bodies, 1) if b.links]
            parameters = {b.name: tape.of(map(symbol, parameter_symbols(i))) for i, b in numbered}
        layout = canonical_model(model, parameters, free_fall, regrouping)
    empty_program = Program()
    empty_program.output("par", (0,), ())
    return RegroupedModel(replace(robot, runtime=()), regrouping, empty_program, layout)


def with_lengths(layout: CanonicalModel) -> CanonicalModel:
    """The model with symbols for the lengths of the canonical frames. Each symbol also has the
    value in the file."""
    bodies = (
        replace(body, placement=_placement_with_lengths(body.placement, i))
        for i, body in enumerate(layout.bodies, 1)
    )
    return replace(layout, bodies=tuple(bodies))


def _with_masses(layout: CanonicalModel, tape: SymbolicTape) -> CanonicalModel:
    """The model with symbols for the ten parameters of each body in its canonical frame."""
    bodies = (
        replace(body, inertia=pseudo_inertia(tape.of(map(symbol, parameter_symbols(i)))))
        if i in layout.link_bodies
        else body
        for i, body in enumerate(layout.bodies, 1)
    )
    return replace(layout, bodies=tuple(bodies))


def _regrouped(layout: CanonicalModel) -> CanonicalModel:
    """The model after regrouping: parameters that joint forces cannot distinguish are moved to the
    parent (Gautier & Khalil 1990)."""
    total = {0: NO_INERTIA} | {i: layout.body(i).inertia for i in layout.outward}
    for i in layout.inward:
        body = layout.body(i)
        total[i], transferred = body.split_inertia(total[i])
        total[body.parent] = total[body.parent] + body.placement.to_parent(transferred, ZERO)
    return replace(
        layout, bodies=tuple(replace(b, inertia=total[i]) for i, b in enumerate(layout.bodies, 1))
    )


def _placement_with_lengths(place: Placement, i: int) -> Placement:
    """The placement with its lengths as symbols b, d and r."""
    to_axis = place.to_axis
    lengths = ToAxis(
        to_axis.gamma,
        _length_symbol(to_axis.b, f"b{i}"),
        _length_symbol(to_axis.d, f"d{i}"),
        to_axis.alpha,
        to_axis.beta,
        _length_symbol(to_axis.y, f"y{i}"),
    )
    return replace(place, to_axis=lengths, r=_length_symbol(place.r, f"r{i}"))


def _length_symbol(x: Scalar, name: str) -> Scalar:
    return ZERO if x is ZERO else NamedNumber(float(plain(x)), symbol(name))


# -- what they mean --------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def meanings(robot: ParametricModel, symbol_choice: SymbolChoice) -> Mapping[str, Meaning]:
    """The meanings of the symbols for masses and lengths, with their values in the file."""
    model = lump_links(robot.model, [body.name for body in robot.model.moving])
    layout, by_symbol = canonical_model(model, regrouping=WHOLE), dict[str, Meaning]()
    for i, body in enumerate(layout.bodies, 1):
        if symbol_choice.lengths:
            by_symbol |= _length_meanings(body.placement, i, body.name)
        if symbol_choice.masses and i in layout.link_bodies:
            file_parameters = model.body(i).links[0].parameters or (0.0,) * 10
            parameters = (
                inertial_parameters(body.inertia) if symbol_choice.lengths else file_parameters
            )
            frame = ABOUT_CANONICAL_FRAME if symbol_choice.lengths else ABOUT_LINK_FRAME
            rows = zip(PARAMETER_NAMES, parameters, strict=True)
            by_symbol |= {
                f"{name}{i}": Meaning(
                    f"{name} of body {i}, {body.name}, {frame}", PARAMETER_UNITS[name], x + 0.0
                )
                for name, x in rows
            }
    return by_symbol


ABOUT_CANONICAL_FRAME: Final = "about the origin of its canonical frame"
ABOUT_LINK_FRAME: Final = "about the origin of its link frame"


def _length_meanings(place: Placement, i: int, name: str) -> dict[str, Meaning]:
    to_axis = place.to_axis
    rows = {
        "b": (to_axis.b, "Trans_z before"),
        "d": (to_axis.d, "Trans_x before"),
        "r": (place.r, "Trans_z behind"),
    }
    return {
        f"{key}{i}": Meaning(
            f"{key} of the canonical frame of body {i}, {name}: {words} its axis",
            "m",
            float(plain(x)),
        )
        for key, (x, words) in rows.items()
        if x is not ZERO
    }


@dataclass(frozen=True, eq=False)
class SymbolicTrace:
    """The expression graph of a quantity of a robot, with the symbols of its inputs and their
    meanings."""

    quantity: Quantity
    tape: SymbolicTape
    inputs: Mapping[str, tuple[sympy.Expr, ...]]
    meanings: Mapping[str, Meaning]
    chains: Mapping[int, Hashable]
    """The parallel axes that each coordinate is one of, by the atom of the coordinate."""

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The arrays of the quantity."""
        return tuple(self.tape.outputs)

    def output(self, name: str | None) -> Output:
        """One of them, the first by default. Raises OptionError."""
        names = [out.name for out in self.outputs]
        if name is not None and name not in names:
            raise OptionError(
                f"{self.quantity.name} has no output '{shown(name)}'; it has {', '.join(names)}"
            )
        return self.outputs[0 if name is None else names.index(name)]


def trace_symbolically(
    robot: ParametricModel,
    quantity: Quantity,
    symbol_choice: SymbolChoice,
    joints: bool = False,
    given: Mapping[str, Sequence[Any]] | None = None,
) -> SymbolicTrace:
    """The symbolic trace of a quantity. `given` has expressions for some of its inputs. Raises
    OptionError."""
    if robot.model.closures and symbol_choice.lengths:
        raise OptionError(
            "lengths='symbols' is not supported for robots with closed loops; use numbers, and "
            "symbols for masses only"
        )
    (quantity,) = quantities_of_robot(robot, (quantity,))
    names = tuple(body.name for body in robot.model.moving) if symbol_choice.masses else ()
    check_defined(replace(robot, runtime=names), [quantity])
    formulation, tape = _formulation(robot, quantity), SymbolicTape()
    regroup = symbolic_model(robot, symbol_choice, formulation.regrouping, tape)
    sizes = Sizes(regroup)
    used = {*quantity.inputs, *inputs_by_option(robot, [quantity])}
    read = [name for name in INPUTS if name in used]  # in the order of arguments
    unread = [name for name in given or {} if name not in read]
    if unread:
        raise OptionError(f"{quantity.name} does not read {unread[0]}; it reads {', '.join(read)}")
    arrays = {name: _input_expressions(robot, name, sizes, joints, given or {}) for name in read}
    values = {name: tape.of(expressions) for name, expressions in arrays.items()}
    results = run_part((quantity, formulation), regroup, values)
    for out in quantity.outputs:
        tape.output(out.name, out.sizes(sizes), results[out.name])
    meanings_by_name: dict[str, Meaning] = dict(meanings(robot, symbol_choice))
    for name, expressions in arrays.items():
        if name not in (given or {}):
            meanings_by_name |= input_meanings(robot.model, name, expressions)
    return SymbolicTrace(
        quantity,
        tape,
        arrays,
        meanings_by_name,
        _axis_chains(regroup.layout, tape, arrays.get("q", ())),
    )


def _formulation(robot: ParametricModel, quantity: Quantity) -> Formulation:
    """The first formulation that is applicable to the robot."""
    layout = canonical_model(robot.model)
    return next(
        formulation for formulation in quantity.formulations if formulation.applicable(layout)
    )


def _input_expressions(
    robot: ParametricModel,
    name: str,
    sizes: Mapping[str, int],
    joints: bool,
    given: Mapping[str, Sequence[Any]],
) -> tuple[sympy.Expr, ...]:
    """The symbols of an input, or the given expressions. Raises OptionError."""
    if given.get(name) is None:
        return tuple(input_symbols(robot.model, name, sizes, joints))
    size, values = prod(INPUTS[name].sizes(sizes)), [sympy.sympify(x) for x in given[name]]
    if len(values) != size:
        raise OptionError(f"{name} has {len(values)} entries where {size} are needed")
    return tuple(values)


def _axis_chains(
    layout: CanonicalModel, tape: SymbolicTape, q: Sequence[sympy.Expr]
) -> dict[int, Hashable]:
    """The chain of parallel axes of each coordinate, by the atom of the coordinate."""
    roots: dict[int, int] = {}
    for i in layout.outward:
        body = layout.body(i)
        to_axis = body.placement.to_axis  # parallel to the axis of the parent?
        parallel = to_axis.alpha.s0 is ZERO and to_axis.beta.is_zero
        turns = body.joint.turn is not ZERO
        roots[i] = roots[body.parent] if body.parent and turns and parallel else i
    nodes = {tape.atom(k): k for k, node in enumerate(tape.nodes) if node.op == "input"}
    chains: dict[int, Hashable] = {}
    for i, root in roots.items():
        drive = layout.coupling.maps[i - 1]
        for x, node in nodes.items() if drive.terms else ():
            place = drive.position_index
            if place < len(q) and q[place].has(x):
                chains.setdefault(node, root)
    return chains
